"""Two what-ifs side by side: the case as it stands, and the same case with other findings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.view.charts.decisions import draw_gauge
from unswayed.view.drawing import Drawing
from unswayed.view.plotting import make_gauge
from unswayed.web.answers import AnswerDesk
from unswayed.web.moves import Way, set_beside, toggle_beside, toggle_finding
from unswayed.web.names import action_label, finding_label, label_of, state_label
from unswayed.web.panels.decision import StateBar, explain_posterior, list_bars
from unswayed.web.panels.verdict import make_badge, write_headline
from unswayed.web.setting import Setting, resolve


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One of the two cases."""

    title: str
    url: str
    """Where it is a case of its own."""
    findings: tuple[str, ...]
    action: str
    reason: str
    bars: list[StateBar]
    gauge: Drawing | None
    headline: str
    badge: tuple[str, str]


def describe_comparison(desk: AnswerDesk, setting: Setting) -> dict[str, Any]:
    """Both cases, and for each feature the states that set either."""
    address = setting.address
    beside = address.findings if address.beside is None else address.beside
    second = resolve(replace(address, findings=beside, beside=None, undone=()), setting.held)
    whatifs = (_show(desk, setting, "As it stands"), _show(desk, second, "What if"))
    doubled = set_beside(address, beside)
    rows = []
    for name in setting.classifier.features:
        variable = setting.network.variable(name)
        first = [
            Way(
                state_label(variable, state),
                toggle_finding(doubled, name, state).url_of("panel/compare"),
                current=setting.evidence.get(name) == state,
            )
            for state in variable.states
        ]
        other = [
            Way(
                state_label(variable, state),
                toggle_beside(doubled, name, state).url_of("panel/compare"),
                current=second.evidence.get(name) == state,
            )
            for state in variable.states
        ]
        differs = setting.evidence.get(name) != second.evidence.get(name)
        rows.append({"text": label_of(variable), "first": first, "second": other, "differs": differs})
    return {"whatifs": whatifs, "rows": rows, "same": setting.evidence == second.evidence}


def _show(desk: AnswerDesk, setting: Setting, title: str) -> WhatIf:
    findings = tuple(finding_label(setting, *each) for each in setting.evidence.items())
    url = set_beside(setting.address, None).url
    try:
        stopping = desk.stopping(setting)
    except (ImpossibleEvidence, LimitError) as error:
        return WhatIf(title, url, findings, "", str(error), [], None, "", ("", ""))
    return WhatIf(
        title,
        url,
        findings,
        action_label(setting, stopping.decision.action),
        explain_posterior(setting, stopping.decision),
        list_bars(setting, stopping.decision),
        draw_gauge(make_gauge(stopping.sdp, setting.level)),
        write_headline(stopping, len(setting.open)),
        make_badge(stopping.sdp),
    )
