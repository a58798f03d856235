"""A Dask dataframe audited: each partition on its own, wherever it lies, when it is asked for."""

from __future__ import annotations

from typing import Any, Protocol

from unswayed.api.audits.batches import ShippedRecipe, load_auditor, make_local_answerer, ship
from unswayed.api.audits.chunks import audit_chunk
from unswayed.api.audits.result import added_columns
from unswayed.api.audits.rows import Recipe, blank_columns
from unswayed.core.anytime import bytes_allowed
from unswayed.core.errors import QueryError
from unswayed.core.extras import import_extra
from unswayed.core.names import unknown_name
from unswayed.core.parallel import Allowance, make_call
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.row_files import frame_with


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
