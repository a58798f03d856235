"""What a plan has come to, in a checkpoint: parts of a table, the graph of a search, answers of engines.

The values of all partial observations are many megabytes, so they have a file of their own beside the
checkpoint, `FILE.values`: a record for each part, written once, when the part is filled. The checkpoint says
which records are whole, with a checksum of each; what it does not name was never finished.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.codec import field_of
from unswayed.core.errors import FormatError
from unswayed.core.measurement import Certainty
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.decisions.oracle import Interval
from unswayed.kernels.plan_values import FixedSets, Values
from unswayed.plans.parts import PartedGround, Prefix
from unswayed.plans.terrain import Answers

SEARCH = "bounded search"
"""The entry of a search in a checkpoint."""


@dataclass(slots=True, eq=False)
class PartFile:
    """The filled parts of a table; use it in a `with` statement, which saves what was noted last."""

    checkpoint: Checkpoint
    parted: PartedGround
    _checks: dict[str, int] = field(default_factory=dict)
    """The checksum of each record, by the number of its part."""

    @property
    def path(self) -> Path:
        """Where the records are."""
        return self.checkpoint.path.with_name(self.checkpoint.path.name + ".values")

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._save()

    def read(self, values: Values) -> dict[Prefix, FixedSets]:
        """Put the saved parts in their places; what comes of the tests that are done in each."""

        def read_parts(entry: Any) -> dict[Prefix, FixedSets]:
            self._checks = field_of(entry, "parts", dict[str, int])
            with self.path.open("rb") as file:
                return {
                    prefix: self._read_part(file, number, values)
                    for number, prefix in enumerate(self.parted.prefixes)
                    if str(number) in self._checks
                }

        return self.checkpoint.find(self._name, read_parts) or {}

    def add(self, prefix: Prefix, values: Values, fixed: FixedSets) -> None:
        """Keep a part that was filled."""
        number, states = self.parted.prefixes.index(prefix), self.parted.states(prefix)
        arrays = values.first[states], values.second[states], fixed.loss, fixed.agreement
        record = b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)
        try:
            with self.path.open("r+b" if self.path.exists() else "w+b") as file:
                file.seek(number * len(record))
                file.write(record)
        except OSError as error:
            raise FormatError(
                f"cannot be written ({error.strerror}); name another file", self.path
            ) from error
        self._checks[str(number)] = crc32(record)
        if self.checkpoint.is_due():
            self._save()

    def _read_part(self, file: BinaryIO, number: int, values: Values) -> FixedSets:
        prefix = self.parted.prefixes[number]
        states, n_sets = self.parted.states(prefix), len(self.parted.rules.reached)
        first, second = values.first[states], values.second[states]
        n_fixed = len(range(n_sets)[self.parted.sets(prefix)])
        lengths = [len(first), len(second), n_fixed, n_fixed]
        file.seek(8 * number * sum(lengths))
        record = file.read(8 * sum(lengths))
        if crc32(record) != self._checks[str(number)]:
            raise ValueError("another record")
        parts: list[Floats] = np.split(np.frombuffer(record), np.cumsum(lengths)[:-1])
        first[:], second[:] = parts[:2]
        return FixedSets(parts[2].copy(), parts[3].copy())

    def _save(self) -> None:
        self.checkpoint.save(self._name, {"parts": self._checks})

    @property
    def _name(self) -> str:
        return f"values in parts of {self.parted.largest}"


@dataclass(slots=True, eq=False)
class PlanNotes:
    """What a search for a plan has come to; use it in a `with` statement, which saves it at the end."""

    checkpoint: Checkpoint | None = None
    answers: Answers | None = None
    """Of engines; None where there are none to be asked."""
    write_graph: Callable[[], list[Any]] | None = None
    """Gives the graph of the search, once it has one."""

    def __enter__(self) -> PlanNotes:
        answers = self.answers
        if answers is not None and self.checkpoint is not None:
            self.checkpoint.find(
                SEARCH, lambda entry: answers.found.update(map(_read_answer, entry["answers"]))
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.checkpoint is not None:
            self._save(self.checkpoint)

    def read_graph(self, read: Callable[[list[Any]], None]) -> None:
        """Have the saved graph read, where there is one."""
        if self.checkpoint is not None:
            self.checkpoint.find(SEARCH, lambda entry: read(entry["graph"]))

    def note(self) -> None:
        """Save where that is due."""
        if self.checkpoint is not None and self.checkpoint.is_due():
            self._save(self.checkpoint)

    def _save(self, checkpoint: Checkpoint) -> None:
        saved: dict[str, Any] = checkpoint.find(SEARCH, dict) or {}
        graph = saved.get("graph", []) if self.write_graph is None else self.write_graph()
        found = {} if self.answers is None else self.answers.found
        checkpoint.save(SEARCH, {"graph": graph, "answers": [_write_answer(*each) for each in found.items()]})


def _write_answer(question: Hashable, answer: Any) -> list[Any]:
    """An answer of a terrain without a table, as JSON can hold it."""
    if isinstance(answer, Interval):
        return [question, [answer.low, answer.high, answer.certainty.value]]
    return [question, [[test, rows.tolist()] for test, rows in answer.items()]]


def _read_answer(written: list[Any]) -> tuple[Hashable, Any]:
    (kind, state, more), answer = written
    if kind == "sdp":
        low, high, certainty = answer
        return (kind, tuple(state), tuple(more)), Interval(low, high, Certainty(certainty))
    return (kind, tuple(state), more), {test: np.array(rows) for test, rows in answer}
