"""The cheapest reasons where no table holds all subsets: asked of an engine, one subset after another.

A reason is found first: findings in the order of their weights, as few of them as reach the level, and of
these whatever can be left out again. Then comes the proof that nothing is cheaper. At level 1 a subset of an
insufficient set is insufficient, so every reason must hit what such a set leaves out; the cheapest set that
hits all that is known so far is either a reason, and then a cheapest one, or grows into another set to be
hit [ignatiev2019]. Below level 1 nothing of the kind holds, and subsets are tried from the cheapest up.
Either way the work can be stopped at any time, with the best reason so far and a bound on how cheap one
could be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import settle, tick
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.reasons.case import (
    ExplainedDecision,
    FoundReasons,
    SufficientSet,
    cost_of,
    fails,
    reaches,
)
from unswayed.reasons.flips import subsets_by_cost

MOST_REFUSALS = 10
"""Subsets whose SDP no engine knows, after which the search gives up."""
Sdp = Callable[[frozenset[int]], Interval]
"""From a subset of the findings to its same-decision probability."""
Watch = Callable[[float, float, int], None]
"""Called now and then with the cost of the best reason, the bound on any cost, and the subsets evaluated."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a search may do."""

    evaluations: int = 600
    """Subsets whose SDP may be computed."""
    ties: int = 200
    """Of these, subsets of the same cost as the best, once nothing cheaper is left."""
    watch: Watch | None = None
    """Called with progress."""


@dataclass(slots=True)
class ReasonSearch:
    """A search under way: what was evaluated, and the reasons found so far."""

    explained: ExplainedDecision
    sdp: Sdp
    costs: dict[int, float]
    level: float
    effort: Effort
    bound: float = 0.0
    """No reason costs less."""
    best: float = math.inf
    """Cost of the cheapest reasons found."""
    known: dict[frozenset[int], Interval] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    """Why engines did not know the SDP of some subsets."""
    complete: bool = False
    """Whether every subset of the best cost was tried."""

    def sufficient(self, subset: frozenset[int]) -> bool:
        """Whether a subset is known to be a reason, after evaluating it."""
        return reaches(self.evaluate(subset), self.level)

    def evaluate(self, subset: frozenset[int]) -> Interval:
        """SDP of a subset, computed once."""
        if subset not in self.known:
            if len(self.known) >= self.effort.evaluations:
                raise LimitError(f"the search ends after {len(self.known)} subsets")
            tick(what="the search for reasons")
            self.known[subset] = self._asked(subset)
            if reaches(self.known[subset], self.level):
                self.best = min(self.best, self.cost(subset))
            if self.effort.watch is not None:
                self.effort.watch(self.best, self.bound, len(self.known))
        return self.known[subset]

    def _asked(self, subset: frozenset[int]) -> Interval:
        """SDP of a subset; where no engine knows it, anything between 0 and 1, and in the end a stop."""
        try:
            return self.sdp(subset)
        except LimitError as error:
            self.refusals.append(str(error))
            if len(self.refusals) > MOST_REFUSALS:
                raise
            return Interval(0.0, 1.0, Certainty.BOUND)

    def cost(self, subset: frozenset[int]) -> float:
        """What findings cost together."""
        return cost_of(tuple(subset), self.costs)

    def not_cheaper(self, cost: float) -> bool:
        """Whether a cost is at least that of the best reason, rounding allowed for."""
        return cost >= self.best * (1 - 1e-12)


def search_reasons(
    explained: ExplainedDecision,
    sdp: Sdp,
    costs: dict[int, float],
    level: float,
    most: int,
    *,
    promise: Mapping[int, float],
    effort: Effort,
    fewest: Callable[[int], int] | None = None,
    known: dict[frozenset[int], Interval] | None = None,
) -> FoundReasons:
    """The cheapest reasons found, with what is proven.

    `promise` says which findings a cheapest reason may hold, and which of them to try first; `fewest` gives a
    number of findings, up to the one it is called with, that no reason falls short of. What is evaluated is
    added to `known`. Ctrl-C ends the search with the best so far.
    """
    search = ReasonSearch(explained, sdp, costs, level, effort, known={} if known is None else known)
    order = sorted(promise, key=lambda v: -promise[v] / costs[v])
    settle(_improve(search, order, fewest), heeds_interrupts=True)
    return _found(search, most)


def _improve(
    search: ReasonSearch, order: Sequence[int], fewest: Callable[[int], int] | None
) -> Iterator[ReasonSearch]:
    """The search after each stage; it is as good an answer as any at each evaluation between them."""
    yield search
    find_reason(search, order)
    yield search
    least = 0 if fewest is None else fewest(_affordable(search, order))
    search.bound = cost_of(sorted(order, key=search.costs.__getitem__)[:least], search.costs)
    yield search
    if search.level >= 1.0:
        prove_by_hitting(search)
    else:
        prove_from_cheapest(search, order, least)
    yield search


