"""What a search or a plan has come to, in a file: one that was stopped goes on from there.

One file serves one question, a classifier with its evidence, costs and objective, and holds an entry for each
of its searches: a frontier makes one for every budget. The entry of a search has the best subset and what is
left to be searched, so little that the file has some kilobytes. It is JSON:

    {"format": "unswayed checkpoint", "version": 1, "question": "<sha256>",
     "searches": {"signed, budget 7.0": {"kept": [...], "value": 0.97, "evaluations": 12, "left": [...]}}}

A file is replaced as a whole or not at all. One of another question is refused, never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from unswayed.core.codec import check_header, header, json_bytes
from unswayed.core.errors import FormatError, ModelError, QueryError
from unswayed.decisions.problem import Problem
from unswayed.model.formats import json_network
from unswayed.model.formats.files import replace_file
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import load
from unswayed.model.nodes.black_box import BlackBoxCpt

T = TypeVar("T")
FORMAT, VERSION = "unswayed checkpoint", 1
NO_CHECKPOINT = "is no checkpoint of a search; name another file"
SAVE_STEPS = 16
"""Steps of a search, of up to .3 s each, after which it saves again what it has come to,"""
BYTES_PER_STEP = 500
"""and of a step for each of so many bytes: writing them takes some 10 us, less than a twentieth of a step."""


@dataclass(slots=True)
class Checkpoint:
    """A file for the searches of one question."""

    path: Path
    question: str
    """Digest of what was asked."""
    _searches: dict[str, Any] = field(default_factory=dict, repr=False)
    _n_steps: int = 0
    """Steps until the file is written again."""

    def find(self, search: str, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of the entry of a search; None where the file has none.

        `FormatError` where it cannot be understood.
        """
        if search not in self._searches:
            return None
        try:
            return read(self._searches[search])
        except (ValueError, TypeError, LookupError, OSError) as error:
            raise damaged(self.path) from error

    def is_due(self) -> bool:
        """Whether the file is to be written after this step; asked once in every step."""
        self._n_steps -= 1
        return self._n_steps < 0

    def save(self, search: str, entry: Any) -> None:
        """Write what a search has come to, beside what others have."""
        self._searches[search] = entry
        content = {**header(FORMAT, VERSION), "question": self.question, "searches": self._searches}
        text = json_bytes(content, allow_nan=True)
        try:
            replace_file(self.path, text)
        except FormatError as error:
            raise FormatError(f"{error.reason}; name another file", self.path) from error
        self._n_steps = max(SAVE_STEPS, len(text) // BYTES_PER_STEP)


def open_checkpoint(path: str | os.PathLike[str], problem: Problem, asked: Iterable[object]) -> Checkpoint:
    """The file for a question; `QueryError` where it holds another one, `FormatError` where it is damaged."""
    file = Path(path)
    checkpoint = Checkpoint(file, digest_question(problem, asked))
    if not file.absolute().parent.is_dir():
        folder = str(file.parent)
        raise FormatError(f"cannot be written, since there is no folder {folder!r}; make it first", file)
    if file.exists():
        checkpoint._searches = _read_searches(file, checkpoint.question)
    return checkpoint


def _read_searches(file: Path, question: str) -> dict[str, Any]:
    source = load(file)
    try:
        content = json_content(source)
    except FormatError:
        raise FormatError(NO_CHECKPOINT, file) from None
    try:
        check_header(content, FORMAT, VERSION, wrong=NO_CHECKPOINT)
    except ModelError as error:
        raise FormatError(str(error), file) from None
    if content.get("question") != question:
        raise QueryError(
            f"{file}: holds a search for another classifier, evidence, costs or objective; name another file "
            "to keep both, or delete it"
        )
    searches = content.get("searches")
    if not isinstance(searches, dict):
        raise damaged(file)
    return searches


def damaged(file: Path) -> FormatError:
    """What to raise where a checkpoint cannot be understood."""
    return FormatError("is a damaged checkpoint; delete it, and the search begins anew", file)


def digest_question(problem: Problem, asked: Iterable[object]) -> str:
    """Sixty-four digits for the classifier, its evidence and what else was asked."""
    classifier = problem.classifier
    model = classifier.network.cpts[classifier.target_index]
    if isinstance(model, BlackBoxCpt):
        raise QueryError(
            f"a checkpoint must know its question again, and the model of {model.child.name!r} is a function "
            "whose inside is not known; leave the checkpoint out, or wrap a model that can be saved"
        )
    parts = [json_network.write(classifier.network), classifier.target, *classifier.features]
    parts += [repr(classifier.rule), repr(sorted(problem.evidence.items())), *map(repr, asked)]
    return sha256("\n".join(parts).encode()).hexdigest()
