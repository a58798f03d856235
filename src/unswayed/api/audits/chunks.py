"""One chunk of a table audited: its columns read, its rows answered and counted.

Each distinct row of somebody's own model is asked in its own values. Rows share an answer only when all their
values are equal; equal intervals are not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from unswayed.api.audits.outcomes import outcome_states
from unswayed.api.audits.rows import (
    CERTAINTIES,
    ROW_SHARE,
    SLACK,
    THE_AUDIT,
    AuditColumns,
    Recipe,
    blank_columns,
    find_next_test,
    find_reason,
    join_columns,
)
from unswayed.api.audits.tally import Tally, count_rows, feature_names
from unswayed.api.decisions import agreement_of
from unswayed.core.anytime import tick
from unswayed.core.arrays import Bools, Codes, Floats
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty
from unswayed.core.names import unknown_name
from unswayed.decisions.prediction import decision_posteriors, refuse_impossible, within_share
from unswayed.decisions.problem import make_problem
from unswayed.decisions.value_rows import Findings, decides_by_values, row_findings, value_posteriors
from unswayed.model.data.chunks import Chunk, chunk_table
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import Table


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
    table = chunk_table(chunk, names)
    codes = encode(table, variables, names=chunk.names).codes
    if decides_by_values(classifier):
        columns = audit_values(recipe, table, earlier)
    else:
        columns = answer(codes) if earlier is None else _go_on(earlier, codes, answer)
    if not columns.answered.any() and not chunk.first_row:
        raise LimitError("the audit of a row took longer than there was time; raise Limits(max_seconds=...)")
    # An answered row without a posterior is impossible.
    impossible = columns.answered & np.isnan(columns.posterior)
    logs: Floats = np.where(impossible, -np.inf, 0.0)[:, np.newaxis]
    positions = [classifier.network.index(name) for name in names]
    refuse_impossible(classifier.network, positions, codes, logs, first_row=chunk.first_row)
    observed = codes >= 0
    return AuditedChunk(observed, columns, count_rows(recipe, observed, columns, states))


def _go_on(earlier: AuditColumns, codes: Codes, answer: Callable[[Codes], AuditColumns]) -> AuditColumns:
    """The columns with the rows answered that were not yet."""
    left = np.flatnonzero(~earlier.answered)
    places = np.arange(len(codes))
    places[left] = len(codes) + np.arange(len(left))
    return join_columns([earlier, answer(codes[left])]).take(places)


def audit_values(recipe: Recipe, table: Table, earlier: AuditColumns | None = None) -> AuditColumns:
    """The columns of all rows; rows for which their share does not suffice stay unanswered."""
    rows = row_findings(recipe.classifier.network, table)
    columns = blank_columns(recipe, len(rows)) if earlier is None else earlier.take(np.arange(len(rows)))
    places: dict[tuple[tuple[str, object], ...], list[int]] = {}
    for place, row in enumerate(rows):
        if not columns.answered[place]:
            places.setdefault(tuple(row.items()), []).append(place)
    complete = _complete_rows(recipe, columns, rows) if recipe.options.get("engine") is None else ()
    # Cases that observe the same inputs share plans: one after another, none is planned twice.
    for key, same in sorted(places.items(), key=lambda each: [name for name, _ in each[0]]):
        if same[0] not in complete:
            tick(what=THE_AUDIT)
            within_share(ROW_SHARE, partial(_fill, recipe, columns, dict(key), same))  # type: ignore[arg-type]
    return columns


def _complete_rows(recipe: Recipe, columns: AuditColumns, rows: Sequence[Findings]) -> frozenset[int]:
    """Fill the rows in which nothing is missing: the model itself decides them, all at once."""
    classifier, n_inputs = recipe.classifier, len(recipe.classifier.features)
    if recipe.reason or classifier.given:
        return frozenset()
    found = [i for i, row in enumerate(rows) if len(row) == n_inputs and not columns.answered[i]]
    if found:
        with np.errstate(divide="ignore"):
            logs = np.log(value_posteriors(classifier, [rows[i] for i in found]))
        columns.decisions[found] = classifier.decider.decide(np.exp(logs))
        columns.posterior[found] = decision_posteriors(classifier, logs)
        columns.low[found] = columns.high[found] = 1.0
        columns.certainty[found], columns.answered[found] = CERTAINTIES.index(Certainty.EXACT), True
    return frozenset(found)


def _fill(recipe: Recipe, columns: AuditColumns, row: Findings, same: list[int]) -> bool:
    problem = make_problem(recipe.classifier, row)
    measured = agreement_of(problem, frozenset(), problem.decider, recipe.options)
    prior = problem.prior[np.newaxis]
    with np.errstate(divide="ignore"):
        logs = np.log(prior)
    if columns.next_test is not None and problem.free and measured.low < recipe.at_least - SLACK:
        columns.next_test[same] = find_next_test(recipe, row)
    if columns.reason is not None and row:
        columns.reason[same] = find_reason(recipe, row)
    columns.decisions[same] = int(problem.decider.decide(prior)[0])
    columns.posterior[same] = decision_posteriors(recipe.classifier, logs)[0]
    columns.low[same], columns.high[same] = measured.low, measured.high
    columns.certainty[same] = CERTAINTIES.index(measured.certainty)
    columns.answered[same] = True
    return True
