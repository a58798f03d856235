"""All panels by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unswayed.web.answers import AnswerDesk
from unswayed.web.panels.compare import describe_comparison
from unswayed.web.panels.costs import describe_costs
from unswayed.web.panels.history import describe_history
from unswayed.web.panels.network import describe_network
from unswayed.web.panels.next_tests import (
    describe_advice,
    describe_first,
    describe_next,
    describe_outcomes,
)
from unswayed.web.panels.plan import describe_plan
from unswayed.web.panels.reasons import describe_flips, describe_why
from unswayed.web.panels.settings import describe_range
from unswayed.web.panels.trimming import describe_trimming
from unswayed.web.panels.verdict import describe_verdict
from unswayed.web.setting import Setting

Describe = Callable[[AnswerDesk, Setting], dict[str, Any]]


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
