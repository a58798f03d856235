"""What is said about one decision: what is decided, how safe it is, how often few features agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import Rule, ThresholdRule
from unswayed.engines.choice import line
from unswayed.view.describe import Asked, Figure, TextTable
from unswayed.view.numbers import (
    certainty_text,
    gain_text,
    interval_texts,
    measurement_text,
    names_text,
    probability_text,
)
from unswayed.view.sentences import (
    PHRASE_BY_CRITERION,
    advice_text,
    listed_text,
    reason_text,
    safety_text,
    with_probability,
)
from unswayed.view.terminal import posterior_lines

if TYPE_CHECKING:
    from unswayed.api.decisions import Decision
    from unswayed.api.history import CaseHistory, HistoryStep
    from unswayed.api.observations import Case, Stopping

SAFE = 0.95
"""The level that a case is measured by where none was asked for."""


def describe_decision(decision: Decision, asked: Asked) -> list[Any]:
    """The posterior, and what is decided on it."""
    target = asked.classifier.target if isinstance(asked.classifier, Classifier) else "posterior"
    figure = Figure(decision, posterior_lines({target: decision.posterior}))
    told = [decision_text(decision, asked), *doubt_lines(decision), *reading_lines(decision)]
    return [*([""] if asked.evidence else []), figure, "", *told]


def doubt_lines(decision: Decision) -> list[str]:
    """How far an estimated prediction may be off, and both decisions where that matters."""
    if not decision.doubt:
        return []
    wide = f"The expected prediction is estimated, within {decision.doubt:.2g} at 99% confidence"
    if decision.possible:
        return [f"{wide}: it may as well decide {' or '.join(map(repr, decision.possible[1:]))}."]
    return [f"{wide}; the decision is the same throughout."]


READINGS = {
    "expected": "the expected prediction over what is missing",
    "native": "the model's own path for missing inputs",
    "impute": "a row with medians for what is missing",
}


def reading_lines(decision: Decision) -> list[str]:
    """Which decision is meant where inputs of a model are missing, and what other readings decide."""
    taken = [READINGS[each.missing] for each in decision.readings if each.action == decision.action]
    others = [f"{READINGS[each.missing]} decides {each.action!r}" for each in decision.disagreeing]
    if not decision.readings:
        return []
    lines = [f"Inputs are missing: {' and '.join(taken)} decide{'s' * (len(taken) == 1)} this."]
    return [*lines, *(f"But {each}." for each in others)]


def decision_text(decision: Decision, asked: Asked) -> Text:
    """What is decided, and why.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.api.decisions import Decision
    >>> from unswayed.model.zoo import review
    >>> papers = Asked(Classifier(review(), "D", None, ThresholdRule("+", 0.6)))
    >>> decision_text(Decision("+", {"+": 0.61, "-": 0.39}), papers).plain
    'decision: +, since Pr(D = +) is 0.6100, at least 0.6'
    """
    text = Text("decision: ").append(decision.action, style="bold")
    if isinstance(asked.classifier, Classifier):
        text.append(f", {reason_text(asked.classifier, decision)}")
    return text


def describe_stopping(stopping: Stopping, asked: Asked) -> list[Any]:
    """The decision, its same-decision probability in numbers and words, and whether to stop."""
    decision = decision_text(stopping.decision, asked)
    if not isinstance(asked.classifier, Classifier):
        shares = ", ".join(f"{state} {share:.4f}" for state, share in stopping.decision.posterior.items())
        decision.append(f" ({shares})")
    if asked.free is not None and not asked.free:
        return [decision, "All features are observed: nothing is left that could change the decision."]
    rest = "all other features" if asked.free is None else names_text(asked.free)
    sentence = f"{with_probability(stopping.sdp)} the decision {stopping.decision.action!r} survives"
    told = [_measured("SDP", stopping.sdp), f"{sentence} observing {rest}.", advice_text(stopping)]
    return [decision, *told, Figure(stopping)]


def describe_case(case: Case, asked: Asked) -> list[Any]:
    """The network with what was observed, and what would be decided."""
    from unswayed.view.plotting import list_findings

    findings = listed_text(list_findings(case))
    posterior = posterior_lines({case.problem.classifier.target: case.decision.posterior})
    would, known = f"would decide: {case.decision.action}", f"observed: {findings or 'nothing yet'}"
    return [Figure(case.decision, posterior), "", would, known, Figure(case)]


def describe_measurement(measured: Measurement, asked: Asked) -> list[Any]:
    """What keeping some features is worth, or how often they decide as all do."""
    kept = names_text(asked.words["keep"])
    if criterion := asked.words.get("reward"):
        assert asked.classifier is not None
        phrase = PHRASE_BY_CRITERION[criterion].format(
            target=asked.classifier.target, gain=gain_text(measured)
        )
        return [f"Observing {kept} is expected {phrase}."]
    if measured.thresholds is not None:
        ends = [_ends_text(*each) for each in (measured.thresholds, *measured.other_thresholds)]
        best = f"the maximum achievable agreement: the best that any threshold on {kept} does."
        is_asked = asked.words.get("measure") == "maa"
        return [
            _measured("MAA", measured),
            f"This is {best}" if is_asked else f"No new threshold was given, so this is {best}",
            f"Thresholds {'; or '.join(ends)}, achieve it.",
        ]
    if (threshold := asked.words.get("new_threshold")) is not None:
        assert isinstance(asked.classifier, Classifier)
        assert isinstance(asked.classifier.rule, ThresholdRule)
        told = (
            f"the decision on {kept} with threshold {threshold:g} is the one on all features with threshold"
        )
        sentence = f"{with_probability(measured)} {told} {asked.classifier.rule.threshold:g}."
        return [_measured("ECA", measured), sentence]
    if asked.words.get("measure") == "mpa":
        told = f"the best decision for each finding on {kept} is the one on all features"
        return [_measured("MPA", measured), f"{with_probability(measured)} {told}: no rule does better."]
    leads = f"is the one that observing {names_text(asked.free or ())} leads to"
    sentence = f"{with_probability(measured)} the decision after observing {kept} {leads}."
    return [_measured("E-SDP", measured), sentence]


def _measured(label: str, measured: Measurement) -> Text:
    """A label, what was measured, and how sure that is."""
    sure = f" ({certainty_text(measured)})"
    return Text(f"{label}: {measurement_text(measured)}").append(sure, style="dim")


def _ends_text(low: float, high: float) -> str:
    first, last = (f"{low:.6g}", f"{high:.6g}")
    if first == last:
        first, last = interval_texts(low, high)
    return f"above {first}, up to and including {last}"


def describe_history(history: CaseHistory, asked: Asked) -> list[Any]:
    """What was decided after each observation, how safely, and when it was safe enough."""
    rule = history.classifier.rule
    of = f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"
    headings, rows = ["observed", of, "decision", "SDP"], [_cells(step, rule) for step in history.steps]
    if any(step.cost is not None for step in history.steps):
        headings.append("spent")
        rows = [[*row, f"{spent:g}"] for row, spent in zip(rows, history.spent, strict=True)]
    safety = safety_text(history, asked.words.get("at_least", SAFE))
    return [TextTable(rows, headings), "", safety, Figure(history)]


def _cells(step: HistoryStep, rule: Rule) -> Sequence[str]:
    decision = step.decision
    state = rule.positive if isinstance(rule, ThresholdRule) else decision.action
    posterior = decision.posterior.get(state)
    return [
        "nothing yet" if step.observed is None else "=".join(step.observed),
        "-" if posterior is None else probability_text(posterior),
        decision.action,
        measurement_text(step.sdp),
    ]


def bid_lines(result: Any) -> list[str]:
    """What every engine would have needed for a result, with an arrow at the one that answered."""
    measured = _measured_in(result)
    if measured is None or not measured.bids:
        return [] if measured is None else [f"-> {measured.engine}"]
    return [f"{'->' if bid.engine == measured.engine else '  '} {line(bid)}" for bid in measured.bids]


def _measured_in(result: Any) -> Measurement | None:
    """The measurement that engines bid for: of a case the last, of a ranking that of the best test."""
    match type(result).__name__:
        case "CaseHistory":
            return _measured_in(result.steps[-1])
        case "ObservationRanking":
            first = result.values[0] if result.values else ()
            return next((each for each in first if each.bids), first[0] if first else None)
    return result if isinstance(result, Measurement) else result.sdp
