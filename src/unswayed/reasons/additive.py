"""Two classes and findings that are independent given the class: log-odds are sums of weights.

    log-odds(x) = base + sum_i w_i(x_i)

Then reasons at level 1 and flips are covers (`covers.py`): a finding gains what it is above the worst that
its feature could have been. The SDP of a subset is a tail of the distribution of a sum: exact where the sums
of what was forgotten can be listed, else between bounds from a grid. Every weight is rounded to the grid;
how much all roundings together can move a sum is known, so the tail from a little above the cut to a little
below it holds the true one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import group_tables, independent_groups
from unswayed.engines.parts import probability_of
from unswayed.reasons.case import (
    ExplainedDecision,
    FoundReasons,
    SufficientSet,
    cost_of,
    fails,
    kept_share,
    reaches,
)
from unswayed.reasons.contributions import FindingWeight
from unswayed.reasons.covers import Covers, Pickable, cheapest_covers
from unswayed.reasons.flips import FoundTurns, Turn

LISTED = 2**12
"""Sums that are listed one by one."""
GRIDS = (2**10, 2**13, 2**15)
"""Points of the grids that are tried in turn until the interval settles the question."""
WIDTH = 1e-3
"""Width of an interval that is good enough where no level is asked about."""
Spectra = npt.NDArray[np.complex128]
NOISE = 1e-11
"""What floating point may add to a tail: a few thousand roundings of numbers below 1."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightGrid:
    """The weights of all variables, in their order, rounded to steps of a grid."""

    step: float
    lowest: Floats
    """Smallest weight of each variable: the sum of these is the grid's first point."""
    off_low: Floats
    """By how much rounding moves a weight of each variable up at most, as a number that is at most 0."""
    off_high: Floats
    """By how much rounding moves a weight of each variable down at most."""
    spectra: Spectra = field(repr=False)  # (variables, classes, frequencies)
    """The transform of the rounded weights' distribution under both classes."""

    def tails(self, rest: Ints, need: float) -> tuple[Floats, Floats]:
        """Bounds on the probability, under both classes, that the weights of `rest` sum to the need."""
        # A sum of k steps stands for true sums from lowest + k step + off_low to lowest + k step + off_high.
        points = (need - float(self.lowest[rest].sum())) / self.step
        surely = math.ceil(points - float(self.off_low[rest].sum()) / self.step + 1e-9)
        perhaps = math.ceil(points - float(self.off_high[rest].sum()) / self.step - 1e-9)
        masses = np.fft.irfft(np.multiply.reduce(self.spectra[rest], axis=0))
        return masses[:, max(surely, 0) :].sum(axis=1), masses[:, max(perhaps, 0) :].sum(axis=1)


