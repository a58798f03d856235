"""Examples for PSDDs: rows of truth values, and how they go through a structure.

Everything that looks like rows of zeros and ones is taken: Boolean and numeric arrays, lists, dataframes, and
rows of packed bits (`PackedRows`), an eighth as large. NaN, None and -1 mean "not observed". Inside, a row is
eight-bit integers: 1, 0, and `UNKNOWN`.

Complete rows go through a structure by the quickest way its vtree allows: a walk along a decision diagram
(`walk.py`) where there is one, and 64 examples in a machine word otherwise (`kernels/circuits/psdd_bits.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.walk import WalkTables, walk_tables
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.kernels.circuits import psdd_bits, psdd_walk
from unswayed.model.data.frames import is_frame, open_frame

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


def row_chunks(rows: Any, names: Sequence[str]) -> Iterator[Marks]:
    """The rows as marks, a bounded number at once; `QueryError` when they are no rows of truth values.

    The columns of a dataframe are found by name, and others are ignored; those of an array go by position.
    """
    size, n_variables = max(1, CHUNK_CELLS // len(names)), len(names)
    if isinstance(rows, PackedRows):
        if rows.n_variables != n_variables:
            raise QueryError(f"rows of {rows.n_variables} values given, rows of {n_variables} needed")
        for start in range(0, len(rows), size):
            part = np.unpackbits(rows.bits[start : start + size], axis=1, count=n_variables)
            yield part.view(np.int8)
        return
    table = _named_columns(rows, names) if is_frame(rows) else _as_array(rows)
    if table.ndim != 2 or table.shape[1] != n_variables:
        raise QueryError(
            f"rows of {n_variables} truth values are needed, one for each variable; "
            f"this is an array of shape {table.shape}"
        )
    for start in range(0, len(table), size):
        yield _marks(table[start : start + size], start)


def _named_columns(data: Any, names: Sequence[str]) -> npt.NDArray[Any]:
    """The columns of a dataframe that have the variables' names, in the variables' order."""
    frame = open_frame(data)
    known = {str(column): column for column in frame.columns}
    missing = [name for name in names if name not in known]
    if missing:
        raise QueryError(
            f"{unknown_name('column', missing[0], list(known))}; name the columns of the dataframe after the "
            "variables, or pass an array whose columns are in the variables' order"
        )
    columns = [frame.get_column(known[name]).to_numpy() for name in names]
    return np.column_stack(columns) if columns else np.zeros((len(frame), 0))


def all_marks(rows: Any, names: Sequence[str]) -> Marks:
    """All rows as marks."""
    chunks = list(row_chunks(rows, names))
    if not chunks:
        return np.zeros((0, len(names)), dtype=np.int8)
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def one_row(observed: Any, names: Sequence[str]) -> Marks:  # (1, variables)
    """What is known about one example: a row, or values by name, those not named being unknown."""
    if not isinstance(observed, Mapping):
        return all_marks(np.asarray(observed)[None, :], names)
    for name in observed:
        if name not in names:
            raise QueryError(unknown_name("variable", name, names))
    return all_marks(np.array([[observed.get(name) for name in names]], dtype=object), names)


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


def _as_array(rows: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise QueryError("rows of truth values are needed, all of one length") from None


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


WORD_BYTES = 2**20
"""About how much memory the words of one part of the examples take: what fits close to the processor."""

FEW = 0.25
"""Rows are few when they take less steps, all together, than this share of the entries of the diagram."""

_NO_FLOATS: Floats = np.zeros(0)
_NO_TERMS: Floats = np.zeros((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceUses:
    """How often examples use the choices."""

    counts: Floats  # (choices,)
    """Weight of the examples that use each choice; 0 where a node has no other choice."""
    outside: Bools  # (rows,)
    """Which examples are outside of the space; where there are any, the counts mean nothing."""


def count_uses(structure: PsddStructure, rows: Bits, weights: Floats | None = None) -> ChoiceUses:
    """How often the rows use each choice; all values known."""
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), 0))
    known = _NO_FLOATS if weights is None else weights
    tables = walk_tables(structure)
    if tables is not None:
        visits = np.zeros(len(tables.diagram.target))
        trace = np.zeros((len(rows), 0), dtype=np.int32)
        walked = psdd_walk.Walked(outside, known, visits, _NO_TERMS, scores, trace)
        psdd_walk.compiled_walk(tables.diagram, rows, walked)
        return ChoiceUses(tables.counts(visits, structure.n_choices), outside)
    counts = np.zeros(structure.n_choices)
    for part, holds in _parts(structure, rows):
        some = known[part] if len(known) else known
        gathered = psdd_bits.Gathered(outside[part], some, counts, _NO_TERMS, scores[part])
        psdd_bits.COMPILED.follow(structure.circuit, structure.is_open, holds, gathered)
    return ChoiceUses(counts, outside)


def score_rows(structure: PsddStructure, rows: Bits, log_parameters: Sequence[Floats]) -> Floats:
    """Log-likelihoods (rows, parametrisations) of complete rows; minus infinity outside of the space."""
    tables = walk_tables(structure)
    if tables is not None:
        return _walk_scores(tables, rows, log_parameters)
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), len(log_parameters)))
    terms = np.ascontiguousarray(np.column_stack(log_parameters))
    for part, holds in _parts(structure, rows):
        gathered = psdd_bits.Gathered(outside[part], _NO_FLOATS, _NO_FLOATS, terms, scores[part])
        psdd_bits.COMPILED.follow(structure.circuit, structure.is_open, holds, gathered)
    scores[outside] = -np.inf
    return scores


def _walk_scores(tables: WalkTables, rows: Bits, log_parameters: Sequence[Floats]) -> Floats:
    """Scores by walking: for few rows the way is noted, for many every entry gets its terms first."""
    n_levels = len(tables.diagram.offsets)
    are_few = len(rows) * n_levels < FEW * len(tables.diagram.target)
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), 0 if are_few else len(log_parameters)))
    trace = np.full((len(rows), n_levels if are_few else 0), -1, dtype=np.int32)
    terms = _NO_TERMS if are_few else tables.terms(log_parameters)
    walked = psdd_walk.Walked(outside, _NO_FLOATS, _NO_FLOATS, terms, scores, trace)
    psdd_walk.compiled_walk(tables.diagram, rows, walked)
    if are_few:
        scores = tables.sums(trace, log_parameters)
    scores[outside] = -np.inf
    return scores


def _parts(structure: PsddStructure, rows: Bits) -> Iterator[tuple[slice, psdd_bits.Words]]:
    """Parts of the rows with the words that say where each node holds."""
    group_bytes = structure.n_nodes * psdd_bits.LANES * 8
    size = psdd_bits.GROUP * max(1, WORD_BYTES // group_bytes)
    holds = np.empty((size // psdd_bits.GROUP, structure.n_nodes, psdd_bits.LANES), dtype=np.uint64)
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        words = psdd_bits.pack(rows[part])
        psdd_bits.COMPILED.hold(structure.circuit, words, holds)
        yield part, holds
