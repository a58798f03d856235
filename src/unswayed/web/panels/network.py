"""The network drawn with the probability of every state, what was found, and what is decided about."""

from __future__ import annotations

from typing import Any

from unswayed.view.charts.networks import draw_graph
from unswayed.view.plotting import make_graph
from unswayed.web.answers import AnswerDesk
from unswayed.web.setting import Setting


def describe_network(desk: AnswerDesk, setting: Setting) -> dict[str, Any]:
    """The drawing; tests that cannot be done count as dropped."""
    kept = setting.classifier.features if setting.address.skipped else None
    posteriors = {
        name: shares for name, shares in desk.marginals(setting).items() if name not in setting.evidence
    }
    graph = make_graph(setting.asked, setting.evidence, kept, posteriors=posteriors)
    return {"drawing": draw_graph(graph)}
