"""An audit from file to file, in bounded memory: chunk by chunk, each finished part kept.

Whoever is interrupted asks again and goes on where the finished parts end (`model/data/parts.py`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from unswayed.api import shown
from unswayed.api.audits.batches import make_answerer
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.result import added_columns
from unswayed.api.audits.rows import Recipe
from unswayed.api.audits.tally import Tally, add_tallies, read_tally, summarize
from unswayed.core.errors import FormatError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.classifier import Classifier
from unswayed.model.cpt import Cpt
from unswayed.model.data.chunks import CHUNK_ROWS, estimate_rows, read_chunks
from unswayed.model.data.parts import join_parts, open_parts, read_notes, write_part
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True)
class AuditProgress:
    """How far an audit of a file is."""

    n_rows: int
    """Rows audited, those of an earlier run included."""
    total: int | None
    """About how many there are; None where nothing tells."""
    seconds: float
    """Time since this run began."""
    n_earlier: int = 0
    """Rows that an earlier run had finished."""

    @property
    def rows_per_second(self) -> float:
        """Rows audited in a second of this run."""
        return (self.n_rows - self.n_earlier) / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes."""
        if self.total is None or self.n_rows == self.n_earlier:
            return None
        return max(self.total - self.n_rows, 0) / self.rows_per_second


@dataclass(frozen=True, slots=True, eq=False)
class AuditedFile:
    """An audit whose rows are in a file: what they add up to."""

    recipe: Recipe = field(repr=False)
    path: Path
    """The file with the rows."""
    tally: Tally = field(repr=False)
    outcome: str | None = None
    """Name of the column with what turned out to be true."""
    seconds: float = 0.0

    plot = shown.plot
    _repr_html_ = shown.to_html
    __str__ = shown.to_text

    def __len__(self) -> int:
        return self.tally.n_rows

    @property
    def classifier(self) -> Classifier:
        """What decides."""
        return self.recipe.classifier

    @property
    def at_least(self) -> float:
        """The level from which on a decision is safe."""
        return self.recipe.at_least

    def summary(self) -> dict[str, Any]:
        """How many decisions are fragile, where, for want of which features, and what stopping saves."""
        return summarize(self.recipe, self.tally, with_outcome=self.outcome is not None, seconds=self.seconds)


def audit_to_file(
    recipe: Recipe,
    source: Any,
    output: Path,
    *,
    outcome: str | None,
    n_jobs: int | None,
    chunk_rows: int = CHUNK_ROWS,
    report: Callable[[AuditProgress], None] | None = None,
) -> AuditedFile:
    """Audit `source` chunk by chunk into `output`."""
    started = time.monotonic()
    parts = open_parts(output, _job(recipe, source, outcome, chunk_rows))
    answer, deadline = make_answerer(recipe, n_jobs), _limits(recipe).deadline()
    total = None if report is None else estimate_rows(source)
    tally: Tally | None = None
    names: tuple[str, ...] = ()
    n_earlier, number = 0, -1
    for number, chunk in enumerate(read_chunks(source, chunk_rows)):
        notes = read_notes(parts, number)
        if notes is None:
            seconds = None if deadline == float("inf") else max(deadline - time.monotonic(), 0.0)
            audited = audit_chunk(recipe, chunk, answer, outcome=outcome, seconds=seconds)
            added, counted = added_columns(recipe, audited.columns), audited.tally
            write_part(parts, number, chunk, added, {"tally": asdict(counted), "added": list(added)})
            added_names = list(added)
        else:
            counted, added_names = read_tally(notes["tally"]), notes["added"]
            n_earlier += counted.n_rows
        names = (*chunk.names, *(name for name in added_names if name not in chunk.names))
        tally = counted if tally is None else add_tallies(tally, counted)
        if report is not None:
            report(AuditProgress(tally.n_rows, total, time.monotonic() - started, n_earlier))
    if tally is None:
        raise FormatError("the table has no rows", source if isinstance(source, str | Path) else None)
    join_parts(parts, number + 1, names)
    return AuditedFile(recipe, output, tally, outcome, time.monotonic() - started)


def _limits(recipe: Recipe) -> Any:
    return recipe.options.get("limits", DEFAULT_LIMITS)


def _job(recipe: Recipe, source: Any, outcome: str | None, chunk_rows: int) -> dict[str, Any] | None:
    """What makes two runs one job; None where the source cannot be known again."""
    if not isinstance(source, str | os.PathLike) or not Path(source).exists():
        return None
    path = Path(source)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        "source": [[str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files],
        "network": _digest(recipe.classifier.network),
        "classifier": repr(_described(recipe)),
        "outcome": outcome,
        "chunk_rows": chunk_rows,
    }


def _described(recipe: Recipe) -> tuple[Any, ...]:
    full = recipe.classifier
    return (
        full.target,
        full.features,
        full.rule,
        sorted(full.given.items()),
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
