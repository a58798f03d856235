"""The verb `predict`: what a classifier decides on every row of a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np

from unswayed.api.audits.files import describe_classifier
from unswayed.api.models import takes_models
from unswayed.api.shown import Shown
from unswayed.core.anytime import bounded
from unswayed.core.arguments import expect_path
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import UNDECIDED, decide_chunk
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk, chunk_table, read_chunks
from unswayed.model.data.parts import GOES_ON, ChunkAnswer, FileProgress, RowJob, extend_file


@dataclass(frozen=True, slots=True, repr=False)
class PredictedFile(Shown):
    """Predictions whose rows are in a file: how many there are of each."""

    path: Path
    """The file with the rows."""
    by_decision: Mapping[str, int] = field(default_factory=dict)
    """How many rows each action is decided on."""
    seconds: float = 0.0
    left_out: int = 0
    """Rows in the file that were not decided before the time was over; their cells are empty."""
    goes_on: bool = False
    """Whether the source has rows after those, which were not read."""

    def __len__(self) -> int:
        return sum(self.by_decision.values())

    def summary(self) -> dict[str, Any]:
        """The rows, and how many there are of each decision."""
        return {
            "rows": len(self),
            "left_out": self.left_out,
            "goes_on": self.goes_on,
            "by_decision": dict(self.by_decision),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Predictions(Shown):
    """What is decided on each row of a table."""

    decision: tuple[str | None, ...]
    """The decision on each row; None where the time did not suffice."""
    posterior: tuple[float | None, ...] | None
    """The posterior of each decision; None where decisions are looked up in a table."""

    def __len__(self) -> int:
        return len(self.decision)

    @property
    def by_decision(self) -> dict[str, int]:
        """How many rows each action is decided on."""
        return dict(sorted(Counter(each for each in self.decision if each is not None).items()))

    @property
    def left_out(self) -> int:
        """Rows that were not decided before the time was over."""
        return self.decision.count(None)


@overload
def predict(
    classifier: Classifier | TableClassifier,
    table: Any,
    *,
    output: None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Predictions: ...
@overload
def predict(
    classifier: Classifier | TableClassifier,
    table: Any,
    *,
    output: str | Path,
    chunk_rows: int = CHUNK_ROWS,
    report: Callable[[FileProgress], None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> PredictedFile: ...
@bounded
@takes_models
def predict(
    classifier: Classifier | TableClassifier,
    table: Any,
    *,
    output: str | Path | None = None,
    chunk_rows: int = CHUNK_ROWS,
    report: Callable[[FileProgress], None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Predictions | PredictedFile:
    """The decision on each row of a table, with its posterior; missing cells are not observed.

    With `output`, a `.csv` or `.parquet` file, a table of any length is decided on in bounded memory; `table`
    and resuming are as in `audit`. The output has the columns of the table, then `decision` and, unless
    decisions are looked up in a table, `posterior`. When the time of `limits` is over, rows are left out as
    in an audit, too.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2"], threshold=0.6, positive="+")
    >>> predict(papers, {"R1": ["+", "+", None], "R2": ["+", "-", "+"]}).decision
    ('+', 'not +', '+')
    """
    if not isinstance(classifier, Classifier | TableClassifier):
        raise QueryError(f"rows are decided by a classifier on a network, not by {type(classifier).__name__}")
    if output is None:
        return _predict_rows(classifier, table)
    started = time.perf_counter()
    job = RowJob(
        source=table,
        output=expect_path(output, "the output"),
        description={"predict": describe_classifier(classifier)},
        chunk_rows=chunk_rows,
        report=report,
    )
    found: Counter[str] = Counter(dict.fromkeys(classifier.actions, 0))
    left_out, goes_on = 0, False
    for notes in extend_file(job, lambda chunk, earlier: _answer(classifier, chunk, earlier)):
        found.update(notes["by_decision"])
        left_out, goes_on = left_out + notes["left_out"], bool(notes.get(GOES_ON))
    return PredictedFile(job.output, dict(found), time.perf_counter() - started, left_out, goes_on)


def _predict_rows(classifier: Classifier | TableClassifier, table: Any) -> Predictions:
    found: dict[str, list[Any]] = {"decision": []}
    for chunk in read_chunks(table):
        for name, values in predicted_columns(classifier, chunk).items():
            # A posterior that is not known has no number.
            found.setdefault(name, []).extend(None if cell != cell else cell for cell in values.tolist())
    posterior = found.get("posterior")
    return Predictions(tuple(found["decision"]), None if posterior is None else tuple(posterior))


def _answer(
    classifier: Classifier | TableClassifier, chunk: Chunk, earlier: Mapping[str, Any] | None
) -> ChunkAnswer:
    added = predicted_columns(classifier, chunk, earlier)
    decided = Counter(added["decision"].tolist())
    left_out = decided.pop(None, 0)
    unfinished = {name: values.tolist() for name, values in added.items()} if left_out else None
    return ChunkAnswer(added, {"by_decision": decided, "left_out": left_out}, unfinished)


def predicted_columns(
    classifier: Classifier | TableClassifier,
    chunk: Chunk,
    earlier: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The columns `decision` and, where there is one, `posterior` of the rows of a chunk.

    Rows that there is no time for have none; what is in the columns of an `earlier` run is not decided again.
    `LimitError` when not a single row of the first chunk is decided.
    """
    actions = np.array([*classifier.actions, None], dtype=object)
    if isinstance(classifier, TableClassifier):
        table = chunk_table(chunk, classifier.features)
        return {"decision": np.array(classifier.predict(table), dtype=object)}
    known = _read_earlier(classifier, earlier)
    decisions, posteriors = decide_chunk(classifier, chunk, known)
    if (decisions == UNDECIDED).all() and chunk.n_rows and not chunk.first_row:
        raise LimitError("the time does not suffice for any row; raise Limits(max_seconds=...)")
    return {"decision": actions[decisions], "posterior": posteriors}


def _read_earlier(classifier: Classifier, earlier: Mapping[str, Any] | None) -> tuple[Ints, Floats] | None:
    if earlier is None:
        return None
    position = {action: i for i, action in enumerate(classifier.actions)} | {None: UNDECIDED}
    decisions = np.array([position[action] for action in earlier["decision"]], dtype=np.int64)
    return decisions, np.array(earlier["posterior"], dtype=np.float64)
