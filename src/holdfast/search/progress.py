"""What a search is given and what it gives back: costs and budget, time, interruption, the best so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from holdfast.search.lattice import Node
from holdfast.search.lenses import Lens

SLACK = 1e-13
"""Values closer than this are rounding apart: exact ties are not gone through one by one."""

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

    def cost(self, features: tuple[int, ...] | frozenset[int]) -> float:
        """What features cost together, in an order that does not depend on how they were found."""
        return math.fsum(self.costs[f] for f in features)

    def affordable(self, cost: float) -> bool:
        """Whether a cost is within the budget, rounding allowed for."""
        return cost <= self.budget * (1 + 1e-12) + 1e-12


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

    @property
    def optimal(self) -> bool:
        """Whether nothing better exists."""
        return self.upper_bound <= self.value + SLACK


@dataclass(slots=True)
class Incumbent:
    """The best subset so far; better value first, then lower cost, then names."""

    task: Task
    value: float = -math.inf
    kept: frozenset[int] = frozenset()
    evaluations: int = 0
    stopped: bool = False
    """Whether Ctrl-C was pressed, so that the best so far is wanted."""
    _last_report: float = field(default=0.0)

    def offer(self, features: tuple[int, ...], value: float) -> None:
        """Take a subset if it is better than the one held."""
        better = value > self.value + SLACK
        equal = not better and value > self.value - SLACK
        if better or (equal and self._rank(features) < self._rank(self.kept)):
            self.value, self.kept = max(value, self.value), frozenset(features)

    def offer_nothing(self) -> None:
        """Take the empty subset, which every budget affords: so there always is an answer."""
        self.evaluations += 1
        self.offer((), self.task.lens.value(self.task.root.table.sum(axis=1, keepdims=True)))

    def _rank(self, features: tuple[int, ...] | frozenset[int]) -> tuple[float, list[str]]:
        return self.task.cost(features), sorted(self.task.names[f] for f in features)

    def tell(self, bound: float) -> None:
        """Report progress, a few times a second at most."""
        now = time.monotonic()
        if self.task.report is not None and now - self._last_report > 0.1:
            self._last_report = now
            self.task.report(self.value, max(bound, self.value), self.evaluations)
