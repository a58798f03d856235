"""The decision with its posterior: cheap, so it stands on the page at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unswayed.api.decisions import Decision, expected_utilities
from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.view.numbers import percent
from unswayed.web.names import action_label, label_of, state_label
from unswayed.web.setting import Setting

MOST_STATES = 12
"""States with a bar of their own; the most probable ones."""


@dataclass(frozen=True, slots=True)
class StateBar:
    """A state of the target with its probability."""

    text: str
    share: float
    number: str
    decided: bool
    threshold: float | None
    """Where the threshold stands, on the state that it is about."""


def describe_decision(setting: Setting, decision: Decision) -> dict[str, Any]:
    """What is decided, on which posterior, and by which rule."""
    bars = list_bars(setting, decision)
    return {
        "action": action_label(setting, decision.action),
        "target": label_of(setting.target),
        "reason": explain_posterior(setting, decision),
        "bars": bars,
        "left_out": len(decision.posterior) - len(bars),
        "utilities": _list_utilities(setting, decision),
        "refusal": "",
    }


def list_bars(setting: Setting, decision: Decision) -> list[StateBar]:
    """A bar for each state, in the order of the network."""
    rule, target, posterior = setting.asked.rule, setting.target, decision.posterior
    shown = sorted(posterior, key=lambda state: -posterior[state])[:MOST_STATES]
    positive, threshold = (rule.positive, rule.threshold) if isinstance(rule, ThresholdRule) else (None, None)
    return [
        StateBar(
            state_label(target, state),
            share,
            percent(share),
            state == decision.action,
            threshold if state == positive else None,
        )
        for state, share in posterior.items()
        if state in shown
    ]


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