def make_weight_grid(weights: Sequence[Floats], shares: Sequence[Floats], n_points: int) -> WeightGrid:
    """Weights on a grid that no sum of them leaves; many weights get more points."""
    n_points = max(n_points, 4 * len(weights))  # a sum may be off by half a step for each weight
    lowest = np.array([each.min() for each in weights])
    reach = math.fsum(float(np.ptp(each)) for each in weights)
    step = reach / (n_points - 1 - len(weights)) or 1.0  # where no weight varies, any step will do
    masses = np.zeros((len(weights), 2, n_points))
    off_low, off_high = np.zeros(len(weights)), np.zeros(len(weights))
    for i, (each, share) in enumerate(zip(weights, shares, strict=True)):
        places = np.rint((each - lowest[i]) / step)
        errors = each - lowest[i] - step * places
        off_low[i], off_high[i] = errors.min(), errors.max()
        np.add.at(masses[i].T, places.astype(np.int64), share)
    return WeightGrid(step, lowest, off_low, off_high, np.fft.rfft(masses))


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveDecision:
    """A decision that a sum of weights takes by passing one cut; signed so that it lies above the cut."""

    explained: ExplainedDecision
    leans_to: int
    """The class whose log-odds are meant."""
    base: float
    """Log-odds for the decision before any finding."""
    cut: float
    """Log-odds from which the decision is taken."""
    weights: dict[int, Floats]
    """What each state of a variable adds, by position of the variable."""
    shares: dict[int, Floats]  # (states, 2)
    """Probability of each state: under the class that the decision leans to, and under the other."""
    _grids: dict[int, WeightGrid] = field(default_factory=dict, repr=False)

    def weight(self, finding: int) -> float:
        """What a finding adds."""
        return float(self.weights[finding][self.explained.problem.evidence[finding]])

    def leaning(self, subset: Iterable[int]) -> float:
        """Log-odds for the decision, given some findings."""
        return self.base + math.fsum(self.weight(v) for v in subset)

    def sdp(self, subset: frozenset[int], level: float | None = None) -> Interval:
        """SDP of a subset; where it is not exact, the grid is refined until `level` is outside."""
        leaning = self.leaning(subset)
        share, need = probability_of(leaning), self.cut - leaning
        # The posterior is a mean of posteriors on all features, so it is at least SDP times the threshold.
        highest = share / probability_of(self.cut) + NOISE
        if level is not None and highest < level:
            return Interval(0.0, highest, Certainty.BOUND)
        rest = [v for v in self.weights if v not in subset]
        if math.prod(len(self.weights[v]) for v in rest) <= LISTED:
            upper, lower = self._listed(rest, need)
            return Interval.point(kept_share(share * upper + (1 - share) * lower))
        return self._bounded(rest, need, share, level)

    def _bounded(self, rest: Sequence[int], need: float, share: float, level: float | None) -> Interval:
        places = {v: i for i, v in enumerate(self.weights)}
        chosen = np.array([places[v] for v in rest])
        for n_points in GRIDS:
            ends = self._grid(n_points).tails(chosen, need)
            low, high = (float(share * upper + (1 - share) * lower) for upper, lower in ends)
            found = Interval(max(low - NOISE, 0.0), min(high + NOISE, 1.0), Certainty.BOUND)
            settled = level is not None and (reaches(found, level) or fails(found, level))
            if settled or (level is None and high - low <= WIDTH):
                break
        return found

    def _listed(self, rest: Sequence[int], need: float) -> tuple[float, float]:
        """Probability that the weights of `rest` fall short, under either class, from all their sums."""
        sums, masses = np.zeros(1), np.ones((1, 2))
        for v in rest:
            sums = np.add.outer(sums, self.weights[v]).reshape(-1)
            masses = (masses[:, np.newaxis] * self.shares[v]).reshape(-1, 2)
        upper, lower = masses[sums < need].sum(axis=0)
        return float(upper), float(lower)

    def _grid(self, n_points: int) -> WeightGrid:
        if n_points not in self._grids:
            made = make_weight_grid(list(self.weights.values()), list(self.shares.values()), n_points)
            self._grids[n_points] = made
        return self._grids[n_points]


def make_additive(explained: ExplainedDecision) -> AdditiveDecision | None:
    """The decision as a sum of weights; None where it is none, has two cuts, or a state excludes a class."""
    whole, decider = explained.whole, explained.whole.decider
    if not isinstance(decider, LogOddsIntervals) or len(decider.cuts) != 1:
        return None
    if explained.action not in decider.regions or any(len(g) > 1 for g in independent_groups(whole)):
        return None
    upper = decider.upper if decider.regions[1] == explained.action else 1 - decider.upper
    sign = 1.0 if upper == decider.upper else -1.0
    weights, shares = {}, {}
    for group in group_tables(whole):
        likelihood = group.likelihood[group.likelihood.sum(axis=1) > 0]
        if len(likelihood) < len(group.likelihood) or not likelihood.all():
            return None
        [variable] = group.features
        shares[variable] = likelihood[:, [upper, 1 - upper]]
        weights[variable] = np.log(shares[variable][:, 0]) - np.log(shares[variable][:, 1])
    if not whole.prior.all():
        return None
    base = math.log(whole.prior[upper]) - math.log(whole.prior[1 - upper])
    # Below the cut is strict, at the cut is not; a tie is far from the cut, which allows for ties already.
    return AdditiveDecision(explained, upper, base, sign * float(decider.cuts[0]), weights, shares)


def additive_weights(additive: AdditiveDecision) -> list[FindingWeight]:
    """What each finding adds, and what is left without it, by subtraction."""
    explained, found = additive.explained, []
    leaning = additive.leaning(explained.findings)
    for finding in explained.findings:
        before = leaning - additive.weight(finding)
        posterior = np.empty(2)
        posterior[additive.leans_to] = probability_of(before)
        posterior[1 - additive.leans_to] = probability_of(-before)
        action = int(explained.whole.decider.decide(posterior[np.newaxis])[0])
        found.append(FindingWeight(finding, additive.weight(finding), posterior, action))
    return found


