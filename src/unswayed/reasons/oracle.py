"""The same-decision probability of subsets of the findings: from one table if it fits, else from engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from unswayed.core.anytime import portion, settle
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.margins import keeping_tests, posterior_bounds
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, UtilityRule
from unswayed.engines.boxes.engine import find_problem_case
from unswayed.engines.boxes.oracle import ModelOracle
from unswayed.engines.choice import DEFAULT_TOLERANCE
from unswayed.inference.expected import ModelCase
from unswayed.inference.predictors import AdditivePredictor, TreesPredictor
from unswayed.reasons.additive import (
    AdditiveDecision,
    additive_changes,
    additive_observations,
    additive_shapley,
    additive_weights,
    certain_reasons,
    make_additive,
    useful_findings,
)
from unswayed.reasons.case import (
    ExplainedDecision,
    FoundReasons,
    SufficientSet,
    cost_of,
    decider_of,
    fails,
    is_model,
    kept_share,
    reaches,
)
from unswayed.reasons.closest import FOR_ENGINES, FOR_SUMS, ClosestSearch, Known, find_closest
from unswayed.reasons.contributions import FindingWeight, Leaning, finding_weights, shapley_values
from unswayed.reasons.flips import (
    NO_TURNS,
    FoundTurns,
    cheapest_changes,
    cheapest_observations,
    turns_of,
)
from unswayed.reasons.search import Effort, search_reasons
from unswayed.reasons.size_bound import fewest_findings
from unswayed.reasons.tables import SubsetTable, make_subset_table, reasons_in_table, table_fits
from unswayed.reasons.worst_case import WorstCase, fewest_certain, make_worst_case, smallest_change

Made = TypeVar("Made")
AskEngine = Callable[[Problem, Decider, float], Measurement]
"""From a problem, a decider and a tolerance to how often all features decide as the decider does."""
AskAction = Callable[[Decider, float], Measurement]
"""The same for one problem."""
MOST_SECONDS, FEW_SECONDS = 4.0, 0.1
"""Predicted seconds that a table may take, and the same where sums of weights can answer without one."""
FOR_TABLES = 0.2
"""Share of what is left in which tables and sums must be made."""
TOLERANCES = (2e-2, 1e-3, 1e-5)
"""Widths asked for in turn while an interval holds the level."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetOracle:
    """Knows SDP(S) for subsets S of the findings: from a table, else from sums of weights, else by engine."""

    explained: ExplainedDecision
    ask: AskEngine
    table: SubsetTable | None = field(repr=False)
    additive: AdditiveDecision | None = field(repr=False)
    worst: WorstCase | None = field(repr=False)
    tests: Floats = field(repr=False)
    model: ModelCase | None = field(default=None, repr=False)
    """A person's own model before any finding: every subset conditions its law, and plans nothing anew."""
    _known: dict[frozenset[int], Measurement] = field(default_factory=dict, repr=False)

    def measure(self, subset: Iterable[int], level: float | None = None) -> Measurement:
        """SDP of a subset; an interval that holds `level` is narrowed."""
        chosen = frozenset(subset)
        at_once = self._measure_at_once(chosen, level)
        if at_once is not None:
            return at_once
        if chosen not in self._known:
            self._known[chosen] = self._asked(self._asker(chosen), level)
        return self._known[chosen]

    def _measure_at_once(self, chosen: frozenset[int], level: float | None) -> Measurement | None:
        """SDP of a subset without an engine; None where one must be asked."""
        if self.table is not None:
            value = min(max(self.table.sdp_of(chosen), 0.0), 1.0)
            return Measurement.exact(value, engine="table")
        if self.additive is not None:
            return _measured(self.additive.sdp(chosen, level), engine="weights")
        if self.worst is not None and self.worst.is_certain(chosen):
            return Measurement.exact(1.0, engine="worst case")
        return None

    def state(self, found: SufficientSet) -> Measurement:
        """The SDP of a set that was found, as a measurement."""
        known = self._known.get(frozenset(found.findings))
        engine = "table" if self.table is not None else "weights"
        return _measured(found.sdp, engine=engine) if known is None else known

    def narrow(self, chosen: frozenset[int], sdp: Interval) -> Interval:
        """The SDP of a set, as narrow as without a level to compare it with."""
        at_once = self._measure_at_once(chosen, None)
        try:
            narrower = self._asked(self._asker(chosen), None) if at_once is None else at_once
        except LimitError:
            return sdp
        if narrower.high - narrower.low >= sdp.high - sdp.low:
            return sdp
        self._known[chosen] = narrower
        return interval_of(narrower)

    def screen(self, subset: frozenset[int], level: float) -> Interval:
        """SDP of a subset, or bounds on it that already fail the level."""
        if self.additive is not None:
            return self.additive.sdp(subset, level)
        if self.worst is not None and level >= 1.0:
            return self.worst.sdp(subset)
        known = self._known.get(subset)
        # What was narrow enough for one level may hold another.
        if known is None or not (reaches(interval_of(known), level) or fails(interval_of(known), level)):
            if self.model is None:
                problem = self.explained.at(subset)
                bounds = posterior_bounds(self.tests, problem.prior)
                if fails(bounds, level):
                    return bounds
                self._known[subset] = self._asked(partial(self.ask, problem), level)
            else:
                self._known[subset] = self._asked(self._asker(subset), level)
        return interval_of(self._known[subset])

    def _asker(self, chosen: frozenset[int]) -> AskAction:
        """What tells how often a decision is taken when these findings alone are known."""
        if self.model is None:
            return partial(self.ask, self.explained.at(chosen))
        oracle = ModelOracle(self.explained.whole, self.model.condition(self.explained.given(chosen)))

        def ask(decider: Decider, tolerance: float) -> Measurement:
            found = oracle.agreement(frozenset(), decider, tolerance or DEFAULT_TOLERANCE)
            return _measured(found, engine="boxes")

        return ask

    def _asked(self, ask: AskAction, level: float | None) -> Measurement:
        # An interval never proves a probability of 1, so at level 1 an exact answer is asked for first.
        for tolerance in (0.0,) if level is None else (0.0, *TOLERANCES) if level >= 1.0 else TOLERANCES:
            found = self._answer(ask, tolerance, level)
            if level is None or found.certainty is not Certainty.BOUND:
                break
            if reaches(interval_of(found), level) or fails(interval_of(found), level):
                break
        return found

    def _answer(self, ask: AskAction, tolerance: float, level: float | None) -> Measurement:
        """The share of the decision; at level 1, what the other actions leave, which may be none at all."""
        n_actions = len(self.explained.problem.decider.actions)
        others = [a for a in range(n_actions) if a != self.explained.action]
        if len(others) != 1 and (level is None or level < 1.0):
            return ask(decider_of(self.explained), tolerance)
        turned = [ask(decider_of(self.explained, other), tolerance) for other in others]
        low = kept_share(math.fsum(each.high for each in turned))
        high = kept_share(math.fsum(each.low for each in turned))
        value = min(max(kept_share(math.fsum(each.value for each in turned)), low), high)
        if not turned:
            return Measurement.exact(1.0, engine="one action")
        return replace(max(turned, key=_doubt), value=value, low=low, high=high)


