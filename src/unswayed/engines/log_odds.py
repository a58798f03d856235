"""Exact agreement by meeting in the middle, for two classes and independent groups of features.

Whether the kept features, and whether all features, decide for the upper class are two tests of sums of
weights of evidence. Where enumeration takes 2^n steps, splitting the groups in two halves takes about 2^(n/2)
(`meet_in_the_middle.py`): 40 two-state features of a naive Bayes classifier are a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import check_bytes, check_seconds
from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement, maximum_potential_agreement
from unswayed.decisions.oracle import Interval, achieve_with_rows
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rounding import LISTING, UNIT
from unswayed.decisions.rules import Decider, LogOddsIntervals
from unswayed.engines.groups import Group, group_tables
from unswayed.engines.meet_in_the_middle import (
    EVERYWHERE,
    longest_list,
    mass_within,
    masses_at_least,
    merges_sums,
    ordered,
    seconds_to_meet,
    split,
    split_size,
)
from unswayed.engines.parts import (
    Parts,
    Sizes,
    base_log_odds,
    independent,
    intervals_of,
    predict_sizes,
    probability_of,
    refuse_groups,
    settled,
    span_of,
    split_groups,
    take_half,
)
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.rows import profile_rows
from unswayed.engines.singles import price_one_by_one
from unswayed.engines.weights.outcomes import WeightList, combined, list_outcomes, predicted_bits
from unswayed.kernels.meeting import EQUAL, MeetingOutcomes

SECONDS_PER_OUTCOME = 1.5e-7
"""Measured for making, sorting and searching lists of a million outcomes."""
FIXED_SECONDS, PLAIN_SECONDS, SECONDS_PER_GROUP = 1e-3, 2e-4, 1.5e-5
"""What every question takes, and every group."""
SECONDS_PER_TABLED, PLAIN_PER_TABLED = 2e-7, 4e-8
"""Measured for one instantiation of a group of dependent features: tabled, sorted and merged; only tabled."""
BYTES_PER_OUTCOME = 120.0
FEW_OUTCOMES, FEW_PLAIN = 2.0**16, 2.0**19
"""Outcomes up to which nothing is gained by looking at the weights before answering; for one test."""
QUICK_BITS = 34.0
"""Logarithm to base 2 of the instantiations up to which lists are made without looking for alike features."""
QUICK_BITS_OF_A_LIST = 20.0
"""The same for one of the two lists: a large group may leave them uneven."""
FEW_ALIKE = 4.0
"""Bits that alike features must save for their sums to be merged."""
MOST_ROWS = 2**22
"""Rows of a profile beyond which it is not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOddsEngine:
    """Exact agreements from sums of weights of evidence."""

    name: str = "weights"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.0002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the outcomes listed: about the square root of the number of instantiations."""
        if question.needs is Needs.SINGLES:
            return price_one_by_one(self, problem, question)
        refusal = refuse_groups(problem)
        if refusal:
            return refusal
        assert isinstance(problem.decider, LogOddsIntervals)
        sizes = predict_sizes(problem, question.kept)
        is_plain = question.needs is Needs.AGREEMENT and not question.kept
        if sizes.outcomes > (FEW_PLAIN if is_plain else FEW_OUTCOMES) and sizes.tabled <= FEW_OUTCOMES:
            sizes = _sizes_of_weights(problem, question)
        listed = sizes.rows_bits <= np.log2(MOST_ROWS)
        if not is_plain and question.needs is not Needs.AGREEMENT and not listed and sizes.is_mixed:
            return Refusal(f"the kept features have about 2^{sizes.rows_bits:.0f} rows, too many to list")
        outcomes = sizes.outcomes
        if question.needs in (Needs.ROWS, Needs.ACHIEVABLE) and listed:
            outcomes = max(outcomes, 2.0**sizes.rows_bits)
        fixed, listing, tabled = FIXED_SECONDS, SECONDS_PER_OUTCOME * outcomes, SECONDS_PER_TABLED
        if is_plain:  # a large table is a list by itself
            listing = seconds_to_meet(max(outcomes - sizes.tabled, 0.0))
            fixed, tabled = PLAIN_SECONDS, PLAIN_PER_TABLED
        seconds = fixed + SECONDS_PER_GROUP * sizes.n_groups + listing + tabled * sizes.tabled
        return Cost(seconds, BYTES_PER_OUTCOME * (outcomes + sizes.tabled))

    def prepare(self, problem: Problem) -> LogOddsOracle:
        """Make the groups' tables."""
        return LogOddsOracle(problem, tuple(group_tables(problem)))


def in_halves(groups: Sequence[Group]) -> list[Group]:
    """The groups in an order that can be cut into two halves of nearly as many outcomes."""
    bits = [float(np.log2(max(len(group.likelihood), 1))) for group in groups]
    taken = take_half(bits, sum(bits))
    return [groups[i] for i in (*taken, *(i for i in range(len(groups)) if i not in taken))]


