"""FS-SDD: the search of [choi2017, Algorithm 2], which walks through subsets with an arrangement at hand.

An *arrangement* is a way to value subsets of features in which some come first: a circuit that decides on
them before the others. The search walks a tree in which each feature is first included, then excluded.
Including one moves it behind those included already, so each step is one move from the step before. Every
subset within the budget is valued; a value is computed only as far as it may still beat the best.

What an arrangement is made of is not known here: `api/circuits.py` makes them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unswayed.core.errors import LimitError
from unswayed.search.progress import SLACK, Found, Report


class Arrangement(Protocol):
    """Features in an order, to be valued by how well the first ones do."""

    def include(self, feature: int, place: int) -> Arrangement:
        """The arrangement with a feature moved to a place in the order."""

    def value(self, n_kept: int, best: float) -> float:
        """How good the first features are; less than `best` need not be exact."""


@dataclass(slots=True)
class FsSdd:
    """What is searched, and the best subset so far."""

    features: Sequence[int]
    """The features, in the order in which they are included or excluded."""
    costs: Mapping[int, float]
    """What each costs."""
    budget: float
    """What the kept features may cost together."""
    names: Mapping[int, str]
    """Names, for breaking ties."""
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to stop."""
    report: Report | None = None
    """Told of progress."""
    kept: tuple[int, ...] = ()
    best: float = -math.inf
    evaluations: int = 0
    _told: float = field(default=0.0)

    def run(self, make: Callable[[], Arrangement]) -> Found:
        """Walk through all subsets within the budget, or as many as time allows."""
        complete, interrupted = False, False
        try:
            start = make()
            self._offer((), start)
            complete = self._walk(start)
        except LimitError:
            # What was found before the time was over stands; before the first value there is nothing.
            if self.evaluations == 0:
                raise
        except KeyboardInterrupt:
            if self.evaluations == 0:
                raise
            interrupted = True
        bound = self.best if complete else 1.0
        return Found(frozenset(self.kept), self.best, bound, self.evaluations, interrupted)

    def _walk(self, start: Arrangement) -> bool:
        """Depth first, without recursion: (included so far, next feature, arrangement)."""
        waiting: list[tuple[tuple[int, ...], int, Arrangement]] = [((), 0, start)]
        while waiting:
            kept, depth, arrangement = waiting.pop()
            if depth == len(self.features):
                continue
            if time.monotonic() > self.deadline:
                return False
            feature = self.features[depth]
            waiting.append((kept, depth + 1, arrangement))
            more = (*kept, feature)
            if self._affordable(more):
                moved = arrangement.include(feature, len(kept))
                self._offer(more, moved)
                waiting.append((more, depth + 1, moved))
        return True

    def _affordable(self, kept: tuple[int, ...]) -> bool:
        return self._cost(kept) <= self.budget * (1 + 1e-12) + 1e-12

    def _cost(self, kept: tuple[int, ...]) -> float:
        return math.fsum(self.costs[feature] for feature in kept)

    def _offer(self, kept: tuple[int, ...], arrangement: Arrangement) -> None:
        value = arrangement.value(len(kept), self.best - SLACK)
        self.evaluations += 1
        better = value > self.best + SLACK
        equal = not better and value > self.best - SLACK
        if better or (equal and self._rank(kept) < self._rank(self.kept)):
            self.best, self.kept = max(value, self.best), kept
        now = time.monotonic()
        if self.report is not None and now - self._told > 0.1:
            self._told = now
            self.report(self.best, 1.0, self.evaluations)

    def _rank(self, kept: tuple[int, ...]) -> tuple[float, list[str]]:
        return self._cost(kept), sorted(self.names[feature] for feature in kept)
