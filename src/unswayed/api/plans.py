"""Whole test plans: first this, if high stop, else that; of least expected cost, proven."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unswayed.api.networks import Evidence
from unswayed.core.errors import FormatError, LimitError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits, readable_bytes
from unswayed.core.measurement import Certainty
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import Costs, purchase_of
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Cost, Question
from unswayed.model.encode import encode
from unswayed.model.variable import Variable
from unswayed.plans.comparisons import PlanComparison
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel, StopRule
from unswayed.plans.ground import lay_ground
from unswayed.plans.nested import nested_plan, plan_from_nested
from unswayed.plans.outline import dot_text, outline_html, outline_text
from unswayed.plans.solution import Report, Solution, solve
from unswayed.plans.tree import (
    PlanLeaf,
    PlanNode,
    PlanStep,
    expected_cost,
    expected_loss,
    expected_tests,
    leaves,
    steps,
    worst_cost,
)

if TYPE_CHECKING:
    from unswayed.pictures.canvas import Picture

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


@dataclass(frozen=True, slots=True)
class TestPlan:
    """A decision tree of tests."""

    __test__ = False  # pytest takes classes of this name for its own

    tree: PlanNode = field(repr=False)
    """What to do: a `PlanStep`, or a `PlanLeaf` where there is nothing to test."""
    target: str
    """What is decided about."""
    variables: tuple[Variable, ...] = field(repr=False)
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
    comparisons: tuple[PlanComparison, ...] = field(default=(), repr=False)
    """What other ways to test cost: everything, fixed sets, greedy plans."""
    seconds: float = 0.0
    """How long it took to find."""

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
        return min(1.0, sum(leaf.probability * leaf.sdp for leaf in leaves(self.tree)))

    @property
    def expected_loss(self) -> float:
        """What the leaves lose on average, as the objective counts it."""
        return expected_loss(self.tree)

    @property
    def chance_reached(self) -> float:
        """Probability that the plan ends where its stopping rule is met."""
        return min(1.0, sum(leaf.probability for leaf in leaves(self.tree) if leaf.reached))

    @property
    def optimal(self) -> bool:
        """Whether no other plan is better, as the objective counts it."""
        return self.gap == 0.0

    @property
    def certainty(self) -> Certainty:
        """Exact where the plan is proven to be the best, else a bound: the best is within the gap."""
        return Certainty.EXACT if self.optimal else Certainty.BOUND

    def next_test(self, evidence: Evidence | None = None) -> str | None:
        """The test to do next, given the results so far; None when it is time to decide."""
        node = self._walk({**self.evidence, **(evidence or {})})[-1][1]
        return node.test if isinstance(node, PlanStep) else None

    def node_at(self, evidence: Evidence | None = None) -> PlanNode:
        """Where the results so far lead."""
        return self._walk({**self.evidence, **(evidence or {})})[-1][1]

    def apply(self, data: Any) -> Any:
        """What the plan does: a `PlanPath` for one row, a list of them for a table.

        A row is a mapping of features to single values; everything else is read as a table, in original
        units. Where a row does not tell the result of a test, its path ends there.
        """
        if isinstance(data, Mapping) and not any(hasattr(each, "__len__") and not isinstance(each, str) for each in data.values()):
            return self._paths({name: [value] for name, value in data.items()})[0]
        return self._paths(data)

    def _paths(self, data: Any) -> list[PlanPath]:
        codes = encode(data, self.variables).codes if self.variables else []
        rows = [
            {v.name: v.states[code] for v, code in zip(self.variables, row, strict=True) if code >= 0}
            for row in codes
        ]
        return [_path(self._walk(row)) for row in rows]

    def _walk(self, row: Evidence) -> list[tuple[tuple[str, ...] | None, PlanNode]]:
        """The nodes that results lead to, each with the outcome that led there."""
        node, walked = self.tree, [(None, self.tree)]
        while isinstance(node, PlanStep) and all(name in row for name in node.features):
            states = tuple(row[name] for name in node.features)
            if states not in node.outcomes:
                raise QueryError(_unknown_outcome(node, states))
            node = node.outcomes[states]
            walked.append((states, node))
        return walked

    def __str__(self) -> str:
        return outline_text(self.tree)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data, ready for JSON."""
        return {
            "kind": KIND,
            "version": VERSION,
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
            "comparisons": [_compared(each) for each in self.comparisons],
            "states": {variable.name: list(variable.states) for variable in self.variables},
            "tree": nested_plan(self.tree),
        }

    def to_dot(self) -> str:
        """The plan as a graph for Graphviz."""
        return dot_text(self.tree, f"plan for {self.target}")

    def to_html(self) -> str:
        """The plan as a list that folds and unfolds."""
        return outline_html(self.tree)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan as `.json`, `load_plan` reads it again; or as `.txt`, `.html` or `.dot`."""
        path = Path(path)
        if path.suffix.lower() not in _TEXT_BY_SUFFIX:
            known = ", ".join(_TEXT_BY_SUFFIX)
            raise FormatError(f"a plan is saved as {known}, not {path.suffix!r}", path)
        try:
            path.write_text(_TEXT_BY_SUFFIX[path.suffix.lower()](self) + "\n", encoding="utf-8")
        except OSError as error:
            raise FormatError(f"cannot be written ({error.strerror or error})", path) from None

    def _repr_html_(self) -> str:
        return self.to_html()


_TEXT_BY_SUFFIX = {
    ".json": lambda plan: json.dumps(plan.to_dict(), indent=2, ensure_ascii=False),
    ".txt": str,
    ".html": TestPlan.to_html,
    ".dot": TestPlan.to_dot,
}
