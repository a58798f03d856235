"""The sums engine: certified intervals for every network whose hidden variables can be summed out.

Same-decision probability, expected agreement, potential and achievable agreement of kept features, and the
agreement of every single feature at once. Any number of classes. Where the kept features have too many
instantiations to list, their agreement still gets bounds (`unlisted.py`), which are wider.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, check_bytes, seconds_given, units_left
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval, SingleFeature, find_singles
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.engines.parts import intervals_of, refuse_groups
from unswayed.engines.protocol import Cost, Needs, Question, Refusal, refuse_model
from unswayed.engines.sums.decisions import decide_rows, doubtful_rows, needed_cuts
from unswayed.engines.sums.factors import Factor, find_pieces, make_factors, plan_passes, refuse_pieces
from unswayed.engines.sums.grid_bounds import GridOracle, GridWay
from unswayed.engines.sums.pairs import mass_allowing
from unswayed.engines.sums.passes import KeptRows, PassLayout, SingleRows
from unswayed.engines.sums.profile_bounds import (
    MASS_ROUNDING,
    DecidedMass,
    ProfileBounds,
    Span,
    bound_achievable,
    bound_agreement,
    bound_potential,
    bound_rows,
)
from unswayed.engines.sums.rounds import FIRST_DEGREE, LAST_DEGREE, Request, refine
from unswayed.engines.sums.sweeps import SECONDS_PER_STEP, price_columns, sweep_bytes
from unswayed.engines.sums.unlisted import (
    bound_both,
    bound_by_losses,
    decide_listed,
    hide_others,
    order_by_information,
    right_actions,
    score_kept,
)

FULL_DECISIONS: Topic[tuple[float, DecidedMass]] = Topic("full decisions of parts")
"""With the units that were given to find them."""
DEGREES_PER_WIDTH = 8.0
"""Frequencies times width: about what a bell curve over the cut needs, its window included."""
MOST_ROWS = 2**14
"""Instantiations of the kept features beyond which their rows are not listed."""
MOST_UNITS = 60.0 * UNITS_PER_SECOND
"""Work that refining may take where no limit was given."""
UNLISTED_SECONDS = 5.0
"""Seconds for bounds on kept features that are not listed, about: finer rounds gain little."""
SHARED_SECONDS = 10.0
"""Seconds for what all kept sets share."""
MOST_MASSES = 2**24
"""Class masses of kept features up to which what they decide is listed."""
COARSE_SHARE = 0.3
"""Share of what is left that a coarse round may take where rows are listed or hidden."""
COARSE_PATIENCE = 3.0
"""How many times its price a coarse round may take, so that machines of a third of the speed finish it."""
PART_ROWS, PART_SHARE = 2**12, 0.05
"""Rows of a part of the kept features, and share of what is left that a coarse round on them may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SumsEngine:
    """Certified intervals from sums of weights: by transforms, or on a grid where that says more."""

    name: str = "sums"
    certainty: Certainty = Certainty.BOUND
    least_seconds: float = 0.002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """That of the way which is taken."""
        if question.tolerance <= 0:
            return Refusal("gives intervals, and an exact value was asked for; pass a tolerance")
        if question.needs is Needs.ROWS:
            return Refusal("gives intervals for agreements, not rows")
        if refusal := refuse_model(problem):
            return refusal
        grid, transforms = price_grid(problem, question), price_transforms(problem, question)
        return grid if takes_grid(question, grid, transforms) else transforms

    def prepare(self, problem: Problem) -> SumsOracle:
        """Sum out the hidden variables; where that cannot be done, a grid answers everything."""
        if refuse_pieces(problem, find_pieces(problem)) and refuse_groups(problem) is None:
            return SumsOracle(problem, ())
        n_bytes = sweep_bytes(_kept_rows(problem, frozenset()), len(problem.prior))
        check_bytes(n_bytes, "bounds on sums over the features")
        return SumsOracle(problem, make_factors(problem))


def price_grid(problem: Problem, question: Question) -> Cost | Refusal:
    """What an interval from a grid takes."""
    return GridWay().cost(problem, question)


