"""A person's own model, prepared: bounds on its decisions for kept inputs, by the way that its kind allows.

- few completions: all are listed, exactly, whatever the model;
- a sum of terms and two classes: the law of the sum (`sums.py`), exact on a lattice;
- one tree: a box for each leaf, exactly;
- several trees, or several classes: best-first boxes (`search.py`).

The decision on the kept inputs is made by the expected prediction. Where only bounds on that are known and
they straddle a threshold, both readings count: the lower end is that of the worse decision, the upper end
that of the better one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, settle
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.constant import is_constant
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval, SingleFeature
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, LogOddsIntervals
from unswayed.engines.boxes.deciding import OPEN, bound_shares, decide_boxes
from unswayed.engines.boxes.scores import ScoreBounds, find_bounds
from unswayed.engines.boxes.search import BoxState, BoxTask, search
from unswayed.engines.boxes.sums import decide_lattice, find_lattice, kept_rows, single_rows, sweep_sums
from unswayed.engines.sums.profile_bounds import (
    MASS_ROUNDING,
    ProfileBounds,
    bound_achievable,
    bound_potential,
    make_span,
)
from unswayed.inference.expected import (
    Expected,
    ModelCase,
    draw_completions,
    expect_exactly,
    open_leaves,
    sum_rows,
)
from unswayed.inference.predictors import MOST_COMPLETIONS, AdditivePredictor, TreesPredictor
from unswayed.model.distribution import all_states
from unswayed.model.nodes.predictor import apply_link

MOST_UNITS = 1.5 * UNITS_PER_SECOND
"""Work that one question may take where no limit was given."""
SINGLES_UNITS = 1.0 * UNITS_PER_SECOND
"""Work that all inputs one by one may take together."""
EXPECTED_SHARE = 0.3
"""Share of it for bounds on the expected prediction."""
EXACT_DOUBT = 1e-9
"""Doubt about an expected prediction up to which it counts as exact."""
N_GUESSES = 4096
"""Completions drawn for the best single value within a wide interval."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedRows:
    """Rows of kept inputs: bounds on the expected prediction and on the mass of each decision."""

    shares: tuple[Floats, Floats]  # (rows, classes) each
    """Least and greatest Pr(D, row | e)."""
    low: Floats  # (rows, actions)
    high: Floats  # (rows, actions)
    stray: float
    """Mass that may be decided otherwise than the bounds say, in all rows together."""
    is_exact: bool

    @property
    def class_mass(self) -> Floats:  # (rows, classes)
        """The middle of the bounds on the expected prediction."""
        middle: Floats = 0.5 * (self.shares[0] + self.shares[1])
        return middle

    def profile(self) -> ProfileBounds:
        """As the measures take it; `LimitError` where the expected prediction is not exact."""
        if float((self.shares[1] - self.shares[0]).max(initial=0.0)) > EXACT_DOUBT:
            raise LimitError(
                "the expected prediction of this model is only known between bounds, which tell no best "
                "threshold; keep fewer inputs free, or allow estimates"
            )
        return ProfileBounds(self.class_mass, self.low, self.high, self.stray)


