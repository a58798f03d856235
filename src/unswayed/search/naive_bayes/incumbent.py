"""What a search on a grid is given, what it knows of the best subset, and what is left of it to search.

What is left is a list of branches, which can be sent and saved; `run_grid_slice` goes on with one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.numerics import spendable
from unswayed.core.parallel import Team
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.kernels.grid_search import (
    DROPPED,
    GIVEN,
    MOST_FOUND,
    UNITS_PER_ERROR,
    GridTerms,
    State,
    compiled_search,
    open_errors,
    resume,
)
from unswayed.kernels.sum_distributions import Grid
from unswayed.search.ceiling.spectra import FeatureLaws
from unswayed.search.driver import SliceOutcome
from unswayed.search.task import SLACK, Found, Terms

STEPS_PER_SLICE = 80
"""Steps of a slice that is searched elsewhere: a fifth of a second."""


class GridShared(NamedTuple):
    """What all slices of a search use: features in the order of the search."""

    grid: Grid
    terms: GridTerms
    n_cells: int
    """Cells for a spread of kept features."""
    disagreement: float
    """How often the grid decides differently, at most."""


class GridFindings(NamedTuple):
    """What a slice gives back: subsets within the budget, the least error of each, and errors computed."""

    kept: Bools  # (subsets, features)
    errors: Floats  # (subsets,)
    n_errors: int


@dataclass(frozen=True, slots=True, eq=False)
class GridBranch:
    """Where a search is: what was done at each depth down to the current one."""

    stages: Ints
    bounds: Floats
    """The least error of any subset of the node at each depth."""
    first: int
    """The first depth that the branch decides; what was done above it is settled."""
    ceilings: Floats
    """For each depth, an upper bound on the subsets still to visit at it."""

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset in it."""
        return float(self.ceilings.max())

    def split(self) -> tuple[GridBranch, GridBranch] | None:
        """The rest without the highest branch that is still to come, and that branch."""
        for depth in range(self.first, len(self.stages) - 1):
            if self.stages[depth] == DROPPED and np.isfinite(self.ceilings[depth]):
                stages, ceilings = self.stages.copy(), self.ceilings.copy()
                stages[depth], ceilings[depth] = GIVEN, -np.inf
                alone = np.append(np.full(depth, -np.inf), self.ceilings[depth])
                end = depth + 1
                other = GridBranch(self.stages[:end].copy(), self.bounds[:end].copy(), depth, alone)
                return GridBranch(stages, self.bounds, self.first, ceilings), other
        return None

    def write(self) -> list[Any]:
        """The branch for a checkpoint; a depth where nothing is left has no ceiling."""
        ceilings = [ceiling if np.isfinite(ceiling) else None for ceiling in self.ceilings.tolist()]
        return [self.stages.tolist(), self.bounds.tolist(), self.first, ceilings]


@dataclass(frozen=True, slots=True, eq=False)
class GridLeft:
    """What is left of a search on a grid, and what is known of it."""

    name: str
    order: Ints
    """Features of the grid, in the order of the search."""
    branches: tuple[GridBranch, ...]
    proven: float
    """Upper bound on every subset not yet examined."""
    in_doubt: float
    """Upper bound on the subsets examined that may be better."""

    def write(self) -> list[Any]:
        """What is left for a checkpoint."""
        in_doubt = None if self.in_doubt < 0.0 else self.in_doubt
        return [self.order.tolist(), [branch.write() for branch in self.branches], self.proven, in_doubt]


def read_left(name: str, written: Sequence[Any]) -> GridLeft:
    """What was left, from a checkpoint."""
    order, branches, proven, in_doubt = written
    left = tuple(read_branch(branch) for branch in branches)
    in_doubt = -np.inf if in_doubt is None else in_doubt
    return GridLeft(name, np.array(order, dtype=np.int64), left, proven, in_doubt)


def read_branch(written: Sequence[Any]) -> GridBranch:
    """The branch from a checkpoint."""
    stages, bounds, first, ceilings = written
    highest = [-np.inf if ceiling is None else float(ceiling) for ceiling in ceilings]
    return GridBranch(np.array(stages, dtype=np.int64), np.array(bounds), int(first), np.array(highest))


def branch_of(shared: GridShared, state: State) -> GridBranch:
    """What a search has left."""
    end = int(state.now[0]) + 1
    ceilings = 1.0 - open_errors(shared.terms, state) + shared.disagreement
    return GridBranch(state.stage[:end].copy(), state.bound[:end].copy(), int(state.now[5]), ceilings)


def take_findings(state: State, n_before: int) -> GridFindings:
    """Take the subsets found out of a state; `n_before` errors had been computed before."""
    n_found, state.now[3] = int(state.now[3]), 0
    kept, errors = state.found[:n_found].copy(), state.found_errors[:n_found].copy()
    return GridFindings(kept, errors, int(state.now[4]) - n_before)


