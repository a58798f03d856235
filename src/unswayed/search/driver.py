"""A search in slices: workers search branches for a moment each, and one driver keeps what is known.

What is left is a list of *branches*, each small, with a *ceiling*: an upper bound on its subsets.
A slice is a pure call: it takes a branch and the best subset known, searches for about a fifth of a second,
and gives back what it found and what is left of the branch. The driver is the only one that writes: it takes
the findings in as they come, and sends what is left out again with the best that is known by then. So the
highest ceiling of all branches, waiting or under way, bounds the search at any moment, and stopping loses
nothing.

What is pruned depends on who comes first, what is found does not: of all subsets the best by value, cost and
names is one, and no branch that may hold it is ever left.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from unswayed.core.anytime import tick
from unswayed.core.parallel import Workers
from unswayed.kernels.subset_search import SLACK

SLICE_UNITS = 2e5
"""What a slice takes at most, about: long beside sending it, short beside the news that it may miss."""
WAIT_SECONDS = 0.1
"""How long to wait for a slice before progress is reported."""

Steps = Generator[None, None, bool]
"""A search in steps, between which it may be left; at its end, whether nothing is left."""


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
    units: float
    """The work that was done."""


class SlicedSearch(Protocol[B]):
    """A search as the driver sees it."""

    @property
    def value(self) -> float:
        """The best value known."""

    @property
    def has_enough(self) -> bool:
        """Whether nothing more is wanted."""

    def call_for(self, branch: B) -> tuple[Any, ...]:
        """What a slice is called with."""

    def learn(self, findings: Any) -> Iterator[None]:
        """Take in what a slice found, step by step."""

    def note(self, bound: float, left: list[B]) -> None:
        """Take note of what is left and what bounds it."""


def search_in_slices(search: SlicedSearch[B], branches: Iterable[B], workers: Workers[B]) -> Steps:
    """Search the branches to their end, or until the search wants no more."""
    waiting, units = list(branches), 0.0
    while True:
        waiting = [branch for branch in waiting if branch.ceiling >= search.value - SLACK]
        left = waiting + workers.tags
        bound = max((branch.ceiling for branch in left), default=search.value)
        search.note(max(bound, search.value), left)
        yield
        if search.has_enough or not left:
            return not left
        tick(units, "the search")
        _send_out(search, waiting, workers)
        collected = workers.collect(WAIT_SECONDS)
        units = sum(outcome.units for _, outcome in collected)
        waiting += [outcome.left for _, outcome in collected if outcome.left is not None]
        for _, outcome in collected:
            yield from search.learn(outcome.findings)


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
        workers.submit(branch, search.call_for(branch), here=number < n_here)
