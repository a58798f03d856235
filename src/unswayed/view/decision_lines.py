"""Answers about one decision as lines for the terminal: what is decided, how safe, who agrees how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.engines.choice import line
from unswayed.view.numbers import (
    interval_texts,
    names_text,
)
from unswayed.view.sentences import (
    advice_text,
    reason_text,
    with_probability,
)
from unswayed.view.tables import given_lines, measured_line, posterior_lines

if TYPE_CHECKING:
    from unswayed.api.decisions import Decision
    from unswayed.api.observations import Stopping
    from unswayed.decisions.classifier import Classifier


def decision_lines(classifier: Classifier, decision: Decision, evidence: Mapping[str, str]) -> list[Text]:
    """The posterior, and what is decided on it."""
    posterior = posterior_lines({classifier.target: decision.posterior}, evidence)
    return [*posterior, Text(), decision_line(classifier, decision)]


def decision_line(classifier: Classifier, decision: Decision) -> Text:
    """What is decided, and why.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.api.decisions import Decision
    >>> from unswayed.decisions.classifier import Classifier
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", None, ThresholdRule("+", 0.6))
    >>> decision_line(papers, Decision("+", {"+": 0.61, "-": 0.39})).plain
    'decision: +, since Pr(D = +) is 0.6100, at least 0.6'
    """
    line = Text("decision: ")
    line.append(decision.action, style="bold")
    return line.append(f", {reason_text(classifier, decision)}")


def stopping_lines(
    classifier: Classifier, stopping: Stopping, evidence: Mapping[str, str], free: Sequence[str]
) -> list[Text]:
    """The decision, its same-decision probability in numbers and words, and whether to stop."""
    return [
        *given_lines(evidence),
        decision_line(classifier, stopping.decision),
        *_survival_lines(stopping, free),
    ]


def sdp_lines(stopping: Stopping, evidence: Mapping[str, str], free: Sequence[str]) -> list[Text]:
    """The same for a classifier of objects; `free` says what of them was not seen yet."""
    posterior = ", ".join(f"{name} {share:.4f}" for name, share in stopping.decision.posterior.items())
    line = Text("decision: ").append(stopping.decision.action, style="bold").append(f" ({posterior})")
    return [*given_lines(evidence), line, *_survival_lines(stopping, free)]


def _survival_lines(stopping: Stopping, free: Sequence[str]) -> list[Text]:
    if not free:
        return [Text("All features are observed: nothing is left that could change the decision.")]
    sentence = f"{with_probability(stopping.sdp)} the decision {stopping.decision.action!r} survives"
    return [
        measured_line("SDP", stopping.sdp),
        Text(f"{sentence} observing {names_text(free)}."),
        Text(advice_text(stopping)),
    ]


def repeated_lines(
    measured: Measurement, kept: Sequence[str], features: Sequence[str], evidence: Mapping[str, str]
) -> list[Text]:
    """The expected same-decision probability of the kept features."""
    return [
        *given_lines(evidence),
        measured_line("E-SDP", measured),
        Text(
            f"{with_probability(measured)} the decision after observing {names_text(kept)} is the one that "
            f"observing {names_text(features)} leads to."
        ),
    ]


def agreement_lines(
    measured: Measurement,
    kept: Sequence[str],
    thresholds: tuple[float, float],
    evidence: Mapping[str, str],
) -> list[Text]:
    """The agreement under another threshold; `thresholds` are the full classifier's and the new one."""
    return [
        *given_lines(evidence),
        measured_line("ECA", measured),
        Text(
            f"{with_probability(measured)} the decision on {names_text(kept)} with threshold "
            f"{thresholds[1]:g} is the one on all features with threshold {thresholds[0]:g}."
        ),
    ]


def achievable_lines(measured: Measurement, kept: Sequence[str], evidence: Mapping[str, str]) -> list[Text]:
    """The best agreement that a threshold achieves, and the thresholds that do."""
    assert measured.thresholds is not None
    intervals = [_ends_text(low, high) for low, high in (measured.thresholds, *measured.other_thresholds)]
    return [
        *given_lines(evidence),
        measured_line("MAA", measured),
        Text(
            "No new threshold was given, so this is the maximum achievable agreement: the best that any "
            f"threshold on {names_text(kept)} does."
        ),
        Text(f"Thresholds {'; or '.join(intervals)}, achieve it."),
    ]


def _ends_text(low: float, high: float) -> str:
    first, last = (f"{low:.6g}", f"{high:.6g}")
    if first == last:
        first, last = interval_texts(low, high)
    return f"above {first}, up to and including {last}"


def bid_lines(measured: Measurement) -> list[Text]:
    """What every engine would have needed, with an arrow at the one that answered."""
    if not measured.bids:
        return [Text(f"-> {measured.engine}")]
    return [
        Text(f"{'->' if bid.engine == measured.engine else '  '} {line(bid)}", style="dim")
        for bid in measured.bids
    ]
