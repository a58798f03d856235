"""Why this decision: the verb `why`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, Unpack

from unswayed.api.decisions import agreement_of, decision_of
from unswayed.api.models import takes_cases
from unswayed.api.questions import Options, problem_of
from unswayed.api.results.reasons import Contribution, Flip, ParameterRange, Reason, Reasons
from unswayed.core.anytime import UNITS_PER_SECOND, bounded, portion, reserve, settle, tick
from unswayed.core.errors import (
    ImpossibleEvidence,
    LimitError,
    QueryError,
    expect,
    expect_list,
    expect_number,
)
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import check_cost
from unswayed.decisions.rules import Decider
from unswayed.model.evidence import Evidence
from unswayed.reasons.case import (
    ExplainedDecision,
    FoundReasons,
    SufficientSet,
    decider_of,
    explained_decision,
    fails,
    is_model,
    reaches,
)
from unswayed.reasons.contributions import FindingWeight, conflict_of, make_leaning
from unswayed.reasons.flips import FoundTurns, Turn
from unswayed.reasons.oracle import (
    SubsetOracle,
    find_changes,
    find_observations,
    find_reasons,
    find_shapley_values,
    find_weights,
    interval_of,
    make_subset_oracle,
)
from unswayed.reasons.search import Effort, Watch
from unswayed.reasons.sensitivity import (
    ParameterInterval,
    given_states,
    network_at,
    parameter_intervals,
    threshold_interval,
)

MOST_MEASURED = 10
"""Parameters whose SDP at both ends is measured; a third of it where each takes an engine."""
PATIENCE = 20.0 * UNITS_PER_SECOND
"""Work for an explanation where nobody gave seconds."""
PATIENCE_WITH_MODEL = 4.0 * UNITS_PER_SECOND  # of many inputs: few parts come to an end, each is certain
FOR_REASONS, FOR_CHANGES, FOR_OBSERVATIONS = 0.5, 0.25, 0.33
"""Shares of what is left for the search for reasons, then for changes that turn it, then for observations."""
FOR_ESTIMATE = 0.5
"""Share of what is left for one SDP that may be estimated: samples would take all there is for the first."""
MOST_LEFT_OUT = 40
"""Findings up to which the SDP without each of them is asked of an engine."""

NO_REASONS, UNKNOWN_TURNS = FoundReasons((), 0.0, False), FoundTurns((), 0.0)
"""Where nothing is left to look for them."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about a decision, and what had to be left out so far."""

    explained: ExplainedDecision
    level: float
    costs: dict[int, float]
    """By position; 1 where none was given."""
    most: int
    """Length of each list."""
    options: Options
    notes: list[str] = field(default_factory=list)

    def ask(self, problem: Problem, decider: Decider, tolerance: float) -> Measurement:
        """How often all features decide as the decider does, from the engine that the options lead to."""
        options = Options(**self.options)
        if tolerance > 0:
            options["tolerance"] = min(tolerance, options.get("tolerance") or tolerance)
        with portion(FOR_ESTIMATE if options.get("allow_estimates") else 1.0):
            return agreement_of(problem, frozenset(), decider, options)

    def attempt(
        self, what: str, work: Callable[[], Answer], instead: Answer, *, share: float = 1.0
    ) -> Answer:
        """What `work` gives with a share of what is left; where that is too little, `instead` and a note."""
        try:
            with portion(share):
                tick(what="this part")
                return work()
        except LimitError as error:
            if not any(note.startswith(what) for note in self.notes):
                self.note(f"{what} left out", str(error))
            return instead

    def note(self, what: str, refusal: str) -> None:
        """Take down what is missing and why: without the list of bids, and each reason once."""
        first, *rest = refusal.splitlines()
        why = f"{first.rstrip(':')} ({rest[-1]})" if rest else first
        is_told = any(note.endswith(why) for note in self.notes)
        self.notes.append(f"{what} for the same reason" if is_told else f"{what}: {why}")