def price_transforms(problem: Problem, question: Question) -> Cost | Refusal:
    """Proportional to the plan's operations, the frequencies, and the pairs of classes compared."""
    refusal = refuse_pieces(problem, find_pieces(problem))
    if refusal:
        return refusal
    rows = _n_rows(problem, question.kept)
    if rows > MOST_ROWS:
        if question.needs is not Needs.AGREEMENT:
            return Refusal(f"the kept features have {rows:.3g} instantiations, over {MOST_ROWS:,}")
        return Cost(UNLISTED_SECONDS, 1e8, 1.0)
    try:
        layout = _kept_rows(problem, question.kept)
    except LimitError as error:
        return Refusal(str(error))
    n_classes, n_pairs = len(problem.prior), _n_pairs(problem, question)
    degree = max(DEGREES_PER_WIDTH / question.tolerance, 256.0)
    seconds = price_columns(layout, n_classes, degree) / UNITS_PER_SECOND
    seconds += 8.0 * len(layout.plan.steps) * SECONDS_PER_STEP
    # A pass up and a pass down take about as long as three passes up.
    passes = 3.0 if question.needs is Needs.SINGLES else 1.0
    reach = DEGREES_PER_WIDTH / LAST_DEGREE
    return Cost(2e-3 + passes * n_pairs * seconds, passes * sweep_bytes(layout, n_classes), reach)


def takes_grid(question: Question, grid: Cost | Refusal, other: Cost | Refusal) -> bool:
    """Whether a grid gives the narrower interval, or as narrow a one at a lower price."""
    if isinstance(grid, Refusal) or isinstance(other, Refusal):
        return isinstance(other, Refusal) and isinstance(grid, Cost)
    # Kept features that are too many to list leave wide bounds, which only a grid makes narrow.
    (is_dear, width, seconds), against = (
        (
            price.seconds * UNITS_PER_SECOND > _affordable() or price.n_bytes > bytes_allowed(),
            max(price.width, question.tolerance),
            price.seconds,
        )
        for price in (grid, other)
    )
    return (is_dear, width, seconds) < against


