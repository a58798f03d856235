"""A plan as nested plain data, for JSON and for drawings; and back.

A test is `{"test", "cost", "decision", "sdp", "probability", "outcomes": {state: ...}}`; a leaf is
`{"decision", "sdp", "probability"}`, with `"reached": false` where the stopping rule is not met and `"loss"`
where something is lost there; a leaf that does all tests that are left names them as `"rest"`, with their
`"rest_cost"`; `"is_bound": true` says that the SDP is at least this. A group of features also names its
`features`, and each of its outcomes its `states`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unswayed.plans.tree import PlanLeaf, PlanNode, PlanStep


def nested_plan(node: PlanNode) -> dict[str, Any]:
    """The tree as plain data."""
    standing = {"decision": node.decision, "sdp": node.sdp, "probability": node.probability}
    standing |= {"is_bound": True} if node.is_bound else {}
    if isinstance(node, PlanLeaf):
        lost = {"loss": node.loss} if node.loss > 0 else {}
        rest = {"rest": list(node.rest), "rest_cost": node.rest_cost} if node.rest else {}
        return {**standing, **lost, **rest, **({} if node.reached else {"reached": False})}
    outcomes = {", ".join(states): _outcome(states, child) for states, child in node.outcomes.items()}
    features = {} if node.features == (node.test,) else {"features": list(node.features)}
    return {"test": node.test, **features, "cost": node.cost, **standing, "outcomes": outcomes}


def _outcome(states: tuple[str, ...], child: PlanNode) -> dict[str, Any]:
    content = nested_plan(child)
    return content if len(states) == 1 else {"states": list(states), **content}


def plan_from_nested(content: Mapping[str, Any]) -> PlanNode:
    """The tree of plain data; `KeyError`, `TypeError` or `ValueError` when something is missing."""
    decision, sdp = str(content["decision"]), float(content["sdp"])
    probability, is_bound = float(content["probability"]), bool(content.get("is_bound", False))
    if "test" not in content:
        loss = float(content.get("loss", 0.0))
        rest, rest_cost = tuple(map(str, content.get("rest", ()))), float(content.get("rest_cost", 0.0))
        reached = bool(content.get("reached", True))
        return PlanLeaf(decision, sdp, probability, reached, loss, rest, rest_cost, is_bound)
    test = str(content["test"])
    features = tuple(map(str, content.get("features", [test])))
    outcomes = {
        tuple(map(str, child.get("states", [label]))): plan_from_nested(child)
        for label, child in content["outcomes"].items()
    }
    if any(len(states) != len(features) for states in outcomes):
        raise ValueError(f"the outcomes of {test!r}")
    return PlanStep(test, features, float(content["cost"]), decision, sdp, probability, outcomes, is_bound)
