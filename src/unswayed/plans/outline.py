"""A plan as text, as an HTML list, in the language of Graphviz, and as nested plain data.

**Nested data**, for JSON and for drawings, and read back: a test is `{"test", "cost", "decision", "sdp",
"probability", "outcomes": {state: ...}}`; a leaf is `{"decision", "sdp", "probability"}`, with `"reached":
false` where the stopping rule is not met and `"loss"` where something is lost there; a leaf that does all
tests that are left names them as `"rest"`, with their `"rest_cost"`; `"is_bound": true` says that the SDP is
at least this. A group of features also names its `features`, and each of its outcomes its `states`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from unswayed.core.codec import field_of, from_plain
from unswayed.core.errors import ModelError
from unswayed.plans.tree import PlanLeaf, PlanNode, PlanStep

MOST_LINES = 200
"""Lines of an outline before the rest is folded."""


def outline_text(node: PlanNode, *, max_depth: int | None = None) -> str:
    """The plan as indented lines; tests deeper than `max_depth` are folded to what is decided without them.

    >>> leaf = PlanLeaf("not +", 0.99, 0.2)
    >>> print(outline_text(leaf))
    decide not +  (SDP 0.9900)
    """
    return "\n".join(_lines(node, "", max_depth))


def _lines(node: PlanNode, indent: str, depth: int | None) -> Iterator[str]:
    if isinstance(node, PlanLeaf) or depth == 0:
        yield f"{indent}{_verdict(node)}"
        return
    yield f"{indent}{node.test}?  (cost {node.cost:g})"
    for states, child in node.outcomes.items():
        share = child.probability / node.probability
        label = f"{indent}  {', '.join(states)} ({share:.0%}): "
        inner = _lines(child, f"{indent}    ", None if depth is None else depth - 1)
        first = next(inner)
        yield label + first.strip()
        yield from inner


def sdp_text(node: PlanNode) -> str:
    """How safe the decision at a node is.

    >>> sdp_text(PlanLeaf("+", 0.98, 1.0)), sdp_text(PlanLeaf("+", 0.97999, 1.0, is_bound=True))
    ('SDP 0.9800', 'SDP at least 0.9799')
    """
    if node.is_bound:
        return f"SDP at least {math.floor(1e4 * node.sdp + 1e-6) / 1e4:.4f}"
    return f"SDP {node.sdp:.4f}"


def _verdict(node: PlanNode) -> str:
    """What is decided at a leaf, or where the rest is folded."""
    text = f"decide {node.decision}  ({sdp_text(node)})"
    if not isinstance(node, PlanLeaf):
        return f"... {node.test} and further tests; without them: {text}"
    if node.rest:
        return f"do all {len(node.rest)} tests that are left  (cost {node.rest_cost:g}); until then: {text}"
    return text if node.reached else f"{text}, the level is not reached"


def outline_html(node: PlanNode, *, max_depth: int | None = 5) -> str:
    """The plan as nested lists that fold and unfold; deeper than `max_depth` they start folded."""
    return f'<ul class="plan"><li>{_item(node, 0, max_depth)}</li></ul>'


def _item(node: PlanNode, depth: int, max_depth: int | None) -> str:
    if isinstance(node, PlanLeaf):
        return escape(_verdict(node)).replace(
            f"decide {escape(node.decision)}", f"<strong>{escape(node.decision)}</strong>", 1
        )
    rows = "".join(
        f"<li>{escape(', '.join(states))} ({child.probability / node.probability:.0%}): "
        f"{_item(child, depth + 1, max_depth)}</li>"
        for states, child in node.outcomes.items()
    )
    is_open = " open" if max_depth is None or depth < max_depth else ""
    summary = f"<summary>{escape(node.test)}? (cost {node.cost:g})</summary>"
    return f"<details{is_open}>{summary}<ul>{rows}</ul></details>"


def dot_text(node: PlanNode, name: str = "plan") -> str:
    """The plan as a directed graph for Graphviz.

    >>> print(dot_text(PlanLeaf("+", 1.0, 1.0)))
    digraph "plan" {
      node [fontname="sans-serif"];
      n0 [shape=box, style=rounded, label="+\\nSDP 1.0000"];
    }
    """
    lines: list[str] = []
    _write_dot(node, lines, [0])
    return "\n".join([f"digraph {_quoted(name)} {{", '  node [fontname="sans-serif"];', *lines, "}"])


def _write_dot(node: PlanNode, lines: list[str], count: list[int]) -> int:
    """Write a node and what follows it; its number."""
    number = count[0]
    count[0] += 1
    if isinstance(node, PlanLeaf):
        label = _quoted(node.decision)[:-1] + f'\\n{sdp_text(node)}"'
        lines.append(f"  n{number} [shape=box, style=rounded, label={label}];")
        return number
    label = _quoted(node.test)[:-1] + f'\\ncost {node.cost:g}"'
    lines.append(f"  n{number} [shape=ellipse, label={label}];")
    for states, child in node.outcomes.items():
        other = _write_dot(child, lines, count)
        lines.append(f"  n{number} -> n{other} [label={_quoted(', '.join(states))}];")
    return number


def _quoted(text: str) -> str:
    """Text in the quotes of Graphviz, which reads a backslash as the start of a command."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


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
    """The tree of plain data; `ModelError` says what is wrong."""
    here = {name: value for name, value in content.items() if name != "states"}
    if "test" not in here:
        leaf: PlanLeaf = from_plain(PlanLeaf, here, "a leaf of the plan")
        return leaf
    outcomes = {
        tuple(map(str, child.get("states", [label]))): plan_from_nested(child)
        for label, child in field_of(here, "outcomes", dict).items()
    }
    whole = {"features": [here["test"]], **here, "outcomes": outcomes}
    step: PlanStep = from_plain(PlanStep, whole, "a step of the plan")
    if any(len(states) != len(step.features) for states in outcomes):
        raise ModelError(f"the outcomes of {step.test!r} must have a state for each of its features")
    return step
