"""Agreements of a naive Bayes classifier with more features than a table holds, one subset at a time.

Searches ask for three things: errors on a grid that can be bounded quickly (`rounded_weights.py`), the
agreement of one subset on a finer grid, between bounds, and where lists of half the features fit, the exact
one (`log_odds.py`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, has_deadline, units_left
from unswayed.core.arrays import Ints
from unswayed.core.memo import Topic
from unswayed.core.numerics import logit
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import TIE, LogOddsIntervals
from unswayed.engines.groups import group_tables
from unswayed.engines.log_odds import (
    BYTES_PER_OUTCOME,
    SECONDS_PER_OUTCOME,
    LogOddsEngine,
    LogOddsOracle,
)
from unswayed.engines.parts import base_log_odds, intervals_of, probability_of
from unswayed.engines.rounded_weights import (
    CutQuestion,
    RoundedFeatures,
    WholeSteps,
    round_features,
    whole_steps,
)
from unswayed.engines.weights.outcomes import WeightList, group_weights, predicted_bits
from unswayed.kernels.leave_one_out import (
    PLAIN_TIMES,
    UNITS_PER_CELL,
    FeatureSides,
    Rooms,
    compiled_errors_of,
    rooms_for,
)

LISTED_BITS = 22.5
"""Logarithm to base 2 of how many outcomes of half the features are listed."""
EXACT_SHARE = 0.05
"""Share of a limit on time that one exact value may take."""
CERTAIN = 700.0
"""Log-odds of the upper class that stand for certainty."""


class Fineness(NamedTuple):
    """How fine a grid for single subsets is."""

    work: int
    """Features times cells."""
    most: int
    """Cells, at most."""


FINE = Fineness(1_500_000, 2**14)
"""For a first look: a millisecond or two."""
COARSE = Fineness(1_500_000, 2**12)
"""The same where exact values take about as long: a third of the time to make."""
COARSE_BITS = 30.0
"""Logarithm to base 2 of how many instantiations there are then at most."""
FINEST = Fineness(32_000_000, 2**18)
"""The finer grid, where no exact value is affordable: some ten times longer."""
VALUE_SHARE = 0.01
"""Share of a limit on time that a value on it may take; the last threshold takes some twenty of them."""
LEAST_CELLS = 4096
LEAST_SEARCHED = 256
"""Cells of a grid for searches, at least."""
ROUNDED: Topic[RoundedFeatures] = Topic("rounded features", most=8)
STEPS: Topic[WholeSteps] = Topic("whole steps", most=8)
NEARLY = 1e-3
"""How much more often than the best threshold, by share, one may be wrong that is as good."""
DISTANCES = (10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6)
"""How far around the best threshold others are tried, in log-odds."""


@dataclass(frozen=True, slots=True, eq=False)
class ManyFeatures:
    """A naive Bayes classifier at its evidence, ready to be searched."""

    problem: Problem
    features: tuple[int, ...]
    """Positions of the features, in the order of the grid."""
    weights: tuple[WeightList, ...] = field(repr=False)
    """What each of them can add to the log-odds."""
    exact: LogOddsOracle | None = field(repr=False)
    """Exact values of one subset, where they are affordable."""
    finest: Fineness = FINEST
    """The finer grid for single subsets."""
    _made: dict[Fineness, tuple[WholeSteps, Rooms]] = field(default_factory=dict, repr=False)
    _thresholds: dict[frozenset[int], tuple[AchievableAgreement, float]] = field(
        default_factory=dict, repr=False
    )

    @property
    def bits(self) -> float:
        """Logarithm to base 2 of the number of instantiations, outcomes of equal weight counted once."""
        return sum(math.log2(len(weights)) for weights in self.weights)

    @property
    def kinds(self) -> Ints:
        """A number for each feature, equal for features that are alike."""
        keys = [(w.full.tobytes(), w.upper.tobytes(), w.lower.tobytes()) for w in self.weights]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys], dtype=np.int64)


def many_features(problem: Problem) -> ManyFeatures:
    """The problem on its grid; each group of its features must be a single one, and one cut decide.

    With a limit on the time of all questions together, exact values are affordable only when several of them
    are.
    """
    decider = problem.decider
    assert isinstance(decider, LogOddsIntervals)
    groups = group_tables(problem)
    weights = tuple(group_weights(g, problem.sizes(g.features), frozenset(), decider.upper) for g in groups)
    # Lists cannot be halved more evenly than by whole features.
    bits = 0.5 * (predicted_bits(weights) + math.log2(max(map(len, weights), default=1)))
    n_listed = 2.0 * 2.0**bits
    in_time = n_listed * SECONDS_PER_OUTCOME * UNITS_PER_SECOND <= EXACT_SHARE * units_left()
    in_reach = bits <= LISTED_BITS and n_listed * BYTES_PER_OUTCOME <= bytes_allowed() and in_time
    return ManyFeatures(
        problem,
        tuple(group.features[0] for group in groups),
        weights,
        LogOddsEngine().prepare(problem) if in_reach else None,
        _finest(),
    )


def _finest() -> Fineness:
    """The finer grid: as fine as the time allows where somebody gave seconds, though nothing be compiled."""
    if not has_deadline():
        return FINEST
    affordable = VALUE_SHARE * units_left() / (PLAIN_TIMES * UNITS_PER_CELL)
    work = min(max(affordable, FINE.work), FINEST.work)
    return Fineness(2 ** round(math.log2(work)), FINEST.most)


def search_grid(many: ManyFeatures, allowed: Callable[[WholeSteps], bool]) -> WholeSteps:
    """The grid for searches: as fine as their bounds need, coarser where that is not allowed."""
    n_cells = 448 + 16 * len(many.weights)
    while True:
        steps = _make_steps(many, n_cells)
        if n_cells <= LEAST_SEARCHED or allowed(steps):
            return steps
        n_cells //= 2


def cut_question(problem: Problem) -> CutQuestion:
    """What the full decision asks of the sum of all weights."""
    decider = problem.decider
    assert isinstance(decider, LogOddsIntervals)
    base = min(max(base_log_odds(problem), -CERTAIN), CERTAIN)
    cut, (start, end) = float(decider.cuts[0]), decider.doubts(problem.rounding + LISTING)[0].tolist()
    doubt = end - cut if start == cut else start - cut
    return CutQuestion(float(problem.prior[decider.upper]), base, cut, doubt)


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How often a subset decides as all features do: by the classifier's own rule, or the best threshold."""

    many: ManyFeatures
    own_rule: bool

    def between(self, kept: frozenset[int]) -> tuple[float, float]:
        """Bounds, at first look."""
        has_quick = self.many.exact is not None and self.many.bits <= COARSE_BITS
        return _between(self.many, kept, COARSE if has_quick else FINE, own_rule=self.own_rule)

    def closer(self, kept: frozenset[int]) -> tuple[float, float]:
        """The exact value twice where it is affordable and no tie leaves a doubt, else closer bounds."""
        oracle = self.many.exact
        if oracle is None:
            return _between(self.many, kept, self.many.finest, own_rule=self.own_rule)
        if self.own_rule:
            found = oracle.agreement(kept, self.many.problem.decider, 0.0)
            return found.low, found.high
        best, doubt = best_threshold_of(self.many, kept)
        return min(max(best.value - doubt, 0.0), 1.0), min(max(best.value + doubt, 0.0), 1.0)