@dataclass(frozen=True, slots=True, eq=False)
class SumsOracle:
    """The factors; transforms are made for each question."""

    problem: Problem
    factors: tuple[Factor, ...] = field(repr=False)
    shared_seconds: float = SHARED_SECONDS
    """Seconds for what many unlisted kept sets share: the full decisions."""

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """Bounds on how often `decider` on the kept features repeats the full decision."""
        grid = self._grid_for(Question(kept, Needs.AGREEMENT, tolerance))
        if grid is not None:
            return grid.agreement(kept, decider, tolerance)
        if not self.lists(kept):
            return _interval(self._bound_unlisted(kept, decider, tolerance))
        layout = _kept_rows(self.problem, kept)
        wanted, rounding = self._decided(layout, decider), self.problem.rounding
        profile = self._refined(layout, wanted, tolerance, lambda p: bound_agreement(p, decider, rounding))
        return _interval(bound_agreement(profile, decider, rounding))

    def lists(self, kept: frozenset[int]) -> bool:
        """Whether there is room and time to list the instantiations of the kept features."""
        if not kept:
            return True
        if _n_rows(self.problem, kept) > MOST_ROWS or not self._has_room(kept):
            return False
        return _coarse_units(self.problem, kept) <= COARSE_SHARE * _affordable()

    def bound_profile(self, kept: frozenset[int], tolerance: float) -> ProfileBounds:
        """The rows of the kept features, with bounds on what all features decide in each."""
        layout = _kept_rows(self.problem, kept)
        return self._refined(layout, self._all_actions(layout), tolerance, bound_potential)

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Bounds on the maximum potential agreement."""
        grid = self._grid_for(Question(kept, Needs.POTENTIAL, tolerance))
        if grid is not None:
            return grid.potential(kept, tolerance)
        return _interval(bound_potential(self.bound_profile(kept, tolerance)))

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """Bounds on the maximum achievable agreement, and thresholds that achieve the lower one."""
        grid = self._grid_for(Question(kept, Needs.ACHIEVABLE, tolerance))
        if grid is not None and positive == intervals_of(self.problem).upper:
            return grid.achievable(kept, positive, tolerance)
        layout, rounding = _kept_rows(self.problem, kept), self.problem.rounding
        profile = self._refined(
            layout, self._all_actions(layout), tolerance, lambda p: bound_achievable(p, positive, rounding)[0]
        )
        span, best = bound_achievable(profile, positive, rounding)
        return _interval(span), best

    def singles(self, decider: Decider, tolerance: float) -> Mapping[int, SingleFeature]:
        """For every free feature, `agreement` when it alone is kept: all by one pass up and one down."""
        grid = self._grid_for(Question(frozenset(), Needs.SINGLES, tolerance))
        if grid is not None:
            return find_singles(grid, self.problem.free, decider, tolerance)
        layout = SingleRows(plan_passes(self.problem, frozenset()), self.problem.free)
        if not layout.features:
            return {}
        ends, rounding = list(itertools.pairwise(layout.starts())), self.problem.rounding

        def widest(profile: ProfileBounds) -> Span:
            spans = (bound_agreement(profile.take(*each), decider, rounding) for each in ends)
            return max(spans, key=lambda span: span[1] - span[0])

        profile = self._refined(layout, self._decided(layout, decider), tolerance, widest)
        return {
            feature: _single(profile.take(*each), decider, rounding)
            for feature, each in zip(layout.features, ends, strict=True)
        }

    def _grid_for(self, question: Question) -> GridOracle | None:
        """The oracle on a grid where that is the better way."""
        question = replace(question, tolerance=max(question.tolerance, 1e-12))
        prices = price_grid(self.problem, question), price_transforms(self.problem, question)
        return GridWay().prepare(self.problem) if takes_grid(question, *prices) else None

    def _refined(
        self,
        layout: PassLayout,
        wanted: Bools,
        tolerance: float,
        measure: Callable[[ProfileBounds], Span],
    ) -> ProfileBounds:
        def width(decided: DecidedMass) -> float:
            low, high = measure(decided.profile())
            return high - low

        request = self._request(layout, self.problem.decider, wanted, tolerance)
        # Two sums at a time for every feature alone: affordable for three classes, which have few corners.
        in_planes = len(self.problem.prior) <= 3 or isinstance(layout, KeptRows)
        return refine(replace(request, in_planes=in_planes), width, units=MOST_UNITS).profile()

    def _request(self, layout: PassLayout, decider: Decider, wanted: Bools, tolerance: float) -> Request:
        check_bytes(sweep_bytes(layout, len(self.problem.prior)), "bounds on sums over the features")
        return Request(self.problem, self.factors, layout, decider, wanted, max(tolerance, 1e-12))

    def _bound_unlisted(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Span:
        """Bounds on the agreement of features with too many instantiations to list."""
        problem, good = self.problem, 0.25 * tolerance
        self._decide_full(frozenset(), good, self.shared_seconds * UNITS_PER_SECOND)
        # Half of the work for what all features decide, half for what the kept ones do.
        units = 0.5 * min(_affordable(), UNLISTED_SECONDS * UNITS_PER_SECOND)
        part = self._choose_part(kept)
        full = self._decide_full(part, good, units)
        n_masses = _n_rows(problem, kept) * len(problem.prior)
        if n_masses <= MOST_MASSES and 64.0 * n_masses <= bytes_allowed():
            return bound_both(full, decide_listed(problem, self.factors, kept, part, decider))
        hidden = hide_others(problem, kept)
        refusal = refuse_pieces(hidden, find_pieces(hidden))
        if refusal is None and _coarse_units(hidden, part) <= COARSE_SHARE * 2.0 * units:
            oracle = SumsEngine().prepare(hidden)
            if oracle._has_room(part):
                return bound_both(full, oracle._decide(part, decider, good, units))
        right = right_actions(problem)
        if right is None or decider is not problem.decider:
            return 0.0, 1.0
        scores = score_kept(problem, self.factors, kept)
        return bound_by_losses(full, self._decide(part, decider, good, units, scores), *right)

    def _decide_full(self, part: frozenset[int], tolerance: float, units: float) -> DecidedMass:
        """Bounds on the full decisions in the rows of a part; remembered, since many kept sets share it.

        Whoever may spend more than was spent asks again, and so does who has no clock after one who had.
        """
        known = self.problem.memo.all(FULL_DECISIONS)
        key = part, tolerance, seconds_given() < math.inf
        if key not in known or known[key][0] < units:
            known[key] = units, self._decide(part, self.problem.decider, tolerance, units)
        return known[key][1]

    def _has_room(self, kept: frozenset[int]) -> bool:
        """Whether the rows of some features fit into the memory allowed."""
        needed = sweep_bytes(_kept_rows(self.problem, kept), len(self.problem.prior))
        return needed <= bytes_allowed()

    def _decide(
        self,
        part: frozenset[int],
        decider: Decider,
        tolerance: float,
        units: float,
        scores: tuple[Factor, ...] | None = None,
    ) -> DecidedMass:
        """Bounds on all decisions in the rows of a part of the features."""
        layout = _kept_rows(self.problem, part)
        wanted = np.ones((layout.n_rows, len(decider.actions)), dtype=np.bool_)
        request = self._request(layout, decider, wanted, tolerance)
        # A coarse round is what there is to know: it may take longer than its price.
        return refine(
            replace(request, scores=scores, in_planes=False),
            lambda decided: 0.5 * float((decided.high - decided.low).sum()),
            units=max(units, COARSE_PATIENCE * _coarse_units(self.problem, part)),
        )

    def _choose_part(self, kept: frozenset[int]) -> frozenset[int]:
        """The most informative of the kept features, as many as a coarse round takes little time for."""
        part: frozenset[int] = frozenset()
        for feature in order_by_information(self.problem, self.factors, kept):
            larger = part | {feature}
            fits = _n_rows(self.problem, larger) <= PART_ROWS and self._has_room(larger)
            if fits and _coarse_units(self.problem, larger) <= PART_SHARE * _affordable():
                part = larger
        return part

    def _decided(self, layout: PassLayout, decider: Decider) -> Bools:  # (rows, actions)
        """The action that `decider` takes on each row that has mass; all where ties leave a doubt."""
        class_mass = mass_allowing(layout, self.factors, ()).T
        decisions = decide_rows(decider, class_mass)[:, np.newaxis]
        has_mass = class_mass.sum(axis=1, keepdims=True) > 0
        chosen: Bools = (decisions == np.arange(len(self.problem.decider.actions))) & has_mass
        chosen[doubtful_rows(decider, class_mass, self.problem.rounding)] = True
        return chosen

    def _all_actions(self, layout: PassLayout) -> Bools:  # (rows, actions)
        return np.ones((layout.n_rows, len(self.problem.decider.actions)), dtype=np.bool_)


def _kept_rows(problem: Problem, kept: frozenset[int]) -> KeptRows:
    return KeptRows(plan_passes(problem, kept), tuple(sorted(kept)))


def _affordable() -> float:
    """Work that an answer may take."""
    return min(units_left(), MOST_UNITS)


def _coarse_units(problem: Problem, kept: frozenset[int]) -> float:
    """What one coarse round over the rows of some features takes."""
    one = price_columns(_kept_rows(problem, kept), len(problem.prior), FIRST_DEGREE)
    return _n_pairs(problem, Question(kept)) * one


def _n_rows(problem: Problem, kept: frozenset[int]) -> float:
    return math.prod(map(float, problem.sizes(kept)))


def _n_pairs(problem: Problem, question: Question) -> int:
    """Pairs of classes whose log-odds are swept: for one decision, or for all where rows differ."""
    if question.needs is Needs.AGREEMENT and not question.kept:
        actions = [int(problem.decider.decide(problem.prior[None])[0])]
    else:
        actions = list(range(len(problem.decider.actions)))
    return len({tuple(sorted(cut[:2])) for cut in needed_cuts(problem.decider, actions)}) or 1


def _single(profile: ProfileBounds, decider: Decider, rounding: float) -> SingleFeature:
    """What the rows of one feature say: the rest of each row may be decided otherwise."""
    low, high = bound_rows(profile, decider, rounding)
    mass: Floats = profile.class_mass.sum(axis=1)
    spare = profile.stray + MASS_ROUNDING
    agreement = _interval(bound_agreement(profile, decider, rounding))
    return SingleFeature(agreement, mass, np.maximum(mass - high - spare, 0.0), mass - low + spare)


def _interval(span: Span) -> Interval:
    return Interval(span[0], span[1], Certainty.BOUND)