def run_grid_slice(shared: GridShared, branch: GridBranch, limit: float, n_errors: int) -> SliceOutcome:
    """Search a branch for some steps of so many errors, or until many subsets are found."""
    begun = (branch.stages, branch.bounds, branch.first)
    state = resume(shared.grid, shared.terms, shared.n_cells, begun)
    is_over, n_steps = False, 0
    while not is_over and n_steps < STEPS_PER_SLICE and state.now[3] < MOST_FOUND:
        is_over = compiled_search(shared.grid, shared.terms, state, limit, n_errors)
        n_steps += 1
    findings, left = take_findings(state, 0), None if is_over else branch_of(shared, state)
    return SliceOutcome(findings, left, UNITS_PER_ERROR * findings.n_errors)


@dataclass(frozen=True, slots=True, eq=False)
class GridTask:
    """A search to be done."""

    grid: Grid = field(repr=False)
    """The features on a grid of log-odds."""
    disagreement: float
    """How often the grid decides differently, at most."""
    width: int
    """Cells that a spread of kept features needs."""
    features: tuple[int, ...]
    """Position of each feature of the grid."""
    kinds: Ints = field(repr=False)
    """Equal for features that are alike."""
    terms: Terms
    """Costs by position, and the budget."""
    names: Mapping[int, str]
    """Names by position, for breaking ties."""
    own_rule: bool
    """Whether the kept features decide by the classifier's own rule; else by the best there is."""
    between: Callable[[frozenset[int]], tuple[float, float]]
    """Bounds on the agreement of a subset, at first look."""
    closer: Callable[[frozenset[int]], tuple[float, float]]
    """Closer bounds, equal where the exact value is affordable."""
    laws: FeatureLaws | None = field(default=None, repr=False)
    """The features' weights as they are, for the ceiling; None where it cannot be computed."""
    team: Team = field(default_factory=Team)
    """Who searches."""
    checkpoint: Checkpoint | None = None
    """Where an earlier search may have left what it came to."""

    @property
    def allowed(self) -> float:
        """The budget, rounding allowed for."""
        return spendable(self.terms.budget)

    def positions(self, numbers: Iterable[int]) -> frozenset[int]:
        """Features by their positions, given by their numbers on the grid."""
        return frozenset(self.features[f] for f in numbers)

    @property
    def name(self) -> str:
        """The search in its checkpoint: on another grid its bounds would mean nothing."""
        return f"grid of {self.width} cells, {self.disagreement!r} apart, budget {self.terms.budget!r}"


@dataclass(slots=True)
class BestOnGrid:
    """The best subset so far, and what is known of the others."""

    task: GridTask
    kept: frozenset[int] = frozenset()
    low: float = -math.inf
    """What it is worth for certain,"""
    high: float = -math.inf
    """and at most."""
    proven: float = 1.0
    """Upper bound on every subset not yet evaluated."""
    ceiling: float = 1.0
    """Upper bound on every subset."""
    in_doubt: float = -math.inf
    """Upper bounds on the subsets examined that may be better."""
    evaluations: int = 0
    is_examined: bool = False
    """Whether the best subset was examined more closely."""
    left: GridLeft | None = None
    """What is left of the search for a better subset; None before it begins."""

    def offer(self, kept: frozenset[int]) -> None:
        """Take a subset if it is better than the one held: worth more, or as much for less."""
        self.evaluations += 1
        low, high = self.task.between(kept)
        if high < self.low - SLACK or (kept == self.kept and self.is_examined):
            return
        if low < self.high + SLACK:
            self.examine()
            low, high = self.task.closer(kept)
        better = low > self.low + SLACK
        if better or (low > self.low - SLACK and self._rank(kept) < self._rank(self.kept)):
            self.in_doubt = max(self.in_doubt, self.high)
            self.kept, self.low, self.high = kept, max(low, self.low), max(high, self.low)
            self.is_examined = low == high
        else:
            self.in_doubt = max(self.in_doubt, high)

    def examine(self) -> None:
        """Know the value of the best subset as well as can be."""
        if not self.is_examined:
            low, high = self.task.closer(self.kept)
            self.low, self.high = max(self.low, low), min(self.high, high)
            self.is_examined = True

    def found(self) -> Found:
        """What a search gives back."""
        low = max(self.low, 0.0)
        others = min(max(self.proven, self.in_doubt), self.ceiling)
        bound = min(max(others, self.high), self.ceiling)
        bound = low if bound <= low + SLACK else bound
        proven = others <= low + SLACK
        left = self.left
        if left is not None:
            left = replace(left, proven=min(self.proven, self.ceiling), in_doubt=self.in_doubt)
        return Found(self.kept, low, bound, self.evaluations, proven=proven, left=left)

    def _rank(self, kept: frozenset[int]) -> tuple[float, list[str]]:
        return self.task.terms.cost(kept), sorted(self.task.names[f] for f in kept)
