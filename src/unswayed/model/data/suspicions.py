"""Columns that hardly help to classify: ids, dates, texts that nearly all differ, a class of one state.

Nothing is left out by itself: a person decides, and the words say how.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

FEW = 10
"""Texts up to which a column is an ordinary category."""
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}( .*)?")


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


def list_suspicions(columns: Iterable[SeenColumn], target: str) -> Iterator[str]:
    """A sentence for each column that is probably not meant to be a feature, and for a class of one state."""
    for column in columns:
        if column.name == target:
            if len(column.texts) == 1:
                yield f"{column.name}: the class has one state, so there is nothing to tell apart"
        elif (why := _suspect_texts(column) if column.texts else _suspect_numbers(column)) is not None:
            yield f"{column.name}: {why}{' L' if why[-1] == '?' else '; l'}eave it out with --ignore"


def _suspect_numbers(column: SeenColumn) -> str | None:
    n_rows = column.n_rows
    if n_rows <= FEW or column.n_numbers < n_rows or column.high - column.low != n_rows - 1:
        return None
    return f"the whole numbers {column.low:.15g} to {column.high:.15g}, one a row; an id?"


def _suspect_texts(column: SeenColumn) -> str | None:
    n_texts, n_rows = len(column.texts), column.n_rows
    if n_texts <= FEW:
        return None
    if all(_DATE.fullmatch(text) for text in column.texts):
        return f"{n_texts} dates in {n_rows} rows; keep what matters of them, such as the weekday"
    if 2 * n_texts > n_rows:
        return f"{n_texts} texts in {n_rows} rows; missing marks, or an id?"
    return None
