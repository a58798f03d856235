"""Branch and bound for naive Bayes classifiers of any number of features, with a certified gap at any moment.

Nodes are bounded on a grid of log-odds (`kernels/excluding.py`). Subsets that the grid cannot rule out are
examined more closely: between bounds on a finer grid, and exactly where that is affordable and needed.

A search that does not come to its end soon would leave a wide gap, since in depth-first search the first
decisions are changed last. Then an upper bound on all subsets at once is computed (`ceiling/`), which is
close where features are many and weak. After it less is tried to be proven: that no subset has less than a
tenth of the error that the best one known has, a fourth, a half, ... Every proof narrows the gap, and takes
longer than the one before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.workers import Workers
from unswayed.decisions.checkpoint import damaged
from unswayed.kernels.all_but_one import (
    FeatureSides,
    compiled_errors_but_one,
    compiled_errors_of,
    rooms_for,
)
from unswayed.kernels.excluding import GridTerms as KernelTerms, State, compiled_search, start
from unswayed.kernels.spreads import Grid
from unswayed.search.ceiling.cover import Spending, is_ceiling_ready, lower, open_ceiling
from unswayed.search.ceiling.spectra import opening_seconds
from unswayed.search.driver import search_in_slices
from unswayed.search.naive_bayes.branches import (
    GridBranch,
    GridFindings,
    GridShared,
    advance_search,
    branch_of,
    read_branch,
    run_grid_slice,
    take_findings,
)
from unswayed.search.naive_bayes.incumbent import BestOnGrid, GridTask
from unswayed.search.naive_bayes.start import good_subset, open_shop, search_order
from unswayed.search.task import SLACK, Found
from unswayed.search.task_search import SavedSearch

QUICK, PATIENT = 50_000, 20
"""Errors computed before less is tried to be proven, and how many times as many before a ceiling is lowered
over so few features that the optimum may be proven."""
SLICE = 10_000
"""Errors computed at a time: some 50 milliseconds."""
ALONE_SECONDS = 1.0
"""How long this process searches before others join."""
RUNGS = (0.1, 0.25, 0.5, 0.7, 0.85, 0.93)
"""Shares of the best known error that are tried to be proven a lower bound, one after the other."""
RESOLVED = 1e-10
"""Errors below this are not told from none: what is left of the gap is not worth a search."""
CEILING_SHARES = 0.5, 0.8
"""Shares of the time left that lowering the ceiling may take: among few features, and among many."""
CLOSE = 2e-4
"""A gap at which the ceiling is low enough."""
FEWEST_BOUNDED, MANY = 20, 48
"""Features from which on a ceiling is lowered, and from which on searches seldom prove the optimum before."""
QUICK_SHARE = 0.3
"""Share of the time that a search for the proven optimum may take before a ceiling is lowered."""
LONGEST_CEILING = 30.0
"""Seconds after which a ceiling hardly sinks any more."""
CEILING_COMPILES = 20.0
"""Seconds that must be left for a search to wait for the ceiling's loops."""
FIRST_SHARE = 0.2
"""Share of the time that looking for a subset to start with may take."""


@dataclass(frozen=True, slots=True, eq=False)
class _GridWalk:
    """A depth-first search, in progress."""

    shared: GridShared
    state: State
    order: Ints
    """Features of the grid, in the order of the search."""


@dataclass(frozen=True, slots=True, eq=False)
class _Proof:
    """A search for subsets with less error than the best one has, and less than a target."""

    best: BestOnGrid
    order: Ints
    target: float

    @property
    def value(self) -> float:
        """What subsets must be worth to be looked for."""
        return max(self.best.low, 1.0 - self.target)

    @property
    def limit(self) -> float:
        """The error on the grid that they must stay below."""
        return min(1.0 - self.best.low, self.target) + self.best.task.disagreement

    def call_for(self, branch: GridBranch, seconds: float) -> tuple[GridBranch, float, tuple[float, int]]:
        """What a slice is called with."""
        return branch, self.limit, (min(seconds, self.best.task.deadline - time.monotonic()), SLICE)

    def learn(self, findings: GridFindings) -> None:
        """Examine the subsets that a slice found, the most promising first."""
        best, task = self.best, self.best.task
        best.evaluations += findings.n_errors
        for row in np.argsort(findings.errors, kind="stable"):
            bound = 1.0 - float(findings.errors[row]) + task.disagreement
            if bound < best.low - SLACK:
                continue
            if time.monotonic() >= task.deadline:
                best.in_doubt = max(best.in_doubt, bound)
                continue
            kept = self.order[np.flatnonzero(findings.kept[row])]
            best.offer(frozenset(task.features[f] for f in kept))
            best.settle()

    def note(self, bound: float, left: list[GridBranch]) -> bool:
        """Take note of what is left and what bounds it; whether to go on."""
        best = self.best
        # When time is over, subsets that were found are not examined any more, so what is left lacks them.
        is_late = time.monotonic() >= best.task.deadline
        if left and (is_late or best.low >= 1.0 - RESOLVED):
            return False
        if self.target == math.inf:
            best.left = left
            best.proven = min(best.proven, bound)
        best.tell()
        if not is_late:
            best.keep(self.order)
        return True


