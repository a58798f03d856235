"""Dataframes of any make, read through narwhals: pandas, polars, pyarrow and what else it supports.

The type of a column is believed: text stays text even where it spells numbers (a post code is no quantity),
and the categories of an ordered categorical keep their order, those that do not occur included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.core.arrays import Codes
from unswayed.core.errors import ModelError
from unswayed.core.names import listing
from unswayed.model.data.tables import (
    LARGEST_EXACT,
    Column,
    Table,
    array_column,
    cells_column,
    coded_column,
    coded_labels,
    is_missing,
    make_table,
    text_of,
)


def is_frame(data: Any) -> bool:
    """Whether `data` is a dataframe that narwhals knows."""
    from narwhals.dependencies import is_into_dataframe, is_polars_lazyframe

    return bool(is_into_dataframe(data) or is_polars_lazyframe(data))


def read_frame(data: Any) -> Table:
    """The table in a dataframe."""
    from narwhals.dependencies import is_polars_lazyframe

    if is_polars_lazyframe(data):
        raise ModelError("this frame is lazy and holds no rows yet; call .collect() first")
    frame = open_frame(data)
    return make_table([_column(str(name), frame.get_column(name)) for name in frame.columns])


def open_frame(data: Any) -> Any:
    """A dataframe through narwhals; `ModelError` where two of its columns share a name."""
    import narwhals as nw

    # The columns of a pyarrow table are its cells.
    headings = [str(heading) for heading in getattr(data, "column_names", getattr(data, "columns", []))]
    twice = sorted({heading for heading in headings if headings.count(heading) > 1})
    if twice:
        raise ModelError(f"columns share a name: {listing(twice)}; rename them so that each has its own")
    return nw.from_native(data, eager_only=True)


def _column(name: str, series: Any) -> Column:
    import narwhals as nw

    kind = series.dtype
    if kind.is_integer() and max(abs(series.max() or 0), abs(series.min() or 0)) > LARGEST_EXACT:
        return cells_column(name, [None if is_missing(cell) else str(cell) for cell in series.to_list()])
    if kind.is_numeric():
        return array_column(name, np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if kind in (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Object, nw.Unknown):
        declared = [text_of(each) for each in kind.categories] if isinstance(kind, nw.Enum) else []
        cells, codes = _distinct(series)
        if not declared:
            return coded_column(name, cells, codes)
        texts = [None if is_missing(cell) else text_of(cell) for cell in cells]
        return coded_labels(name, texts, codes, declared)
    raise ModelError(
        f"column {name!r} holds {kind} values; convert it to numbers or to text, "
        "for dates perhaps the year or the weekday"
    )


def _distinct(series: Any) -> tuple[list[Any], Codes]:
    """The distinct values in the order of their appearance, and the position of each cell's, -1 for none.

    What is equal but not the same, as 1 and True, stays apart: columns of mixed objects are not counted.
    """
    import narwhals as nw
    from narwhals.dependencies import is_pandas_series, is_polars_series, is_pyarrow_chunked_array

    native = series.to_native()
    if is_pyarrow_chunked_array(native):
        coded = native.dictionary_encode().combine_chunks()
        return coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy()
    if is_pandas_series(native):
        import pandas

        if pandas.api.types.infer_dtype(native, skipna=True) in ("string", "boolean", "categorical"):
            codes, values = pandas.factorize(native)
            return values.tolist(), codes
    if is_polars_series(native) and series.dtype != nw.Object:
        import polars

        values = native.drop_nulls().unique(maintain_order=True)
        numbers = native.replace_strict(
            values, list(range(len(values))), default=None, return_dtype=polars.Int64
        )
        return values.to_list(), numbers.fill_null(-1).to_numpy()
    cells = series.to_list()
    return cells, np.arange(len(cells))
