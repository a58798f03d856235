"""All panels by name, and the two that are a few lines each: costs and the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from unswayed.view.charts.networks import draw_graph
from unswayed.view.plotting import make_graph
from unswayed.web.answers import AnswerCache
from unswayed.web.case import list_pairs
from unswayed.web.names import label_of
from unswayed.web.panels.compare import describe_comparison
from unswayed.web.panels.decision import describe_verdict
from unswayed.web.panels.history import describe_history
from unswayed.web.panels.next_tests import describe_advice, describe_first, describe_next, describe_outcomes
from unswayed.web.panels.plan import describe_plan
from unswayed.web.panels.reasons import describe_flips, describe_why
from unswayed.web.panels.settings import describe_range
from unswayed.web.panels.trimming import describe_trimming
from unswayed.web.setting import Setting, find_spending


def describe_costs(_: AnswerCache, setting: Setting) -> dict[str, Any]:
    """What was spent and is left, and a row of the form for each feature."""
    spending, address = find_spending(setting), setting.address
    edited = replace(address, costs=(), groups=(), mandatory=(), forbidden=(), budget=None)
    group_by_feature = {each: group for group, members in address.groups for each in members}
    return {
        "spent": f"{spending.spent:g}",
        "left": "" if spending.left is None else f"{spending.left:g}",
        "rest": f"{spending.rest:g}",
        "n_open": len(setting.open),
        "kept": list_pairs(edited),
        "budget": "" if address.budget is None else f"{address.budget:g}",
        "rows": [_row(setting, name, group_by_feature) for name in setting.asked.features],
        "group_rows": [(name, f"{setting.purchase.costs.get(name, 1.0):g}") for name, _ in address.groups],
    }


def _row(setting: Setting, name: str, group_by_feature: dict[str, str]) -> dict[str, Any]:
    address = setting.address
    stated = setting.purchase.costs.get(name)
    return {
        "name": name,
        "text": label_of(setting.network.variable(name)),
        "cost": "" if stated is None else f"{stated:g}",
        "must": name in setting.purchase.mandatory,
        "never": name in address.forbidden,
        "group": group_by_feature.get(name, ""),
        "done": name in setting.evidence,
    }


def describe_network(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The drawing; tests that cannot be done count as dropped."""
    kept = setting.classifier.features if setting.address.skipped else None
    posteriors = {
        name: shares for name, shares in cache.marginals(setting).items() if name not in setting.evidence
    }
    graph = make_graph(setting.asked, setting.evidence, kept, posteriors=posteriors)
    return {"drawing": draw_graph(graph)}


Describe = Callable[[AnswerCache, Setting], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page that is asked for by itself."""

    name: str
    title: str
    describe: Describe
    about: str = ""
    """What it answers, in one sentence."""
    slow: bool = False
    """Whether it may take seconds: then it waits behind others of its kind, and nobody waits behind it."""


PANELS = {
    panel.name: panel
    for panel in (
        Panel("verdict", "How safe is it?", describe_verdict, "Would all other tests change the decision?"),
        Panel("advice", "What to do", describe_advice),
        Panel("next", "What next", describe_next, "The tests not done yet, the most useful first."),
        Panel("first", "What next", describe_first, "What each test tells, until the rest is known."),
        Panel("outcomes", "What each result would do", describe_outcomes),
        Panel("why", "What drove it", describe_why, "What each finding added to the decision.", slow=True),
        Panel(
            "flips",
            "What would turn it",
            describe_flips,
            "Results that would change the decision.",
            slow=True,
        ),
        Panel("history", "How the case went", describe_history, "Decision and safety, finding by finding."),
        Panel("range", "How far the decision stays", describe_range),
        Panel("costs", "Costs", describe_costs, "What was spent, and what the rest would cost."),
        Panel(
            "plan",
            "Plan",
            describe_plan,
            "Which test to do first, and what then, until it is safe.",
            slow=True,
        ),
        Panel(
            "trimming",
            "Which tests are enough?",
            describe_trimming,
            "What each budget buys, and which tests to keep.",
            slow=True,
        ),
        Panel("network", "Network", describe_network, "Every variable with its probability now."),
        Panel("compare", "Compare", describe_comparison, "Two what-ifs side by side."),
    )
}
