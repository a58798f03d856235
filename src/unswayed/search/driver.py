"""A search in slices: workers search branches for a moment each, and one driver keeps what is known.

What is left is a list of *branches*, each small, with a *ceiling*: an upper bound on its subsets.
A slice is a pure call: it takes a branch and the best subset known, searches for about a fifth of a second,
and gives back what it found and what is left of the branch. The driver is the only one that writes: it takes
the findings in as they come, and sends what is left out again with the best that is known by then. So the
highest ceiling of all branches, waiting or under way, bounds the search at any moment, and stopping loses
nothing.

What is pruned depends on who comes first, what is found does not: of all subsets the best by value, cost and
names is one, and no branch that may hold it is ever left.

Of a search of a `Task`, `TaskSearch` keeps what is known, and a checkpoint what is left (`SavedSearch`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from unswayed.core.anytime import tick
from unswayed.core.codec import from_plain
from unswayed.core.parallel import Workers
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.kernels.subset_search import SLACK
from unswayed.search.task import Found, Incumbent, Task

SLICE_UNITS = 2e5
"""What a slice takes at most, about: long beside sending it, short beside the news that it may miss."""
WAIT_SECONDS = 0.1
"""How long to wait for a slice before progress is reported."""

Steps = Generator[None, None, bool]
"""A search in steps, between which it may be left; at its end, whether nothing is left."""
T = TypeVar("T")


class Branch(Protocol):
    """A part of a search still to be done; it can be pickled, and written to a checkpoint."""

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset in it."""

    def split(self) -> tuple[Self, Self] | None:
        """Two branches that hold together what this one does; None where it cannot be divided."""

    def write(self) -> Any:
        """The branch as JSON can hold it."""


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


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """What a search had come to, as a checkpoint holds it."""

    kept: tuple[int, ...]
    """Positions of the best subset."""
    value: float
    evaluations: int
    left: list[Any]
    """Branches still to be searched, as the search writes them; none where it is over."""


def find_search(checkpoint: Checkpoint | None, name: str, read: Callable[[SavedSearch], T]) -> T | None:
    """What `read` makes of what a search had come to; None where no checkpoint knows it."""
    if checkpoint is None:
        return None
    return checkpoint.find(name, lambda entry: read(from_plain(SavedSearch, entry, "the search")))


def save_search(checkpoint: Checkpoint, found: Found) -> None:
    """Write the state of a search to a file, where it can be taken up again."""
    if found.left is not None:
        kept = tuple(sorted(found.kept))
        saved = SavedSearch(kept, found.value, found.evaluations, found.left.write())
        checkpoint.save(found.left.name, saved)


def save_now_and_then(checkpoint: Checkpoint, states: Iterator[Found]) -> Iterator[Found]:
    """The same states; one that comes when the file is old is written to it."""
    for found in states:
        if checkpoint.is_due():
            save_search(checkpoint, found)
        yield found


@dataclass(frozen=True, slots=True, eq=False)
class BranchesLeft(Generic[B]):
    """The branches of a search still to be searched."""

    name: str
    branches: tuple[B, ...]

    def write(self) -> list[Any]:
        """The branches as JSON can hold them."""
        return [branch.write() for branch in self.branches]


class Known(NamedTuple):
    """What a slice starts with: the best subset so far, and the budget."""

    value: float
    kept: frozenset[int]
    budget: float

    def incumbent(self, task: Task) -> Incumbent:
        """What a slice begins with."""
        return Incumbent(replace(task, budget=self.budget), self.value, self.kept)


class Findings(NamedTuple):
    """What a slice gives back: the best subset it knows, and how many it evaluated."""

    value: float
    kept: frozenset[int]
    evaluations: int

    @classmethod
    def of(cls, incumbent: Incumbent) -> Findings:
        """What a slice has come to."""
        return cls(incumbent.value, incumbent.kept, incumbent.evaluations)


@dataclass(slots=True)
class TaskSearch(Generic[B]):
    """Takes notes for the incumbent of a task."""

    incumbent: Incumbent
    name: str | None
    """Tells one search of a task from another; None for one among some features, which proves nothing."""
    work: float
    """What a slice does, as the search counts it."""

    @property
    def value(self) -> float:
        """The best value known."""
        return self.incumbent.value

    @property
    def has_enough(self) -> bool:
        """Whether nothing more is wanted: never before the end."""
        return False

    @property
    def is_shared(self) -> bool:
        """Whether others may help."""
        return not self.incumbent.task.team.is_serial

    def call_for(self, branch: B) -> tuple[B, Known, float]:
        """What a slice is called with."""
        held = self.incumbent
        return branch, Known(held.value, held.kept, held.task.budget), self.work

    def learn(self, findings: Findings) -> Iterator[None]:
        """Take in what a slice found, in no step of its own."""
        self.incumbent.offer(findings.kept, findings.value)
        self.incumbent.evaluations += findings.evaluations
        return iter(())

    def note(self, bound: float, left: list[B]) -> None:
        """Take note of what is left and what bounds it."""
        if self.name is not None:
            self.incumbent.bound = min(self.incumbent.bound, max(bound, self.incumbent.value))
            self.incumbent.left = BranchesLeft(self._saved_name, tuple(left))

    def resume(self, read: Callable[[Any], B]) -> list[B] | None:
        """What was left when the search was saved; None where it was not."""

        def take_up(saved: SavedSearch) -> list[B]:
            left = [read(each) for each in saved.left]
            self.incumbent.offer(saved.kept, saved.value)
            self.incumbent.evaluations += saved.evaluations
            return left

        return find_search(self.incumbent.task.checkpoint, self._saved_name, take_up)

    @property
    def _saved_name(self) -> str:
        return f"{self.name}, budget {self.incumbent.task.budget!r}"
