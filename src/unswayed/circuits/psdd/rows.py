"""Examples for PSDDs: rows of truth values, some of them perhaps unknown.

Everything that looks like rows of zeros and ones is taken: Boolean and numeric arrays, lists, dataframes, and
rows of packed bits (`PackedRows`), an eighth as large. NaN, None and -1 mean "not observed". Inside, a row is
eight-bit integers: 1, 0, and `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError

Marks = npt.NDArray[np.int8]
"""Rows of 1, 0 and `UNKNOWN`."""
Bits = npt.NDArray[np.uint8]
"""Rows of 1 and 0, or of packed bits."""

UNKNOWN: Final = -1
"""A value that was not observed."""
CHUNK_CELLS: Final = 2**24
"""Most values unpacked or converted at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedRows:
    """Complete rows as bits, in the order of `numpy.packbits(rows, axis=1)`.

    >>> rows = np.array([[True, False, True]])
    >>> PackedRows(np.packbits(rows, axis=1), 3)
    PackedRows(n_variables=3)
    """

    bits: Bits = field(repr=False)  # (rows, bytes)
    """Eight values in a byte, the first one highest."""
    n_variables: int
    """How many values a row has; the bits after them mean nothing."""

    def __post_init__(self) -> None:
        n_bytes = -(-self.n_variables // 8)
        if self.bits.ndim != 2 or self.bits.dtype != np.uint8 or self.bits.shape[1] != n_bytes:
            raise QueryError(f"packed rows of {self.n_variables} values need {n_bytes} bytes (uint8) each")

    def __len__(self) -> int:
        return len(self.bits)


def row_chunks(rows: Any, n_variables: int) -> Iterator[Marks]:
    """The rows as marks, a bounded number at once; `QueryError` when they are no rows of truth values."""
    size = max(1, CHUNK_CELLS // n_variables)
    if isinstance(rows, PackedRows):
        if rows.n_variables != n_variables:
            raise QueryError(f"rows of {rows.n_variables} values given, rows of {n_variables} needed")
        for start in range(0, len(rows), size):
            part = np.unpackbits(rows.bits[start : start + size], axis=1, count=n_variables)
            yield part.view(np.int8)
        return
    table = np.asarray(rows)
    if table.ndim != 2 or table.shape[1] != n_variables:
        raise QueryError(
            f"rows of {n_variables} truth values are needed, one for each variable; "
            f"this is an array of shape {table.shape}"
        )
    for start in range(0, len(table), size):
        yield _marks(table[start : start + size], start)


def all_marks(rows: Any, n_variables: int) -> Marks:
    """All rows as marks."""
    chunks = list(row_chunks(rows, n_variables))
    if not chunks:
        return np.zeros((0, n_variables), dtype=np.int8)
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def is_complete(marks: Marks) -> bool:
    """Whether every value is known."""
    return bool(marks.size == 0 or marks.min() >= 0)


def checked_weights(weights: Any, n_rows: int) -> Floats:
    """Weights of rows: finite numbers, none negative."""
    array = np.ascontiguousarray(weights, dtype=np.float64)
    if array.shape != (n_rows,):
        raise QueryError(f"{n_rows} rows need as many weights; this is an array of shape {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise QueryError("weights of rows are finite numbers, none of them negative")
    return array


def _marks(table: npt.NDArray[Any], start: int) -> Marks:
    """Values of any type as marks; `start` is the number of the first row, for messages."""
    if table.dtype == np.bool_:
        return np.ascontiguousarray(table).view(np.int8)
    if table.dtype == object:
        table = np.where(table == np.array(None), np.nan, table)
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise QueryError("truth values are True and False, 1 and 0, or NaN where not observed") from None
    if table.dtype.kind not in "iuf":
        raise QueryError(f"truth values are needed, not values of type {table.dtype}")
    if table.dtype.kind == "f":
        table = np.where(np.isnan(table), UNKNOWN, table)
    wrong = (table != 0) & (table != 1) & (table != UNKNOWN)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise QueryError(
            f"row {start + row}, column {column}: {table[row, column]} is no truth value; "
            "give 1 and 0, and NaN or -1 where not observed"
        )
    return np.ascontiguousarray(table, dtype=np.int8)
