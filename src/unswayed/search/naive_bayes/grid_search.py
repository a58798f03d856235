"""Branch and bound for naive Bayes classifiers of any number of features, with a certified gap at any moment.

Nodes are bounded on a grid of log-odds (`kernels/excluding.py`). Subsets that the grid cannot rule out are
examined more closely: between bounds on a finer grid, and exactly where that is affordable and needed.

A search that does not come to its end soon would leave a wide gap, since in depth-first search the first
decisions are changed last. So less is tried to be proven then: that no subset has less than a tenth of the
error that the best one known has, a fourth, a half, ... Every proof narrows the gap, and takes longer than
the one before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.numerics import spendable
from unswayed.kernels.excluding import GridTerms as KernelTerms, State, compiled_search, open_error, start
from unswayed.kernels.spreads import Grid
from unswayed.search.naive_bayes.start import errors_without, good_subset, open_shop, search_order
from unswayed.search.options import Report
from unswayed.search.task import SLACK, Found, Terms

QUICK = 50_000
"""Errors computed before less is tried to be proven."""
SLICE = 10_000
"""Errors computed at a time: some 50 milliseconds."""
RUNGS = (0.1, 0.25, 0.5, 0.7, 0.85, 0.93)
"""Shares of the best known error that are tried to be proven a lower bound, one after the other."""
RESOLVED = 1e-10
"""Errors below this are not told from none: what is left of the gap is not worth a search."""
FIRST_SHARE = 0.2
"""Share of the time that looking for a subset to start with may take."""


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
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to stop."""
    report: Report | None = None
    """Told of progress."""

    @property
    def allowed(self) -> float:
        """The budget, rounding allowed for."""
        return spendable(self.terms.budget)


@dataclass(slots=True)
class _BestOnGrid:
    """The best subset so far, and what is known of the others."""

    task: GridTask
    kept: frozenset[int] = frozenset()
    low: float = -math.inf
    """What it is worth for certain,"""
    high: float = -math.inf
    """and at most."""
    proven: float = 1.0
    """Upper bound on every subset not yet evaluated."""
    in_doubt: float = -math.inf
    """Upper bounds on the subsets examined that may be better."""
    evaluations: int = 0
    stopped: bool = False
    settled: bool = False
    """Whether the best subset was examined more closely."""
    _told: float = 0.0

    def offer(self, kept: frozenset[int]) -> None:
        """Take a subset if it is better than the one held: worth more, or as much for less."""
        self.evaluations += 1
        low, high = self.task.between(kept)
        if high < self.low - SLACK or (kept == self.kept and self.settled):
            return
        if low < self.high + SLACK:
            self.settle()
            low, high = self.task.closer(kept)
        better = low > self.low + SLACK
        if better or (low > self.low - SLACK and self._rank(kept) < self._rank(self.kept)):
            self.in_doubt = max(self.in_doubt, self.high)
            self.kept, self.low, self.high = kept, max(low, self.low), max(high, self.low)
            self.settled = low == high
        else:
            self.in_doubt = max(self.in_doubt, high)

    def settle(self) -> None:
        """Know the value of the best subset as well as can be."""
        if not self.settled:
            self.settled = True
            low, high = self.task.closer(self.kept)
            self.low, self.high = max(self.low, low), min(self.high, high)

    def found(self) -> Found:
        """What a search gives back."""
        low, others = max(self.low, 0.0), max(self.proven, self.in_doubt)
        bound = min(max(others, self.high), 1.0)
        bound = low if bound <= low + SLACK else bound
        proven = others <= low + SLACK
        return Found(self.kept, low, bound, self.evaluations, self.stopped, proven)

    def tell(self) -> None:
        """Report progress, a few times a second at most."""
        now = time.monotonic()
        if self.task.report is not None and now - self._told > 0.1:
            self._told = now
            self.task.report(self.low, max(self.proven, self.low), self.evaluations)

    def _rank(self, kept: frozenset[int]) -> tuple[float, list[str]]:
        return self.task.terms.cost(kept), sorted(self.task.names[f] for f in kept)


@dataclass(frozen=True, slots=True, eq=False)
class _GridWalk:
    """A depth-first search, in progress."""

    grid: Grid
    terms: KernelTerms
    state: State
    features: tuple[int, ...]
    """Positions of the features, in the order of the search."""