@dataclass(frozen=True, slots=True, eq=False)
class ModelOracle:
    """A model at some evidence, asked about one set of kept inputs after another."""

    problem: Problem
    case: ModelCase = field(repr=False)
    units: float = MOST_UNITS
    """Work that one question may take."""
    _bounds: list[ScoreBounds | None] = field(default_factory=list, repr=False)
    """Bounds on scores, once they were asked for."""

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """How often deciding by the expected prediction given the kept inputs repeats the full decision."""
        rows = self.decide_rows(self._order(kept), tolerance, decider)
        low, high = _agree(rows, decider)
        if rows.is_exact and high - low <= 1e-9:
            return Interval.point(0.5 * (low + high))
        low, high = make_span(low, high, rows.stray)
        middle = self._guess(kept, decider, rows) if high - low > max(tolerance, 1e-3) else None
        inside = None if middle is None else min(max(middle, low), high)
        return Interval(low, high, Certainty.BOUND, middle=inside)

    def singles(self, decider: Decider, tolerance: float) -> dict[int, SingleFeature]:
        """What every input tells by itself: for a sum all by one pass up and one down, else one by one."""
        free = self.problem.free
        is_swept = self._is_sum and self.case.n_completions > MOST_COMPLETIONS
        if not is_swept or not free or find_lattice(self.case, ()) is not None:
            each = replace(self, units=SINGLES_UNITS / max(len(free), 1))
            return {f: _single(each.decide_rows((f,), tolerance, decider), decider) for f in free}
        found = self._sweep_singles(free, tolerance)
        return {
            f: _single(replace(rows, shares=self._expect((f,), decider, (rows.low, rows.high))), decider)
            for f, rows in zip(free, found, strict=True)
        }

    def _sweep_singles(self, free: tuple[int, ...], tolerance: float) -> list[DecidedRows]:
        """The states of each input with bounds on what is decided there; nothing yet of what is expected."""
        layout, full = single_rows(self.case, free), self.problem.decider
        assert isinstance(full, LogOddsIntervals)
        owner = layout.set_of_row()

        def is_narrow(bounds: tuple[Floats, Floats, float]) -> bool:
            widths = np.bincount(owner, (bounds[1] - bounds[0]).max(axis=1))
            return float(widths.max()) + 2.0 * bounds[2] <= tolerance

        stream = sweep_sums(self.case, layout, full, max(tolerance, 1e-12))
        low, high, stray = settle(stream, units=SINGLES_UNITS, enough=is_narrow).last
        none = np.zeros((0, 0))
        return [
            DecidedRows((none, none), low[start:end], high[start:end], stray + MASS_ROUNDING, is_exact=False)
            for start, end in pairwise(layout.starts())
        ]

    @property
    def _is_sum(self) -> bool:
        """Whether the decision is a matter of where one sum of terms lies."""
        model, full = self.case.predictor, self.problem.decider
        is_one = isinstance(model, AdditivePredictor) and len(model.bias) == 1
        return is_one and isinstance(full, LogOddsIntervals)

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Bounds on the maximum potential agreement."""
        rows = self.decide_rows(self._order(kept), tolerance, None)
        profile = ProfileBounds(rows.class_mass, rows.low, rows.high, rows.stray)
        return _interval(bound_potential(profile), rows.is_exact)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """Bounds on the maximum achievable agreement, and thresholds that achieve the lower one."""
        rows = self.decide_rows(self._order(kept), tolerance, None)
        span, best = bound_achievable(rows.profile(), positive, self.problem.rounding)
        return _interval(span, rows.is_exact), best

    def decide_rows(self, kept: tuple[int, ...], tolerance: float, decider: Decider | None) -> DecidedRows:
        """Every row of the kept inputs; `decider` is what decides on them, where that is asked for."""
        case = self.case
        if case.n_completions <= MOST_COMPLETIONS:
            return self.list_rows(kept)
        model = case.predictor
        if self._is_sum:
            return self.sum_rows(kept, tolerance, decider)
        if isinstance(model, TreesPredictor) and len(model.leaves.starts) <= 1:
            return self.leaf_rows(kept)
        return self.box_rows(kept, tolerance, decider)

    def list_rows(self, kept: tuple[int, ...]) -> DecidedRows:
        """All completions, exactly, each decided as the model decides it."""
        case, full = self.case, self.problem.decider
        states, masses = all_states(case.law.n_states), case.law.table()
        shares = case.predict(states)
        chosen = np.eye(len(full.actions))[full.decide(shares)]
        classes = sum_rows(case.law, states, masses[:, np.newaxis] * shares, kept)
        decided = sum_rows(case.law, states, masses[:, np.newaxis] * chosen, kept)
        return DecidedRows((classes, classes), decided, decided, MASS_ROUNDING, is_exact=True)

    def leaf_rows(self, kept: tuple[int, ...]) -> DecidedRows:
        """One tree: every leaf is a box with one prediction."""
        case, full, model = self.case, self.problem.decider, self.case.predictor
        assert isinstance(model, TreesPredictor)
        boxes, values, _ = open_leaves(case, model)
        if not len(boxes):  # no tree at all
            boxes, values = (
                np.ones((1, sum(case.law.n_states)), dtype=np.bool_),
                np.zeros((1, len(model.bias))),
            )
        shares = apply_link(model.link, model.bias + values)
        masses = case.law.box_masses(boxes, kept)
        decided = masses @ np.eye(len(full.actions))[full.decide(shares)]
        classes = masses @ shares
        return DecidedRows((classes, classes), decided, decided, MASS_ROUNDING, is_exact=True)

    def sum_rows(self, kept: tuple[int, ...], tolerance: float, decider: Decider | None) -> DecidedRows:
        """The law of the sum."""
        case, full = self.case, self.problem.decider
        assert isinstance(full, LogOddsIntervals)
        lattice = find_lattice(case, kept)
        if lattice is not None:
            classes, decided = decide_lattice(case, lattice, full)
            return DecidedRows((classes, classes), decided, decided, MASS_ROUNDING, is_exact=True)

        def is_narrow(bounds: tuple[Floats, Floats, float]) -> bool:
            return float((bounds[1] - bounds[0]).max(axis=1).sum()) + 2.0 * bounds[2] <= tolerance

        stream = sweep_sums(case, kept_rows(case, kept), full, max(tolerance, 1e-12))
        share = 1.0 - EXPECTED_SHARE
        low, high, stray = settle(stream, share=share, units=self.units, enough=is_narrow).last
        shares = self._expect(kept, decider, (low, high))
        return DecidedRows(shares, low, high, stray + MASS_ROUNDING, is_exact=False)

    def box_rows(self, kept: tuple[int, ...], tolerance: float, decider: Decider | None) -> DecidedRows:
        """Best-first boxes."""
        task = self._task(kept, self.problem.decider)

        def is_narrow(state: BoxState) -> bool:
            return float(state.mass.sum()) <= 0.999 * tolerance

        share = 1.0 - EXPECTED_SHARE
        state = settle(search(task), share=share, units=self.units, enough=is_narrow).last
        low, high = state.bound()
        is_exact = not len(state.mass)
        return DecidedRows(self._expect(kept, decider, (low, high)), low, high, MASS_ROUNDING, is_exact)

    def _task(self, kept: tuple[int, ...], decider: Decider | None) -> BoxTask:
        if not self._bounds:
            self._bounds.append(find_bounds(self.case))
        scores = self._bounds[0]
        if scores is None:
            raise LimitError("the model has no bounds over boxes of its inputs; allow estimates")
        return BoxTask(self.case.law, scores, kept, decider, len(self.problem.prior))

    def _expect(
        self, kept: tuple[int, ...], decider: Decider | None, decided: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Bounds on the expected prediction of each row, exact where the model's kind allows that.

        By boxes, only until it is clear what the rows decide. Who decides alike in any case needs none.
        """
        if decider is not None and is_constant(decider):
            some = np.where(decided[1].sum(axis=1, keepdims=True) > 0.0, 1.0, 0.0)
            return np.zeros((len(some), len(self.problem.prior))), np.tile(some, len(self.problem.prior))
        found = expect_exactly(self.case, kept)
        if found is None and self._tells_decisions():
            return self._expect_decisions(decided)
        if found is not None and not found.is_sampled:
            return _around(found)

        def is_clear(state: BoxState) -> bool:
            low, high = state.bound_expected()
            if decider is None:
                return float((high - low).max()) <= EXACT_DOUBT
            return bool((decide_boxes(decider, low, high) != OPEN).all())

        stream = search(self._task(kept, None))
        return settle(stream, units=EXPECTED_SHARE * self.units, enough=is_clear).last.bound_expected()

    def _tells_decisions(self) -> bool:
        """Whether the model gives one of two decisions, and the rule has an action of its own for each."""
        if self.case.predictor.link != "step" or len(self.problem.prior) != 2:
            return False
        return len(np.unique(self.problem.decider.decide(np.eye(2)))) == 2

    def _expect_decisions(self, decided: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """A model that gives decisions: the expected prediction is how often each is made."""
        chosen = self.problem.decider.decide(np.eye(2))
        return decided[0][:, chosen], decided[1][:, chosen]

    def _guess(self, kept: frozenset[int], decider: Decider, rows: DecidedRows) -> float | None:
        """An estimate of the agreement by samples, for the middle of an interval that stays wide."""
        case, order = self.case, self._order(kept)
        states = draw_completions(case, N_GUESSES, np.random.default_rng(0))
        full = np.eye(len(self.problem.decider.actions))[self.problem.decider.decide(case.predict(states))]
        by_row = sum_rows(case.law, states, full, order) / N_GUESSES
        chosen = decider.decide(np.maximum(rows.class_mass, 1e-300))
        return float(by_row[np.arange(len(by_row)), chosen].sum())

    def _order(self, kept: frozenset[int]) -> tuple[int, ...]:
        return tuple(v for v in self.case.law.variables if v in kept)


def _around(found: Expected) -> tuple[Floats, Floats]:
    doubt = found.doubt * found.mass.sum(axis=1, keepdims=True)
    if found.doubt <= EXACT_DOUBT:
        return found.mass, found.mass
    return np.maximum(found.mass - doubt, 0.0), found.mass + doubt


def _agree(rows: DecidedRows, decider: Decider) -> tuple[float, float]:
    """Bounds on the agreement; rows whose expected prediction straddles a threshold are read both ways."""
    alive = rows.shares[1].sum(axis=1) > 0.0
    low, high, decisions = rows.low[alive], rows.high[alive], _decisions(rows, decider)[alive]
    clear = decisions != OPEN
    at = np.arange(len(decisions))
    lower = np.where(clear, low[at, np.maximum(decisions, 0)], low.min(axis=1))
    upper = np.where(clear, high[at, np.maximum(decisions, 0)], high.max(axis=1))
    return float(lower.sum()), float(upper.sum())


def _decisions(rows: DecidedRows, decider: Decider) -> Ints:
    """What is decided in each row, `OPEN` where bounds on the expected prediction straddle a threshold."""
    least, most = rows.shares
    found = np.zeros(len(least), dtype=np.int64)
    alive = most.sum(axis=1) > 0.0
    if np.array_equal(least, most):
        found[alive] = decider.decide(least[alive])
    else:
        found[alive] = decide_boxes(decider, *bound_shares(least[alive], most[alive]))
    return found


def _single(rows: DecidedRows, decider: Decider) -> SingleFeature:
    """What the rows of one input tell, state by state."""
    low, high = _agree(rows, decider)
    is_point = rows.is_exact and high - low <= 1e-9
    span = (low, high) if is_point else make_span(low, high, rows.stray)
    agreement = Interval.point(0.5 * (low + high)) if is_point else Interval(*span, Certainty.BOUND)
    decisions = _decisions(rows, decider)
    others = np.ones(rows.low.shape, dtype=np.bool_)
    others[np.arange(len(decisions)), np.maximum(decisions, 0)] = False
    is_open = decisions == OPEN  # any action may be the other one
    least = np.where(is_open, 0.0, np.where(others, rows.low, 0.0).sum(axis=1))
    mass = rows.class_mass.sum(axis=1)
    most = np.where(is_open, mass, np.where(others, rows.high, 0.0).sum(axis=1))
    stray = 0.0 if is_point else rows.stray
    return SingleFeature(agreement, mass, np.maximum(least - stray, 0.0), most + stray)


def _interval(span: tuple[float, float], is_exact: bool) -> Interval:
    if is_exact and span[1] - span[0] <= 1e-9:
        return Interval.point(0.5 * (span[0] + span[1]))
    return Interval(span[0], span[1], Certainty.BOUND)
