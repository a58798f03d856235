"""A search of a task in slices: what a slice starts with, what it finds, and what a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from unswayed.decisions.checkpoint import Checkpoint, damaged
from unswayed.search.driver import Branch
from unswayed.search.task import Found, Incumbent, Task


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """What a search had come to, as a checkpoint holds it."""

    kept: tuple[int, ...]
    """Positions of the best subset."""
    value: float
    evaluations: int
    left: list[Any]
    """Branches still to be searched, as the search writes them; none where it is over."""

    @staticmethod
    def find(checkpoint: Checkpoint, name: str) -> SavedSearch | None:
        """What a search had come to, where the checkpoint knows it."""
        entry = checkpoint.find(name)
        try:
            return None if entry is None else SavedSearch(**{**entry, "kept": tuple(entry["kept"])})
        except (TypeError, KeyError) as error:
            raise damaged(checkpoint.path) from error


def save_search(checkpoint: Checkpoint, found: Found) -> None:
    """Write the state of a search to a file, where it can be taken up again."""
    if found.left is not None:
        entry = {"kept": sorted(found.kept), "value": found.value, "evaluations": found.evaluations}
        checkpoint.save(found.left.name, {**entry, "left": found.left.write()})


def save_now_and_then(checkpoint: Checkpoint, states: Iterator[Found]) -> Iterator[Found]:
    """The same states; one that comes when the file is old is written to it."""
    for found in states:
        if checkpoint.is_due():
            save_search(checkpoint, found)
        yield found


class SavedBranch(Branch, Protocol):
    """A branch that can be written to a checkpoint."""

    def write(self) -> Any:
        """The branch as JSON can hold it."""


B = TypeVar("B", bound=SavedBranch)


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
        checkpoint = self.incumbent.task.checkpoint
        saved = None if checkpoint is None else SavedSearch.find(checkpoint, self._saved_name)
        if checkpoint is None or saved is None:
            return None
        try:
            left = [read(each) for each in saved.left]
        except (TypeError, ValueError) as error:
            raise damaged(checkpoint.path) from error
        self.incumbent.offer(saved.kept, saved.value)
        self.incumbent.evaluations += saved.evaluations
        return left

    @property
    def _saved_name(self) -> str:
        return f"{self.name}, budget {self.incumbent.task.budget!r}"
