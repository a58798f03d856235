"""What is measured on a decision profile: pure functions, no engine in sight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import TIE, Decider, DoubtingDecider, largest_threshold, log_odds


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
    if not isinstance(decider, DoubtingDecider):
        return profile.doubt
    doubtful = decider.is_doubtful(profile.class_mass, profile.rounding)
    if not doubtful.any():
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
    chosen = np.take_along_axis(profile.decision_mass, decisions[:, np.newaxis], axis=1)[:, 0]
    mass = profile.class_mass.sum(axis=1)
    return _share(mass[chosen >= (level - LEVEL_SLACK) * mass])


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
    odds = np.sort(log_odds(profile.class_mass, positive))
    with np.errstate(invalid="ignore"):
        gaps = np.diff(odds)
    if not ((gaps > profile.rounding) & (gaps <= _SURELY_ABOVE)).any():
        return profile.doubt
    order = np.argsort(log_odds(profile.class_mass, positive))
    joined = np.concatenate([[False], (gaps > profile.rounding) & (gaps <= _SURELY_ABOVE)])
    joined[:-1] |= joined[1:]
    return profile.doubt + float(profile.decision_mass[order[joined]].sum())


def best_threshold(class_mass: Floats, decision_mass: Floats, positive: int) -> AchievableAgreement:
    """The threshold under which the rows get most of their own decision mass (positive, not positive).

    Decision masses may be lower bounds of the true ones; then so is the agreement.
    """
    odds = log_odds(class_mass, positive)
    order = np.argsort(odds, kind="stable")
    odds, positive_share = odds[order], decision_mass[order, 0]
    negative_share = decision_mass[order, 1]
    # Cutting before row i: rows below turn negative, the rest stay positive.
    below = np.concatenate([[0.0], np.cumsum(negative_share)])
    above = np.concatenate([np.cumsum(positive_share[::-1])[::-1], [0.0]])
    agreement = np.where(_can_cut(odds), below + above, -np.inf)
    best = float(agreement.max())
    cuts = np.flatnonzero(agreement >= best - AGREEMENT_SLACK)
    (low, high), *others = _intervals(odds, cuts)
    return AchievableAgreement(min(max(best, 0.0), 1.0), low, high, tuple(others))


def _can_cut(odds: Floats) -> Bools:  # (rows + 1,)
    """Whether some threshold lies between the rows below a place and those above it.

    Equal posteriors cannot be separated, nor can posteriors so near 0 or 1 that no number is between them;
    what is certain is decided by every threshold alike.
    """
    positive_up_to, negative_above = (
        _probabilities(odds + _SURELY_UP_TO),
        _probabilities(odds + _SURELY_ABOVE),
    )
    with np.errstate(invalid="ignore"):
        room = positive_up_to[1:] - negative_above[:-1]
        apart = (np.diff(odds) > TIE) & (room > 0)
    # Where there is room for a few numbers at most, it is the numbers themselves that tell.
    for i in np.flatnonzero(apart & (room <= 4 * np.spacing(positive_up_to[1:]))).tolist():
        apart[i] = _end_above(odds[i]) < _end_up_to(odds[i + 1])
    first = odds[0] > -np.inf and positive_up_to[0] > 0
    last = odds[-1] < np.inf and _end_above(odds[-1]) < _BELOW_ONE
    can: Bools = np.concatenate([[first], apart, [last]])
    # Where nothing can be separated, every threshold decides alike.
    can[0] |= not can.any()
    return can


def _intervals(odds: Floats, cuts: Ints) -> list[tuple[float, float]]:
    """The thresholds of some cuts, as intervals open below; neighbours joined.

    Every engine decides alike at each of them: their ends keep away from where rounding decides.
    """
    found: list[tuple[float, float]] = []
    before = -1
    for cut in cuts.tolist():
        low = 0.0 if cut == 0 else _end_above(odds[cut - 1])
        high = 1.0 if cut == len(odds) else _end_up_to(odds[cut])
        if high == 0.0 or (cut == 0 and high >= _BELOW_ONE):
            high = 1.0
        if found and float(odds[cut - 1]) - float(odds[before]) <= _SURELY_UP_TO:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
        before = cut
    return found


_SURELY_UP_TO, _SURELY_ABOVE = 0.5 * TIE, 1.5 * TIE
"""Up to which tie log-odds are decided positive, and above which negative, however they were rounded."""
_BELOW_ONE = 1.0 - 2.0**-53


def _end_up_to(odds: float) -> float:
    return largest_threshold(float(odds), _SURELY_UP_TO)


def _end_above(odds: float) -> float:
    return largest_threshold(float(odds), _SURELY_ABOVE)


AGREEMENT_SLACK = 1e-13
"""Agreements closer than this are rounding apart; the lower threshold is then taken."""


def _probabilities(odds: Floats) -> Floats:
    with np.errstate(over="ignore"):
        probabilities: Floats = 1.0 / (1.0 + np.exp(-odds))
    return np.minimum(probabilities, _BELOW_ONE)


def _share(masses: Floats) -> float:
    """A sum of masses as a probability: rounding may carry it past 1 by an ulp or two."""
    return min(max(float(masses.sum()), 0.0), 1.0)
