"""An audit from file to file, in bounded memory: chunk by chunk, each finished part kept.

Whoever is interrupted asks again and goes on where the finished parts end (`model/data/parts.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.api.audits.batches import make_answerer
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.result import AuditSum, added_columns, sum_up
from unswayed.api.audits.rows import AuditColumns, Recipe
from unswayed.api.audits.tally import add_tallies, read_tally
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.cpt import Cpt
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk
from unswayed.model.data.parts import GOES_ON, ChunkAnswer, FileProgress, RowJob, extend_file
from unswayed.model.network import BayesianNetwork

KIND_BY_COLUMN: dict[str, Any] = {
    "decisions": np.int64,
    "certainty": np.int8,
    "answered": bool,
    "next_test": object,
    "reason": object,
}
"""What the columns of an audit hold that are no numbers with a fraction."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AuditedFile(AuditSum):
    """An audit whose rows are in a file."""

    path: Path
    """The file with the rows."""
    goes_on: bool = False
    """Whether the source has rows after those, which were not read before the time was over."""

    def summary(self) -> dict[str, Any]:
        """How many decisions are fragile, where, for want of which features, and what stopping saves."""
        return {**sum_up(self), GOES_ON: self.goes_on}


def audit_to_file(
    recipe: Recipe,
    source: Any,
    output: Path,
    *,
    outcome: str | None,
    n_jobs: int | None,
    chunk_rows: int = CHUNK_ROWS,
    report: Callable[[FileProgress], None] | None = None,
) -> AuditedFile:
    """Audit `source` chunk by chunk into `output`."""
    started = time.perf_counter()
    answer = make_answerer(recipe, n_jobs)

    def answer_chunk(chunk: Chunk, unfinished: Mapping[str, Any] | None) -> ChunkAnswer:
        earlier = None if unfinished is None else _read_columns(unfinished)
        audited = audit_chunk(recipe, chunk, answer, outcome=outcome, earlier=earlier)
        columns = audited.columns
        added, notes = added_columns(recipe, columns), {"tally": asdict(audited.tally)}
        return ChunkAnswer(added, notes, None if columns.answered.all() else _write_columns(columns))

    description = {
        "classifier": describe_classifier(recipe.classifier),
        "asked": repr(_describe_recipe(recipe)),
        "outcome": outcome,
    }
    job = RowJob(source=source, output=output, description=description, chunk_rows=chunk_rows, report=report)
    notes = list(extend_file(job, answer_chunk))
    return AuditedFile(
        recipe=recipe,
        path=output,
        tally=reduce(add_tallies, (read_tally(each["tally"]) for each in notes)),
        goes_on=bool(notes[-1].get(GOES_ON)),
        outcome=outcome,
        seconds=time.perf_counter() - started,
    )


def _write_columns(columns: AuditColumns) -> dict[str, Any]:
    """The columns for JSON."""
    return {name: None if c is None else c.tolist() for name, c in columns.by_name().items()}


def _read_columns(written: Mapping[str, Any]) -> AuditColumns:
    """The columns from JSON."""
    read: dict[str, Any] = {
        name: None if cells is None else np.array(cells, dtype=KIND_BY_COLUMN.get(name, np.float64))
        for name, cells in written.items()
    }
    return AuditColumns(**read)


def describe_classifier(classifier: Classifier | TableClassifier) -> list[str]:
    """Texts that are equal for classifiers that decide alike."""
    if isinstance(classifier, TableClassifier):
        rule: Any = sha256(classifier.decision_mass.tobytes()).hexdigest()
    else:
        rule = classifier.rule
    parts = (classifier.target, classifier.features, rule, sorted(classifier.given.items()))
    return [_digest(classifier.network), repr(parts)]


def _describe_recipe(recipe: Recipe) -> tuple[Any, ...]:
    return (
        recipe.at_least,
        recipe.next_test,
        recipe.reason,
        sorted(recipe.costs.items()),
        sorted((name, value) for name, value in recipe.options.items() if name != "limits"),
    )


def _digest(network: BayesianNetwork) -> str:
    """Equal for equal networks."""
    digest = sha256()
    for variable, parents, cpt in zip(network.variables, network.parents, network.cpts, strict=True):
        digest.update(repr((variable.name, variable.states, parents)).encode())
        digest.update(cpt.table.tobytes() if isinstance(cpt, Cpt) else repr(cpt).encode())
    return digest.hexdigest()