@bounded
@takes_cases
def why(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    at_least: float = 0.95,
    costs: Mapping[str, float] | None = None,
    fixed: Iterable[str] = (),
    most: int = 10,
    watch: Watch | None = None,
    **options: Unpack[Options],
) -> Reasons:
    """Why this decision: the smallest reason, what would turn it, what drove it, how far numbers may move.

    A set of findings is a reason when, given these findings alone, the full classifier decides the same with
    probability `at_least`; with 1 it is a sufficient reason in the sense of logic. `costs` weigh findings (1
    where left out), `fixed` names features that cannot change, `most` bounds each list, and `watch` is called
    with the cost of the best reason, the bound on any, and the number of subsets evaluated. `limits` hold for
    the whole answer: half of the time is for reasons, a quarter for what would turn the decision, the rest
    for contributions and ranges; `notes` tell what was left out.

    Both reviewers are for this paper. Neither of them alone would be enough:

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> found = why(papers, {"R1": "+", "R2": "+"})
    >>> found.reason.findings, found.reason.sdp.value, found.necessary
    ({'R1': '+', 'R2': '+'}, 1.0, ('R1', 'R2'))
    >>> [flip.states for flip in found.flips]
    [{'R2': '-'}, {'R1': '-'}]
    """
    started = time.perf_counter()
    _check(at_least)
    problem = problem_of(classifier, evidence, options)
    with reserve():  # the decision is the least that there is to say
        explained = explained_decision(problem)
        inquiry = Inquiry(explained, at_least, _costs_of(explained, costs), most, options)
        draft = Reasons(
            classifier,
            explained.named(dict(problem.evidence)),
            decision_of(problem),
            at_least,
            leaning=make_leaning(explained).name,
            threshold_interval=threshold_interval(explained),
        )
    held = _positions_of(explained, fixed)
    units = PATIENCE_WITH_MODEL if is_model(explained) else PATIENCE
    settled = settle(_drafts(inquiry, draft, held, watch), units=units, heeds_interrupts=True)
    if settled.cut:
        inquiry.note("What else there is to say is left out", settled.cut)
    return replace(settled.last, notes=tuple(inquiry.notes), seconds=time.perf_counter() - started)


def _drafts(inquiry: Inquiry, draft: Reasons, held: frozenset[int], watch: Watch | None) -> Iterator[Reasons]:
    """The explanation, part by part; a part that fails within its share leaves a note."""
    yield draft
    explained, leaning = inquiry.explained, make_leaning(inquiry.explained)
    named = inquiry.options.get("engine") is not None
    oracle = make_subset_oracle(explained, inquiry.ask, engine_only=named)
    none: list[FindingWeight] = []
    weights = inquiry.attempt("What each finding adds is", lambda: find_weights(oracle, leaning), none)
    shares = inquiry.attempt("Shapley values are", lambda: find_shapley_values(oracle, leaning), None)
    contributions = _contributions(explained, weights, None if shares is None else shares.tolist())
    yield (draft := _with_contributions(inquiry, draft, contributions))
    found = inquiry.attempt(
        "The reason is",
        lambda: find_reasons(
            oracle, inquiry.costs, inquiry.level, inquiry.most, weights=weights, effort=Effort(watch=watch)
        ),
        NO_REASONS,
        share=FOR_REASONS,
    )
    if found.refusal:
        inquiry.note("The search for reasons stopped short", found.refusal)
    yield (draft := _with_reasons(draft, oracle, found))
    changes = inquiry.attempt(
        "What would turn the decision is",
        lambda: find_changes(oracle, held, inquiry.costs, inquiry.most),
        UNKNOWN_TURNS,
        share=FOR_CHANGES,
    )
    flips = tuple(_flip(inquiry, each) for each in changes.turns)
    yield (draft := replace(draft, flips=flips, flips_bound=changes.cost_bound))
    observed = inquiry.attempt(
        "What observations would turn the decision is",
        lambda: find_observations(oracle, inquiry.costs, inquiry.most),
        UNKNOWN_TURNS,
        share=FOR_OBSERVATIONS,
    )
    flips = tuple(_flip(inquiry, each) for each in observed.turns)
    yield (draft := replace(draft, flips_if_observed=flips, observed_bound=observed.cost_bound))
    now = inquiry.attempt("The SDP of all findings is", lambda: oracle.measure(explained.findings), None)
    draft = replace(draft, sdp=now)
    for contributions in _measure_contributions(inquiry, oracle, draft.contributions):
        yield (draft := _with_contributions(inquiry, draft, contributions))
    conflict = inquiry.attempt("Whether the findings go together is", lambda: conflict_of(explained), None)
    yield (draft := replace(draft, conflict=conflict))
    for ranges in _parameters(inquiry, oracle):
        yield replace(draft, parameters=ranges)


