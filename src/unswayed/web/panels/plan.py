"""The plan of tests as a flow chart that folds: which first, what then, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unswayed.api.results.plan import TestPlan
from unswayed.plans.outline import nested_plan
from unswayed.plans.tree import PlanLeaf, PlanNode
from unswayed.view.charts.plans import draw_plan
from unswayed.view.numbers import percent
from unswayed.view.plans import describe_proof
from unswayed.web.answers import AnswerCache
from unswayed.web.case import CaseAddress
from unswayed.web.moves import toggle_finding
from unswayed.web.names import action_label, label_of, state_label
from unswayed.web.setting import Setting

MOST_DRAWN = 4
"""Tests of a path in the picture; the list below unfolds all of them."""
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A test of the plan, or its end, with what leads there."""

    outcome: str
    """What the test before told; empty at the beginning."""
    share: str
    """How often that is, of all cases."""
    text: str
    sdp: str
    is_test: bool
    reached: bool
    url: str
    """The case in which the plan has come here."""
    children: tuple[PlanRow, ...] = ()


def describe_plan(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The plan, what it costs, and what other ways to test would."""
    plan = cache.plan(setting)
    return {
        "root": _row(setting, plan.tree, setting.address, "", 0),
        "drawing": draw_plan(nested_plan(plan.tree), deepest=MOST_DRAWN),
        "until": plan.until,
        "ways": _list_ways(plan),
        "proof": describe_proof(plan),
        "optimal": plan.optimal,
    }


def _list_ways(plan: TestPlan) -> list[tuple[str, str, str, str]]:
    """Each way to test: name, expected cost, worst cost, tests on average."""
    ways = [("this plan", plan.expected_cost, plan.worst_cost, plan.expected_tests)]
    ways += [(w.name, w.expected_cost, w.worst_cost, w.expected_tests) for w in plan.comparisons]
    return [(name, *(f"{number:.4g}" for number in numbers)) for name, *numbers in ways]  # type: ignore[misc]


def _row(setting: Setting, node: PlanNode, address: CaseAddress, outcome: str, depth: int) -> PlanRow:
    share, sdp = percent(node.probability), "at least " * node.is_bound + percent(node.sdp)
    if isinstance(node, PlanLeaf):
        text = action_label(setting, node.decision)
        return PlanRow(outcome, share, text, sdp, False, node.reached, address.url)
    variables = [setting.network.variable(name) for name in node.features]
    children = []
    for states, child in node.outcomes.items() if depth < DEEPEST else ():
        later = replace(address, test="")
        for variable, state in zip(variables, states, strict=True):
            later = toggle_finding(later, variable.name, state)
        pairs = zip(variables, states, strict=True)
        told = ", ".join(state_label(variable, state) for variable, state in pairs)
        children.append(_row(setting, child, later, told, depth + 1))
    text = label_of(variables[0]) if len(variables) == 1 else node.test
    return PlanRow(outcome, share, text, sdp, True, True, address.url, tuple(children))
