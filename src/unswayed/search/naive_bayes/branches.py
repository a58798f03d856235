"""Slices of a search on a grid: what is left of it, which can be sent and saved, and how a slice goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.kernels.excluding import (
    DROPPED,
    GIVEN,
    MOST_FOUND,
    GridTerms,
    State,
    compiled_search,
    open_errors,
    resume,
)
from unswayed.kernels.spreads import Grid
from unswayed.search.driver import SliceOutcome

SLOWER = 64
"""How many times longer an error takes where the loops are not compiled: 20 to 60 features."""
UNITS_PER_ERROR = 4.0
"""What an error takes: measured 3.4 to 4.2 microseconds at 30 to 100 features."""
STEPS_PER_SLICE = 5
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


def count_errors(n_errors: int, *, compiles: bool = False) -> int:
    """How many errors a step computes; without compiled code, fewer take as long."""
    return n_errors if compiles or compiled_search.is_ready else max(n_errors // SLOWER, 1)


def advance_search(
    shared: GridShared, state: State, limit: float, n_errors: int, *, compiles: bool = False
) -> bool:
    """Go on with a search for so many errors; whether all is done."""
    search = compiled_search if compiles or compiled_search.is_ready else compiled_search.plain
    return search(shared.grid, shared.terms, state, limit, n_errors)


def run_grid_slice(shared: GridShared, branch: GridBranch, limit: float, n_errors: int) -> SliceOutcome:
    """Search a branch for some steps of so many errors, or until many subsets are found."""
    begun = (branch.stages, branch.bounds, branch.first)
    state = resume(shared.grid, shared.terms, shared.n_cells, begun)
    is_over, n_steps = False, 0
    while not is_over and n_steps < STEPS_PER_SLICE and state.now[3] < MOST_FOUND:
        is_over = advance_search(shared, state, limit, count_errors(n_errors))
        n_steps += 1
    findings, left = take_findings(state, 0), None if is_over else branch_of(shared, state)
    return SliceOutcome(findings, left, UNITS_PER_ERROR * findings.n_errors)
