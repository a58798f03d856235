"""Slices of a search on a grid: what is left of it, which can be sent and saved, and how a slice goes on."""

from __future__ import annotations

import time
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


def advance_search(
    shared: GridShared, state: State, limit: float, n_errors: int, *, compiles: bool = False
) -> bool:
    """Go on with a search; whether all is done. Without compiled code, fewer errors take as long."""
    if compiles or compiled_search.is_ready:
        return compiled_search(shared.grid, shared.terms, state, limit, n_errors)
    return compiled_search.plain(shared.grid, shared.terms, state, limit, max(n_errors // SLOWER, 1))


def run_grid_slice(
    shared: GridShared, branch: GridBranch, limit: float, work: tuple[float, int]
) -> SliceOutcome:
    """Search a branch for so many seconds, reading the clock after so many errors."""
    seconds, n_errors = work
    began = time.monotonic()
    left = (branch.stages, branch.bounds, branch.first)
    state = resume(shared.grid, shared.terms, shared.n_cells, left)
    is_over = advance_search(shared, state, limit, n_errors)
    while not is_over and state.now[3] < MOST_FOUND and time.monotonic() - began < seconds:
        is_over = advance_search(shared, state, limit, n_errors)
    return SliceOutcome(take_findings(state, 0), None if is_over else branch_of(shared, state))