def find_reason(search: ReasonSearch, order: Sequence[int]) -> None:
    """A reason without a part that can be left out, by bisection over the order and one pass of removals."""
    everything = frozenset(search.explained.findings)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if search.sufficient(frozenset(order[:middle])):
            high = middle
        else:
            low = middle + 1
    chosen = frozenset(order[:high])
    if not search.sufficient(chosen):
        if not search.sufficient(everything):
            return
        chosen = everything
    for finding in reversed(order):
        if finding in chosen and search.sufficient(chosen - {finding}):
            chosen -= {finding}


def _affordable(search: ReasonSearch, findings: Sequence[int]) -> int:
    """How many findings cost no more together than the best reason."""
    totals = np.cumsum(sorted(search.costs[v] for v in findings))
    return int((totals <= search.best * (1 + 1e-12)).sum())


def prove_from_cheapest(search: ReasonSearch, findings: Sequence[int], fewest: int) -> None:
    """Evaluate subsets of at least `fewest` findings from the cheapest up, through all of the best's cost."""
    if fewest == 0:
        search.evaluate(frozenset())
    ties = 0
    for cost, members in subsets_by_cost([search.costs[v] for v in findings], max(fewest, 1)):
        if search.best < cost * (1 - 1e-12):
            break
        search.bound = min(max(cost, search.bound), search.best)
        ties += search.not_cheaper(cost)
        if ties > search.effort.ties:
            return
        search.evaluate(frozenset(findings[i] for i in members))
    search.bound, search.complete = search.best, True


def prove_by_hitting(search: ReasonSearch) -> None:
    """Find cheapest sets that hit what every reason must hit, until one of them is a reason."""
    findings = frozenset(search.explained.findings)
    if not search.sufficient(findings):
        search.bound = math.inf
        return
    to_hit: list[frozenset[int]] = []
    while True:
        candidate = cheapest_hitting_set(to_hit, search.explained.findings, search.costs)
        search.bound = max(search.bound, search.cost(candidate))
        if search.not_cheaper(search.bound):
            search.bound = search.best
            return
        # Where the interval holds the level, nothing is known of larger sets either, and the proof ends.
        if not fails(search.evaluate(candidate), search.level):
            return
        to_hit.append(findings - _grown(search, candidate))


def _grown(search: ReasonSearch, insufficient: frozenset[int]) -> frozenset[int]:
    """A largest insufficient set around one: findings added while it stays insufficient."""
    for finding in sorted(search.explained.findings, key=lambda v: search.costs[v]):
        if finding not in insufficient and fails(search.evaluate(insufficient | {finding}), search.level):
            insufficient |= {finding}
    return insufficient


def cheapest_hitting_set(
    to_hit: Sequence[frozenset[int]], findings: Sequence[int], costs: dict[int, float]
) -> frozenset[int]:
    """A set of findings of lowest cost that shares one with each of the given sets.

    >>> sorted(cheapest_hitting_set([frozenset({1, 2}), frozenset({2, 3})], (1, 2, 3), {1: 1, 2: 1, 3: 1}))
    [2]
    """
    if not to_hit:
        return frozenset()
    from scipy.optimize import Bounds, LinearConstraint, milp

    hits: Floats = np.array([[float(v in each) for v in findings] for each in to_hit])
    solved = milp(
        [costs[v] for v in findings],
        integrality=np.ones(len(findings)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(hits, lb=1.0),
        options={"mip_rel_gap": 0.0},
    )
    return frozenset(v for v, taken in zip(findings, solved.x, strict=True) if taken > 0.5)


def _found(search: ReasonSearch, most: int) -> FoundReasons:
    """What the search has come to; ties by higher SDP, then by names."""
    variables = search.explained.network.variables
    entries = [
        SufficientSet(
            tuple(v for v in search.explained.findings if v in subset), interval, search.cost(subset)
        )
        for subset, interval in search.known.items()
    ]
    entries.sort(key=lambda one: (-round(one.sdp.low, 12), sorted(variables[v].name for v in one.findings)))
    reasons = [
        one for one in entries if reaches(one.sdp, search.level) and one.cost <= search.best * (1 + 1e-12)
    ]
    # A subset whose interval holds the level may yet be a reason.
    open_costs = [
        one.cost for one in entries if not reaches(one.sdp, search.level) and not fails(one.sdp, search.level)
    ]
    bound = min([search.bound, *open_costs])
    return FoundReasons(
        tuple(reasons[:most]),
        bound,
        proven=bound >= search.best * (1 - 1e-12),
        cut=bool(reasons) and (len(reasons) > most or not search.complete),
        in_every=_in_every(search),
        evaluations=len(search.known),
        refusal=search.refusals[0] if search.refusals else "",
    )


def _in_every(search: ReasonSearch) -> frozenset[int] | None:
    """Findings without which the level is not reached, where that is known: at level 1, or with all tried."""
    if search.level < 1.0:
        return None
    findings = frozenset(search.explained.findings)
    without = {v: search.known.get(findings - {v}) for v in findings}
    if any(each is None for each in without.values()):
        return None
    return frozenset(v for v, each in without.items() if each is not None and fails(each, search.level))
