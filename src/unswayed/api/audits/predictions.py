"""The verb `predict_file`: what a classifier decides on every row of a table, from file to file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.api.audits.files import describe_classifier
from unswayed.core.errors import QueryError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import decide_chunk
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk, chunk_table
from unswayed.model.data.parts import ChunkAnswer, FileProgress, RowJob, extend_file


@dataclass(frozen=True, slots=True)
class PredictedFile:
    """Predictions whose rows are in a file: how many there are of each."""

    path: Path
    """The file with the rows."""
    by_decision: Mapping[str, int] = field(default_factory=dict)
    """How many rows each action is decided on."""
    seconds: float = 0.0

    def __len__(self) -> int:
        return sum(self.by_decision.values())

    def summary(self) -> dict[str, Any]:
        """The rows, and how many there are of each decision."""
        return {"rows": len(self), "by_decision": dict(self.by_decision), "seconds": self.seconds}


def predict_file(
    classifier: Classifier | TableClassifier,
    source: Any,
    output: str | Path,
    *,
    chunk_rows: int = CHUNK_ROWS,
    report: Callable[[FileProgress], None] | None = None,
) -> PredictedFile:
    """Decide on the rows of a table of any length into a `.csv` or `.parquet` file, in bounded memory.

    `source` and resuming are as in `audit_file`. The output has the columns of the source, then `decision`
    and, unless decisions are looked up in a table, `posterior`, as an audit has them.
    """
    started = time.monotonic()
    if not isinstance(classifier, Classifier | TableClassifier):
        raise QueryError(f"rows are decided by a classifier on a network, not by {type(classifier).__name__}")
    job = RowJob(
        source=source,
        output=Path(output),
        description={"predict": describe_classifier(classifier)},
        chunk_rows=chunk_rows,
        report=report,
    )
    found: Counter[str] = Counter(dict.fromkeys(classifier.actions, 0))
    for notes in extend_file(job, lambda chunk, _: _answer(classifier, chunk)):
        found.update(notes["by_decision"])
    return PredictedFile(job.output, dict(found), time.monotonic() - started)


def _answer(classifier: Classifier | TableClassifier, chunk: Chunk) -> ChunkAnswer:
    added = predicted_columns(classifier, chunk)
    return ChunkAnswer(added, {"by_decision": Counter(added["decision"].tolist())})


def predicted_columns(classifier: Classifier | TableClassifier, chunk: Chunk) -> dict[str, Any]:
    """The columns `decision` and, where there is one, `posterior` of the rows of a chunk."""
    actions = np.array(classifier.actions, dtype=object)
    if isinstance(classifier, TableClassifier):
        table = chunk_table(chunk, classifier.features)
        return {"decision": np.array(classifier.predict(table), dtype=object)}
    decisions, posteriors = decide_chunk(classifier, chunk)
    return {"decision": actions[decisions], "posterior": posteriors}
