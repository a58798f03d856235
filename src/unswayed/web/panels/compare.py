"""Two what-ifs side by side: the case as it stands, and the same case with other findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.model.variable import Variable
from unswayed.view.charts.decisions import draw_gauge
from unswayed.view.drawing import Drawing
from unswayed.view.plotting import make_gauge
from unswayed.web.answers import AnswerCache
from unswayed.web.case import CaseAddress
from unswayed.web.moves import Way, set_beside, toggle_beside, toggle_finding
from unswayed.web.names import action_label, finding_label, label_of, state_label
from unswayed.web.panels.decision import StateBar, explain_posterior, list_bars, make_badge, write_headline
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


def describe_comparison(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """Both cases, and for each feature the states that set either."""
    address = setting.address
    beside = address.findings if address.beside is None else address.beside
    second = resolve(replace(address, findings=beside, beside=None, undone=()), setting.held)
    whatifs = (_show(cache, setting, "As it stands"), _show(cache, second, "What if"))
    doubled = set_beside(address, beside)
    rows = []
    for name in setting.classifier.features:
        now, then = setting.evidence.get(name), second.evidence.get(name)
        variable = setting.network.variable(name)
        first = _list_ways(variable, partial(toggle_finding, doubled, name), now)
        other = _list_ways(variable, partial(toggle_beside, doubled, name), then)
        rows.append({"text": label_of(variable), "first": first, "second": other, "differs": now != then})
    return {"whatifs": whatifs, "rows": rows, "same": setting.evidence == second.evidence}


def _list_ways(variable: Variable, toggle: Callable[[str], CaseAddress], found: str | None) -> list[Way]:
    """A link for each state that sets it, or takes it back."""
    return [
        Way(state_label(variable, state), toggle(state).url_of("panel/compare"), current=state == found)
        for state in variable.states
    ]


def _show(cache: AnswerCache, setting: Setting, title: str) -> WhatIf:
    findings = tuple(finding_label(setting, *each) for each in setting.evidence.items())
    url = set_beside(setting.address, None).url
    try:
        stopping = cache.stopping(setting)
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
