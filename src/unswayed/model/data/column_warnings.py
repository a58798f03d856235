"""Columns that hardly help to classify: ids, dates, marks for missing cells, texts that nearly all differ.

A class of one state is another.
Nothing is left out by itself: a person decides, and the words say how.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unswayed.core.names import listing
from unswayed.model.data.tables import MARKS_AMONG_NUMBERS, number_in

FEW = 10
"""Texts up to which a column is an ordinary category."""
_DATE = re.compile(r"\d{4}([-/.])\d\d?(\1\d\d?)?([T ].*)?|\d\d?([-/.])\d\d?\4(\d{2}|\d{4})( .*)?")
_ID = re.compile(r"(.*[\W_])?(id|key|uuid)|.*(?-i:[a-z]I[dD])", re.IGNORECASE)
_LEAVE = "Leave it out with --ignore"
_MARKS = MARKS_AMONG_NUMBERS | {"missing", "unknown", "not available", "na", "nil", "(null)", "*"}
"""Labels that may stand for cells nobody filled, in lower case."""
_MOST_MARKS = 3
"""Different texts up to which those among numbers are marks."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenColumn:
    """What a column holds, apart from missing cells."""

    name: str
    n_rows: int
    """Rows with a value."""
    texts: tuple[str, ...] = ()
    """The distinct labels."""
    n_numbers: int = 0
    """How many distinct numbers there are, from"""
    low: float = 0.0
    """the least to"""
    high: float = 0.0
    """the greatest."""


def list_column_warnings(columns: Iterable[SeenColumn], target: str) -> Iterator[str]:
    """A sentence for each column that is probably not meant to be a feature, and for a class of one state."""
    for column in columns:
        if column.name == target:
            if max(len(column.texts), column.n_numbers) == 1:
                yield f"{column.name}: the class has one state, so there is nothing to tell apart"
        elif why := _suspect_texts(column) if column.texts else _suspect_numbers(column):
            yield f"{column.name}: {why}"


def _suspect_numbers(column: SeenColumn) -> str | None:
    n_rows = column.n_rows
    if n_rows <= FEW or column.n_numbers < n_rows:
        return None
    if column.high - column.low == n_rows - 1:
        return f"the whole numbers {column.low:.15g} to {column.high:.15g}, one a row; an id? {_LEAVE}"
    if _ID.fullmatch(column.name):
        return f"{n_rows} numbers in {n_rows} rows; an id? {_LEAVE}"
    return None


def _suspect_texts(column: SeenColumn) -> str | None:
    n_texts, n_rows = len(column.texts), column.n_rows
    if n_texts <= FEW:
        return _suspect_marks(column.texts)
    others = [text for text in column.texts if number_in(text) is None]
    if 0 < len(others) <= _MOST_MARKS and n_texts - len(others) > FEW:
        return (
            f"numbers but for {listing(others)}; missing marks? Empty those cells to have it read as numbers"
        )
    if all(_DATE.fullmatch(text) for text in column.texts):
        return (
            f"{n_texts} dates in {n_rows} rows; keep what matters of them, such as the weekday; "
            f"{_LEAVE[0].lower()}{_LEAVE[1:]}"
        )
    if 2 * n_texts > n_rows:
        return f"{n_texts} texts in {n_rows} rows; missing marks, or an id? {_LEAVE}"
    return _suspect_marks(column.texts)


def _suspect_marks(texts: Sequence[str]) -> str | None:
    """Words on a label that may stand for missing cells; - beside + is a sign, one of two labels a value."""
    marks = [text for text in texts if text.lower() in _MARKS]
    if not marks or len(texts) - len(marks) < 2 or "+" in texts:
        return None
    return f"{listing(marks)} counts as a state; a missing mark? Empty those cells to leave them out"
