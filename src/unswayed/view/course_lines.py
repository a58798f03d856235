"""A case that was followed, as a table: a row for each observation."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from unswayed.api.history import Course, Step
from unswayed.decisions.rules import ThresholdRule
from unswayed.view.measurements import measurement_text
from unswayed.view.posterior_lines import given_line
from unswayed.view.probabilities import padded, probability_text, widest


def course_lines(course: Course, evidence: Mapping[str, str], at_least: float) -> list[Text]:
    """What was decided after each observation, how safely, and when it was safe enough."""
    rule = course.classifier.rule
    of = f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"
    rows = [("observed", of, "decision", "SDP"), *(_cells(step, course) for step in course.steps)]
    widths = [widest([row[i] for row in rows]) for i in range(4)]
    table = ["  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines = [given_line(evidence)] if evidence else []
    lines.extend([Text(table[0].rstrip(), style="bold"), *(Text(row.rstrip()) for row in table[1:])])
    return [*lines, Text(), Text(safety_text(course, at_least))]


def _cells(step: Step, course: Course) -> tuple[str, str, str, str]:
    rule, decision = course.classifier.rule, step.decision
    state = rule.positive if isinstance(rule, ThresholdRule) else decision.action
    posterior = decision.posterior.get(state)
    return (
        "nothing yet" if step.observed is None else "=".join(step.observed),
        "-" if posterior is None else probability_text(posterior),
        decision.action,
        measurement_text(step.sdp),
    )


def safety_text(course: Course, at_least: float) -> str:
    """When the decision was safe, in a sentence."""
    first, level = course.first_safe(at_least), f"{at_least:g}"
    if first is None:
        return f"The decision was never safe to {level}."
    decision = course.steps[first].decision.action
    if first == 0:
        return f"The decision {decision!r} was safe to {level} from the beginning."
    noun = "observation" if first == 1 else "observations"
    last = course.steps[-1].decision.action
    end = "" if last == decision else f"; in the end it was {last!r}"
    return f"The decision {decision!r} was safe to {level} after {first} {noun}{end}."