def _doubt(measured: Measurement) -> int:
    """Larger for weaker promises."""
    return list(Certainty).index(measured.certainty)


def make_subset_oracle(
    explained: ExplainedDecision, ask: AskEngine, *, engine_only: bool = False
) -> SubsetOracle:
    """An oracle with a table where it is within the limits; or one that always asks the engine."""
    tests = keeping_tests(explained.problem.classifier, explained.action)
    if engine_only:
        return SubsetOracle(explained, ask, None, None, None, tests)
    model = find_problem_case(explained.whole) if is_model(explained) else None
    if isinstance(model, ModelCase) and isinstance(model.predictor, AdditivePredictor | TreesPredictor):
        return SubsetOracle(explained, ask, None, None, None, tests, model)
    additive = _within_limits(partial(make_additive, explained))
    fits = table_fits(explained, most_seconds=MOST_SECONDS if additive is None else FEW_SECONDS)
    table = _within_limits(partial(make_subset_table, explained)) if fits else None
    worst = None
    if table is None and additive is None:
        worst = _within_limits(partial(make_worst_case, explained))
    return SubsetOracle(explained, ask, table, additive, worst, tests)


def _within_limits(make: Callable[[], Made]) -> Made | None:
    """What `make` gives, or nothing where it is over the limits: then an engine answers."""
    try:
        with portion(FOR_TABLES):
            return make()
    except LimitError:
        return None


def find_weights(oracle: SubsetOracle, leaning: Leaning) -> list[FindingWeight]:
    """What each finding adds to the others."""
    # Weights of evidence are the log-odds of every rule on probabilities, not the leads of utilities.
    if oracle.additive is not None and not isinstance(oracle.explained.problem.classifier.rule, UtilityRule):
        return additive_weights(oracle.additive)
    return finding_weights(oracle.explained, leaning)


