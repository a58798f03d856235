"""An audit from file to file, in bounded memory: chunk by chunk, each finished part kept.

Whoever is interrupted asks again and goes on where the finished parts end (`model/data/parts.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

from unswayed.api.audits.batches import make_answerer
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.result import AuditSum, added_columns, sum_up
from unswayed.api.audits.rows import AuditColumns, Recipe
from unswayed.api.audits.tally import Tally, add_tallies
from unswayed.core.codec import from_plain
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.cpt import Cpt
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk
from unswayed.model.data.parts import GOES_ON, ChunkAnswer, FileProgress, RowJob, extend_file
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import PredictorCpt


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
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
        earlier = None if unfinished is None else from_plain(AuditColumns, unfinished, "the rows so far")
        audited = audit_chunk(recipe, chunk, answer, outcome=outcome, earlier=earlier)
        columns = audited.columns
        added, notes = added_columns(recipe, columns), {"tally": audited.tally}
        return ChunkAnswer(added, notes, None if columns.answered.all() else columns)

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
        tally=reduce(add_tallies, (from_plain(Tally, each["tally"], "the tally") for each in notes)),
        goes_on=bool(notes[-1].get(GOES_ON)),
        outcome=outcome,
        seconds=time.perf_counter() - started,
    )


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
        if isinstance(cpt, PredictorCpt):  # whose text would leave out most of its numbers
            digest.update(repr((cpt.fingerprint, cpt.inputs)).encode())
        else:
            digest.update(cpt.table.tobytes() if isinstance(cpt, Cpt) else repr(cpt).encode())
    return digest.hexdigest()
