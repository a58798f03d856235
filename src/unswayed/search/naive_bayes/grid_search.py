"""Branch and bound for naive Bayes classifiers of any number of features, with a certified gap at any moment.

Nodes are bounded on a grid of log-odds (`kernels/grid_search.py`). Subsets that the grid cannot rule out are
examined more closely: between bounds on a finer grid, and exactly where that is affordable and needed.

A search that does not come to its end soon would leave a wide gap, since in depth-first search the first
decisions are changed last. Then an upper bound on all subsets at once is computed (`ceiling/`), which is
close where features are many and weak. After it less is tried to be proven: that no subset has less than a
tenth of the error that the best one known has, a fourth, a half, ... Every proof narrows the gap, and takes
longer than the one before.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import numpy as np

from unswayed.core.anytime import reserve, settle, tick, units_left
from unswayed.core.arrays import Floats, Ints
from unswayed.core.parallel import Workers
from unswayed.kernels.grid_search import (
    UNITS_PER_ERROR,
    GridTerms as KernelTerms,
    State,
    compiled_search,
    start,
)
from unswayed.kernels.sum_distributions import Grid
from unswayed.search.ceiling.cover import Spendable, lower, open_ceiling
from unswayed.search.ceiling.spectra import opening_units
from unswayed.search.driver import SavedSearch, Steps, find_search, search_in_slices
from unswayed.search.naive_bayes.incumbent import (
    BestOnGrid,
    GridBranch,
    GridFindings,
    GridLeft,
    GridShared,
    GridTask,
    branch_of,
    read_left,
    run_grid_slice,
    take_findings,
)
from unswayed.search.naive_bayes.start import Shop, good_subsets, most_telling, open_shop, search_order
from unswayed.search.task import SLACK, Found

QUICK, PATIENT = 50_000, 20
"""Errors computed before less is tried to be proven, and how many times as many before a ceiling is lowered
over so few features that the optimum may be proven."""
SLICE = 625
"""Errors computed in a step: 2.5 ms, or .2 s where the loop is plain."""
EXAMINING_UNITS = 5e3
"""What a closer look at one subset takes: a millisecond or two at first, some ten times that where needed."""
ALONE_ERRORS = 250_000
"""Errors that this process computes before others join: a second."""
RUNGS = (0.1, 0.25, 0.5, 0.7, 0.85, 0.93)
"""Shares of the best known error that are tried to be proven a lower bound, one after the other."""
RESOLVED = 1e-10
"""Errors below this are not told from none: what is left of the gap is not worth a search."""
CEILING_SHARES = 0.5, 0.8
"""Shares of what is left that lowering the ceiling may take: among few features, and among many."""
CLOSE = 2e-4
"""A gap at which the ceiling is low enough."""
FEWEST_BOUNDED, MANY = 20, 48
"""Features from which on a ceiling is lowered, and from which on searches seldom prove the optimum before."""
QUICK_SHARE = 0.3
"""Share of what is left that a search for the proven optimum may take before a ceiling is lowered."""
LONGEST_CEILING, UNITS_PER_WAVE = 3e7, 0.65
"""Units after which a ceiling hardly sinks any more; measured for a cell, a frequency and a feature of it."""
HASTE_UNITS = 1e6
"""What must be left, or the features that tell most are taken at once."""
FIRST_SHARE = 0.2
"""Share of what is left that looking for a subset to start with may take."""


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

    @property
    def has_enough(self) -> bool:
        """Whether what is left of the gap is not worth a search."""
        return self.best.low >= 1.0 - RESOLVED

    def call_for(self, branch: GridBranch) -> tuple[GridBranch, float, int]:
        """What a slice is called with."""
        return branch, self.limit, SLICE

    def learn(self, findings: GridFindings) -> Iterator[None]:
        """Examine the subsets that a slice found, the most promising first.

        Between two of them the bound is that of before the slice, which holds for those not yet examined.
        """
        best, task = self.best, self.best.task
        best.evaluations += findings.n_errors
        for number, row in enumerate(np.argsort(findings.errors, kind="stable")):
            if 1.0 - float(findings.errors[row]) + task.disagreement < best.low - SLACK:
                continue
            if number > 0:
                yield
            tick(EXAMINING_UNITS, "the search")
            best.offer(task.positions(self.order[np.flatnonzero(findings.kept[row])]))
            best.examine()

    def note(self, bound: float, left: list[GridBranch]) -> None:
        """Take note of what is left and what bounds it; lesser proofs leave nothing to go on with."""
        if self.target == math.inf:
            self.best.proven = min(self.best.proven, bound)
            self.best.left = GridLeft(self.best.task.name, self.order, tuple(left), 1.0, -math.inf)


def search_by_dropping(task: GridTask, *, prove: bool = True) -> Iterator[Found]:
    """The best subset so far with its bound; at the end it is proven.

    Without `prove`, a good subset, and nothing known of others.
    """
    everything = frozenset(task.features)
    if task.terms.cost(everything) <= task.allowed:
        yield from _without_idle(task, everything)
        return
    best = BestOnGrid(task)
    in_haste = units_left() < HASTE_UNITS
    with reserve():  # the first state comes in any case
        best.offer(frozenset())
        if in_haste:
            best.offer(task.positions(most_telling(_open_shop(task))))
        left = _resume(task, best)
    if left is None:
        yield best.found()
    for _ in _search(task, best, left, prove=prove):
        yield best.found()
    yield best.found()


def _search(task: GridTask, best: BestOnGrid, left: GridLeft | None, *, prove: bool) -> Iterator[None]:
    if min(task.terms.costs.values()) > task.allowed:
        best.proven = -math.inf
    if best.low >= 1.0 - RESOLVED or best.proven < 0.0:
        best.examine()
        return
    if left is not None:
        # Lesser proofs are not saved, so going on with them would begin them anew each time.
        proof = _Proof(best, left.order, math.inf)
        if (yield from _share(task, proof, _walk(task, left.order).shared, list(left.branches))):
            best.proven = -math.inf
    else:
        order = yield from _begin(task, best)
        if not prove:
            return
        yield from _prove(task, best, order)
    for feature in sorted(best.kept, key=lambda f: (-task.terms.costs[f], task.names[f])):
        if feature in best.kept:
            tick(EXAMINING_UNITS, "the search")
            best.offer(best.kept - {feature})
            yield


def _without_idle(task: GridTask, everything: frozenset[int]) -> Iterator[Found]:
    """All features but those that change nothing: the least missed at first look go first, until one is."""
    n_looked = 1 + len(everything)
    yield Found(everything, 1.0, 1.0, n_looked)
    lost = {}
    for feature in everything:
        tick(EXAMINING_UNITS, "the search")
        lost[feature] = round(1.0 - task.between(everything - {feature})[0], 12)
    kept = everything
    for feature in sorted(everything, key=lambda f: (lost[f], -task.terms.costs[f], task.names[f])):
        tick(EXAMINING_UNITS, "the search")
        if task.closer(kept - {feature})[0] < 1.0 - SLACK:
            return
        kept = kept - {feature}
        yield Found(kept, 1.0, 1.0, n_looked)


def _resume(task: GridTask, best: BestOnGrid) -> GridLeft | None:
    """What an earlier search left in the checkpoint, with what it knew; None where it has nothing."""

    def take_up(saved: SavedSearch) -> GridLeft:
        left = read_left(task.name, saved.left)
        best.offer(frozenset(saved.kept))
        best.evaluations += saved.evaluations
        best.proven, best.in_doubt, best.left = left.proven, left.in_doubt, left
        best.examine()
        return left

    return find_search(task.checkpoint, task.name, take_up)


def _begin(task: GridTask, best: BestOnGrid) -> Generator[None, None, Ints]:
    """Find a good subset, and the order in which a search for a better one decides features."""
    shop = _open_shop(task)
    begun = settle(good_subsets(shop), share=FIRST_SHARE, heeds_interrupts=True)
    best.offer(task.positions(begun.last))
    best.examine()
    yield
    if begun.interrupted:
        raise KeyboardInterrupt
    names = [task.names[f] for f in task.features]
    return np.array(search_order(shop, begun.last, task.kinds, names), dtype=np.int64)


def _open_shop(task: GridTask) -> Shop:
    return open_shop(task.grid, np.array([task.terms.costs[f] for f in task.features]), task.allowed)


def _prove(task: GridTask, best: BestOnGrid, order: Ints) -> Iterator[None]:
    """Search for a better subset, and for lesser proofs when that takes long."""
    walk = _walk(task, order)
    n_errors = QUICK * (PATIENT if FEWEST_BOUNDED <= len(task.features) < MANY else 1)
    if (yield from _go(task, best, walk, target=math.inf, n_errors=n_errors, share=QUICK_SHARE)):
        best.proven = -math.inf
    if best.proven < 0.0 or best.low >= 1.0 - RESOLVED:
        return
    yield from _lower_ceiling(task, best)
    for share in RUNGS:
        target = share * (1.0 - best.low)
        if 1.0 - target >= best.ceiling:
            continue
        if not (yield from _go(task, best, _walk(task, order), target=target)):
            break
        best.proven = min(best.proven, 1.0 - target)
        yield
    if (yield from _go(task, best, walk, target=math.inf)):
        best.proven = -math.inf


def _lower_ceiling(task: GridTask, best: BestOnGrid) -> Iterator[None]:
    """Bound all subsets at once, until the bound is close or its share is spent."""
    if task.laws is None or len(task.features) < FEWEST_BOUNDED:
        return
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    most = min(CEILING_SHARES[len(task.features) >= MANY] * units_left(), LONGEST_CEILING)
    least_left, opening = units_left() - most, opening_units(task.laws)
    if opening >= most:
        return
    budget = Spendable(np.array([task.terms.costs[f] for f in task.features]), task.allowed)
    # Sums over thousands of numbers take thrice as long where threads wait for each other.
    with threadpool_limits(limits=1):
        ceiling = open_ceiling(task.laws, budget)
        units = UNITS_PER_WAVE * ceiling.spectra.n_near * len(task.features)
        for bound in lower(ceiling):
            best.ceiling = min(best.ceiling, bound)
            best.evaluations += 1
            yield
            if best.ceiling <= best.low + CLOSE or units_left() <= least_left:
                return
            tick(units, "the ceiling")


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
    share: float = 1.0,
) -> Steps:
    """Go on until the search is done, or so many errors are computed, or a share of what is left is spent.

    It begins in this process; where it takes long and others may help, they go on with what is left.
    """
    proof, state = _Proof(best, walk.order, target), walk.state
    n_before, least_left = int(state.now[4]), (1.0 - share) * units_left() if share < 1.0 else -math.inf
    done = False
    while not done:
        branch = branch_of(walk.shared, state)
        proof.note(branch.ceiling, [branch])
        yield
        counted = int(state.now[4])
        if proof.has_enough or counted - n_before >= n_errors or units_left() <= least_left:
            return False
        if not task.team.is_serial and counted - n_before > ALONE_ERRORS and n_errors == math.inf:
            return (yield from _share(task, proof, walk.shared, [branch]))
        tick(SLICE * UNITS_PER_ERROR, "the search")
        done = compiled_search(walk.shared.grid, walk.shared.terms, state, proof.limit, SLICE)
        yield from proof.learn(take_findings(state, counted))
    return True


def _share(task: GridTask, proof: _Proof, shared: GridShared, branches: list[GridBranch]) -> Steps:
    """Go on with all that may help; whether the search is done."""
    with Workers[GridBranch](task.team, run_grid_slice, uuid4().hex, shared) as workers:
        return (yield from search_in_slices(proof, branches, workers))


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
