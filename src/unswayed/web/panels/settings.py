"""What can be set about the question: the threshold, the level, the rule, the target, the features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unswayed.decisions.rules import ThresholdRule
from unswayed.reasons.case import explained_decision
from unswayed.reasons.sensitivity import threshold_interval
from unswayed.view.numbers import percent
from unswayed.web.answers import AnswerCache
from unswayed.web.case import LIKELIEST, list_pairs
from unswayed.web.findings import list_targets
from unswayed.web.moves import Way
from unswayed.web.names import label_of, state_label
from unswayed.web.setting import Setting


def describe_settings(setting: Setting) -> dict[str, Any]:
    """The sliders with what they keep, and the links that change the rule."""
    rule, address = setting.asked.rule, setting.address
    threshold = rule.threshold if isinstance(rule, ThresholdRule) else None
    positive = state_label(setting.target, rule.positive) if isinstance(rule, ThresholdRule) else ""
    kept = replace(address, level=0.95, threshold=None)
    return {
        "threshold": threshold,
        "positive": positive,
        "level": setting.level,
        "kept": list_pairs(kept),
        "rules": _list_rules(setting),
        "targets": list_targets(setting.held, address),
        "target": label_of(setting.target),
        "breadths": _list_breadths(setting),
    }


def describe_range(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """For which thresholds the decision stays, and up to which level it is safe."""
    ends = threshold_interval(explained_decision(cache.case(setting).problem))
    stays = ""
    if ends is not None:
        low, high = ends
        stays = f"any up to {percent(high)}" if low <= 0.0 else f"any above {percent(low)}"
        stays = f"This decision stays for {stays} as the threshold."
    safe = (
        f"It is safe to any level up to {percent(cache.stopping(setting).sdp.low)}." if setting.open else ""
    )
    return {"text": f"{stays} {safe}".strip()}


def _list_rules(setting: Setting) -> tuple[Way, ...]:
    """A threshold on each state, or the most probable state."""
    rule, address, target = setting.asked.rule, setting.address, setting.target
    positive = rule.positive if isinstance(rule, ThresholdRule) else None
    ways = [
        Way(
            f"{state_label(target, state)} from a threshold on",
            replace(address, positive=state, rule="", utilities=()).url,
            current=state == positive,
        )
        for state in target.states
    ]
    plain = replace(address, positive=None, threshold=None, rule=LIKELIEST, utilities=())
    return (*ways, Way("the most probable state", plain.url, current=address.is_plain))


def _list_breadths(setting: Setting) -> tuple[Way, ...]:
    """What may be observed: what the network singles out, all others, the leaves."""
    address = setting.address
    texts = (("", "the usual ones"), ("all", "all other variables"), ("leaves", "the leaves"))
    return tuple(
        Way(
            text,
            replace(address, breadth=breadth, features=(), skipped=()).url,
            current=not address.features and address.breadth == breadth,
        )
        for breadth, text in texts
    )
