"""A test plan for people: the outline, what is proven, and what other ways to test cost."""

from __future__ import annotations

import math
from typing import Any

from rich.text import Text

from unswayed.api.interview import Interview
from unswayed.api.results.plan import TestPlan
from unswayed.plans.comparisons import UNTIL_SAFE, PlanComparison
from unswayed.plans.goals import PlanObjective
from unswayed.plans.outline import outline_text, sdp_text
from unswayed.plans.tree import PlanLeaf, depth_of, leaves
from unswayed.view.describe import Asked, Figure, TextTable

FIELDS = (
    ("expected cost", "expected_cost"),
    ("worst cost", "worst_cost"),
    ("tests", "expected_tests"),
    ("safe", "chance_reached"),
)
SURE = 1.0 - 1e-9
DEEPEST = 5
"""Tests of a path that are shown before the rest is folded."""
PROOF_BY_OBJECTIVE = {
    PlanObjective.EXPECTED_COST: "no plan costs less",  # where every path is safe
    PlanObjective.WORST_COST: "no plan costs less in the worst case",
    PlanObjective.CLOSEST: "no plan within these limits comes closer to the full decision",
    PlanObjective.SAME_DECISION: "no plan within these limits agrees more often",
    PlanObjective.UTILITY: "no plan within these limits has more utility",
    PlanObjective.NET_UTILITY: "no plan has more utility after costs",
}


def describe_plan(plan: TestPlan, asked: Asked) -> list[Any]:
    """The plan, folded below `DEEPEST`, with its costs beside those of other ways to test."""
    depth = depth_of(plan.tree)
    outline = [Text(line) for line in outline_text(plan.tree, max_depth=DEEPEST).splitlines()]
    if depth > DEEPEST:
        outline.append(Text(f"(the longest path has {depth} tests; -o FILE (save) writes all of it)"))
    return [
        f"Test until {plan.until}:",
        "",
        Figure(plan, outline),
        "",
        *_costs(plan),
        "",
        *describe_proof(plan),
    ]


def _costs(plan: TestPlan) -> list[Any]:
    """A row for each way to test; how often it is safe, where not all always are."""
    ways: list[tuple[str, TestPlan | PlanComparison]] = [("this plan", plan)]
    ways += [(each.name, each) for each in plan.comparisons]
    fields = FIELDS if any(way.chance_reached < SURE for _, way in ways) else FIELDS[:-1]
    rows = [(name, *(f"{getattr(way, field):.4g}" for _, field in fields)) for name, way in ways]
    headings = ("", *(heading for heading, _ in fields))
    sets = [f"  {each.name}: {', '.join(each.tests)}" for each in plan.comparisons if "fixed" in each.name]
    return [TextTable(rows, headings, right=range(1, len(headings)), style=""), *sets]


def _until_safe_text(plan: TestPlan, longer: PlanComparison) -> str:
    """What the plan takes that goes on until it is safe, and how to ask for it."""
    tests = next(f"{each.expected_tests:g}" for each in plan.comparisons if each.name == "everything")
    return (
        f"To go on until it is safe takes {longer.expected_tests:.4g} tests on average; "
        f"max_depth={tests} (--max-depth {tests}) asks for that plan."
    )


def describe_proof(plan: TestPlan) -> list[str]:
    """What is proven, and how good the decisions are."""
    failing = 1.0 - plan.chance_reached
    if plan.optimal and plan.objective is PlanObjective.EXPECTED_COST and failing > 1.0 - SURE:
        proof = "Proven: no plan within these limits is safe more often, and of those none costs less."
    elif plan.optimal:
        proof = f"Proven: {PROOF_BY_OBJECTIVE[plan.objective]}."
    else:
        proof = f"Not proven: another plan could be better by up to {plan.gap:.4g}."
    agreeing = f"{plan.expected_sdp:.4f}"
    if any(leaf.is_bound for leaf in leaves(plan.tree)):
        agreeing = f"at least {math.floor(1e4 * plan.expected_sdp + 1e-6) / 1e4:.4f}"
    found = [proof, f"The decision is that on all features with probability {agreeing}, on average."]
    if failing > 1.0 - SURE:
        found.append(f"With probability {failing:.4f} it has to stop before that.")
    found += [_until_safe_text(plan, each) for each in plan.comparisons if each.name == UNTIL_SAFE]
    if isinstance(plan.tree, PlanLeaf):
        is_done = not plan.tree.rest and (plan.optimal or failing <= 1.0 - SURE)
        found.insert(0, "Nothing needs to be tested." if is_done else "No test was found in time.")
    return found


def describe_interview(interview: Interview, asked: Asked) -> list[Any]:
    """What would be decided now, how safe that is, what it cost, and what is asked next."""
    node, question = interview.node, interview.question
    rest = getattr(node, "rest", ())
    return [
        f"Decide {node.decision} ({sdp_text(node)}, {'safe' if interview.is_safe else 'not safe yet'}).",
        *([f"To be safe, do all tests that are left: {', '.join(rest)}."] if rest else []),
        f"{len(interview.all_answers)} answered, cost {interview.spent:g}.",
        *([f"Ask next: {question.name} ({', '.join(question.states)})."] if question else []),
    ]
