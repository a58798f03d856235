"""The sums engine: certified intervals for every network whose hidden variables can be summed out.

Same-decision probability, expected agreement, potential and achievable agreement of kept features that have
not too many instantiations, and the agreement of every single feature at once. Any number of classes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.sums.decisions import decide_rows, needed_cuts
from unswayed.engines.sums.factors import Factor, find_pieces, make_factors, plan_passes, refuse_pieces
from unswayed.engines.sums.pairs import mass_allowing
from unswayed.engines.sums.passes import KeptRows, PassLayout, SingleRows
from unswayed.engines.sums.profile_bounds import (
    ProfileBounds,
    Span,
    bound_achievable,
    bound_agreement,
    bound_potential,
)
from unswayed.engines.sums.rounds import Request, refine
from unswayed.engines.sums.sweeps import block_size, sweep_bytes

SECONDS_PER_OPERATION = 6e-9
"""Measured for one complex multiplication and addition within a block of frequencies."""
SECONDS_PER_STEP = 3e-5
"""Measured for one step of a plan on one block, whatever its size."""
DEGREES_PER_WIDTH = 8.0
"""Frequencies times width: about what a bell curve over the cut needs, its window included."""
MOST_ROWS = 2**14
"""Instantiations of the kept features beyond which their rows are not listed."""
PATIENCE = 60.0
"""Seconds that refining may take where no limit was given."""


@dataclass(frozen=True, slots=True)
class SumsEngine:
    """Certified intervals from transforms of sums of weights."""

    name: str = "sums"
    certainty: Certainty = Certainty.BOUND
    least_seconds: float = 0.002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the plan's operations, the frequencies, and the pairs of classes compared."""
        if question.tolerance <= 0:
            return Refusal("gives intervals, and an exact value was asked for; pass a tolerance")
        if question.needs is Needs.ROWS:
            return Refusal("gives intervals for agreements, not rows")
        refusal = refuse_pieces(problem, find_pieces(problem))
        if refusal:
            return refusal
        rows = _n_rows(problem, question.kept)
        if rows > MOST_ROWS:
            return Refusal(f"the kept features have {rows:.3g} instantiations, over {MOST_ROWS:,}")
        try:
            layout = _kept_rows(problem, question.kept)
        except LimitError as error:
            return Refusal(str(error))
        n_classes, n_pairs = len(problem.prior), _n_pairs(problem, question)
        degree = max(DEGREES_PER_WIDTH / question.tolerance, 256.0)
        blocks = max(degree / block_size(layout, n_classes), 1.0)
        seconds = degree * n_classes * layout.plan.operations * SECONDS_PER_OPERATION
        seconds += (blocks + 8.0) * len(layout.plan.steps) * SECONDS_PER_STEP
        # A pass up and a pass down take about as long as three passes up.
        passes = 3.0 if question.needs is Needs.SINGLES else 1.0
        return Cost(2e-3 + passes * n_pairs * seconds, passes * sweep_bytes(layout, n_classes))

    def prepare(self, problem: Problem, limits: Limits) -> SumsOracle:
        """Sum out the hidden variables."""
        return SumsOracle(problem, make_factors(problem, limits), limits)


@dataclass(frozen=True, slots=True, eq=False)
class SumsOracle:
    """The factors; transforms are made for each question."""

    problem: Problem
    factors: tuple[Factor, ...] = field(repr=False)
    limits: Limits = field(repr=False)

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """Bounds on how often `decider` on the kept features repeats the full decision."""
        layout = _kept_rows(self.problem, kept)
        profile = self._refined(
            layout, self._decided(layout, decider), tolerance, lambda p: bound_agreement(p, decider)
        )
        return _interval(bound_agreement(profile, decider))

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Bounds on the maximum potential agreement."""
        profile = self._refined(
            _kept_rows(self.problem, kept), self._all_actions(), tolerance, bound_potential
        )
        return _interval(bound_potential(profile))

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """Bounds on the maximum achievable agreement, and thresholds that achieve the lower one."""
        profile = self._refined(
            _kept_rows(self.problem, kept),
            self._all_actions(),
            tolerance,
            lambda p: bound_achievable(p, positive)[0],
        )
        span, best = bound_achievable(profile, positive)
        return _interval(span), best

    def single_agreements(self, decider: Decider, tolerance: float) -> Mapping[int, Interval]:
        """For every free feature, `agreement` when it alone is kept: all by one pass up and one down."""
        layout = SingleRows(plan_passes(self.problem, frozenset()), self.problem.free)
        if not layout.features:
            return {}
        starts = layout.starts()

        def spans(profile: ProfileBounds) -> list[Span]:
            parts = (profile.take(start, end) for start, end in itertools.pairwise(starts))
            return [bound_agreement(part, decider) for part in parts]

        def widest(profile: ProfileBounds) -> Span:
            return max(spans(profile), key=lambda span: span[1] - span[0])

        profile = self._refined(layout, self._decided(layout, decider), tolerance, widest)
        return dict(zip(layout.features, map(_interval, spans(profile)), strict=True))

    def _refined(
        self,
        layout: PassLayout,
        actions: tuple[int, ...],
        tolerance: float,
        measure: Callable[[ProfileBounds], Span],
    ) -> ProfileBounds:
        self.limits.check_bytes(
            sweep_bytes(layout, len(self.problem.prior)), "bounds on sums over the features"
        )
        deadline = min(self.limits.deadline(), time.monotonic() + PATIENCE)
        request = Request(self.problem, self.factors, layout, actions, max(tolerance, 1e-12), deadline)

        def width(profile: ProfileBounds) -> float:
            low, high = measure(profile)
            return high - low

        return refine(request, width)

    def _decided(self, layout: PassLayout, decider: Decider) -> tuple[int, ...]:
        """The actions that `decider` takes on some row."""
        class_mass = mass_allowing(layout, self.factors, ()).T
        rows = class_mass[class_mass.sum(axis=1) > 0]
        return tuple(sorted({int(action) for action in decide_rows(decider, rows)}))

    def _all_actions(self) -> tuple[int, ...]:
        return tuple(range(len(self.problem.decider.actions)))


def _kept_rows(problem: Problem, kept: frozenset[int]) -> KeptRows:
    return KeptRows(plan_passes(problem, kept), tuple(sorted(kept)))


def _n_rows(problem: Problem, kept: frozenset[int]) -> float:
    rows = 1.0
    for size in problem.sizes(kept):
        rows *= size
    return rows


def _n_pairs(problem: Problem, question: Question) -> int:
    """Pairs of classes whose log-odds are swept: for one decision, or for all where rows differ."""
    if question.needs is Needs.AGREEMENT and not question.kept:
        actions = [int(problem.decider.decide(problem.prior[None])[0])]
    else:
        actions = list(range(len(problem.decider.actions)))
    return len({tuple(sorted(cut[:2])) for cut in needed_cuts(problem.decider, actions)}) or 1


def _interval(span: Span) -> Interval:
    return Interval(span[0], span[1], Certainty.BOUND)
