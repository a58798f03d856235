"""What is measured on a decision profile: pure functions, no engine in sight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.numerics import logit
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rounding import find_doubtful
from unswayed.decisions.rules import TIE, Decider, log_odds


def expected_agreement(profile: DecisionProfile, decider: Decider) -> float:
    """Probability that deciding on the kept features alone repeats the full decision (ECA).

        ECA(alpha, beta) = sum_f [C_T(f) = C_T'(f')] Pr(f | e)

    where f' is the part of f on the kept features [choi2018, Def. 2]. With the classifier's own rule this
    is the expected SDP [choi2018, Def. 6]; with nothing kept, the SDP.

    Cost: O(rows * actions).

    The area chair of the review network repeats the full decision on 92% of papers:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.variable import Variable
    >>> profile = DecisionProfile(
    ...     class_mass=np.array([[0.1024, 0.7376], [0.0976, 0.0624]]),   # AC = -, AC = +
    ...     decision_mass=np.array([[0.01, 0.83], [0.09, 0.07]]),
    ... )
    >>> decider = ThresholdRule("+", 0.60).bind(Variable("D", ["+", "-"]))
    >>> round(expected_agreement(profile, decider), 2)
    0.92
    """
    decisions = decider.decide(profile.class_mass)
    chosen = np.take_along_axis(profile.decision_mass, decisions[:, np.newaxis], axis=1)
    return _share(chosen)


def doubted_agreement(profile: DecisionProfile, decider: Decider) -> float:
    """By how much the expected agreement may be wrong where the tolerance for ties decides, not a posterior.

    That is the mass that the full classifier decides so, and what the rows that are decided so on the kept
    features would gain or lose.
    """
    doubtful = find_doubtful(decider, profile.class_mass, profile.rounding)
    if not len(doubtful):
        return profile.doubt
    return profile.doubt + float(np.ptp(profile.decision_mass[doubtful], axis=1).sum())


def chance_settled(profile: DecisionProfile, decider: Decider, level: float) -> float:
    """Probability that the kept features settle the decision: that the SDP after them is at least `level`.

    The area chair's vote settles the review network at 95% when it is -, on 84% of papers:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.variable import Variable
    >>> profile = DecisionProfile(
    ...     class_mass=np.array([[0.1024, 0.7376], [0.0976, 0.0624]]),   # AC = -, AC = +
    ...     decision_mass=np.array([[0.01, 0.83], [0.09, 0.07]]),
    ... )
    >>> round(chance_settled(profile, ThresholdRule("+", 0.60).bind(Variable("D", ["+", "-"])), 0.95), 2)
    0.84
    """
    decisions = decider.decide(profile.class_mass)
    others = profile.decision_mass.copy()
    others[np.arange(len(others)), decisions] = 0.0
    mass = profile.class_mass.sum(axis=1)
    # What decides otherwise is summed up by itself: beside the rest a little of it would not be seen.
    slack = min(profile.rounding, LEVEL_SLACK)
    return _share(mass[others.sum(axis=1) <= (1.0 - level + slack) * mass])


LEVEL_SLACK = 1e-12
"""The sum of many masses may miss a level that it equals by this much."""


def maximum_potential_agreement(profile: DecisionProfile) -> float:
    """Agreement of the best decision for each instantiation of the kept features (MPA).

        MPA(F') = sum_f' max_a Pr(the full classifier decides a, f' | e)

    No rule on the kept features can agree more often [choi2018, Def. 4 and Prop. 1], and it grows
    with the kept set [choi2018, Prop. 2].
    """
    return _share(profile.decision_mass.max(axis=1))


@dataclass(frozen=True, slots=True)
class AchievableAgreement:
    """The best agreement that a threshold on the kept features achieves, and where."""

    value: float
    """The maximum achievable agreement (MAA)."""
    threshold_low: float
    """Thresholds above this one,"""
    threshold_high: float
    """up to and including this one, achieve it."""
    others: tuple[tuple[float, float], ...] = ()
    """Further intervals of thresholds that achieve it too, ascending, none adjacent to another."""

    @property
    def threshold(self) -> float:
        """A threshold inside the interval: its middle, away from ties."""
        middle = 0.5 * (self.threshold_low + self.threshold_high)
        return middle if middle > self.threshold_low else self.threshold_high

    def has_threshold(self, threshold: float) -> bool:
        """Whether a threshold achieves the agreement."""
        intervals = ((self.threshold_low, self.threshold_high), *self.others)
        return any(low < threshold <= high for low, high in intervals)


def maximum_achievable_agreement(profile: DecisionProfile, positive: int) -> AchievableAgreement:
    """The best agreement over all thresholds on Pr(positive | kept features), with their interval (MAA).

    The posteriors are walked in ascending order; raising the threshold past one turns its rows from
    positive to negative [choi2018, Def. 3 and Algorithm 2]. Posteriors within `TIE` in log-odds move
    together, since no rule tells them apart. Of equally good intervals that do not touch, the lowest comes
    first and the `others` after it.

    `decision_mass` must have the columns (positive, not positive). Cost: O(rows log rows).

    Table 4 of [choi2018]:

    >>> profile = DecisionProfile(
    ...     class_mass=np.array([[.06, .02], [.3243, .1457], [.215, .215], [0, .02]]),
    ...     decision_mass=np.array([[.04, .04], [.20, .27], [.30, .13], [0, .02]]),
    ... )
    >>> best = maximum_achievable_agreement(profile, positive=0)
    >>> round(best.value, 2), best.threshold_low, round(best.threshold_high, 2)
    (0.56, 0.0, 0.5)
    """
    if profile.decision_mass.shape[1] != 2:
        raise QueryError("achievable agreement is for threshold rules: two decisions, positive or not")
    return best_threshold(profile.class_mass, profile.decision_mass, positive)


def doubted_achievement(profile: DecisionProfile, positive: int) -> float:
    """By how much the achievable agreement may be wrong because of ties: as for `doubted_agreement`.

    Rows whose posteriors differ by more than rounding, but too little for a threshold between them, could
    be decided apart.
    """
    rows = find_inseparable(profile.class_mass, positive, profile.rounding)
    return profile.doubt + float(profile.decision_mass[rows].sum()) if len(rows) else profile.doubt


def find_inseparable(class_mass: Floats, positive: int, rounding: float) -> Ints:
    """The rows whose posteriors differ by more than rounding, but too little for a threshold between them."""
    odds = log_odds(class_mass, positive)
    order = odds.argsort()
    gaps = odds[order[1:]] - odds[order[:-1]] if np.isfinite(odds).all() else _finite_gaps(odds[order])
    close = (gaps > rounding) & (gaps <= _SURELY_ABOVE)
    return np.union1d(order[1:][close], order[:-1][close])


def _finite_gaps(odds: Floats) -> Floats:
    """Distances of neighbours; infinite ones are certain, and far from all others."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(odds[1:] - odds[:-1], nan=np.inf)


def best_threshold(class_mass: Floats, decision_mass: Floats, positive: int) -> AchievableAgreement:
    """The threshold under which the rows get most of their own decision mass (positive, not positive).

    Decision masses may be lower bounds of the true ones; then so is the agreement.
    """
    odds = log_odds(class_mass, positive)
    order = odds.argsort(kind="stable")
    odds, share = odds[order], decision_mass[order]
    # Cutting before row i: rows below turn negative, the rest stay positive.
    agreement = np.empty(len(odds) + 1)
    agreement[0], agreement[1:] = 0.0, share[:, 1].cumsum()
    agreement[:-1] += share[::-1, 0].cumsum()[::-1]
    alike, everything = _are_alike(odds), float(agreement[0])
    agreement[alike] = -np.inf
    while True:
        best = float(agreement.max())
        cuts = (agreement >= best - AGREEMENT_SLACK).nonzero()[0].tolist()
        if best == -np.inf:  # where nothing can be separated, every threshold decides alike
            return AchievableAgreement(min(max(everything, 0.0), 1.0), 0.0, 1.0)
        intervals = _intervals(odds, cuts)
        if intervals:
            (low, high), *others = intervals
            return AchievableAgreement(min(max(best, 0.0), 1.0), low, high, tuple(others))
        agreement[cuts] = -np.inf


def _are_alike(odds: Floats) -> Bools:  # (rows + 1,)
    """Whether no threshold lies between the rows below a place and those above: their posteriors are equal.

    What is certain is decided by every threshold alike.
    """
    alike = np.empty(len(odds) + 1, dtype=np.bool_)
    with np.errstate(invalid="ignore"):  # the difference of equal infinities is no number
        alike[1:-1] = ~(odds[1:] - odds[:-1] > TIE)
    alike[0], alike[-1] = odds[0] == -np.inf, odds[-1] == np.inf
    return alike


def _intervals(odds: Floats, cuts: Sequence[int]) -> list[tuple[float, float]]:
    """The thresholds of some cuts, as intervals open below; neighbours joined, empty ones left out.

    Every engine decides alike at each of them: their ends keep away from where rounding decides. Near 0 and 1
    posteriors may be so close that no number is between them.
    """
    found: list[tuple[float, float]] = []
    before = -1
    for cut in cuts:
        low = 0.0 if cut == 0 else largest_threshold(float(odds[cut - 1]), _SURELY_ABOVE)
        high = 1.0 if cut == len(odds) else largest_threshold(float(odds[cut]), _SURELY_UP_TO)
        if low >= min(high, _BELOW_ONE):
            continue
        if cut == 0 and high >= _BELOW_ONE:
            high = 1.0
        if found and float(odds[cut - 1]) - float(odds[before]) <= _SURELY_UP_TO:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
        before = cut
    return found


_SURELY_UP_TO, _SURELY_ABOVE = 0.5 * TIE, 1.5 * TIE
"""Up to which tie log-odds are decided positive, and above which negative, however they were rounded."""
_BELOW_ONE = math.nextafter(1.0, 0.0)


def largest_threshold(log_odds: float, tie: float = TIE) -> float:
    """The largest threshold at which log-odds of this size are still decided positive; 0 for none.

    It is the float itself that counts: near 1 neighbouring thresholds are far apart in log-odds. Another
    `tie` leaves room for rounding: up to the threshold at half of `TIE`, odds that are rounded a little
    otherwise are decided positive too, and above the one at one and a half they are decided negative.
    """
    if log_odds == -math.inf:
        return 0.0
    threshold = min(_expit(log_odds + tie), _BELOW_ONE)
    while threshold > 0.0 and logit(threshold) - tie > log_odds:
        threshold = math.nextafter(threshold, 0.0)
    while threshold < _BELOW_ONE and logit(math.nextafter(threshold, 1.0)) - tie <= log_odds:
        threshold = math.nextafter(threshold, 1.0)
    return threshold


def _expit(log_odds: float) -> float:
    if log_odds < 0:
        return math.exp(log_odds) / (1.0 + math.exp(log_odds)) if log_odds > -745.0 else 0.0
    return 1.0 / (1.0 + math.exp(-log_odds))


AGREEMENT_SLACK = 1e-13
"""Agreements closer than this are rounding apart; the lower threshold is then taken.

Rows of less mass than this do not move the end of an interval, so that every engine finds the same one.
"""


def _share(masses: Floats) -> float:
    """A sum of masses as a probability: rounding may carry it past 1 by an ulp or two."""
    return min(max(float(masses.sum()), 0.0), 1.0)
