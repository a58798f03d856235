"""A search of a task in slices: what a slice starts with, what it finds, and what is saved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from unswayed.decisions.checkpoint import Checkpoint, damaged
from unswayed.search.driver import Branch
from unswayed.search.task import Incumbent, Task


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """What a search had come to, in a checkpoint."""

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

    def write(self) -> dict[str, Any]:
        """The entry of a checkpoint."""
        return {"kept": self.kept, "value": self.value, "evaluations": self.evaluations, "left": self.left}


class SavedBranch(Branch, Protocol):
    """A branch that can be written to a checkpoint."""

    def write(self) -> Any:
        """The branch as JSON can hold it."""


B = TypeVar("B", bound=SavedBranch)


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
    """Takes notes for the incumbent of a task, and for its checkpoint; within a `with` statement it saves."""

    incumbent: Incumbent
    name: str | None
    """Tells one search of a task from another; None for one among some features, which proves nothing."""
    work: int
    """What a slice does between two looks at the clock, where it counts."""
    patience: float = math.inf
    """Moment of `time.monotonic()` at which to stop, as well as at the deadline of the task."""
    _left: list[B] | None = field(default=None)

    @property
    def value(self) -> float:
        """The best value known."""
        return self.incumbent.value

    @property
    def is_shared(self) -> bool:
        """Whether others may help."""
        return not self.incumbent.task.team.is_alone

    def call_for(self, branch: B, seconds: float) -> tuple[B, Known, tuple[float, int]]:
        """What a slice is called with."""
        held, task = self.incumbent, self.incumbent.task
        seconds = min(seconds, task.deadline - time.monotonic())
        return branch, Known(held.value, held.kept, task.budget), (seconds, self.work)

    def learn(self, findings: Findings) -> None:
        """Take in what a slice found."""
        self.incumbent.offer(findings.kept, findings.value)
        self.incumbent.evaluations += findings.evaluations

    def note(self, bound: float, left: list[B]) -> bool:
        """Take note of what is left and what bounds it; whether to go on."""
        incumbent, checkpoint = self.incumbent, self.incumbent.task.checkpoint
        if self.name is not None:
            incumbent.bound = min(incumbent.bound, max(bound, incumbent.value))
            self._left = left
            if checkpoint is not None and checkpoint.is_due():
                self._save()
        incumbent.tell()
        return not incumbent.stopped and time.monotonic() <= min(incumbent.task.deadline, self.patience)

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
        self.learn(Findings(saved.value, frozenset(saved.kept), saved.evaluations))
        return left

    def __enter__(self) -> TaskSearch[B]:
        return self

    def __exit__(self, *_: object) -> None:
        self._save()

    def _save(self) -> None:
        checkpoint, held = self.incumbent.task.checkpoint, self.incumbent
        if checkpoint is None or self._left is None:
            return
        left = [branch.write() for branch in self._left]
        saved = SavedSearch(tuple(sorted(held.kept)), held.value, held.evaluations, left)
        checkpoint.save(self._saved_name, saved.write())

    @property
    def _saved_name(self) -> str:
        return f"{self.name}, budget {self.incumbent.task.budget!r}"
