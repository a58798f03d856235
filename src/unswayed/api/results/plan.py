"""A test plan as people use it: what to do next, what it does in a case, what it costs, and its files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

from unswayed.api.saving import needed_network, rule_as_data, rule_from_data
from unswayed.api.shown import Framed, Plotted
from unswayed.core.arguments import expect_path
from unswayed.core.codec import check_header, field_of, from_plain, json_bytes
from unswayed.core.errors import FormatError, ModelError, QueryError, UnswayedError, expect
from unswayed.core.measurement import Certainty
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.purchase_files import parse_toml, toml_text
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import read_table
from unswayed.model.evidence import Evidence
from unswayed.model.formats import json_network
from unswayed.model.formats.reading.guard import guarded, json_content
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.variable import Variable
from unswayed.plans.comparisons import PlanComparison
from unswayed.plans.goals import PlanObjective, PosteriorLimits, SameDecisionLevel, StopRule
from unswayed.plans.outline import dot_text, nested_plan, outline_html, outline_text, plan_from_nested
from unswayed.plans.tree import (
    PlanNode,
    PlanStep,
    chance_reached,
    expected_cost,
    expected_loss,
    expected_tests,
    leaves,
    worst_cost,
)

KIND = "unswayed plan"
VERSION = 1


@dataclass(frozen=True, slots=True)
class PlanPath:
    """What a plan does in one case."""

    tests: tuple[tuple[str, tuple[str, ...]], ...]
    """The tests done, each with the states it told."""
    cost: float
    """What they cost."""
    decision: str
    """What is decided at the end."""
    sdp: float
    """The same-decision probability there."""
    missing: str | None = None
    """The test at which the path ends because the case does not tell its result; None at a leaf."""


@dataclass(frozen=True, slots=True, repr=False)
class TestPlan(Plotted, Framed):
    """A decision tree of tests."""

    __test__ = False  # pytest takes classes of this name for its own

    tree: PlanNode
    """What to do: a `PlanStep`, or a `PlanLeaf` where there is nothing to test."""
    target: str
    """What is decided about."""
    variables: tuple[Variable, ...]
    """The features that the plan asks for."""
    until: str
    """When it stops, in words."""
    objective: PlanObjective
    """What it has least of, or most of."""
    method: str
    """How it was found."""
    gap: float = 0.0
    """How much better another plan could be at most, in what the objective counts."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    """What was known before the first test."""
    comparisons: tuple[PlanComparison, ...] = ()
    """What other ways to test cost: everything, fixed sets, greedy plans."""
    seconds: float = 0.0
    """How long it took to find."""
    network: str = ""
    """Name of the network that it was made from."""
    origin: PlanOrigin | None = field(default=None, compare=False)
    """The question that it answers, to plan anew when a test cannot be done; None where that was not kept."""

    @property
    def expected_cost(self) -> float:
        """What the tests cost on average."""
        return expected_cost(self.tree)

    @property
    def worst_cost(self) -> float:
        """What the tests of the dearest path cost."""
        return worst_cost(self.tree)

    @property
    def expected_tests(self) -> float:
        """How many tests are done on average."""
        return expected_tests(self.tree)

    @property
    def expected_sdp(self) -> float:
        """The same-decision probability at the end, on average."""
        ends = (leaf.probability * (1.0 if leaf.rest else leaf.sdp) for leaf in leaves(self.tree))
        return min(1.0, sum(ends))

    @property
    def expected_loss(self) -> float:
        """What the leaves lose on average, as the objective counts it."""
        return expected_loss(self.tree)

    @property
    def chance_reached(self) -> float:
        """Probability that the plan ends where its stopping rule is met."""
        return chance_reached(self.tree)

    @property
    def optimal(self) -> bool:
        """Whether no other plan is better, as the objective counts it."""
        return self.gap == 0.0

    @property
    def certainty(self) -> Certainty:
        """Exact where the plan is proven to be the best, else a bound: the best is within the gap."""
        return Certainty.EXACT if self.optimal else Certainty.BOUND

    def node_at(self, evidence: Evidence | None = None) -> PlanNode:
        """Where the results so far lead."""
        return _walk(self.tree, {} if evidence is None else evidence)[-1][1]

    def next_test(self, evidence: Evidence | None = None) -> str | None:
        """The test to do next, given the results so far; None when it is time to decide."""
        node = self.node_at(evidence)
        return node.test if isinstance(node, PlanStep) else None

    @overload
    def apply(self, data: Mapping[str, str | float | None]) -> PlanPath: ...
    @overload
    def apply(self, data: Any) -> list[PlanPath]: ...
    def apply(self, data: Any) -> PlanPath | list[PlanPath]:
        """What the plan does: a `PlanPath` for one row, a list of them for a table.

        A row is a mapping of features to single values; everything else is read as a table (a CSV file, a
        dataframe, columns by name), in original units. Where a row does not tell the result of a test, its
        path ends there.
        """
        if isinstance(data, Mapping) and not data:
            return _path(self.tree, {})
        if isinstance(data, Mapping) and all(_is_single(each) for each in data.values()):
            return self._paths({name: [value] for name, value in data.items()})[0]
        return self._paths(data)

    def apply_states(self, states: Evidence) -> PlanPath:
        """What the plan does where the features have these states."""
        return _path(self.tree, states)

    def _paths(self, data: Any) -> list[PlanPath]:
        if not self.variables:
            return [_path(self.tree, {})] * read_table(data).n_rows
        rows = encode(data, self.variables).codes.tolist()
        return [_path(self.tree, _states_of(self.variables, row)) for row in rows]

    def to_text(self) -> str:
        """The plan as an outline, to its last test."""
        return outline_text(self.tree)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data, ready for JSON."""
        return {
            "kind": KIND,
            "version": VERSION,
            "network": self.network,
            "target": self.target,
            "evidence": dict(self.evidence),
            "objective": self.objective.value,
            "until": self.until,
            "expected_cost": self.expected_cost,
            "worst_cost": self.worst_cost,
            "expected_tests": self.expected_tests,
            "expected_sdp": self.expected_sdp,
            "chance_reached": self.chance_reached,
            "optimal": self.optimal,
            "gap": self.gap,
            "method": self.method,
            "seconds": self.seconds,
            "comparisons": [asdict(each) for each in self.comparisons],
            "states": {variable.name: list(variable.states) for variable in self.variables},
            "tree": nested_plan(self.tree),
        }

    def to_dot(self) -> str:
        """The plan as a graph for Graphviz."""
        return dot_text(self.tree, f"plan for {self.target}")

    def to_html(self) -> str:
        """The plan as a page with a list that folds and unfolds."""
        title = escape(f"Plan for {self.target}")
        costs = f"Expected cost {self.expected_cost:.4g}, at most {self.worst_cost:.4g}."
        body = f"<h1>{title}</h1><p>Test until {escape(self.until)}. {costs}</p>{outline_html(self.tree)}"
        head = f'<meta charset="utf-8"><title>{title}</title>'
        return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as `.json`, `load_plan` reads it again; or as `.txt`, `.html` or `.dot`."""
        path = expect_path(path, "the file")
        if path.suffix.lower() not in _TEXT_BY_SUFFIX:
            known = ", ".join(_TEXT_BY_SUFFIX)
            raise FormatError(f"a plan is saved as {known}, not {path.suffix!r}", path)
        try:
            path.write_text(_TEXT_BY_SUFFIX[path.suffix.lower()](self).rstrip("\n") + "\n", encoding="utf-8")
        except OSError as error:
            raise FormatError(f"cannot be written ({error.strerror or error})", path) from None


_TEXT_BY_SUFFIX: dict[str, Callable[[TestPlan], str]] = {
    ".json": lambda plan: json_bytes(_content(plan), indent=2, allow_nan=True).decode(),
    ".txt": TestPlan.to_text,
    ".html": TestPlan.to_html,
    ".dot": TestPlan.to_dot,
}


def _content(plan: TestPlan) -> dict[str, Any]:
    """What a saved plan holds: the plan, and what it was made from."""
    return {**plan.to_dict(), "origin": None if plan.origin is None else plan.origin.to_dict()}


def load_plan(path: str | os.PathLike[str]) -> TestPlan:
    """The plan that `TestPlan.save` wrote as `.json`; `FormatError` says what is wrong with the file."""
    path = expect_path(path, "the file")
    content = json_content(load(path))
    with guarded(path, "a plan"):
        try:
            check_header(content, KIND, VERSION, wrong="not a plan; expected what TestPlan.save writes")
            return _plan_from(content, path)
        except (ModelError, QueryError) as error:
            raise FormatError(str(error), path) from None


def _plan_from(content: Mapping[str, Any], path: Path) -> TestPlan:
    origin = content.get("origin")
    made = {
        "tree": plan_from_nested(field_of(content, "tree", dict)),
        "variables": [Variable(*each) for each in field_of(content, "states", dict[str, list[str]]).items()],
        "origin": None if origin is None else origin_from_data(origin, path),
    }
    # A file says more than a plan has fields: costs and chances, for people.
    plain = {each.name: content[each.name] for each in fields(TestPlan) if each.name in content}
    plan: TestPlan = from_plain(TestPlan, plain | made, "the plan")
    return plan


def _walk(tree: PlanNode, row: Evidence) -> list[tuple[tuple[str, ...], PlanNode]]:
    """The nodes that results lead to, each with the states that led there."""
    expect(row, Mapping, "what is known by now")
    node: PlanNode = tree
    walked: list[tuple[tuple[str, ...], PlanNode]] = [((), node)]
    while isinstance(node, PlanStep) and all(name in row for name in node.features):
        states = tuple(row[name] for name in node.features)
        for name, state in zip(node.features, states, strict=True):
            expect(state, str, f"the result of {name!r}")
        if states not in node.outcomes:
            known = [", ".join(each) for each in node.outcomes]
            raise QueryError(
                f"the plan knows no outcome {', '.join(states)!r} of {node.test!r} here: either it is "
                f"impossible after what is known, or misspelt; known: {listing(known)}"
            )
        node = node.outcomes[states]
        walked.append((states, node))
    return walked


def _path(tree: PlanNode, row: Evidence) -> PlanPath:
    """What the plan does with one row."""
    walked = _walk(tree, row)
    done = [(node, states) for (_, node), (states, _) in pairwise(walked) if isinstance(node, PlanStep)]
    end = walked[-1][1]
    return PlanPath(
        tests=tuple((node.test, states) for node, states in done),
        cost=math.fsum(node.cost for node, _ in done),
        decision=end.decision,
        sdp=end.sdp,
        missing=end.test if isinstance(end, PlanStep) else None,
    )


def _states_of(variables: Sequence[Variable], row: Sequence[int]) -> dict[str, str]:
    """The states of a row of codes, missing ones left out."""
    return {v.name: v.states[code] for v, code in zip(variables, row, strict=True) if code >= 0}


def _is_single(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


@dataclass(frozen=True, slots=True)
class PlanOrigin:
    """The question that a plan answers."""

    classifier: Classifier
    """What decides."""
    purchase: Purchase
    """What tests cost."""
    objective: PlanObjective
    """What the plan has least of, or most of."""
    stop: StopRule
    """When enough is known."""
    budget: float | None = None
    """What a path may cost."""
    max_depth: int | None = None
    """How many tests a path may have."""
    max_leaves: int | None = None
    """How many ends the plan may have."""

    def to_dict(self) -> dict[str, Any] | None:
        """The question as plain data; None where something in it cannot be written, such as Python code."""
        stop = _stop_as_data(self.stop)
        try:
            network = json.loads(json_network.write(needed_network(self.classifier)))
            rule = rule_as_data(self.classifier)
        except UnswayedError:
            return None
        return stop and {
            "network": network,
            "target": self.classifier.target,
            "features": list(self.classifier.features),
            "rule": rule,
            "given": dict(self.classifier.given),
            "purchase": toml_text(self.purchase),
            "objective": self.objective.value,
            "stop": stop,
            "bounds": [self.budget, self.max_depth, self.max_leaves],
        }


def origin_from_data(content: Mapping[str, Any], path: Path) -> PlanOrigin:
    """The question in plain data; `KeyError`, `TypeError` or `ValueError` when something is missing."""
    network = json_network.read(Source(path, json.dumps(content["network"]))).finish()
    classifier = Classifier(
        network,
        content["target"],
        content["features"],
        rule_from_data(content["rule"]),
        given=dict(content["given"]),
    )
    purchase = parse_toml(content["purchase"], path)
    budget, max_depth, max_leaves = content["bounds"]
    objective, stop = PlanObjective(content["objective"]), _stop_from_data(content["stop"])
    return PlanOrigin(classifier, purchase, objective, stop, budget, max_depth, max_leaves)


def _stop_as_data(stop: StopRule) -> dict[str, Any] | None:
    if isinstance(stop, SameDecisionLevel):
        return {"sdp": stop.level}
    if isinstance(stop, PosteriorLimits):
        return {"state": stop.state, "low": stop.low, "high": stop.high}
    return None


def _stop_from_data(content: Mapping[str, Any]) -> StopRule:
    if "sdp" in content:
        return SameDecisionLevel(float(content["sdp"]))
    return PosteriorLimits(str(content["state"]), float(content["low"]), float(content["high"]))
