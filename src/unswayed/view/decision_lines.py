"""Decisions and how robust they are, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from unswayed.api.decisions import Decision
from unswayed.api.observations import Stopping
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.view.measurements import certainty_text, measurement_text
from unswayed.view.posterior_lines import given_line, posterior_lines
from unswayed.view.probabilities import probability_text, shortened

MOST_NAMES = 8
"""Features named in a sentence."""


def decision_lines(classifier: Classifier, decision: Decision, evidence: Mapping[str, str]) -> list[Text]:
    """The posterior, and what is decided on it."""
    posterior = posterior_lines({classifier.target: decision.posterior}, evidence)
    return [*posterior, Text(), decision_line(classifier, decision)]


def decision_line(classifier: Classifier, decision: Decision) -> Text:
    """What is decided, and why.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", None, ThresholdRule("+", 0.6))
    >>> decision_line(papers, Decision("+", {"+": 0.61, "-": 0.39})).plain
    'decision: +, since Pr(D = +) is 0.6100, at least 0.6'
    """
    line = Text("decision: ")
    line.append(decision.action, style="bold")
    return line.append(f", {reason_text(classifier, decision)}")


def reason_text(classifier: Classifier, decision: Decision) -> str:
    """Why this is decided, in half a sentence."""
    rule = classifier.rule
    if isinstance(rule, ThresholdRule):
        posterior = probability_text(decision.posterior[rule.positive])
        side = "at least" if decision.action == rule.positive else "below"
        return f"since Pr({classifier.target} = {rule.positive}) is {posterior}, {side} {rule.threshold:g}"
    if isinstance(rule, MostProbable):
        posterior = probability_text(decision.posterior[decision.action])
        return f"the most probable state of {classifier.target}, with {posterior}"
    return "the action of highest expected utility"


def stopping_lines(
    classifier: Classifier, stopping: Stopping, evidence: Mapping[str, str], free: Sequence[str]
) -> list[Text]:
    """The decision, its same-decision probability in numbers and words, and whether to stop."""
    lines = [given_line(evidence)] if evidence else []
    lines.append(decision_line(classifier, stopping.decision))
    if not free:
        return [*lines, Text("All features are observed: nothing is left that could change the decision.")]
    lines.append(_measured_line("SDP", stopping.sdp))
    sentence = f"{with_probability(stopping.sdp)} the decision {stopping.decision.action!r} survives"
    return [*lines, Text(f"{sentence} observing {names_text(free)}."), Text(_advice(stopping))]


def _advice(stopping: Stopping) -> str:
    level = f"{stopping.at_least:g}"
    if stopping.stop:
        return f"Stop observing: that is at least {level}."
    if stopping.certain:
        return f"Go on observing: that is below {level}."
    return f"Whether to stop is open: {level} lies within the interval; ask for a narrower one."


def repeated_lines(
    measured: Measurement, kept: Sequence[str], features: Sequence[str], evidence: Mapping[str, str]
) -> list[Text]:
    """The expected same-decision probability of the kept features."""
    return [
        *([given_line(evidence)] if evidence else []),
        _measured_line("E-SDP", measured),
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
        *([given_line(evidence)] if evidence else []),
        _measured_line("ECA", measured),
        Text(
            f"{with_probability(measured)} the decision on {names_text(kept)} with threshold "
            f"{thresholds[1]:g} is the one on all features with threshold {thresholds[0]:g}."
        ),
    ]


def achievable_lines(measured: Measurement, kept: Sequence[str], evidence: Mapping[str, str]) -> list[Text]:
    """The best agreement that a threshold achieves, and the thresholds that do."""
    assert measured.thresholds is not None
    low, high = measured.thresholds
    return [
        *([given_line(evidence)] if evidence else []),
        _measured_line("MAA", measured),
        Text(
            "No new threshold was given, so this is the maximum achievable agreement: the best that any "
            f"threshold on {names_text(kept)} does."
        ),
        Text(f"Thresholds above {low:.6g}, up to and including {high:.6g}, achieve it."),
    ]


def names_text(names: Sequence[str], *, at_most: int = MOST_NAMES) -> str:
    """Names as in a sentence; of more than `at_most`, the first ones.

    >>> names_text(["R1"]), names_text(["R1", "R2", "AC"])
    ('R1', 'R1, R2 and AC')
    """
    if not names:
        return "nothing"
    if len(names) == 1 or len(names) > at_most:
        return shortened(tuple(names), at_most)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def with_probability(measured: Measurement) -> str:
    """How a sentence about a probability begins.

    >>> with_probability(Measurement.exact(0.92, engine="dense"))
    'With probability 0.9200'
    """
    if measured.certainty is Certainty.ESTIMATE:
        return f"With probability about {probability_text(measured.value)}"
    return f"With probability {measurement_text(measured)}"


def _measured_line(label: str, measured: Measurement) -> Text:
    return Text(f"{label}: {measurement_text(measured)}").append(
        f" ({certainty_text(measured)})", style="dim"
    )
