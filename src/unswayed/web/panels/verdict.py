"""How safe the decision is: the gauge, its badge, and one sentence."""

from __future__ import annotations

from typing import Any

from unswayed.api.observations import Stopping
from unswayed.core.measurement import Certainty, Measurement
from unswayed.view.charts.decisions import draw_gauge
from unswayed.view.numbers import counted, interval_texts, percent, seconds_text
from unswayed.view.plotting import make_gauge
from unswayed.web.answers import AnswerDesk
from unswayed.web.setting import Setting

BADGES = {
    Certainty.EXACT: ("exact", "Computed to the last digit; nothing was left out."),
    Certainty.BOUND: ("certified interval", "The true probability lies between these two for certain."),
    Certainty.ESTIMATE: (
        "estimate",
        "From random samples: the true probability may lie outside now and then.",
    ),
}


def describe_verdict(desk: AnswerDesk, setting: Setting) -> dict[str, Any]:
    """The same-decision probability as gauge and sentence."""
    stopping = desk.stopping(setting)
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
