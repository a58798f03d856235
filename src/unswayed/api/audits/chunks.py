"""One chunk of a table audited: its columns read, its rows answered and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unswayed.api.audits.rows import AuditColumns, Recipe, join_columns
from unswayed.api.audits.tally import Tally, confirm, count_rows, feature_names, outcome_states
from unswayed.core.arrays import Bools, Codes, Floats
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.names import unknown_name
from unswayed.decisions.prediction import refuse_impossible
from unswayed.model.data.chunks import Chunk, chunk_table
from unswayed.model.data.encoding import encode


@dataclass(frozen=True, slots=True, eq=False)
class AuditedChunk:
    """The rows of a chunk, answered and counted."""

    observed: Bools  # (rows, features)
    columns: AuditColumns
    tally: Tally


def audit_chunk(
    recipe: Recipe,
    chunk: Chunk,
    answer: Callable[[Codes], AuditColumns],
    *,
    outcome: str | None,
    earlier: AuditColumns | None = None,
) -> AuditedChunk:
    """Read, answer and count the rows of a chunk; `ImpossibleEvidence` names a row that cannot be.

    What an `earlier` run has answered is not asked again. `LimitError` when not a single row is answered of
    the first chunk.
    """
    if outcome is not None and outcome not in chunk.names:
        raise QueryError(f"the outcome is no column: {unknown_name('column', outcome, chunk.names)}")
    classifier = recipe.classifier
    # Before the rows are answered, which may take long.
    states = (
        None if outcome is None else outcome_states(classifier, chunk_table(chunk, [outcome]).column(outcome))
    )
    names = feature_names(classifier)
    variables = [classifier.network.variable(name) for name in names]
    codes = encode(chunk_table(chunk, names), variables, names=chunk.names).codes
    columns = answer(codes) if earlier is None else _go_on(earlier, codes, answer)
    if not columns.answered.any() and not chunk.first_row:
        raise LimitError("the audit of a row took longer than there was time; raise Limits(max_seconds=...)")
    # An answered row without a posterior is impossible.
    impossible = columns.answered & np.isnan(columns.posterior)
    logs: Floats = np.where(impossible, -np.inf, 0.0)[:, np.newaxis]
    positions = [classifier.network.index(name) for name in names]
    refuse_impossible(classifier.network, positions, codes, logs, first_row=chunk.first_row)
    confirmed = None if states is None else confirm(classifier, columns.decisions, states)
    observed = codes >= 0
    return AuditedChunk(observed, columns, count_rows(recipe, observed, columns, confirmed))


def _go_on(earlier: AuditColumns, codes: Codes, answer: Callable[[Codes], AuditColumns]) -> AuditColumns:
    """The columns with the rows answered that were not yet."""
    left = np.flatnonzero(~earlier.answered)
    places = np.arange(len(codes))
    places[left] = len(codes) + np.arange(len(left))
    return join_columns([earlier, answer(codes[left])]).take(places)
