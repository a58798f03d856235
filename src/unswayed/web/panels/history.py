"""How the case went: posterior, decision and safety after each finding, as a chart and as steps."""

from __future__ import annotations

from typing import Any

from unswayed.api.history import CaseHistory
from unswayed.core.measurement import Certainty
from unswayed.decisions.rules import ThresholdRule
from unswayed.view.charts.decisions import Moment, draw_history
from unswayed.view.drawing import Drawing
from unswayed.view.numbers import percent
from unswayed.view.sentences import safety_text, told_state
from unswayed.web.answers import AnswerCache
from unswayed.web.moves import back_to
from unswayed.web.names import action_label, by_label, finding_label, state_label
from unswayed.web.setting import Setting


def describe_history(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The chart, and a row for each finding."""
    history = cache.history(setting)
    return {
        "drawing": draw_course(setting, history) if setting.evidence else None,
        "steps": [_step(setting, history, count) for count in range(len(history.steps))],
        "sentence": safety_text(history, setting.level),
        "skipped": list(setting.address.skipped),
    }


def draw_course(setting: Setting, history: CaseHistory) -> Drawing:
    """Posterior and same-decision probability, finding by finding."""
    rule, target = history.classifier.rule, setting.target
    moments = [
        Moment(
            "" if step.observed is None else finding_label(setting, *step.observed),
            by_label(target, step.decision.posterior),
            action_label(setting, step.decision.action),
            step.sdp.value,
            step.sdp.low,
            step.sdp.high,
        )
        for step in history.steps
    ]
    threshold = None
    if isinstance(rule, ThresholdRule):
        threshold = (state_label(target, rule.positive), rule.threshold)
    return draw_history(moments, threshold=threshold, at_least=setting.level)


def _step(setting: Setting, history: CaseHistory, count: int) -> dict[str, Any]:
    step, rule = history.steps[count], history.classifier.rule
    posterior = step.decision.posterior
    state = told_state(rule, posterior)
    about = "≈" if step.sdp.certainty is Certainty.ESTIMATE else ""
    return {
        "text": "nothing found" if step.observed is None else finding_label(setting, *step.observed),
        "url": "" if count == len(history.steps) - 1 else back_to(setting.address, count).url,
        "decision": action_label(setting, step.decision.action),
        "posterior": percent(posterior[state]),
        "of": state_label(setting.target, state),
        "sdp": f"{about}{percent(step.sdp.value)}",
        "safe": step.sdp.low >= setting.level - 1e-12,
    }