def find_shapley_values(oracle: SubsetOracle, leaning: Leaning) -> Floats | None:
    """The share of each finding in the leaning; None where it cannot be shared out."""
    if oracle.additive is not None and not isinstance(oracle.explained.problem.classifier.rule, UtilityRule):
        return additive_shapley(oracle.additive)
    return shapley_values(oracle.explained, leaning)


def find_reasons(
    oracle: SubsetOracle,
    costs: dict[int, float],
    level: float,
    most: int,
    *,
    weights: list[FindingWeight],
    effort: Effort,
) -> FoundReasons:
    """The cheapest reasons at a level; where there is none, what comes closest."""
    if oracle.table is not None:
        return reasons_in_table(oracle.table, costs, level, most)
    promise, known = _promise(oracle, weights), Known()
    if oracle.additive is not None and level >= 1.0:
        found = certain_reasons(oracle.additive, costs, most)
    else:
        found = search_reasons(
            oracle.explained,
            lambda subset: oracle.screen(subset, level),
            costs,
            level,
            most,
            promise=promise,
            effort=effort,
            fewest=_size_bound(oracle, level),
            known=known,
        )
    if not found.reasons:
        bound = level if found.proven else 1.0
        patience = FOR_ENGINES if oracle.additive is None else FOR_SUMS
        search = ClosestSearch(oracle.screen, oracle.narrow, known, bound, patience)
        return _with_closest(oracle, found, search, sorted(promise, key=lambda v: -promise[v]), costs)
    if level >= 1.0:
        return found
    return settle(_narrow_first(oracle, found)).last


def _narrow_first(oracle: SubsetOracle, found: FoundReasons) -> Iterator[FoundReasons]:
    """The reasons; then the first as narrow as it can be, where the search asked for one side of a level."""
    yield found
    first, *others = found.reasons
    sdp = oracle.narrow(frozenset(first.findings), first.sdp)
    yield replace(found, reasons=(replace(first, sdp=sdp), *others))


def _promise(oracle: SubsetOracle, weights: list[FindingWeight]) -> dict[int, float]:
    """How hopeful each finding is that a cheapest reason, or a subset of highest SDP, may hold."""
    promise = dict.fromkeys(oracle.explained.findings, 0.0)
    promise |= {each.finding: float(np.nan_to_num(each.weight)) for each in weights}
    if oracle.additive is None:
        return promise
    return {finding: promise[finding] for finding in useful_findings(oracle.additive)}


def _size_bound(oracle: SubsetOracle, level: float) -> Callable[[int], int] | None:
    if oracle.additive is not None:
        return partial(fewest_findings, oracle.additive, level)
    if oracle.worst is not None and level >= 1.0:
        return partial(_at_most, fewest_certain(oracle.worst))
    return None


def _with_closest(
    oracle: SubsetOracle,
    found: FoundReasons,
    search: ClosestSearch,
    candidates: list[int],
    costs: dict[int, float],
) -> FoundReasons:
    subset = find_closest(search, candidates)
    if subset is None:
        return replace(found, closest_bound=search.bound)
    members = tuple(v for v in oracle.explained.findings if v in subset)
    closest = SufficientSet(members, search.known[subset], cost_of(members, costs))
    return replace(found, closest=closest, closest_bound=search.bound)


def _at_most(bound: int, most: int) -> int:
    return min(bound, most)


def find_changes(
    oracle: SubsetOracle, fixed: frozenset[int], costs: dict[int, float], most: int
) -> FoundTurns:
    """The cheapest changes of findings that turn the decision."""
    explained, additive = oracle.explained, oracle.additive
    if additive is not None and oracle.table is None:
        return additive_changes(additive, fixed, costs, most)
    if oracle.worst is not None and not explained.problem.free:
        movable = frozenset(explained.findings) - fixed
        changed, bound = smallest_change(oracle.worst, movable, costs)
        return turns_of(explained, changed, costs, most, bound)
    return cheapest_changes(explained, fixed, costs, most)


def find_observations(oracle: SubsetOracle, costs: dict[int, float], most: int) -> FoundTurns:
    """The cheapest further observations that turn the decision."""
    explained, additive = oracle.explained, oracle.additive
    if additive is not None and oracle.table is None:
        return additive_observations(additive, costs, most)
    return cheapest_observations(explained, costs, most) if explained.problem.free else NO_TURNS


def interval_of(measured: Measurement) -> Interval:
    """The interval of a measurement."""
    return Interval(measured.low, measured.high, measured.certainty, measured.confidence, measured.value)


def _measured(found: Interval, *, engine: str) -> Measurement:
    middle = 0.5 * (found.low + found.high)
    return Measurement(middle, found.low, found.high, found.certainty, engine)