def additive_shapley(additive: AdditiveDecision) -> Floats:
    """Shapley values of the log-odds: in a sum, every order of the findings gives each its weight."""
    return np.array([additive.weight(v) for v in additive.explained.findings])


def useful_findings(additive: AdditiveDecision) -> tuple[int, ...]:
    """Findings that a cheapest reason may hold: those that are not the worst their feature could have been.

    Forgetting a worst one lets the sum rise under either class, and makes the class that the decision leans
    to, under which the sum is larger, more probable: the SDP does not fall.
    """
    worst = {v: float(weights.min()) for v, weights in additive.weights.items()}
    return tuple(v for v in additive.explained.findings if additive.weight(v) > worst[v])


def certain_reasons(additive: AdditiveDecision, costs: dict[int, float], most: int) -> FoundReasons:
    """The cheapest reasons at level 1: findings whose gains over the worst make up for the worst of all."""
    explained = additive.explained
    worst = additive.base + math.fsum(float(weights.min()) for weights in additive.weights.values())
    groups = [
        Pickable(v, costs[v], _positive([(additive.weight(v) - float(additive.weights[v].min()), 1)]))
        for v in explained.findings
    ]
    need = additive.cut - worst
    covers = cheapest_covers(groups, need, most)
    reasons = [_certain_set(explained, tuple(picked), costs) for picked in covers.picks]
    total = math.fsum(group.options[0][0] for group in groups if group.options)
    in_every = frozenset(g.name for g in groups if g.options and total - g.options[0][0] < need)
    return FoundReasons(
        tuple(reasons),
        covers.cost_bound,
        proven=not reasons or reasons[0].cost <= covers.cost_bound * (1 + 1e-12),
        cut=covers.cut,
        in_every=in_every if reasons else frozenset(),
        evaluations=len(reasons),
    )


def _certain_set(
    explained: ExplainedDecision, picked: tuple[int, ...], costs: dict[int, float]
) -> SufficientSet:
    findings = tuple(v for v in explained.findings if v in picked)
    return SufficientSet(findings, Interval.point(1.0), cost_of(findings, costs))


def additive_changes(
    additive: AdditiveDecision, fixed: frozenset[int], costs: dict[int, float], most: int
) -> FoundTurns:
    """The cheapest sets of findings in other states that turn the decision."""
    groups = []
    for v in additive.explained.findings:
        losses = additive.weight(v) - additive.weights[v]
        if v not in fixed:
            groups.append(Pickable(v, costs[v], _positive([(float(x), s) for s, x in enumerate(losses)])))
    return _turns(additive, groups, most)


def additive_observations(additive: AdditiveDecision, costs: dict[int, float], most: int) -> FoundTurns:
    """The cheapest sets of features not observed yet, in states that turn the decision."""
    groups = [
        Pickable(v, costs[v], _positive([(-float(x), s) for s, x in enumerate(additive.weights[v])]))
        for v in additive.explained.problem.free
    ]
    return _turns(additive, groups, most)


def _positive(options: list[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((each for each in options if each[0] > 0.0), key=lambda each: (-each[0], each[1])))


def _turns(additive: AdditiveDecision, groups: list[Pickable], most: int) -> FoundTurns:
    explained = additive.explained
    # Turning needs to fall below the cut, not to reach it.
    need = math.nextafter(additive.leaning(explained.findings) - additive.cut, math.inf)
    covers: Covers = cheapest_covers(groups, need, most)
    decider = explained.whole.decider
    assert isinstance(decider, LogOddsIntervals)
    action = next(a for a in decider.regions if a != explained.action)
    cost = {group.name: group.cost for group in groups}
    turns = [
        Turn(picked, action, cost_of(tuple(picked), cost), _probability(additive, picked))
        for picked in covers.picks
    ]
    turns.sort(key=lambda turn: -turn.probability)
    return FoundTurns(tuple(turns), covers.cost_bound, covers.cut)


def _probability(additive: AdditiveDecision, states: dict[int, int]) -> float:
    """Probability of states given all findings that stay."""
    rest = additive.leaning(v for v in additive.explained.findings if v not in states)
    lean_share = probability_of(rest)
    upper, lower = np.prod([additive.shares[v][s] for v, s in states.items()], axis=0)
    return float(lean_share * upper + (1 - lean_share) * lower)