def _with_contributions(inquiry: Inquiry, draft: Reasons, contributions: tuple[Contribution, ...]) -> Reasons:
    needed = _necessary(inquiry, contributions, draft.sdp)
    return replace(draft, contributions=contributions, necessary=needed)


def _with_reasons(draft: Reasons, oracle: SubsetOracle, found: FoundReasons) -> Reasons:
    return replace(
        draft,
        reasons=tuple(_reason(oracle, each) for each in found.reasons),
        more_reasons=found.cut,
        proven=found.proven,
        cost_bound=found.cost_bound,
        closest=None if found.closest is None else _closest(oracle, found.closest),
        closest_bound=None if found.reasons else found.closest_bound,
        closest_proven=found.closest_proven,
        in_every_reason=_in_every(oracle.explained, found),
        evaluations=found.evaluations,
    )


def _check(at_least: float) -> None:
    expect_number(at_least, "the level")
    if not 0.0 < at_least <= 1.0:
        raise QueryError(f"the level must lie between 0 and 1; got {at_least!r}")


def _costs_of(explained: ExplainedDecision, costs: Mapping[str, float] | None) -> dict[int, float]:
    """Costs by position; `QueryError` for unknown features and for costs that are not positive."""
    expect(costs, (Mapping, type(None)), "costs")
    network = explained.network
    by_position = dict.fromkeys((*explained.findings, *explained.problem.free), 1.0)
    for name, cost in (costs or {}).items():
        position = network.index(name)
        check_cost(name, cost)
        by_position[position] = float(cost)
    return by_position


def _positions_of(explained: ExplainedDecision, names: Iterable[str]) -> frozenset[int]:
    return frozenset(explained.network.index(name) for name in expect_list(names, "the findings"))


def _reason(oracle: SubsetOracle, found: SufficientSet) -> Reason:
    explained = oracle.explained
    return Reason(explained.named(explained.given(found.findings)), oracle.state(found), found.cost)


def _closest(oracle: SubsetOracle, found: SufficientSet) -> Reason:
    """The closest set with what it has for certain: the middle of a wide bound says nothing."""
    reason = _reason(oracle, found)
    if reason.sdp.certainty is not Certainty.BOUND:
        return reason
    return replace(reason, sdp=replace(reason.sdp, value=reason.sdp.low))


def _contributions(
    explained: ExplainedDecision, weights: list[FindingWeight], shares: list[float] | None
) -> tuple[Contribution, ...]:
    """What each finding did, the largest weight first; the SDP without it is not measured yet."""
    found = []
    for i, each in enumerate(weights):
        [(feature, state)] = explained.named(explained.given([each.finding])).items()
        found.append(
            Contribution(
                feature,
                state,
                each.weight,
                None if shares is None else shares[i],
                _by_state(explained, each.posterior_without.tolist()),
                explained.problem.decider.actions[each.action_without],
                None,
            )
        )
    return tuple(sorted(found, key=lambda one: -abs(one.weight)))


def _measure_contributions(
    inquiry: Inquiry, oracle: SubsetOracle, contributions: Sequence[Contribution]
) -> Iterator[tuple[Contribution, ...]]:
    """The contributions with the SDP without each finding, one more at a time."""
    measured = list(contributions)
    yield tuple(measured)
    for i, each in enumerate(contributions):
        finding = inquiry.explained.network.index(each.feature)
        measured[i] = replace(each, sdp_without=_sdp_without(inquiry, oracle, finding))
        yield tuple(measured)


