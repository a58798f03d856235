"""What a search is given and what it gives back: costs, a budget, and the best subset so far.

`Task` is a search in a table of masses, `Incumbent` the best subset found so far. A search is a stream of
`Found`: the best so far, a bound on all others, and what is left to be searched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

from unswayed.core.errors import LimitError, QueryError, expect
from unswayed.core.numerics import is_cheaper, spendable
from unswayed.core.parallel import Team
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.catalogue import (
    Catalogue,
    check_no_results,
    cost_together,
    tests_in,
    with_needs,
)
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.decisions.problem import Problem
from unswayed.decisions.purchase import Costs, Purchase, check_budget, check_costs
from unswayed.kernels import subset_search
from unswayed.search.lattice import Node
from unswayed.search.objectives import SearchObjective
from unswayed.search.options import Method

if TYPE_CHECKING:
    from unswayed.search.sampled_choice import SampledGround
    from unswayed.search.signed.ground import SignedGround

S = TypeVar("S")
SLACK = subset_search.SLACK
"""Values closer than this are rounding apart, and equal."""
UNITS_PER_NODE, UNITS_PER_MASS = 25.0, 2e-3
"""Measured for one pass over a table with numpy: whatever its size, and for each mass in it."""
EXTRA = 5
"""How many more of the most harmful features than the budget allows the first search is given."""


@dataclass(slots=True)
class SearchSpace:
    """What searches of one table with other budgets use again; changes speed, never an answer."""

    root: Node | None = None
    """All features with the masses that the objective needs."""
    signed: SignedGround | None = None
    """The table as the compiled search wants it."""
    key: str = field(default_factory=lambda: uuid4().hex)
    """Tells the table from others, for workers that hold it."""
    sampled: SampledGround | None = None
    """Samples of all features, where no table holds them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Costs by position and the budget."""

    costs: Mapping[int, float]
    """What each free feature costs, all positive."""
    budget: float
    """What the kept features may cost together."""
    workspace: SearchSpace = field(default_factory=SearchSpace, repr=False, compare=False)
    """Shared by searches with other budgets."""
    catalogue: Catalogue | None = None
    """The tests, where costs are more than a number for each feature."""

    @property
    def least(self) -> float:
        """What every choice costs: the mandatory tests."""
        if self.catalogue is None:
            return 0.0
        return cost_together(self.catalogue, tests_in(self.catalogue.mandatory))

    @property
    def most(self) -> float:
        """What everything costs."""
        return self.cost(self.costs)

    def cost(self, features: Iterable[int]) -> float:
        """What features cost together, in an order that does not depend on how they were found."""
        return cost_of_features(self.costs, self.catalogue, features)

    def bundle(self, features: Iterable[int]) -> frozenset[int]:
        """Features with all that is bought with them: mandatory tests, groups, and tests that others need."""
        chosen = frozenset(features)
        if self.catalogue is None:
            return chosen
        offers = self.catalogue.offers
        bits = sum(1 << t for t, offer in enumerate(offers) if chosen.intersection(offer.features))
        tests = tests_in(with_needs(self.catalogue, bits | self.catalogue.mandatory))
        return frozenset(f for test in tests for f in offers[test].features)

    def with_budget(self, budget: float) -> Terms:
        """The same costs with another budget."""
        return replace(self, budget=budget)


def cost_of_features(
    costs: Mapping[int, float], catalogue: Catalogue | None, features: Iterable[int]
) -> float:
    """What features cost together: each its own, or the tests of a catalogue that tell them."""
    if catalogue is None:
        return math.fsum(costs[f] for f in features)
    chosen = set(features)
    return cost_together(
        catalogue, (t for t, offer in enumerate(catalogue.offers) if chosen & set(offer.features))
    )


def make_terms(problem: Problem, costs: Costs | None, budget: float) -> Terms:
    """Costs of the free features and the budget, checked."""
    if isinstance(costs, Purchase):
        if not costs.is_plain or costs.default != 1.0 or 0.0 in costs.costs.values():
            return _purchase_terms(problem, costs, budget)
        costs = costs.costs
    expect(costs, (Mapping, type(None)), "costs")
    features = problem.classifier.features
    check_costs(costs or {}, features)
    check_budget(budget)
    names = {f: problem.network.variables[f].name for f in problem.free}
    return Terms({f: float((costs or {}).get(name, 1.0)) for f, name in names.items()}, budget)


def check_method(terms: Terms, method: Method) -> None:
    """`QueryError` where a method cannot take the terms into account."""
    if terms.catalogue is not None and method is not Method.BRANCH_AND_BOUND:
        raise QueryError(
            f"method {method.value!r} knows one cost for each feature; groups, set-up costs and order need "
            "branch and bound"
        )


def _purchase_terms(problem: Problem, purchase: Purchase, budget: float) -> Terms:
    """The terms of a whole description of costs."""
    check_budget(budget)
    catalogue = bind_purchase(purchase, problem)
    check_no_results(catalogue)
    costs = {f: offer.price for offer in catalogue.offers for f in offer.features}
    return Terms({f: costs.get(f, 0.0) for f in problem.free}, budget, catalogue=catalogue)


@dataclass(frozen=True, slots=True)
class Task:
    """A search to be done."""

    root: Node
    """All features, with the masses that the objective needs."""
    sizes: Mapping[int, int]
    """Numbers of states by position."""
    costs: Mapping[int, float]
    """Costs by position, all positive."""
    budget: float
    """What the kept features may cost together."""
    objective: SearchObjective
    """What is sought."""
    names: Mapping[int, str]
    """Names by position, for breaking ties."""
    team: Team = field(default_factory=Team)
    """Who searches."""
    checkpoint: Checkpoint | None = None
    """Where an earlier search may have left what it came to."""
    workspace: SearchSpace = field(default_factory=SearchSpace, repr=False, compare=False)
    """What searches with other budgets over the same root use again."""
    catalogue: Catalogue | None = None
    """The tests, where costs are more than a number for each feature."""

    def cost(self, features: Iterable[int]) -> float:
        """What features cost together, in an order that does not depend on how they were found."""
        return cost_of_features(self.costs, self.catalogue, features)

    def affordable(self, cost: float) -> bool:
        """Whether a cost is within the budget, rounding allowed for."""
        return cost <= self.spendable

    @property
    def spendable(self) -> float:
        """The budget, and what rounding may add to a cost within it."""
        return spendable(self.budget)

    def to_send(self) -> Task:
        """The task for a worker elsewhere."""
        return replace(self, team=Team(), checkpoint=None, workspace=SearchSpace())


class LeftToSearch(Protocol):
    """What is left of a search, as a checkpoint keeps it."""

    @property
    def name(self) -> str:
        """Tells one search of a question from another."""

    def write(self) -> Any:
        """What is left, as JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has come to."""

    kept: frozenset[int]
    """Positions of the best subset found."""
    value: float
    """How good it is."""
    upper_bound: float
    """Upper bound on every subset within the budget."""
    evaluations: int
    """Subsets valued or bounded."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search."""
    proven: bool = False
    """Whether no other subset is better, where its own value is known between bounds only."""
    left: LeftToSearch | None = field(default=None, repr=False, compare=False)
    """What is left to be searched; None where that cannot be taken up again."""

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists."""
        return self.proven or self.upper_bound <= self.value + SLACK


@dataclass(slots=True)
class Incumbent:
    """The best subset so far; better value first, then lower cost, then names.

    So the answer depends neither on the order of a search nor on how many take part in it.
    """

    task: Task
    value: float = -math.inf
    kept: frozenset[int] = frozenset()
    bound: float = math.inf
    """Upper bound on every subset, as far as known."""
    evaluations: int = 0
    left: LeftToSearch | None = None
    """What is left to be searched, where that can be taken up again."""

    def offer(self, features: Iterable[int], value: float) -> None:
        """Take a subset if it is better than the one held."""
        chosen = frozenset(features)
        if self.is_beaten(value, chosen):
            self.value, self.kept = value, chosen

    def offer_nothing(self) -> None:
        """Take the empty subset, which every budget affords: so there always is an answer."""
        self.evaluations += 1
        self.offer((), self.task.objective.value(self.task.root.table.sum(axis=1, keepdims=True)))

    def is_beaten(self, value: float, features: Iterable[int]) -> bool:
        """Whether these features, or more of them worth up to this value, could be the better subset."""
        if abs(value - self.value) > SLACK:
            return value > self.value
        cost, held = self.task.cost(features), self.task.cost(self.kept)
        if is_cheaper(cost, held) or is_cheaper(held, cost):
            return cost < held
        return self._names(features) < self._names(self.kept)

    def _names(self, features: Iterable[int]) -> list[str]:
        return sorted(self.task.names[f] for f in features)

    def found(self) -> Found:
        """What the search has come to."""
        bound = max(self.bound, self.value)
        return Found(self.kept, self.value, bound, self.evaluations, left=self.left)


def units_of_pass(node: Node) -> float:
    """What dropping a feature of a node and bounding what is left takes."""
    return UNITS_PER_NODE + UNITS_PER_MASS * node.table.size


def until_limit(states: Iterator[S]) -> Iterator[S]:
    """The same states; where the next one is beyond a limit, those that came stand."""
    has_any = False
    try:
        for state in states:
            has_any = True
            yield state
    except LimitError:
        if not has_any:
            raise


def order_by_harm(task: Task, left: Mapping[int, float]) -> list[int]:
    """The features sorted by the ceiling that is left when each is dropped; ties by cost and name."""
    return sorted(left, key=lambda f: (round(left[f], 12), task.costs[f], task.names[f]))


def most_harmful(task: Task, order: list[int]) -> list[int]:
    """As many of the first features as the budget allows, and a few more."""
    spent, most = 0.0, task.spendable
    extra = EXTRA
    for number, feature in enumerate(order):
        spent += task.costs[feature]
        if spent > most:
            extra -= 1
            if extra < 0:
                return order[:number]
    return order
