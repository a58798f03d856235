"""Why a decision was taken, in sentences: the reason first, then what would turn it, then what drove it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from unswayed.api.results.reasons import Flip, ParameterRange, Reason, Reasons
from unswayed.view.describe import Asked, Figure, TextTable
from unswayed.view.numbers import measurement_text, names_text, narrow_text, probability_text
from unswayed.view.sentences import reason_text, with_probability

MOST_FLIPS = 3
"""Flips told in a sentence."""
MOST_PARAMETERS = 3
"""Numbers of the network told in sentences."""
MOST_ROWS = 30
"""Findings in the table."""
SURPRISE = 1.0
"""Bits from which findings that surprise each other are worth a note: half as probable as if unrelated."""
NUMBER_WORDS = ("no findings", "this one", "these two", "these three", "these four", "these five")


def describe_reasons(why: Reasons, asked: Asked) -> list[Any]:
    """The whole answer, the reason first."""
    return [
        *reason_sentences(why),
        *turning_sentences(why),
        *note_sentences(why),
        *(["", *_contributions(why)] if why.contributions else []),
        "",
        *range_sentences(why),
        *(Text(note, style="dim") for note in why.notes),
        *([Figure(why)] if why.contributions else []),
    ]


def finding_text(feature: str, state: str) -> str:
    """A finding as people say it.

    >>> finding_text("R1", "+"), finding_text("worst area", ">877")
    ('R1 = +', 'worst area >877')
    """
    return f"{feature} {state}" if state[0] in "<>≤≥" else f"{feature} = {state}"


def findings_text(states: Mapping[str, str]) -> str:
    """Findings in a sentence."""
    return names_text([finding_text(*each) for each in states.items()])


def reason_sentences(why: Reasons) -> list[str]:
    """The decision and the findings that suffice for it."""
    decided = f"{why.decision.action}, {reason_text(why.classifier, why.decision)}"
    if why.reason is None:
        return [f"{decided}.", _no_reason(why)]
    if not why.reason.findings:
        kept = f"{with_probability(why.reason.sdp).lower()} whatever is found"
        return [f"{decided}. No finding is needed for it: the decision is the same {kept}."]
    first = (
        f"{why.decision.action} because of {findings_text(why.reason.findings)}: {_these(why.reason)} alone "
        f"{'keeps' if len(why.reason.findings) == 1 else 'keep'} the decision "
        f"{with_probability(why.reason.sdp).lower()}."
    )
    return [first, f"{decided[0].upper()}{decided[1:]}. {_proof(why)}", *_others(why), *_necessary(why)]


def _these(reason: Reason) -> str:
    count = len(reason.findings)
    return NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else f"these {count}"


def _no_reason(why: Reasons) -> str:
    level = f"{why.at_least:g}"
    if why.proven:
        sentence = f"No set of these findings keeps the decision with probability {level}."
    else:
        sentence = f"No set of these findings was found that keeps the decision with probability {level}" + (
            f"; one would cost at least {why.cost_bound:g}." if why.cost_bound > 0 else "."
        )
    return sentence if why.closest is None else f"{sentence} {_closest(why, why.closest)}"


def _closest(why: Reasons, closest: Reason) -> str:
    found = closest.findings
    comes = "comes" if len(found) < 2 else "come"
    nearest = "Nearest" if why.closest_proven else "The nearest found"
    what = findings_text(found) if found else "knowing none of them"
    bound = "" if why.closest_proven else "; another set may come nearer"
    if bound and why.closest_bound is not None and why.closest_bound < why.at_least:
        bound += f", though none above {probability_text(why.closest_bound)}"
    return f"{nearest} {comes} {what}, {with_probability(closest.sdp).lower()}{bound}."


def _proof(why: Reasons) -> str:
    assert why.reason is not None
    what = "cheaper" if why.reason.cost != len(why.reason.findings) else "smaller"
    if why.proven:
        return f"No {what} set of findings reaches {why.at_least:g}."
    return (
        f"A {what} set may exist, though none that costs less than {why.cost_bound:g}; this one costs "
        f"{why.reason.cost:g}."
    )


def _others(why: Reasons) -> list[str]:
    others = why.reasons[1:]
    if not others:
        return []
    shown = "; ".join(
        f"{findings_text(each.findings)} ({measurement_text(each.sdp)})" for each in others[:MOST_FLIPS]
    )
    count = len(others) - MOST_FLIPS
    more = f"; and {count}{' or more' if why.more_reasons else ''} others" if count > 0 else ""
    return [f"As few findings keep it in other ways: {shown}{more}."]


def _necessary(why: Reasons) -> list[str]:
    if not why.necessary:
        return ["No single finding is necessary: without any one of them the decision stays."]
    turned = [c for c in why.contributions if c.decision_without != why.decision.action]
    sentences = [
        f"Without {finding_text(each.feature, each.state)} the decision would be {each.decision_without}."
        for each in turned[:MOST_FLIPS]
    ]
    named = {each.feature for each in turned}
    rest = [name for name in why.necessary if name not in named]
    if rest:
        sentences.append(f"Without {names_text(rest)} the probability falls below {why.at_least:g}.")
    return sentences


def turning_sentences(why: Reasons) -> list[str]:
    """What would turn the decision: changed findings, and what is not observed yet."""
    sentences = []
    if why.flips:
        # Long ways to turn it differ little from each other: one of them is enough.
        most = MOST_FLIPS if len(why.flips[0].states) <= 2 else 1
        told = "; or if ".join(f"{_were(each)} ({each.decision})" for each in why.flips[:most])
        sentences.append(f"It would turn if {told}.")
    elif math.isinf(why.flips_bound):
        # Without findings there is nothing to change.
        sentences += ["No change of these findings turns it."] if why.contributions else []
    elif why.flips_bound > 0:
        sentences.append(f"No change of fewer than {why.flips_bound:g} findings turns it.")
    if why.flips_if_observed:
        told = "; or ".join(
            f"{findings_text(each.states)} (probability {probability_text(each.probability)})"
            for each in why.flips_if_observed[:MOST_FLIPS]
        )
        too = ", too" if why.flips else ""
        sentences.append(f"Observing {told} would turn it{too}.")
    elif math.isinf(why.observed_bound) and len(why.evidence) < len(why.classifier.features):
        sentences.append("Nothing that can still be observed turns it.")
    return sentences


def _were(flip: Flip) -> str:
    return names_text([f"{feature} were {state}" for feature, state in flip.states.items()])


def note_sentences(why: Reasons) -> list[str]:
    """Findings that speak against the decision, and findings that surprise each other."""
    against = [finding_text(c.feature, c.state) for c in why.contributions if c.weight < 0]
    notes = [f"{names_text(against)} spoke against it."] if against else []
    if why.conflict is not None and why.conflict >= SURPRISE:
        notes.append(
            f"The findings are implausible together: {2.0**why.conflict:.3g} times less probable than if "
            "they were unrelated."
        )
    return notes


def _contributions(why: Reasons) -> list[Any]:
    """A row for each finding: its weight, its share, and what is left without it."""
    rows = [
        (
            finding_text(each.feature, each.state),
            number_text(each.weight),
            "-" if each.shapley is None else number_text(each.shapley),
            each.decision_without,
            "-" if each.sdp_without is None else narrow_text(each.sdp_without),
        )
        for each in why.contributions[:MOST_ROWS]
    ]
    headings = ("finding", "weight", "Shapley", "decision without it", "SDP without it")
    left = len(why.contributions) - len(rows)
    more = [Text(f"and {left} more, of smaller weight", style="dim")] if left > 0 else []
    unit = Text(f"(weights are changes in the {why.leaning})", style="dim")
    return [TextTable(rows, headings, style="dim"), *more, unit]


def number_text(value: float) -> str:
    """A weight with its sign, rounding to nothing shown as 0.

    >>> number_text(1.2527), number_text(-1e-15), number_text(float("inf"))
    ('+1.25', '0', '+certain')
    """
    if math.isinf(value):
        return "+certain" if value > 0 else "-certain"
    return "0" if abs(value) < 1e-9 else f"{value:+.3g}"


def range_sentences(why: Reasons) -> list[str]:
    """How wrong the threshold and the network may be."""
    sentences = []
    if why.threshold_interval is not None:
        low, high = why.threshold_interval
        ends = f"up to {high:.4g}" if low <= 0.0 else f"above {low:.4g}"
        sentences.append(f"Thresholds {ends} lead to the same decision.")
    if not why.parameters:
        return [*sentences, "No single number of the network can turn the decision."]
    sentences.append("The decision stays while, one at a time,")
    sentences.extend(f"  {range_text(each)}" for each in why.parameters[:MOST_PARAMETERS])
    left = len(why.parameters) - MOST_PARAMETERS
    if left > 0:
        stay = "number of the network stays" if left == 1 else "numbers of the network stay"
        sentences.append(f"and {left} more {stay} within wider bounds.")
    return sentences


def range_text(each: ParameterRange) -> str:
    """A parameter, its value and its bounds.

    >>> range_text(ParameterRange("A", "+", {"B": "-"}, 0.2, 0.067, 1.0))
    'Pr(A = + | B = -), now 0.2, is at least 0.067'
    """
    ends = []
    if each.low > 0.0:
        ends.append(f"at least {each.low:.3g}")
    if each.high < 1.0:
        ends.append(f"at most {each.high:.3g}")
    return f"{each.name}, now {each.value:.3g}, is {' and '.join(ends)}"