def _sizes_of_weights(problem: Problem, question: Question) -> Sizes:
    """Sizes as the weights themselves tell, which may be alike or decide everything at once."""
    assert isinstance(problem.decider, LogOddsIntervals)
    parts = split_groups(problem, group_tables(problem), question.kept)
    outcomes = split_size(parts.kept, parts.hidden, parts.mixed)
    if question.needs is Needs.AGREEMENT and settled(problem, parts, problem.decider) is not None:
        outcomes = 1.0
    mixed = not independent(problem, parts)
    return Sizes(len(parts.all_lists), parts.rows_bits, outcomes, FEW_OUTCOMES, mixed)


@dataclass(frozen=True, slots=True, eq=False)
class LogOddsOracle:
    """The groups' tables; lists of outcomes are made for each question."""

    problem: Problem
    groups: tuple[Group, ...] = field(repr=False)

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """How often `decider` on the kept features repeats the full decision, exactly."""
        assert isinstance(decider, LogOddsIntervals)
        outcomes = list_outcomes(self.groups, decider.upper)
        if longest_list(outcomes) > FEW_PLAIN:
            evened = list_outcomes(in_halves(self.groups), decider.upper)
            outcomes = min(outcomes, evened, key=longest_list)
        bits = float(np.log2(np.diff(outcomes.starts)).sum())
        is_plain = not kept and bool(np.isfinite(outcomes.weight).all())
        if is_plain and bits <= QUICK_BITS and longest_list(outcomes) <= 2.0**QUICK_BITS_OF_A_LIST:
            return self._decided_now(outcomes, decider)
        parts = split_groups(self.problem, self.groups, kept)
        same = settled(self.problem, parts, decider)
        if same is not None:
            return Interval.point(float(same))
        # Lists of alike features are short once equal sums are merged; others are long however they are made.
        if is_plain and predicted_bits(parts.all_lists) > bits - FEW_ALIKE:
            n_listed = max(2.0 ** (0.5 * bits + 1.0), longest_list(outcomes))
            self._check(n_listed, seconds_to_meet(n_listed))
            return self._decided_now(outcomes, decider)
        return self._meet(parts, decider, bound_sums(self.problem, outcomes))

    def _meet(self, parts: Parts, decider: LogOddsIntervals, rounding: float) -> Interval:
        """How often `decider` on the kept groups repeats the full decision, from two lists of outcomes."""
        n_listed = split_size(parts.kept, parts.hidden, parts.mixed)
        self._check(n_listed, SECONDS_PER_OUTCOME * n_listed)
        halves = split(parts.kept, parts.hidden, parts.mixed)
        base, full = base_log_odds(self.problem), intervals_of(self.problem)
        shares = self.problem.prior[[full.upper, 1 - full.upper]]
        total = doubt = 0.0
        for region, action in enumerate(full.regions):
            if action in decider.regions:
                kept_span = span_of(decider, decider.regions.index(action), base)
                total += float(mass_within(halves, span_of(full, region, base), kept_span) @ shares)
        for low, high in full.doubts(rounding) - base:
            doubt += float(mass_within(halves, (low, high), EVERYWHERE) @ shares)
        for low, high in decider.doubts(rounding) - base:
            doubt += float(mass_within(halves, EVERYWHERE, (low, high)) @ shares)
        return Interval.point(total, doubt)

    def _decided_now(self, outcomes: MeetingOutcomes, decider: LogOddsIntervals) -> Interval:
        """Probability that all features lead to what `decider` decides without any."""
        full, prior = intervals_of(self.problem), self.problem.prior
        now = int(decider.decide(prior[np.newaxis])[0])
        rounding = bound_sums(self.problem, outcomes, merged=merges_sums(outcomes))
        shares, base = prior[[full.upper, 1 - full.upper]], base_log_odds(self.problem)
        ends = full.doubts(rounding)
        listed = masses_at_least(outcomes, ends.reshape(-1) - base)
        reached: Floats = (listed @ shares).reshape(-1, 2)
        tails = [1.0, *np.where(ends[:, 0] == full.cuts, reached[:, 0], reached[:, 1]).tolist(), 0.0]
        masses = np.zeros(len(full.actions))
        for region, action in enumerate(full.regions):
            masses[action] += tails[region] - tails[region + 1]
        doubt = float(np.abs(reached[:, 0] - reached[:, 1]).sum())
        if any(low <= base < high for low, high in decider.doubts(rounding).tolist()):
            doubt += float(np.ptp(masses))
        return Interval.point(float(masses[now]), doubt)

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """The maximum potential agreement, exactly."""
        parts = split_groups(self.problem, self.groups, kept)
        if not independent(self.problem, parts) or parts.rows_bits <= predicted_bits(parts.all_lists) / 2:
            profile = self.profile(kept)
            return Interval.point(maximum_potential_agreement(profile), profile.doubt)
        return self.agreement(kept, self._turned(self._majority_cut(parts)), tolerance)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The maximum achievable agreement, exactly, and its thresholds.

        Where kept and hidden features are independent given the class it equals the potential agreement, and
        rows need not be listed.
        """
        parts = split_groups(self.problem, self.groups, kept)
        if not independent(self.problem, parts) or parts.rows_bits <= np.log2(MOST_ROWS):
            return achieve_with_rows(self._list_rows(parts, kept), positive)
        cut = self._majority_cut(parts)
        found = self.agreement(kept, self._turned(cut), 0.0)
        below, above = _neighbours(parts.kept, cut - base_log_odds(self.problem))
        base = base_log_odds(self.problem)
        best = AchievableAgreement(found.value, probability_of(base + below), probability_of(base + above))
        return found, best

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The rows of the kept features, each with its exact share of every decision."""
        return self._list_rows(split_groups(self.problem, self.groups, kept), kept)

    def single_profiles(self) -> dict[int, DecisionProfile]:
        """The profile of every free feature alone, one by one: lists are short where features are alike."""
        return {feature: self.profile(frozenset({feature})) for feature in self.problem.free}

    def _list_rows(self, parts: Parts, kept: frozenset[int]) -> DecisionProfile:
        if parts.rows_bits > np.log2(MOST_ROWS):
            raise LimitError(
                f"a profile of {len(kept)} kept features would have about 2^{parts.rows_bits:.0f} rows, over "
                f"{MOST_ROWS:,}; keep fewer features, or ask for an agreement, which needs no rows"
            )
        rounding = bound_sums(self.problem, list_outcomes(self.groups, intervals_of(self.problem).upper))
        return profile_rows(self.problem, parts, kept, rounding)

    def _turned(self, cut: float) -> LogOddsIntervals:
        """The decider with another cut."""
        full = intervals_of(self.problem)
        return LogOddsIntervals(full.actions, full.upper, frozen_floats([cut]), full.regions)

    def _majority_cut(self, parts: Parts) -> float:
        """Kept log-odds at which the majority of full decisions turns to the upper class.

        Kept and hidden features are independent given the class, so the share of the upper decision grows
        with the kept log-odds [choi2018, Prop. 3], and a bisection finds where it passes one half.
        """
        n_listed = 2.0 ** predicted_bits(parts.hidden)
        self._check(n_listed, SECONDS_PER_OUTCOME * n_listed)
        ahead = ordered(combined(parts.hidden))
        low, high = -800.0, 800.0
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return high
            position = int(ahead.first_at_least(np.array([intervals_of(self.problem).cuts[0] - middle]))[0])
            share = probability_of(middle)
            agreeing = share * ahead.upper_tails[position] + (1 - share) * ahead.lower_tails[position]
            low, high = (low, middle) if agreeing >= 0.5 else (middle, high)

    def _check(self, outcomes: float, seconds: float) -> None:
        what = f"meeting in the middle of {outcomes:.3g} outcomes"
        check_bytes(BYTES_PER_OUTCOME * outcomes, what)
        check_seconds(seconds, what)