def load_kernels(grid: Grid) -> None:
    """Load the compiled loops, which takes a second at first use, so that no search waits for them."""
    costs, some = np.ones(len(grid.centre)), np.arange(1)
    terms = _terms(costs, np.arange(len(costs)), 0.0, own_rule=False)
    compiled_search(grid, terms, start(grid, terms, 1), 0.0, 0)
    rooms, sides = rooms_for(grid), FeatureSides(some[:0], some[:0], some)
    compiled_errors_but_one(grid, sides, rooms, True)
    compiled_errors_of(grid, sides, rooms)


def are_kernels_ready() -> bool:
    """Whether the loops can be loaded and need not be compiled."""
    return compiled_search.is_ready and compiled_errors_but_one.is_ready and compiled_errors_of.is_ready


def search_by_dropping(task: GridTask, *, prove: bool = True) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out.

    Without `prove`, a good subset, and nothing known of others.
    """
    best = BestOnGrid(task)
    everything = frozenset(task.features)
    try:
        if task.terms.cost(everything) <= task.allowed:
            return _without_idle(task, everything)
        best.offer(frozenset())
        _search(task, best, prove=prove)
    except KeyboardInterrupt:
        best.stopped = True
    best.save()
    return best.found()


def _search(task: GridTask, best: BestOnGrid, *, prove: bool) -> None:
    if min(task.terms.costs.values()) > task.allowed:
        best.proven = -math.inf
    if best.low >= 1.0 - RESOLVED or best.proven < 0.0:
        best.settle()
        return
    if not _resume(task, best):
        shop = open_shop(task.grid, np.array([task.terms.costs[f] for f in task.features]), task.allowed)
        now = time.monotonic()
        kept = good_subset(shop, min(now + FIRST_SHARE * (task.deadline - now), now + 60.0))
        best.offer(frozenset(task.features[f] for f in kept))
        best.settle()
        best.tell()
        if not prove:
            return
        names = [task.names[f] for f in task.features]
        _prove(task, best, np.array(search_order(shop, kept, task.kinds, names), dtype=np.int64))
    for feature in sorted(best.kept, key=lambda f: (-task.terms.costs[f], task.names[f])):
        if time.monotonic() < task.deadline and feature in best.kept:
            best.offer(best.kept - {feature})


def _without_idle(task: GridTask, everything: frozenset[int]) -> Found:
    """All features but those that change nothing: the least missed at first look go first, until one is."""
    lost = {feature: round(1.0 - task.between(everything - {feature})[0], 12) for feature in everything}
    kept = everything
    for feature in sorted(everything, key=lambda f: (lost[f], -task.terms.costs[f], task.names[f])):
        if time.monotonic() >= task.deadline or task.closer(kept - {feature})[0] < 1.0 - SLACK:
            break
        kept = kept - {feature}
    return Found(kept, 1.0, 1.0, 1 + len(everything))


def _resume(task: GridTask, best: BestOnGrid) -> bool:
    """Go on with what the checkpoint holds; whether it holds anything."""
    saved = None if task.checkpoint is None else SavedSearch.find(task.checkpoint, task.name)
    if task.checkpoint is None or saved is None:
        return False
    try:
        order, branches, proven, in_doubt = saved.left
        left = [read_branch(branch) for branch in branches]
        best.offer(frozenset(saved.kept))
    except (TypeError, ValueError, KeyError) as error:
        raise damaged(task.checkpoint.path) from error
    best.evaluations += saved.evaluations
    best.proven, best.in_doubt = proven, -math.inf if in_doubt is None else in_doubt
    best.settle()
    # Lesser proofs are not saved, so going on with them would begin them anew each time.
    order = np.array(order, dtype=np.int64)
    if _share(task, _Proof(best, order, math.inf), _walk(task, order).shared, left):
        best.proven = -math.inf
    return True


def _prove(task: GridTask, best: BestOnGrid, order: Ints) -> None:
    """Search for a better subset, and for lesser proofs when that takes long."""
    walk, now = _walk(task, order), time.monotonic()
    n_errors = QUICK * (PATIENT if FEWEST_BOUNDED <= len(task.features) < MANY else 1)
    end = now + QUICK_SHARE * (task.deadline - now)
    if _go(task, best, walk, target=math.inf, n_errors=n_errors, end=end):
        best.proven = -math.inf
        return
    # Another process compiles the ceiling's loops; where there is time, the search goes on until they come.
    while _awaits_ceiling(task):
        if _go(task, best, walk, target=math.inf, end=time.monotonic() + ALONE_SECONDS):
            best.proven = -math.inf
            return
    best.left = [branch_of(walk.shared, walk.state)]
    best.proven = min(best.proven, best.left[0].ceiling)
    _lower_ceiling(task, best)
    for share in RUNGS:
        target = share * (1.0 - best.low)
        if 1.0 - target >= best.ceiling:
            continue
        if time.monotonic() >= task.deadline or not _go(task, best, _walk(task, order), target=target):
            break
        best.proven = min(best.proven, 1.0 - target)
    if _go(task, best, walk, target=math.inf):
        best.proven = -math.inf


def _has_ceiling(task: GridTask) -> bool:
    return task.laws is not None and len(task.features) >= FEWEST_BOUNDED


def _awaits_ceiling(task: GridTask) -> bool:
    now = time.monotonic()
    is_coming = not is_ceiling_ready() and now < task.compiles_at
    return _has_ceiling(task) and is_coming and now + CEILING_COMPILES < task.deadline


def _lower_ceiling(task: GridTask, best: BestOnGrid) -> None:
    """Bound all subsets at once, until the bound is close or its share of time is over."""
    is_ready = is_ceiling_ready() or time.monotonic() >= task.compiles_at
    if task.laws is None or not _has_ceiling(task) or not is_ready:
        return
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    now = time.monotonic()
    share = CEILING_SHARES[len(task.features) >= MANY]
    end = now + min(share * (task.deadline - now), LONGEST_CEILING)
    if now + opening_seconds(task.laws) >= end:
        return
    budget = Spending(np.array([task.terms.costs[f] for f in task.features]), task.allowed)
    # Sums over thousands of numbers take thrice as long where threads wait for each other.
    with threadpool_limits(limits=1):
        for bound in lower(open_ceiling(task.laws, budget)):
            best.ceiling = min(best.ceiling, bound)
            best.evaluations += 1
            best.tell()
            if best.ceiling <= best.low + CLOSE or time.monotonic() >= end:
                return


def bytes_needed(costs: Iterable[float], budget: float, width: int) -> float:
    """Memory for two searches at once, of which little is used at first."""
    ascending = np.sort(np.fromiter(costs, dtype=np.float64))
    n_kept = int(np.sum(np.cumsum(ascending) <= budget))
    return 2.0 * 16.0 * (n_kept + 1) * (len(ascending) + 1) * _room(width)


def _room(width: int) -> int:
    """Cells for a spread of some features, given those that a spread of all of them takes."""
    return width + width // 5 + 64


def _walk(task: GridTask, order: Ints) -> _GridWalk:
    costs = np.array([task.terms.costs[task.features[f]] for f in order])
    terms = _terms(costs, task.kinds[order], task.allowed, own_rule=task.own_rule)
    grid = _reordered(task.grid, order)
    longest = int(grid.number[grid.starts[1:] - 1].sum()) + 3
    shared = GridShared(grid, terms, min(longest, _room(task.width)), task.disagreement)
    return _GridWalk(shared, start(grid, terms, shared.n_cells), order)


def _terms(costs: Floats, kinds: Ints, budget: float, *, own_rule: bool) -> KernelTerms:
    return KernelTerms(
        costs=costs,
        rest=np.append(np.cumsum(costs[::-1])[::-1], 0.0),
        cheapest=np.append(np.minimum.accumulate(costs[::-1])[::-1], np.inf),
        alike=np.append(False, (np.diff(kinds) == 0) & (np.diff(costs) == 0)),
        budget=budget,
        own_rule=own_rule,
    )


def _go(
    task: GridTask,
    best: BestOnGrid,
    walk: _GridWalk,
    *,
    target: float,
    n_errors: float = math.inf,
    end: float = math.inf,
) -> bool:
    """Go on until the search is done, or time or the number of errors is over; return whether it is done.

    It begins in this process; where it takes long and others may help, they go on with what is left.
    """
    proof, state, began = _Proof(best, walk.order, target), walk.state, time.monotonic()
    n_before = int(state.now[4])
    done = False
    while not done and state.now[4] - n_before < n_errors and time.monotonic() < end:
        branch = branch_of(walk.shared, state)
        if not proof.note(branch.ceiling, [branch]):
            return False
        if not task.team.is_alone and time.monotonic() - began > ALONE_SECONDS and n_errors == math.inf:
            return _share(task, proof, walk.shared, [branch])
        counted = int(state.now[4])
        compiles = time.monotonic() >= task.compiles_at
        done = advance_search(walk.shared, state, proof.limit, SLICE, compiles=compiles)
        proof.learn(take_findings(state, counted))
    return done


def _share(task: GridTask, proof: _Proof, shared: GridShared, branches: list[GridBranch]) -> bool:
    """Go on with all that may help; whether the search is done."""
    with Workers[GridBranch](task.team, run_grid_slice, uuid4().hex, shared) as workers:
        return search_in_slices(proof, branches, workers)


def _reordered(grid: Grid, order: Ints) -> Grid:
    """The grid with its features in another order."""
    values = np.concatenate([np.arange(grid.starts[f], grid.starts[f + 1]) for f in order])
    return grid._replace(
        starts=np.append(0, np.cumsum(np.diff(grid.starts)[order])),
        number=grid.number[values],
        upper=grid.upper[values],
        lower=grid.lower[values],
        endless=grid.endless[order],
        centre=grid.centre[order],
        radius=grid.radius[order],
    )
