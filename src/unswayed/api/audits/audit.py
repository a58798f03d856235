"""The verb `audit`: every decision of a table, how safe it is, and what to ask next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Unpack, overload

from unswayed.api.audits.batches import ShippedRecipe, load_auditor, make_answerer, make_local_answerer, ship
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.files import AuditedFile, audit_to_file
from unswayed.api.audits.result import Audit, added_columns
from unswayed.api.audits.rows import Recipe, blank_columns
from unswayed.api.models import takes_models
from unswayed.api.questions import Options, check_options
from unswayed.core.anytime import bounded, bytes_allowed
from unswayed.core.arguments import expect_path
from unswayed.core.errors import QueryError, expect, expect_number
from unswayed.core.extras import import_extra
from unswayed.core.names import unknown_name
from unswayed.core.parallel import Allowance, make_call
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import check_costs
from unswayed.model.data.chunks import CHUNK_ROWS, Chunk, read_whole
from unswayed.model.data.parts import FileProgress
from unswayed.model.data.row_files import frame_with


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


class FileOptions(AuditOptions, total=False):
    """What an audit from file to file takes by keyword."""

    chunk_rows: int
    """Rows in memory at one time."""
    report: Callable[[FileProgress], None] | None
    """Called after each chunk with how far the audit is."""


@overload
def audit(
    classifier: Classifier, table: DaskFrame, *, output: None = None, **options: Unpack[AuditOptions]
) -> Any: ...
@overload
def audit(
    classifier: Classifier, table: object, *, output: None = None, **options: Unpack[AuditOptions]
) -> Audit: ...
@overload
def audit(
    classifier: Classifier, table: object, *, output: str | Path, **options: Unpack[FileOptions]
) -> AuditedFile: ...
@bounded
@takes_models
def audit(
    classifier: Classifier, table: Any, *, output: str | Path | None = None, **options: Unpack[FileOptions]
) -> Any:
    """For each row of a table: the decision, its posterior, and its same-decision probability.

    `table` may be a CSV, Parquet or Arrow file, a dataframe, or columns by name, in original units; missing
    cells are not observed. Rows that observe the same features share their work; the answers are those of
    `sdp`. With `next_test` and `reason`, rows that are not safe also get the feature to observe next, and all
    rows the smallest set of findings that keeps the decision. `outcome` names a column with what turned out
    to be true. `n_jobs` is joblib's, and `joblib.parallel_config` says where the work is done.

    When the time of `limits` is over, or somebody presses Ctrl-C, what was answered by then is the result:
    `left_out` rows have no decision (`answered` tells which). Where not a single one was, `LimitError`.

    A Dask dataframe is audited partition by partition: the answer is a Dask dataframe too, and nothing is
    computed before it is asked to.

    With `output`, a `.csv` or `.parquet` file, a table of any length is audited in bounded memory: a file, a
    folder of Parquet files, an Arrow dataset, or an iterator of tables. The output has the columns of the
    table, then those of the audit. It is written in parts, beside it, and appears when all is done. An audit
    that was interrupted goes on where it was when it is asked for again with the same table, classifier and
    options. The result holds what the rows add up to. When the time of `limits` is over, the output has the
    rows up to there, those without an answer with empty cells; `left_out` and `goes_on` tell what is missing,
    and asking again goes on from there.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> found = audit(papers, {"R1": ["+", None, "-"], "AC": ["+", "-", None]})
    >>> list(zip(found.decision, found.sdp.round(4).tolist(), found.safe.tolist()))
    [('+', 0.6923, False), ('not +', 0.9881, True), ('not +', 1.0, True)]
    """
    started, outcome = time.perf_counter(), options.get("outcome")
    recipe = _make_recipe(classifier, options)
    if output is not None:
        return audit_to_file(
            recipe,
            table,
            expect_path(output, "the output"),
            outcome=outcome,
            n_jobs=options.get("n_jobs"),
            chunk_rows=options.get("chunk_rows", CHUNK_ROWS),
            report=options.get("report"),
        )
    for name in ("chunk_rows", "report"):
        if options.get(name) is not None:
            raise QueryError(
                f"{name} is for an audit from file to file; name the file with output, or leave it out"
            )
    if is_dask_frame(table):
        return audit_partitions(recipe, table, outcome=outcome)
    rows = read_whole(table)
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


class DaskFrame(Protocol):
    """A dataframe in partitions, computed when asked."""

    @property
    def npartitions(self) -> int:
        """How many partitions there are."""

    def map_partitions(self, function: Any, *args: Any, **options: Any) -> Any:
        """The frame of what a function makes of each partition."""

    def compute(self) -> Any:
        """All rows."""


def is_dask_frame(table: Any) -> bool:
    """Whether a table is a Dask dataframe."""
    return type(table).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(table, "npartitions")


def audit_partitions(recipe: Recipe, frame: Any, *, outcome: str | None) -> Any:
    """A Dask dataframe with the columns of the audit; the classifier goes to each worker once."""
    if outcome is not None and outcome not in frame.columns:
        raise QueryError(f"the outcome is no column: {unknown_name('column', outcome, list(frame.columns))}")
    dask = import_extra("dask", "cluster")
    shipped = dask.delayed(ship(recipe), pure=True)
    # The columns of no rows tell Dask what to expect.
    meta = frame_with(_chunk(frame._meta), added_columns(recipe, blank_columns(recipe, 0)))
    allowed = Allowance(max_bytes=bytes_allowed())  # the time begins when somebody computes
    return frame.map_partitions(_audit_partition, shipped, allowed, meta=meta)


def _audit_partition(frame: Any, shipped: ShippedRecipe, allowed: Allowance) -> Any:
    return make_call(allowed, _answer_partition, frame, shipped).result


def _answer_partition(frame: Any, shipped: ShippedRecipe) -> Any:
    """The rows of a partition with the columns of the audit."""
    auditor = load_auditor(shipped)
    chunk = _chunk(frame)
    if not chunk.n_rows:
        columns = blank_columns(auditor.recipe, 0)
    else:
        answer = make_local_answerer(auditor)
        columns = audit_chunk(auditor.recipe, chunk, answer, outcome=None).columns
    return frame_with(chunk, added_columns(auditor.recipe, columns))


def _chunk(frame: Any) -> Chunk:
    return Chunk(frame, tuple(map(str, frame.columns)), len(frame), 0)