def load_kernels(grid: Grid) -> None:
    """Load the compiled loops, which takes a second at first use, so that no search waits for them."""
    shop = open_shop(grid, np.ones(len(grid.centre)), 0.0)
    errors_without(shop, {0})
    terms = _terms(shop.costs, np.arange(len(shop.costs)), 0.0, own_rule=False)
    compiled_search(grid, terms, start(grid, terms, 1), 0.0, 0)


def search_by_dropping(task: GridTask, *, prove: bool = True) -> Found:
    """The best subset within the budget, proven, or the best so far with its bound when time runs out.

    Without `prove`, a good subset, and nothing known of others.
    """
    best = _BestOnGrid(task)
    everything = frozenset(task.features)
    if task.terms.cost(everything) <= task.allowed:
        return Found(everything, 1.0, 1.0, 1)
    try:
        best.offer(frozenset())
        _search(task, best, prove=prove)
    except KeyboardInterrupt:
        best.stopped = True
    return best.found()


def _search(task: GridTask, best: _BestOnGrid, *, prove: bool) -> None:
    if min(task.terms.costs.values()) > task.allowed:
        best.proven = -math.inf
    if best.low >= 1.0 - RESOLVED or best.proven < 0.0:
        best.settle()
        return
    shop = open_shop(task.grid, np.array([task.terms.costs[f] for f in task.features]), task.allowed)
    now = time.monotonic()
    kept = good_subset(shop, min(now + FIRST_SHARE * (task.deadline - now), now + 60.0))
    best.offer(frozenset(task.features[f] for f in kept))
    best.settle()
    best.tell()
    if not prove:
        return
    names = [task.names[f] for f in task.features]
    order = np.array(search_order(shop, kept, task.kinds, names), dtype=np.int64)
    _prove(task, best, order)
    for feature in sorted(best.kept, key=lambda f: (-task.terms.costs[f], task.names[f])):
        if time.monotonic() < task.deadline and feature in best.kept:
            best.offer(best.kept - {feature})


def _prove(task: GridTask, best: _BestOnGrid, order: Ints) -> None:
    """Search for a better subset, and for lesser proofs when that takes long."""
    walk = _walk(task, order)
    if _go(task, best, walk, target=math.inf, n_errors=QUICK):
        best.proven = -math.inf
        return
    best.proven = min(best.proven, _open_bound(task, walk))
    for share in RUNGS:
        target = share * (1.0 - best.low)
        if time.monotonic() >= task.deadline or not _go(task, best, _walk(task, order), target=target):
            break
        best.proven = min(best.proven, 1.0 - target)
    if _go(task, best, walk, target=math.inf):
        best.proven = -math.inf
    best.proven = min(best.proven, _open_bound(task, walk))


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
    state = start(grid, terms, min(longest, _room(task.width)))
    return _GridWalk(grid, terms, state, tuple(task.features[f] for f in order))


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
    task: GridTask, best: _BestOnGrid, walk: _GridWalk, *, target: float, n_errors: float = math.inf
) -> bool:
    """Go on until the search is done, or time or the number of errors is over; return whether it is done.

    Subsets are looked for that have less error than the best one has, and less than the target.
    """
    search = compiled_search
    before = int(walk.state.now[4])
    done = False
    while not done and walk.state.now[4] - before < n_errors and time.monotonic() < task.deadline:
        if best.low >= 1.0 - RESOLVED:
            return False
        limit = min(1.0 - best.low, target) + task.disagreement
        counted = int(walk.state.now[4])
        done = search(walk.grid, walk.terms, walk.state, limit, SLICE)
        best.evaluations += int(walk.state.now[4]) - counted
        _look_closer(task, best, walk)
        best.tell()
    return done


def _look_closer(task: GridTask, best: _BestOnGrid, walk: _GridWalk) -> None:
    """Look at the subsets found, the most promising first."""
    n_found = int(walk.state.now[3])
    errors = walk.state.found_errors[:n_found]
    for row in np.argsort(errors, kind="stable"):
        bound = 1.0 - float(errors[row]) + task.disagreement
        if bound < best.low - SLACK:
            continue
        if time.monotonic() >= task.deadline:
            best.in_doubt = max(best.in_doubt, bound)
            continue
        kept = np.flatnonzero(walk.state.found[row])
        best.offer(frozenset(walk.features[f] for f in kept))
        best.settle()
    walk.state.now[3] = 0


def _open_bound(task: GridTask, walk: _GridWalk) -> float:
    """Upper bound on every subset that the search has not visited yet."""
    return 1.0 - open_error(walk.terms, walk.state) + task.disagreement


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
