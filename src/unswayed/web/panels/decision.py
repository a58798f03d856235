"""The decision with its posterior, which stands on the page at once, and how safe it is: gauge, badge,
sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unswayed.api.decisions import Decision, expected_utilities
from unswayed.api.observations import Stopping
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.view.charts.decisions import draw_gauge
from unswayed.view.numbers import counted, interval_texts, percent, seconds_text
from unswayed.view.plotting import make_gauge
from unswayed.web.answers import AnswerCache
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


BADGES = {
    Certainty.EXACT: ("exact", "Computed to the last digit; nothing was left out."),
    Certainty.BOUND: ("certified interval", "The true probability lies between these two for certain."),
    Certainty.ESTIMATE: (
        "estimate",
        "From random samples: the true probability may lie outside now and then.",
    ),
}


def describe_verdict(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The same-decision probability as gauge and sentence."""
    stopping = cache.stopping(setting)
    n_open = len(setting.open)
    gauge = make_gauge(stopping.sdp, setting.level)
    return {
        "gauge": draw_gauge(gauge),
        "kind": "safe" if not n_open else gauge.verdict,
        "headline": write_headline(stopping, n_open),
        "sentence": write_sentence(stopping, n_open),
        "badge": make_badge(stopping.sdp),
        "interval": write_interval(stopping.sdp),
        "over": f"over {counted(n_open, 'test')} not done yet" if n_open else "nothing left to test",
        "stop": stopping.stop or not n_open,
    }


def write_headline(stopping: Stopping, n_open: int) -> str:
    """Stop, or not yet."""
    if not n_open:
        return "Everything is known. Stop."
    if stopping.stop:
        return "Safe. Stop."
    return "Not yet safe." if stopping.certain else "Not known to be safe."


def write_sentence(stopping: Stopping, n_open: int) -> str:
    """What the probability means for this case."""
    if not n_open:
        return "Nothing is left that could change the decision."
    keeps, level = percent(stopping.sdp.value), percent(stopping.at_least)
    about = "about " if stopping.sdp.certainty is Certainty.ESTIMATE else ""
    if stopping.stop:
        return f"With probability {about}{keeps} nothing else would change it; you asked for {level}."
    if not stopping.certain:
        return (
            f"Nothing else would change it with probability {about}{keeps}; {level} lies within the interval."
        )
    turns = percent(1.0 - stopping.sdp.value)
    return (
        f"With everything known, the decision would turn in {about}{turns} of such cases; you asked for at "
        f"most {percent(1.0 - stopping.at_least)}."
    )


def make_badge(sdp: Measurement) -> tuple[str, str]:
    """How sure the number is, in a word and in a sentence."""
    word, meaning = BADGES[sdp.certainty]
    return word, f"{meaning} Engine: {sdp.engine}, {seconds_text(max(sdp.seconds, 0.001))}."


def write_interval(sdp: Measurement) -> str:
    """The interval, where there is one."""
    if sdp.certainty is Certainty.EXACT:
        return ""
    return "between {} and {}".format(*interval_texts(sdp.low, sdp.high))
