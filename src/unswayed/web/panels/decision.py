"""The decision with its posterior: cheap, so it stands on the page at once."""

from __future__ import annotations

from typing import Any

from unswayed.api.decisions import Decision, expected_utilities
from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.view.charts.decisions import draw_posterior
from unswayed.view.drawing import Drawing
from unswayed.view.numbers import percent
from unswayed.web.names import action_label, by_label, label_of, state_label
from unswayed.web.setting import Setting


def describe_decision(setting: Setting, decision: Decision) -> dict[str, Any]:
    """What is decided, on which posterior, and by which rule."""
    return {
        "action": action_label(setting, decision.action),
        "target": label_of(setting.target),
        "reason": explain_posterior(setting, decision),
        "posterior": draw_decided(setting, decision),
        "utilities": _list_utilities(setting, decision),
        "refusal": "",
    }


def draw_decided(setting: Setting, decision: Decision) -> Drawing:
    """The posterior as bars, the threshold marked."""
    rule, target = setting.asked.rule, setting.target
    threshold = None
    if isinstance(rule, ThresholdRule):
        threshold = (state_label(target, rule.positive), rule.threshold)
    title = f"Probability of each state of {label_of(target)}"
    posterior = by_label(target, decision.posterior)
    return draw_posterior(
        posterior, state_label(target, decision.action), threshold=threshold, title=title, heading=False
    )


def explain_posterior(setting: Setting, decision: Decision) -> str:
    """Why this is decided, in a line."""
    rule, target = setting.asked.rule, setting.target
    if isinstance(rule, ThresholdRule):
        share = decision.posterior[rule.positive]
        side = "at least" if decision.action == rule.positive else "below"
        named = state_label(target, rule.positive)
        return f"Pr({named}) is {percent(share)}, {side} the threshold of {percent(rule.threshold)}"
    if isinstance(rule, UtilityRule):
        return "the action of highest expected utility"
    share = decision.posterior[decision.action]
    return f"the most probable state of {label_of(target)}, with {percent(share)}"


def _list_utilities(setting: Setting, decision: Decision) -> list[tuple[str, str, float, bool]]:
    """What each action is worth now: name, worth, share of the range, whether it is decided."""
    if not isinstance(setting.asked.rule, UtilityRule):
        return []
    worth = expected_utilities(setting.asked, decision)
    low, high = min(worth.values()), max(worth.values())
    return [
        (
            action,
            f"{value:.4g}",
            (value - low) / (high - low) if high > low else 1.0,
            action == decision.action,
        )
        for action, value in worth.items()
    ]