def _between(
    many: ManyFeatures, kept: frozenset[int], fineness: Fineness, *, own_rule: bool
) -> tuple[float, float]:
    steps, rooms = _grid(many, fineness)
    least, turn, own_least, own_most = compiled_errors_of(steps.grid, _sides(many, kept), rooms)
    if not own_rule:
        own_least, own_most = least, _threshold_error(many, kept, _threshold(many, turn), fineness)
    low, high = 1.0 - own_most - steps.disagreement, 1.0 - own_least + steps.disagreement
    return max(low, 0.0), min(high, 1.0)


def best_threshold_of(many: ManyFeatures, kept: frozenset[int]) -> tuple[AchievableAgreement, float]:
    """The best threshold on the kept features, exactly where affordable, and what ties leave in doubt of it.

    Elsewhere it is one of certain agreement.
    """
    if kept not in many._thresholds:
        many._thresholds[kept] = _best_threshold(many, kept)
    return many._thresholds[kept]


def _best_threshold(many: ManyFeatures, kept: frozenset[int]) -> tuple[AchievableAgreement, float]:
    oracle, decider = many.exact, many.problem.decider
    assert isinstance(decider, LogOddsIntervals)
    if oracle is not None:
        found, best = oracle.achievable(kept, decider.upper, 0.0)
        return best, max(found.high - found.value, found.value - found.low)
    if len(kept) == len(many.features):
        own = probability_of(float(decider.cuts[0]) + TIE)
        return AchievableAgreement(1.0, float(np.nextafter(own, 0.0)), own), 0.0
    return _certain_threshold(many, kept), 0.0


