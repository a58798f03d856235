"""An audit from file to file, in bounded memory: chunk by chunk, each finished part kept.

Whoever is interrupted asks again and goes on where the finished parts end (`model/data/parts.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Any

from unswayed.api.audits.batches import make_answerer
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.result import AuditSum, added_columns
from unswayed.api.audits.rows import Recipe
from unswayed.api.audits.tally import add_tallies, read_tally
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.cpt import Cpt
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk
from unswayed.model.data.parts import FileProgress, RowJob, extend_file
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AuditedFile(AuditSum):
    """An audit whose rows are in a file."""

    path: Path
    """The file with the rows."""


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
    started = time.monotonic()
    answer = make_answerer(recipe, n_jobs)
    deadline = recipe.options.get("limits", DEFAULT_LIMITS).deadline()

    def answer_chunk(chunk: Chunk) -> tuple[dict[str, Any], dict[str, Any]]:
        seconds = None if deadline == float("inf") else max(deadline - time.monotonic(), 0.0)
        audited = audit_chunk(recipe, chunk, answer, outcome=outcome, seconds=seconds)
        return added_columns(recipe, audited.columns), {"tally": asdict(audited.tally)}

    description = {
        "classifier": describe_classifier(recipe.classifier),
        "asked": repr(_describe_recipe(recipe)),
        "outcome": outcome,
    }
    job = RowJob(source=source, output=output, description=description, chunk_rows=chunk_rows, report=report)
    tallies = (read_tally(notes["tally"]) for notes in extend_file(job, answer_chunk))
    return AuditedFile(
        recipe=recipe,
        path=output,
        tally=reduce(add_tallies, tallies),
        outcome=outcome,
        seconds=time.monotonic() - started,
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
        digest.update(cpt.table.tobytes() if isinstance(cpt, Cpt) else repr(cpt).encode())
    return digest.hexdigest()
