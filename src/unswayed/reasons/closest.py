"""Where no subset of the findings reaches the level: the one that comes closest, and what none exceeds.

All subsets of a few findings are compared. Of many, one is followed: findings are added to the best subset
known, or left out of it, one at a time, for as long as that helps; then the level alone bounds the others.
Comparing needs no more than to know on which side of the best so far an SDP lies; in the end those that
might be the highest are measured as narrowly as they can be, the most hopeful first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

from unswayed.core.anytime import settle, tick
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.reasons.case import LEVEL_SLACK

UNKNOWN = Interval(0.0, 1.0, Certainty.BOUND)

Known = dict[frozenset[int], Interval]
"""What is known of the SDP of subsets."""
Compare = Callable[[frozenset[int], float], Interval]
"""From a subset and a level to its SDP, as narrow as it takes to tell on which side of the level it lies."""
Narrow = Callable[[frozenset[int], Interval], Interval]
"""From a subset and what is known of its SDP to the SDP as narrow as it can be."""


class Patience(NamedTuple):
    """How many subsets are asked about."""

    compared: int
    """Subsets whose SDP is compared with that of the best."""
    narrowed: int
    """Subsets whose SDP is measured as narrowly as it can be."""


FOR_SUMS, FOR_ENGINES = Patience(2**8, 16), Patience(2**6, 1)
"""Where sums of weights tell, and where an engine answers each question."""


@dataclass(slots=True)
class ClosestSearch:
    """A search under way: what is known of the subsets, and which is the best."""

    compare: Compare
    narrow: Narrow
    known: Known
    bound: float
    """What no subset exceeds, whatever else is known."""
    patience: Patience
    compared: int = 0

    @property
    def best(self) -> frozenset[int]:
        """The subset with the most for certain; the smallest of equals."""

        def rank(subset: frozenset[int]) -> tuple[float, int, list[int]]:
            return round(self.known[subset].low, 12), -len(subset), [-v for v in sorted(subset)]

        return max(self.known, key=rank, default=frozenset())

    def tell(self, subset: frozenset[int]) -> float:
        """What a subset has for certain; below the best, no more than that is asked."""
        low = self.known.get(self.best, UNKNOWN).low
        if self.known.get(subset, UNKNOWN).high > low:
            if self.compared >= self.patience.compared:
                raise LimitError(f"the search ends after {self.compared} subsets")
            tick(what="the search for the closest subset")
            self.compared += 1
            try:
                self.known[subset] = self.compare(subset, low)
            except LimitError:
                self.known.setdefault(subset, UNKNOWN)
        return self.known[subset].low


def find_closest(search: ClosestSearch, candidates: Sequence[int]) -> frozenset[int] | None:
    """The subset of highest SDP found, None where nothing was; the search knows what none exceeds.

    `candidates` are findings of which a subset of highest SDP can be made, the most hopeful first.
    """
    subsets: list[frozenset[int]] = []
    if 2 ** len(candidates) <= search.patience.compared:
        sizes = range(len(candidates) + 1)
        subsets = [frozenset(s) for s in chain.from_iterable(combinations(candidates, n) for n in sizes)]
    settle(_compare(search, subsets) if subsets else _climb(search, candidates), heeds_interrupts=True)
    settle(_narrow(search, rivals=bool(subsets)), heeds_interrupts=True)
    if subsets:
        search.bound = min(search.bound, _highest(search.known.get(s, UNKNOWN) for s in subsets))
    return search.best if search.known.get(search.best, UNKNOWN).low > 0.0 else None


def _compare(search: ClosestSearch, subsets: Sequence[frozenset[int]]) -> Iterator[ClosestSearch]:
    """Compare all subsets, the most hopeful first."""
    yield search
    for subset in sorted(subsets, key=lambda s: -search.known.get(s, UNKNOWN).high):
        search.tell(subset)
        yield search


def _climb(search: ClosestSearch, candidates: Sequence[int]) -> Iterator[ClosestSearch]:
    """Add findings to the best subset, or leave them out, for as long as one of them helps."""
    yield search
    search.tell(frozenset(candidates))
    search.tell(frozenset())
    better = True
    while better:
        yield search
        at, low = search.best, search.known[search.best].low
        better = any(search.tell(at ^ {finding}) > low + LEVEL_SLACK for finding in candidates)


def _narrow(search: ClosestSearch, *, rivals: bool) -> Iterator[ClosestSearch]:
    """Measure the best, and then its rivals: whatever may be the highest, until nothing else comes first."""
    yield search
    known, narrowed = search.known, set[frozenset[int]]()
    while known and len(narrowed) < search.patience.narrowed:
        first = search.best
        if narrowed and rivals:
            first = max(known, key=lambda s: (known[s].high, known[s].low))
        if first in narrowed:
            return
        known[first] = search.narrow(first, known[first])
        narrowed.add(first)
        yield search


def _highest(intervals: Iterable[Interval]) -> float:
    """What none of them exceeds; of estimates nothing is known."""
    return max(1.0 if each.certainty is Certainty.ESTIMATE else each.high for each in intervals)
