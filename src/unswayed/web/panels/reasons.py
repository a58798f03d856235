"""Why this decision, and what would turn it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unswayed.api.results.reasons import Flip, Reasons
from unswayed.view.numbers import measurement_text, names_text, percent
from unswayed.view.reasons import SURPRISE, number_text, range_sentences
from unswayed.web.answers import AnswerCache
from unswayed.web.case import CaseAddress
from unswayed.web.moves import toggle_finding
from unswayed.web.names import action_label, finding_label
from unswayed.web.setting import Setting

MOST_BARS = 20
MOST_LISTED = 6
"""Flips and reasons listed before the rest is left out."""


@dataclass(frozen=True, slots=True)
class PushBar:
    """What one finding added."""

    text: str
    share: float
    """Between -1, all against the decision, and 1, all for it."""
    number: str
    about: str


def describe_why(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """What each finding added, the smallest reason, and findings that do not fit each other."""
    if not setting.evidence:
        return {"nothing": "Nothing was found yet, so nothing drove the decision but the network itself."}
    why = cache.reasons(setting)
    return {
        "nothing": "",
        "pushes": list_bars(setting, why),
        "unit": why.leaning,
        "reason": write_reason(setting, why),
        "others": [_named(setting, each.findings) for each in why.reasons[1 : MOST_LISTED + 1]],
        "without": _list_without(setting, why),
        "conflict": _write_conflict(why),
        "notes": why.notes,
        "ranges": range_sentences(why),
    }


def list_bars(setting: Setting, why: Reasons) -> list[PushBar]:
    """A bar for each finding, the heaviest first; what settles it fills the bar."""
    finite = [abs(each.weight) for each in why.contributions if math.isfinite(each.weight)]
    reach = max([*finite, 1e-9])
    bars = []
    for each in why.contributions[:MOST_BARS]:
        share = min(max(each.weight / reach, -1.0), 1.0)
        side = "for" if each.weight >= 0 else "against"
        about = f"Speaks {side} the decision: change in the {why.leaning} when it is added to the others"
        text = finding_label(setting, each.feature, each.state)
        bars.append(PushBar(text, share, number_text(each.weight), about))
    return bars


def write_reason(setting: Setting, why: Reasons) -> str:
    """The smallest set of findings that keeps the decision."""
    level = percent(why.at_least)
    if why.reason is None:
        found = "keeps the decision" if why.proven else "was found to keep the decision"
        return f"No set of these findings {found} with probability {level}."
    keeps = measurement_text(why.reason.sdp)
    if not why.reason.findings:
        return f"No finding is needed: the decision stays with probability {keeps} whatever is found."
    proven = "No smaller set does." if why.proven else "A smaller set may exist."
    names = _named(setting, why.reason.findings)
    return f"Enough by itself: {names}. It keeps the decision with probability {keeps}. {proven}"


def _named(setting: Setting, findings: dict[str, str]) -> str:
    return names_text([finding_label(setting, *each) for each in findings.items()])


def _list_without(setting: Setting, why: Reasons) -> list[str]:
    """Findings without which things would be otherwise."""
    sentences = []
    for each in why.contributions[:MOST_LISTED]:
        named = finding_label(setting, each.feature, each.state)
        if each.decision_without != why.decision.action:
            decided = action_label(setting, each.decision_without)
            sentences.append(f"Without {named} the decision would be {decided}.")
        elif each.sdp_without is not None and why.sdp is not None:
            now = why.sdp.low >= why.at_least
            then = each.sdp_without.low >= why.at_least
            if now != then:
                safe = "would be safe already" if then else "would not be safe"
                share = percent(each.sdp_without.value)
                sentences.append(f"Without {named} the decision {safe} ({share}).")
    return sentences


def _write_conflict(why: Reasons) -> str:
    if why.conflict is None or why.conflict < SURPRISE:
        return ""
    if math.isinf(why.conflict):
        return "The findings are impossible together."
    times = f"{2.0**why.conflict:.3g}"
    return (
        f"These findings are odd together: {times} times less probable than if they were unrelated. Check "
        "whether one of them is a mistake."
    )


def describe_flips(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """Results not known yet, and changes of findings, that would turn the decision."""
    why = cache.reasons(setting)
    return {
        "observed": [_observed(setting, each) for each in why.flips_if_observed[:MOST_LISTED]],
        "none_observed": _write_none(
            why.observed_bound, "result that can still come in", is_asked=bool(setting.open)
        ),
        "changed": [_changed(setting, each) for each in why.flips[:MOST_LISTED]],
        "none_changed": _write_none(
            why.flips_bound, "other result of the tests done", is_asked=bool(setting.evidence)
        ),
        "notes": why.notes,
    }


def _observed(setting: Setting, flip: Flip) -> dict[str, Any]:
    return {
        "text": _named(setting, flip.states),
        "decision": action_label(setting, flip.decision),
        "share": percent(flip.probability),
        "url": _after(setting.address, flip).url,
    }


def _changed(setting: Setting, flip: Flip) -> dict[str, Any]:
    return {**_observed(setting, flip), "share": ""}


def _after(address: CaseAddress, flip: Flip) -> CaseAddress:
    """The case in which the states of a flip are found."""
    later = replace(address, test="")
    for name, state in flip.states.items():
        later = toggle_finding(later, name, state)
    return later


def _write_none(bound: float, what: str, *, is_asked: bool) -> str:
    """That nothing turns the decision, as far as it is known."""
    if not is_asked or bound <= 0.0:  # the notes say that it was left out
        return ""
    if math.isinf(bound):
        return f"No {what} turns it."
    return f"No {what} turns it, unless at least {bound:g} come together."