def _sdp_without(inquiry: Inquiry, oracle: SubsetOracle, finding: int) -> Measurement | None:
    findings = inquiry.explained.findings
    if oracle.table is None and oracle.additive is None and len(findings) > MOST_LEFT_OUT:
        return None
    others = [v for v in findings if v != finding]
    return inquiry.attempt(
        "The SDP without a finding is", lambda: oracle.measure(others, inquiry.level), None
    )


def _by_state(explained: ExplainedDecision, probabilities: list[float]) -> dict[str, float]:
    states = explained.network.variables[explained.problem.target].states
    return dict(zip(states, probabilities, strict=True))


def _necessary(
    inquiry: Inquiry, contributions: tuple[Contribution, ...], now: Measurement | None
) -> tuple[str, ...]:
    """Findings without which the decision is another, or the SDP falls below the level that it has now."""
    explained = inquiry.explained
    decided = explained.problem.decider.actions[explained.action]
    enough = now is not None and reaches(interval_of(now), inquiry.level)
    needed = {
        one.feature
        for one in contributions
        if one.decision_without != decided
        or (enough and one.sdp_without is not None and fails(interval_of(one.sdp_without), inquiry.level))
    }
    return tuple(name for name in _names(explained, explained.findings) if name in needed)


def _in_every(explained: ExplainedDecision, found: FoundReasons) -> tuple[str, ...] | None:
    if found.in_every is None:
        return None
    return tuple(_names(explained, [v for v in explained.findings if v in found.in_every]))


def _names(explained: ExplainedDecision, positions: Iterable[int]) -> list[str]:
    return [explained.network.variables[v].name for v in positions]


def _flip(inquiry: Inquiry, turn: Turn) -> Flip:
    explained = inquiry.explained
    decision = explained.problem.decider.actions[turn.action]
    return Flip(explained.named(turn.states), decision, turn.probability, turn.cost)


def _parameters(inquiry: Inquiry, oracle: SubsetOracle) -> Iterator[tuple[ParameterRange, ...]]:
    """The parameters that can turn the decision; then the first of them with the SDP at both ends."""
    explained = inquiry.explained
    nothing: tuple[ParameterInterval, ...] = ()
    intervals = inquiry.attempt(
        "How far numbers of the network may move is",
        lambda: parameter_intervals(explained),
        nothing,
    )
    variables = explained.network.variables
    distinct = [each for each in intervals if len(variables[each.variable]) > 2 or each.state == 0]
    ranges = [_range(explained, each) for each in distinct]
    yield tuple(ranges)
    most = MOST_MEASURED if oracle.table is not None else MOST_MEASURED // 3
    for i, each in enumerate(distinct[:most]):
        low, high = (_sdp_at(inquiry, each, end) for end in (each.low, each.high))
        ranges[i] = replace(ranges[i], sdp_at_low=low, sdp_at_high=high)
        yield tuple(ranges)


def _range(explained: ExplainedDecision, each: ParameterInterval) -> ParameterRange:
    variable, given = explained.network.variables[each.variable], given_states(explained.network, each)
    return ParameterRange(variable.name, variable.states[each.state], given, each.value, each.low, each.high)


def _sdp_at(inquiry: Inquiry, each: ParameterInterval, end: float) -> Measurement | None:
    """SDP of all findings with one number moved; None where the findings become impossible."""
    explained, classifier = inquiry.explained, inquiry.explained.problem.classifier
    if not explained.problem.free:
        return Measurement.exact(1.0, engine="nothing left to observe")
    moved = network_at(explained.network, each, end)
    changed = Classifier(moved, classifier.target, classifier.features, classifier.rule)

    def measure() -> Measurement:
        problem = make_problem(changed, explained.named(dict(explained.problem.evidence)))
        return inquiry.ask(problem, decider_of(explained), 0.0)

    try:
        return inquiry.attempt("An SDP at the end of a range is", measure, None)
    except ImpossibleEvidence:
        return None
