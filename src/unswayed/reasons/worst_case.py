"""The worst that forgotten findings can do, in dependent features: reasons at level 1 and flips without a
table.

With two classes and nothing hidden beside the target, only the tables that mention the target tell the
classes apart. The log-odds are a sum of their log-ratios,

    log-odds(x) = sum over families with the target of  log Pr(family, decided class) - log Pr(family, other),

and an elimination with minima in place of sums finds the lowest that any completion of a subset leads to.
The subset is a reason at level 1 when even that passes the cut. One plan serves all subsets: a finding that
is known forbids the other states of its variable.

For flips, every change of a finding is given a price, and the same elimination finds what loses most after
paying. A set of changes that turns the decision must touch every reason at level 1, and a smallest set that
touches all of them turns it [ignatiev2020]: so the smallest flips come from the same oracle, by the hitting
sets of `search.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.anytime import check_bytes, settle
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.inference.contraction import LogMax, run, run_keeping
from unswayed.inference.plan import Plan, Scope, make_plan
from unswayed.inference.relevance import ancestors_of
from unswayed.inference.tracing import trace_back
from unswayed.model.cpt import Cpt
from unswayed.reasons.case import ALMOST_ONE, ExplainedDecision, cost_of
from unswayed.reasons.search import cheapest_hitting_set

MOST_PRICES = 40
"""Prices of a change that are tried for a smallest flip."""
MOST_ROUNDS = 40
"""Hitting sets that are tried where prices leave a gap."""
ROUNDING = 1e-9
"""What rounding may add to a sum of losses."""


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """Knows how far the log-odds for the decision can fall when findings are forgotten."""

    explained: ExplainedDecision
    cut: float
    """Log-odds from which the decision is taken."""
    plan: Plan = field(repr=False)
    losses: tuple[Floats, ...] = field(repr=False)
    """Negative log-ratios of the families with the target; in the plan, a table for each variable follows."""
    variables: tuple[int, ...]
    """Variables of those tables: which of their states are allowed."""

    def lowest(self, subset: frozenset[int]) -> float:
        """The lowest log-odds for the decision of any completion of the subset."""
        leaves = [*self.losses, *(self._allowed(v, subset) for v in self.variables)]
        return -float(run(self.plan, leaves, LogMax()))

    def is_certain(self, subset: frozenset[int]) -> bool:
        """Whether no completion of the subset turns the decision."""
        return self.lowest(subset) >= self.cut

    def sdp(self, subset: frozenset[int]) -> Interval:
        """1 where no completion turns the decision; below 1 otherwise, and no more is known."""
        return Interval.point(1.0) if self.is_certain(subset) else Interval(0.0, ALMOST_ONE, Certainty.BOUND)

    def _allowed(self, variable: int, subset: frozenset[int]) -> Floats:
        n_states = len(self.explained.network.variables[variable])
        if variable not in subset:
            return np.zeros(n_states)
        allowed = np.full(n_states, -np.inf)
        allowed[self.explained.problem.evidence[variable]] = 0.0
        return allowed


def make_worst_case(explained: ExplainedDecision) -> WorstCase | None:
    """The worst case of a decision; None where a rule, a hidden variable or a zero does not allow for it."""
    whole, network, decider = explained.whole, explained.network, explained.whole.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.cuts) != 1:
        return None
    target, seen = whole.target, frozenset(whole.free)
    sign = 1.0 if decider.regions[1] == explained.action else -1.0
    upper = decider.upper if sign > 0 else 1 - decider.upper
    scopes, losses = list[Scope](), list[Floats]()
    for position in ancestors_of(network, {*seen, target}):
        cpt, scope = network.cpts[position], (*network.parents[position], position)
        # A zero makes completions impossible, which an elimination of log-ratios would not notice.
        if not isinstance(cpt, Cpt) or not cpt.table.all():
            return None
        if target not in scope:
            continue
        others = tuple(v for v in scope if v != target)
        if not seen.issuperset(others):
            return None
        logs = np.log(cpt.table).reshape(whole.sizes(scope))
        by_class = np.moveaxis(logs, scope.index(target), 0)
        scopes.append(others)
        losses.append(by_class[1 - upper] - by_class[upper])
    variables = tuple(sorted({v for scope in scopes for v in scope}))
    plan = make_plan([*scopes, *((v,) for v in variables)], [len(v) for v in network.variables])
    check_bytes(plan.peak_bytes, "the worst case of forgotten findings")
    return WorstCase(explained, sign * float(decider.cuts[0]), plan, tuple(losses), variables)


def fewest_certain(worst: WorstCase) -> int:
    """No reason at level 1 has fewer findings than this; for decisions on all features, else 0.

    Forgetting several findings loses at least what forgetting each alone does, as long as no two of them
    share a family. So of findings that share none, only as many can be forgotten as the smallest losses
    allow.
    """
    explained = worst.explained
    if explained.problem.free:
        return 0
    everything = frozenset(explained.findings)
    now = worst.lowest(everything)
    losses = {v: now - worst.lowest(everything - {v}) for v in explained.findings}
    kept = 0
    for part in _apart(worst):
        total = np.cumsum(sorted(losses[v] for v in part))
        kept += int((total > (now - worst.cut) + ROUNDING).sum())
    return kept


def _apart(worst: WorstCase) -> list[list[int]]:
    """The findings in lists, no two of a list in one family."""
    neighbours: dict[int, set[int]] = {v: set() for v in worst.explained.findings}
    for scope in worst.plan.scopes[: len(worst.losses)]:
        for v in scope:
            neighbours[v].update(scope)
    parts: list[list[int]] = []
    for v in worst.explained.findings:
        part = next((each for each in parts if not neighbours[v].intersection(each)), None)
        if part is None:
            parts.append([v])
        else:
            part.append(v)
    return parts


def smallest_change(
    worst: WorstCase, movable: frozenset[int], costs: dict[int, float]
) -> tuple[frozenset[int], float]:
    """A set of findings whose change can turn the decision, cheap, and a bound on the cost of any.

    For decisions on all features. The set is empty when none was found; the bound is infinite when none
    exists, and equal to the cost of the set when that is proven to be the lowest.
    """
    if worst.is_certain(frozenset(worst.explained.findings) - movable):
        return frozenset(), math.inf
    known = settle(_price_changes(worst, movable, costs), enough=_is_proven).last
    known = settle(_hit_reasons(worst, movable, known), enough=_is_proven).last
    return known.changed, known.cost if _is_proven(known) else known.bound


@dataclass(frozen=True, slots=True)
class _CheapChange:
    """The cheapest set of findings known to turn the decision when they change."""

    changed: frozenset[int]
    bound: float
    """No such set costs less."""
    costs: dict[int, float] = field(repr=False)

    @property
    def cost(self) -> float:
        """What the set costs."""
        return cost_of(tuple(self.changed), self.costs)


def _is_proven(known: _CheapChange) -> bool:
    """Whether nothing is cheaper, rounding allowed for."""
    return known.bound >= known.cost * (1 - 1e-12)


def _price_changes(
    worst: WorstCase, movable: frozenset[int], costs: dict[int, float]
) -> Iterator[_CheapChange]:
    """Changes that lose most log-odds after paying a price for each, over many prices, and the best bound.

    With m(price) the largest loss less price times cost, any change that loses enough costs more than
    (needed loss - m(price)) / price.
    """
    whole = all(float(costs[v]).is_integer() for v in movable)
    best, bound, low, high = movable, 0.0, 0.0, _largest_price(worst)
    yield _CheapChange(best, bound, costs)
    for _ in range(MOST_PRICES):
        price = 0.5 * (low + high)
        largest, changed = _best_change(worst, movable, costs, price)
        least = (-worst.cut - largest) / price
        bound = max(bound, math.floor(least + 1e-9) + 1.0 if whole else least)
        turned = not worst.is_certain(frozenset(worst.explained.findings) - changed)
        low, high = (price, high) if turned else (low, price)
        if turned:
            best = min(best, _needed(worst, changed, costs), key=lambda each: cost_of(tuple(each), costs))
        yield _CheapChange(best, bound, costs)


def _largest_price(worst: WorstCase) -> float:
    """A price at which no change is worth it: more than all log-odds that can be lost."""
    return 1.0 + sum(float(np.ptp(losses)) for losses in worst.losses)


def _best_change(
    worst: WorstCase, movable: frozenset[int], costs: dict[int, float], price: float
) -> tuple[float, frozenset[int]]:
    """The largest loss less the price of the changes, and which findings change."""
    evidence, network = worst.explained.problem.evidence, worst.explained.network
    leaves = list(worst.losses)
    for v in worst.variables:
        paid = np.full(len(network.variables[v]), -price * costs[v] if v in movable else -np.inf)
        paid[evidence[v]] = 0.0
        leaves.append(paid)
    buffers = run_keeping(worst.plan, leaves, LogMax())
    states = np.zeros((1, len(network)), dtype=np.int64)
    trace_back(worst.plan, buffers, states, lambda weights: np.argmax(weights, axis=1))
    changed = frozenset(v for v in worst.variables if states[0, v] != evidence[v])
    return float(buffers[-1].reshape(())), changed


def _needed(worst: WorstCase, changed: frozenset[int], costs: dict[int, float]) -> frozenset[int]:
    """The changes without those that can stay away, the dearest left out first."""
    everything = frozenset(worst.explained.findings)
    for v in sorted(changed, key=lambda each: -costs[each]):
        if not worst.is_certain(everything - (changed - {v})):
            changed -= {v}
    return changed


def _hit_reasons(worst: WorstCase, movable: frozenset[int], known: _CheapChange) -> Iterator[_CheapChange]:
    """Cheapest sets that touch all reasons found so far, until one of them turns the decision."""
    everything, costs = frozenset(worst.explained.findings), known.costs
    order = sorted(movable, key=lambda v: -costs[v])
    to_hit: list[frozenset[int]] = []
    yield known
    for _ in range(MOST_ROUNDS):
        changed = cheapest_hitting_set(to_hit, order, costs)
        known = replace(known, bound=max(known.bound, cost_of(tuple(changed), costs)))
        kept = everything - changed
        if not worst.is_certain(kept):
            known = replace(known, changed=changed)
        yield known
        for finding in order:
            if finding in kept and worst.is_certain(kept - {finding}):
                kept -= {finding}
        to_hit.append(kept & movable)