def _certain_threshold(many: ManyFeatures, kept: frozenset[int]) -> AchievableAgreement:
    """Thresholds around the best one on a grid, and what they agree for certain.

    The agreement grows with the threshold up to the best one and falls from there on, so that between two
    thresholds it is at least that of one of them. As many are taken as agree nearly as often.
    """
    steps, rooms = _grid(many, many.finest)
    _, turn, _, _ = compiled_errors_of(steps.grid, _sides(many, kept), rooms)
    middle = _threshold(many, turn)
    most = _threshold_error(many, kept, middle, many.finest) * (1.0 + NEARLY)

    def farthest(sign: float) -> float:
        """The farthest threshold on one side that is nearly as good; errors grow with the distance."""
        ends = [*(_threshold(many, turn + sign * distance) for distance in DISTANCES), middle]
        return ends[
            bisect_left(
                ends[:-1], True, key=lambda end: _threshold_error(many, kept, end, many.finest) <= most
            )
        ]

    low, high = farthest(-1.0), farthest(1.0)
    low = low if low < high else float(np.nextafter(high, 0.0))
    error = max(_threshold_error(many, kept, end, many.finest) for end in (low, high)) + steps.disagreement
    return AchievableAgreement(max(1.0 - error, 0.0), low, high)


def _threshold(many: ManyFeatures, weight: float) -> float:
    """The probability at which the kept features' log-odds reach a weight; certainty is left out."""
    probability = probability_of(cut_question(many.problem).base + weight)
    return min(max(probability, 1e-300), 1.0 - 2**-53)


def _threshold_error(many: ManyFeatures, kept: frozenset[int], threshold: float, fineness: Fineness) -> float:
    """How often a threshold on the kept features is wrong at most, on a grid."""
    steps, rooms = _grid(many, fineness)
    own = logit(threshold) - TIE - steps.grid.base + steps.grid.unsure
    return compiled_errors_of(steps.grid._replace(own=own), _sides(many, kept), rooms)[3]


def _sides(many: ManyFeatures, kept: frozenset[int]) -> FeatureSides:
    is_kept = np.array([feature in kept for feature in many.features], dtype=np.bool_)
    return FeatureSides(np.flatnonzero(is_kept), np.flatnonzero(~is_kept), np.zeros(0, dtype=np.int64))


def _grid(many: ManyFeatures, fineness: Fineness) -> tuple[WholeSteps, Rooms]:
    """A grid for single subsets, made when first asked for."""
    if fineness not in many._made:
        n_cells = min(max(fineness.work // max(len(many.weights), 1), LEAST_CELLS), fineness.most)
        steps = _make_steps(many, n_cells)
        many._made[fineness] = steps, rooms_for(steps.grid)
    return many._made[fineness]


def _make_steps(many: ManyFeatures, n_cells: int) -> WholeSteps:
    """The features on a grid of so many cells; remembered with the network, for other budgets.

    Small grids without their question, too: for other thresholds.
    """
    problem, question = many.problem, cut_question(many.problem)
    observed = tuple(sorted(problem.evidence.items()))
    case = (problem.target, problem.free, observed, intervals_of(problem).upper, n_cells)

    def make() -> WholeSteps:
        find = partial(round_features, many.weights, n_cells)
        if n_cells > LEAST_CELLS:
            return whole_steps(find(), question)
        rounded = problem.network.memo.get(ROUNDED, case, find)
        return whole_steps(rounded, question)

    return problem.network.memo.get(STEPS, (*case, question), make)
