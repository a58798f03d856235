"""What a search is given and what it gives back: costs and budget, time, interruption, the best so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unswayed.kernels import subset_search
from unswayed.search.lattice import Node
from unswayed.search.lenses import Lens

SLACK = subset_search.SLACK
"""Values closer than this are rounding apart, and equal."""

Report = Callable[[float, float, int], None]
"""Told now and then of the incumbent, the bound and the number of subsets evaluated."""


@dataclass(frozen=True, slots=True)
class Task:
    """A search to be done."""

    root: Node
    """All features, with the masses the lens needs."""
    sizes: Mapping[int, int]
    """Numbers of states by position."""
    costs: Mapping[int, float]
    """Costs by position, all positive."""
    budget: float
    """What the kept features may cost together."""
    lens: Lens
    """What is sought."""
    names: Mapping[int, str]
    """Names by position, for breaking ties."""
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to stop."""
    report: Report | None = None
    """Told of progress."""
    jobs: int = 1
    """How many threads may search at once."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What searches with other budgets over the same root can use again."""

    def cost(self, features: Iterable[int]) -> float:
        """What features cost together, in an order that does not depend on how they were found."""
        return math.fsum(self.costs[f] for f in features)

    def affordable(self, cost: float) -> bool:
        """Whether a cost is within the budget, rounding allowed for."""
        return cost <= self.spendable

    @property
    def spendable(self) -> float:
        """The budget, and what rounding may add to a cost within it."""
        return self.budget * (1 + 1e-12) + 1e-12


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a search."""

    kept: frozenset[int]
    """Positions of the best subset found."""
    value: float
    """How good it is."""
    upper_bound: float
    """What no subset within the budget exceeds."""
    evaluations: int
    """Subsets valued or bounded."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search."""
    proven: bool = False
    """Whether no other subset is better, where its own value is known between bounds only."""

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
    """What no subset exceeds, as far as is known."""
    evaluations: int = 0
    stopped: bool = False
    """Whether Ctrl-C was pressed, so that the best so far is wanted."""
    _last_report: float = field(default=0.0)

    def offer(self, features: Iterable[int], value: float) -> None:
        """Take a subset if it is better than the one held."""
        chosen = frozenset(features)
        if self.is_beaten(value, chosen):
            self.value, self.kept = value, chosen

    def offer_nothing(self) -> None:
        """Take the empty subset, which every budget affords: so there always is an answer."""
        self.evaluations += 1
        self.offer((), self.task.lens.value(self.task.root.table.sum(axis=1, keepdims=True)))

    def is_beaten(self, value: float, features: Iterable[int]) -> bool:
        """Whether these features, or more of them worth up to this value, could be the better subset."""
        if abs(value - self.value) > SLACK:
            return value > self.value
        cost, held = self.task.cost(features), self.task.cost(self.kept)
        if abs(cost - held) > 1e-12 * (1 + held):
            return cost < held
        return self._names(features) < self._names(self.kept)

    def _names(self, features: Iterable[int]) -> list[str]:
        return sorted(self.task.names[f] for f in features)

    def found(self) -> Found:
        """What the search has come to."""
        bound = max(self.bound, self.value)
        return Found(self.kept, self.value, bound, self.evaluations, self.stopped)

    def tell(self) -> None:
        """Report progress, a few times a second at most."""
        now = time.monotonic()
        if self.task.report is not None and now - self._last_report > 0.1:
            self._last_report = now
            self.task.report(self.value, max(self.bound, self.value), self.evaluations)
