"""A plan as a tree: tests inside, decisions at the leaves; and what can be counted on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlanLeaf:
    """Where the plan stops."""

    decision: str
    """What is decided."""
    sdp: float
    """The same-decision probability; the lower end where it is known between bounds."""
    probability: float
    """How probable it is to come here."""
    reached: bool = True
    """Whether the stopping rule is met; False where nothing that may be bought can meet it."""
    loss: float = 0.0
    """What is lost by stopping here, as the objective counts it."""
    rest: tuple[str, ...] = ()
    """Where the plan would grow too large: the tests that are left, to be done all, before deciding."""
    rest_cost: float = 0.0
    """What these cost at most."""
    is_bound: bool = False
    """Whether the SDP is only known to be at least this."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A test, and what to do by how it comes out."""

    test: str
    """The test's name: a feature, or a group of them."""
    features: tuple[str, ...]
    """The features that it tells."""
    cost: float
    """What it costs here."""
    decision: str
    """What would be decided without the test,"""
    sdp: float
    """and the same-decision probability of that."""
    probability: float
    """How probable it is to come here."""
    outcomes: Mapping[tuple[str, ...], PlanNode] = field(repr=False)
    """What follows on each combination of states of the features; impossible ones are left out."""
    is_bound: bool = False
    """Whether the SDP is only known to be at least this."""


PlanNode = PlanStep | PlanLeaf


def leaves(node: PlanNode) -> Iterator[PlanLeaf]:
    """The leaves of a plan, in the order of the outcomes."""
    if isinstance(node, PlanLeaf):
        yield node
    else:
        for child in node.outcomes.values():
            yield from leaves(child)


def expected_cost(node: PlanNode) -> float:
    """What the tests cost on average."""
    at_ends = (leaf.probability * leaf.rest_cost for leaf in leaves(node) if leaf.rest)
    return math.fsum([*(step.probability * step.cost for step in steps(node)), *at_ends])


def expected_tests(node: PlanNode) -> float:
    """How many tests are done on average."""
    at_ends = (leaf.probability * len(leaf.rest) for leaf in leaves(node) if leaf.rest)
    return math.fsum([*(step.probability for step in steps(node)), *at_ends])


def worst_cost(node: PlanNode) -> float:
    """What the tests of the dearest path cost."""
    if isinstance(node, PlanLeaf):
        return node.rest_cost
    return node.cost + max(map(worst_cost, node.outcomes.values()))


def depth_of(node: PlanNode) -> int:
    """How many tests the longest path has."""
    return 0 if isinstance(node, PlanLeaf) else 1 + max(map(depth_of, node.outcomes.values()))


def steps(node: PlanNode) -> Iterator[PlanStep]:
    """The tests of a plan, each before what follows it."""
    if isinstance(node, PlanStep):
        yield node
        for child in node.outcomes.values():
            yield from steps(child)


def chance_reached(node: PlanNode) -> float:
    """Probability that the plan ends where its stopping rule is met."""
    return min(1.0, math.fsum(leaf.probability for leaf in leaves(node) if leaf.reached))


def expected_loss(node: PlanNode) -> float:
    """What the leaves lose on average, as the objective counts it."""
    return math.fsum(leaf.probability * leaf.loss for leaf in leaves(node))
