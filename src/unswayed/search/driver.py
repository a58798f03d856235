"""A search in slices: workers search branches for a moment each, and one driver keeps what is known.

What is left is a list of *branches*, each small, with a *ceiling*: an upper bound on its subsets.
A slice is a pure call: it takes a branch and the best subset known, searches for a fifth of a second, and
gives back what it found and what is left of the branch. The driver is the only one that writes: it takes the
findings in as they come, and sends what is left out again with the best that is known by then. So the highest
ceiling of all branches, waiting or under way, bounds the search at any moment, and stopping loses nothing.

What is pruned depends on who comes first, what is found does not: of all subsets the best by value, cost and
names is one, and no branch that may hold it is ever left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from unswayed.core.workers import Workers
from unswayed.kernels.subset_search import SLACK

SLICE_SECONDS = 0.2
"""How long a slice takes: long beside sending it, short beside the news that it may miss."""
WAIT_SECONDS = 0.1
"""How long to wait for a slice before progress is reported and the clock read."""


class Branch(Protocol):
    """A part of a search still to be done; it can be pickled."""

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset in it."""

    def split(self) -> tuple[Self, Self] | None:
        """Two branches that hold together what this one does; None where it cannot be divided."""


B = TypeVar("B", bound=Branch)


class SliceOutcome(NamedTuple):
    """What a slice gives back."""

    findings: Any
    """What the search is to learn."""
    left: Any
    """What is left of the branch; None where nothing is."""


class SlicedSearch(Protocol[B]):
    """A search as the driver sees it."""

    @property
    def value(self) -> float:
        """The best value known."""

    def call_for(self, branch: B, seconds: float) -> tuple[Any, ...]:
        """What a slice is called with."""

    def learn(self, findings: Any) -> None:
        """Take in what a slice found."""

    def note(self, bound: float, left: list[B]) -> bool:
        """Take note of what is left and what bounds it; whether to go on."""


def search_in_slices(search: SlicedSearch[B], branches: Iterable[B], workers: Workers[B]) -> bool:
    """Search the branches to their end, or until the search wants no more; whether nothing is left."""
    waiting = list(branches)
    while True:
        waiting = [branch for branch in waiting if branch.ceiling >= search.value - SLACK]
        left = waiting + workers.tags
        bound = max((branch.ceiling for branch in left), default=search.value)
        if not search.note(max(bound, search.value), left) or not left:
            return not left
        _send_out(search, waiting, workers)
        for _, outcome in workers.collect(WAIT_SECONDS):
            search.learn(outcome.findings)
            if outcome.left is not None:
                waiting.append(outcome.left)


def _send_out(search: SlicedSearch[B], waiting: list[B], workers: Workers[B]) -> None:
    """Give the workers enough to do, the highest ceilings first; branches are divided where there are few.

    This process searches too until the first slice comes back: workers that start take a second or more.
    """
    n_here = 0 if workers.has_answered else 1
    n_wanted = n_here + max(workers.n_free, 0)
    for branch in waiting[:]:
        while len(waiting) < n_wanted and (parts := branch.split()) is not None:
            waiting.remove(branch)
            branch = parts[0]
            waiting += parts
    waiting.sort(key=lambda branch: branch.ceiling)
    for number in range(min(n_wanted, len(waiting))):
        branch = waiting.pop()
        workers.submit(branch, search.call_for(branch, SLICE_SECONDS), here=number < n_here)
