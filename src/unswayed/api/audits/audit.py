"""The verbs `audit` and `audit_file`: every decision of a table, how safe it is, and what to ask next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack, overload

from unswayed.api.audits.batches import make_answerer
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.files import AuditedFile, audit_to_file
from unswayed.api.audits.partitions import DaskFrame, audit_partitions, is_dask_frame
from unswayed.api.audits.result import Audit
from unswayed.api.audits.rows import Recipe
from unswayed.api.questions import Options, check_options
from unswayed.core.anytime import bounded
from unswayed.core.arguments import expect_path
from unswayed.core.errors import QueryError, expect, expect_number
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import check_costs
from unswayed.model.data.chunks import CHUNK_ROWS, read_whole
from unswayed.model.data.parts import FileProgress


class AuditOptions(Options, total=False):
    """What an audit takes by keyword, beside what every verb about decisions takes."""

    at_least: float
    """The level from which on a decision is safe; 0.95."""
    next_test: bool
    """Whether to name the feature to observe next where a decision is not safe."""
    reason: bool
    """Whether to name the smallest set of findings that keeps each decision."""
    outcome: str | None
    """Name of the column with what turned out to be true."""
    costs: Mapping[str, float] | None
    """What features cost; those left out cost 1."""
    n_jobs: int | None
    """How many processes work, as joblib counts them; its backends serve."""


@overload
def audit(classifier: Classifier, table: DaskFrame, **options: Unpack[AuditOptions]) -> Any: ...
@overload
def audit(classifier: Classifier, table: object, **options: Unpack[AuditOptions]) -> Audit: ...
@bounded
def audit(classifier: Classifier, table: Any, **options: Unpack[AuditOptions]) -> Any:
    """For each row of a table: the decision, its posterior, and its same-decision probability.

    `table` may be a CSV, Parquet or Arrow file, a dataframe, or columns by name, in original units; missing
    cells are not observed. Rows that observe the same features share their work; the answers are those of
    `same_decision_probability`. With `next_test` and `reason`, rows that are not safe also get the feature
    to observe next, and all rows the smallest set of findings that keeps the decision. `outcome` names a
    column with what turned out to be true. `n_jobs` is joblib's, and `joblib.parallel_config` says where the
    work is done.

    When the time of `limits` is over, or somebody presses Ctrl-C, what was answered by then is the result:
    `left_out` rows have no decision (`answered` tells which). Where not a single one was, `LimitError`.

    A Dask dataframe is audited partition by partition: the answer is a Dask dataframe too, and nothing is
    computed before it is asked to.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> found = audit(papers, {"R1": ["+", None, "-"], "AC": ["+", "-", None]})
    >>> list(zip(found.decision, found.sdp.round(4).tolist(), found.safe.tolist()))
    [('+', 0.6923, False), ('not +', 0.9881, True), ('not +', 1.0, True)]
    """
    started = time.perf_counter()
    recipe = _make_recipe(classifier, options)
    if is_dask_frame(table):
        return audit_partitions(recipe, table, outcome=options.get("outcome"))
    rows, outcome = read_whole(table), options.get("outcome")
    answer = make_answerer(recipe, options.get("n_jobs"))
    found = audit_chunk(recipe, rows, answer, outcome=outcome)
    return Audit(
        recipe=recipe,
        rows=rows,
        observed=found.observed,
        columns=found.columns,
        tally=found.tally,
        outcome=outcome,
        seconds=time.perf_counter() - started,
    )


class FileOptions(AuditOptions, total=False):
    """What an audit from file to file takes by keyword."""

    chunk_rows: int
    """Rows in memory at one time."""
    report: Callable[[FileProgress], None] | None
    """Called after each chunk with how far the audit is."""


@bounded
def audit_file(
    classifier: Classifier, source: Any, output: str | Path, **options: Unpack[FileOptions]
) -> AuditedFile:
    """Audit a table of any length into a `.csv` or `.parquet` file, in bounded memory.

    `source` may be a CSV, Parquet or Arrow file, a folder of Parquet files, an Arrow dataset, or an iterator
    of tables. The output has the columns of the source, then those of the audit. It is written in parts,
    beside it, and appears when all is done. An audit that was interrupted goes on where it was when it is
    asked for again with the same source, classifier and options. The result holds what the rows add up to.
    When the time of `limits` is over, the output has the rows up to there, those without an answer with empty
    cells; `left_out` and `goes_on` tell what is missing, and asking again goes on from there.
    """
    check_options(options, FileOptions)
    return audit_to_file(
        _make_recipe(classifier, options),
        source,
        expect_path(output, "the output"),
        outcome=options.get("outcome"),
        n_jobs=options.get("n_jobs"),
        chunk_rows=options.get("chunk_rows", CHUNK_ROWS),
        report=options.get("report"),
    )


def _make_recipe(classifier: Classifier, options: Mapping[str, Any]) -> Recipe:
    expect(classifier, Classifier, "the classifier")
    check_options(options, FileOptions)
    expect(options.get("outcome"), (str, type(None)), "the outcome")
    at_least = options.get("at_least", 0.95)
    expect_number(at_least, "the level")
    if not 0 < at_least <= 1:
        raise QueryError(f"the level must lie above 0 and not above 1, not {at_least!r}")
    costs = options.get("costs")
    expect(costs, (Mapping, type(None)), "costs")
    check_costs(costs or {}, classifier.features)
    shared = {name: options[name] for name in Options.__annotations__ if name in options}
    return Recipe(
        classifier=classifier,
        at_least=at_least,
        next_test=options.get("next_test", False),
        reason=options.get("reason", False),
        costs=dict(costs or {}),
        options=Options(**shared),  # type: ignore[typeddict-item]
    )
