"""Columns that hardly help to classify: ids, dates, texts that nearly all differ, a class of one state.

Nothing is left out by itself: a person decides, and the words say how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from unswayed.model.data.tables import Column, LabelColumn, NumberColumn, Table

FEW = 10
"""Texts up to which a column is an ordinary category."""
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}( .*)?")


def list_suspicions(table: Table, target: str) -> Iterator[str]:
    """A sentence for each column that is probably not meant to be a feature, and for a class of one state."""
    for column in table.columns:
        if column.name == target:
            if isinstance(column, LabelColumn) and len(_texts(column)) == 1:
                yield f"{column.name}: the class has one state, so there is nothing to tell apart"
        elif (why := _suspect(column)) is not None:
            yield f"{column.name}: {why}{' L' if why[-1] == '?' else '; l'}eave it out with --ignore"


def _suspect(column: Column) -> str | None:
    return _suspect_numbers(column) if isinstance(column, NumberColumn) else _suspect_texts(column)


def _suspect_numbers(column: NumberColumn) -> str | None:
    seen = column.values[~np.isnan(column.values)]
    if len(seen) <= FEW or np.unique(seen).size < len(seen) or seen.max() - seen.min() != len(seen) - 1:
        return None
    return f"the whole numbers {seen.min():g} to {seen.max():g}, one a row; an id?"


def _suspect_texts(column: LabelColumn) -> str | None:
    texts, n_rows = _texts(column), int((column.codes >= 0).sum())
    if len(texts) <= FEW:
        return None
    if all(_DATE.fullmatch(text) for text in texts):
        return f"{len(texts)} dates in {n_rows} rows; keep what matters of them, such as the weekday"
    if 2 * len(texts) > n_rows:
        return f"{len(texts)} texts in {n_rows} rows; missing marks, or an id?"
    return None


def _texts(column: LabelColumn) -> list[str]:
    """The labels that occur."""
    return [column.labels[code] for code in np.unique(column.codes) if code >= 0]
