"""New rows as states of variables that exist, in the units they were measured in.

A number finds its state by the interval it lies in (`intervals.py`), or as the state that spells the same
number: 1, `1` and `1.0` are one. `states.py` says which state a label means.

What finds no state was not seen in learning, so the network can say nothing about it: it is taken as not
observed, with a `UnswayedWarning` that names column and value. Missing cells, and variables without a
column, are not observed either, silently.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.core.errors import QueryError, UnswayedWarning
from unswayed.core.names import listing, nearest
from unswayed.model.data.dataset import Dataset, smallest_type
from unswayed.model.data.intervals import interval_codes, interval_cuts, matching_codes
from unswayed.model.data.tables import Column, LabelColumn, NumberColumn, number_in, read_table, text_of
from unswayed.model.states import find_state
from unswayed.model.variable import Variable


def encode(
    data: Any, variables: Sequence[Variable], *, weights: Any = None, names: Sequence[str] | None = None
) -> Dataset:
    """The rows of `data` (see `read_table`) as states of `variables`, found by column names.

    Columns that name no variable are ignored, with a warning when one looks like a misspelt name. `names` are
    those of all columns where `data` holds but some of them.

    Raises `QueryError` when no column names a variable.

    >>> age = Variable("age", ["<=30", "30..60", ">60"])
    >>> encode({"age": [25, 30.5, None]}, [age]).codes.tolist()
    [[0], [1], [-1]]
    """
    table = read_table(data)
    _check_names(table.names if names is None else names, [variable.name for variable in variables])
    column_by_name = {column.name: column for column in table.columns}
    codes = np.full((table.n_rows, len(variables)), -1, dtype=smallest_type(variables), order="F")
    for j, variable in enumerate(variables):
        if variable.name in column_by_name:
            codes[:, j] = column_codes(column_by_name[variable.name], variable)
    return Dataset(variables, codes, weights)


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    unused = [name for name in names if name not in known]
    absent = [name for name in known if name not in names]
    if known and len(absent) == len(known):
        raise QueryError(
            f"no column names a variable: the columns are {listing(names)}, "
            f"the variables {listing(list(known))}; rename the columns"
        )
    for name in unused:
        close = nearest(name, absent, count=1)
        if close:
            warnings.warn(
                f"column {name!r} is ignored and variable {close[0]!r} is taken as not observed; "
                "if they are the same, rename the column",
                UnswayedWarning,
                stacklevel=4,
            )


def column_codes(column: Column, variable: Variable) -> Codes:  # (rows,)
    """State of `variable` in each row, -1 where not observed or, with a warning, not known."""
    codes = state_codes(column, variable)
    unknown, values = unknown_values(column, codes)
    if values:
        _warn(variable, values, unknown)
    return codes


def state_codes(column: Column, variable: Variable) -> Codes:  # (rows,)
    """State of `variable` in each row, -1 where not observed or not known."""
    if isinstance(column, LabelColumn):
        state_by_label = np.array([*(_label_code(label, variable) for label in column.labels), -1])
        codes: Codes = state_by_label[column.codes]
        return codes
    cuts = interval_cuts(variable)
    return _spelt_codes(column, variable) if cuts is None else interval_codes(column.values, cuts)


def unknown_values(column: Column, codes: Codes) -> tuple[Bools, list[str]]:
    """Which rows have a value but no state, and the distinct values of these."""
    if isinstance(column, LabelColumn):
        unknown: Bools = (codes < 0) & (column.codes >= 0)
        return unknown, [column.labels[code] for code in np.unique(column.codes[unknown])]
    unknown = (codes < 0) & ~np.isnan(column.values)
    return unknown, [text_of(value) for value in np.unique(column.values[unknown])]


def _label_code(label: str, variable: Variable) -> int:
    found = find_state(variable, label)
    return -1 if found is None else found


def _spelt_codes(column: NumberColumn, variable: Variable) -> Codes:
    """Each number as the state that spells it."""
    numbers, states = _numeric_states(variable)
    codes = matching_codes(column.values, numbers)
    is_in_order = np.array_equal(states, np.arange(len(states)))
    return codes if is_in_order else np.append(states, -1)[codes]


def _numeric_states(variable: Variable) -> tuple[Floats, Ints]:
    """Numbers that states spell, ascending, and which states; the first of two that spell the same."""
    spelt = [(number_in(state), i) for i, state in enumerate(variable.states)]
    pairs = [(number, i) for number, i in spelt if number is not None and np.isfinite(number)]
    numbers, first = np.unique(np.array([number for number, _ in pairs]), return_index=True)
    return numbers, np.array([i for _, i in pairs], dtype=np.int64)[first]


def _warn(variable: Variable, values: list[str], unknown: Bools) -> None:
    rows = "1 row" if unknown.sum() == 1 else f"{unknown.sum()} rows"
    warnings.warn(
        f"column {variable.name!r}: {listing(values, at_most=3)} in {rows} is no state of the variable and "
        f"is taken as not observed; it has {listing(variable.states)}",
        UnswayedWarning,
        stacklevel=5,
    )