def bound_sums(problem: Problem, outcomes: MeetingOutcomes, *, merged: bool = True) -> float:
    """Bound on the error of a sum of weights: that of the tables, of additions, and of sums made one."""
    n_groups, base = len(outcomes.starts) - 1, base_log_odds(problem)
    largest = _largest_sum(outcomes.weight, outcomes.starts[:-1]) if n_groups else 0.0
    added = UNIT * (n_groups + 2) * (largest + (abs(base) if np.isfinite(base) else 0.0))
    return problem.rounding + LISTING + added + (EQUAL * n_groups * largest if merged else 0.0)


def _largest_sum(weight: Floats, starts: Ints) -> float:
    """The largest finite weights of all groups, whatever their signs, added up."""
    ends = np.stack([end.reduceat(weight, starts) for end in (np.minimum, np.maximum)])
    if not np.isfinite(ends).all():
        return _largest_sum(np.where(np.isfinite(weight), weight, 0.0), starts)
    return float(np.abs(ends).max(axis=0).sum())


def _neighbours(kept: list[WeightList], cut: float) -> tuple[float, float]:
    """The highest kept weight below the cut and the lowest one from it on."""
    halves = split([], kept, [])
    sorted_weights = halves.ordered.full
    bounds = cut - halves.other.full
    after = halves.ordered.first_at_least(bounds)
    has_after, has_before = after < len(sorted_weights), after > 0
    above = (sorted_weights[after[has_after]] + halves.other.full[has_after]).min(initial=np.inf)
    below = (sorted_weights[after[has_before] - 1] + halves.other.full[has_before]).max(initial=-np.inf)
    return float(below), float(above)
