"""Rows of discrete states: what learning reads.

`make_dataset` decides for each column of a table which variable it is:

- labels are its states, sorted (numbers by value, otherwise by text), or in the declared order of an ordered
  categorical;
- numbers are cut into intervals as a `Discretization` says, except that a few distinct integers stay as
  they are;
- the target is never cut, unless its cut points are given;
- a column with a single value, or with none, is kept as a variable of one state. It says nothing and costs
  nothing, and the columns of the table stay the columns of the network.

For rows that are to fit variables which exist already, see `encoding.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Codes, Floats, frozen_floats
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import unknown_name
from unswayed.model.data.csv import CsvFile
from unswayed.model.data.discretize import Discretization, Observed, chosen_cuts, expect_discretization
from unswayed.model.data.intervals import (
    ANY,
    FEW,
    checked_cuts,
    interval_codes,
    interval_states,
    matching_codes,
)
from unswayed.model.data.tables import (
    Column,
    LabelColumn,
    NumberColumn,
    Table,
    number_in,
    read_table,
    take_cells,
    text_of,
)
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Weighted rows of states, valid once constructed.

    >>> data = Dataset([Variable("Rain", ["no", "yes"])], [[0], [1], [-1]])
    >>> data.n_rows, data.weights.tolist()
    (3, [1.0, 1.0, 1.0])
    """

    variables: tuple[Variable, ...]
    """One for each column."""
    codes: Codes  # (rows, variables)
    """State of each variable in each row, -1 where not observed; small integers, by columns, read-only."""
    weights: Floats  # (rows,)
    """How much each row counts; read-only."""

    def __init__(self, variables: Sequence[Variable], codes: Any, weights: Any = None) -> None:
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "codes", _checked_codes(self.variables, np.asarray(codes)))
        object.__setattr__(self, "weights", checked_weights(weights, self.n_rows))

    def __reduce__(self) -> tuple[type[Dataset], tuple[Any, ...]]:
        return (Dataset, (self.variables, self.codes, self.weights))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in the order of the columns."""
        return tuple(variable.name for variable in self.variables)

    def index(self, name: str) -> int:
        """Position of the variable called `name`; `QueryError` suggests the nearest name."""
        if name not in self.names:
            raise QueryError(unknown_name("column", str(name), self.names))
        return self.names.index(name)


def _checked_codes(variables: tuple[Variable, ...], codes: npt.NDArray[Any]) -> Codes:
    names = [variable.name for variable in variables]
    if len(set(names)) < len(names):
        raise ModelError(f"two columns of the data have one name: {names}; rename one")
    if codes.ndim != 2 or codes.shape[1] != len(variables) or codes.dtype.kind not in "iu":
        raise ModelError(
            f"expected integer states of shape (rows, {len(variables)}), "
            f"found {codes.dtype} of shape {codes.shape}"
        )
    for j, variable in enumerate(variables):
        column = codes[:, j]
        if column.size and not -1 <= column.min() <= column.max() < len(variable):
            row = int(np.argmax((column < -1) | (column >= len(variable))))
            raise ModelError(
                f"row {row}: {column[row]} is no state of {variable.name!r}, which has "
                f"{len(variable)}; use 0 .. {len(variable) - 1}, and -1 for not observed"
            )
    small = np.array(codes, dtype=smallest_type(variables), order="F")
    small.setflags(write=False)
    return small


def smallest_type(variables: Sequence[Variable]) -> type[np.signedinteger[Any]]:
    """The smallest integers that hold every state of these variables."""
    n_states = max(map(len, variables), default=1)
    for kind in (np.int8, np.int16, np.int32):
        if n_states - 1 <= np.iinfo(kind).max:
            return kind
    return np.int64


def checked_weights(weights: Any, n_rows: int, first_row: int = 0) -> Floats:
    """Weights as given, or ones; `ModelError` unless there is one for each row, finite and at least 0.

    `first_row` rows came before these.
    """
    if weights is None:
        return frozen_floats(np.ones(n_rows))
    try:
        values = frozen_floats(weights)
    except (TypeError, ValueError):
        raise ModelError("weights must be numbers, one for each row") from None
    if values.shape != (n_rows,):
        raise ModelError(f"expected {n_rows} weights, one for each row; found shape {values.shape}")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ModelError(
            f"weight of row {first_row + row} is {values[row]}; weights must be finite and at least 0"
        )
    return values


def make_dataset(
    data: Any,
    target: str | None = None,
    *,
    discretization: Discretization | None = None,
    weights: Any = None,
) -> Dataset:
    """The rows of `data` (see `read_table`) as states of variables that are made to fit them.

    `weights` are numbers, or the name of the column that holds them. Rows of weight 0 are left out.

    Raises `FormatError` for a file that cannot be read, `QueryError` for an unknown name, `ModelError` for
    data that contradict themselves.

    >>> data = make_dataset({"age": [20.5, 31, 58, 64], "risk": ["low", "low", "high", "high"]},
    ...                     discretization=Discretization(cuts_by_column={"age": [45]}))
    >>> [variable.states for variable in data.variables]
    [('<=45', '>45'), ('high', 'low')]
    """
    if isinstance(data, str | os.PathLike | CsvFile) and (weights is None or isinstance(weights, str)):
        from unswayed.model.data.census import infer_variables, read_coded

        census = infer_variables(data, target, discretization=discretization, weights=weights)
        return join_datasets(list(read_coded(census)))
    table = read_table(data)
    if isinstance(weights, str):
        table, weights = _split_weights(table, weights)
    table, kept_weights = _positive(table, checked_weights(weights, table.n_rows))
    discretization = expect_discretization(discretization)
    for name in discretization.cuts_by_column:
        table.column(name)
    classes = None if target is None else target_codes(table.column(target), discretization)
    recipe = ColumnRecipe(target, discretization, kept_weights, classes)
    pairs = [column_variable(column, recipe) for column in table.columns]
    return Dataset([v for v, _ in pairs], np.array([codes for _, codes in pairs]).T, kept_weights)


def _positive(table: Table, weights: Floats) -> tuple[Table, Floats]:
    """The rows that count: what only rows of weight 0 contain must not become a state."""
    kept = weights > 0
    if kept.all():
        return table, weights
    if not kept.any():
        refuse_weightless()
    columns = tuple(take_cells(column, kept) for column in table.columns)
    return Table(columns, int(kept.sum()), table.path), weights[kept]


def refuse_weightless() -> NoReturn:
    """Raise `ModelError` for rows that all have weight 0."""
    raise ModelError("all rows have weight 0; at least one must count")


def refuse_labels(name: str) -> NoReturn:
    """Raise `ModelError` for weights that are no numbers."""
    raise ModelError(f"column {name!r} cannot be the weights: it holds labels, not numbers")


def join_datasets(parts: Sequence[Dataset]) -> Dataset:
    """The rows of all parts, which have the same variables."""
    codes = np.concatenate([part.codes for part in parts])
    return Dataset(parts[0].variables, codes, np.concatenate([part.weights for part in parts]))


def _split_weights(table: Table, name: str) -> tuple[Table, Floats]:
    """The table without its column of weights, and the weights."""
    column = table.column(name)
    if isinstance(column, LabelColumn):
        refuse_labels(name)
    return Table(tuple(c for c in table.columns if c is not column), table.n_rows, table.path), column.values


@dataclass(frozen=True, slots=True, eq=False)
class ColumnRecipe:
    """What decides how columns become variables, besides their own values."""

    target: str | None
    discretization: Discretization
    weights: Floats  # (rows,)
    classes: Codes | None  # (rows,)


def target_codes(column: Column, discretization: Discretization) -> Codes:
    """The state of the target in each row; `ModelError` when it is missing everywhere."""
    # The target is not cut by any method, so neither weights nor classes matter.
    codes = column_variable(column, ColumnRecipe(column.name, discretization, np.empty(0), None))[1]
    if not (codes >= 0).any():
        raise ModelError(f"every row misses the target {column.name!r}; nothing can be learned about it")
    return codes


def column_variable(column: Column, recipe: ColumnRecipe) -> tuple[Variable, Codes]:
    """The variable that a column is, and its state in each row."""
    if isinstance(column, LabelColumn):
        return _label_variable(column)
    given = recipe.discretization.cuts_by_column.get(column.name)
    if given is not None:
        cuts = checked_cuts(given, column.name)
    elif column.name == recipe.target or _stays_categorical(column, recipe.discretization):
        return _number_variable(column, is_target=column.name == recipe.target)
    else:
        known = ~np.isnan(column.values)
        classes = None if recipe.classes is None else recipe.classes[known]
        observed = Observed(column.values[known], recipe.weights[known], classes)
        cuts = chosen_cuts(recipe.discretization.method, observed)
    return Variable(column.name, interval_states(cuts)), interval_codes(column.values, cuts)


def _stays_categorical(column: NumberColumn, discretization: Discretization) -> bool:
    if discretization.max_categories is None:
        return True
    known = column.values[~np.isnan(column.values)]
    # Looked at only as long as needed: most columns of measurements fail on their first value.
    if not known.size or (known[:64] % 1 != 0).any() or (known % 1 != 0).any():
        return False
    return len(_distinct(known, discretization.max_categories)) <= discretization.max_categories


def _distinct(values: Floats, at_most: int | None = None) -> Floats:
    """The distinct values, ascending; with `at_most`, any one more than that when there are more."""
    found: list[float] = []
    # Taking out one value after the other beats sorting while they are few.
    while values.size and len(found) < FEW:
        if at_most is not None and len(found) > at_most:
            return np.array(found)
        found.append(float(values[0]))
        values = values[values != values[0]]
    return np.union1d(found, values)


def _number_variable(column: NumberColumn, *, is_target: bool) -> tuple[Variable, Codes]:
    """A variable with one state for each distinct number."""
    points = _distinct(column.values[~np.isnan(column.values)])
    if is_target:
        refuse_measurements(column.name, points)
    if not points.size:
        return Variable(column.name, [ANY]), np.full(len(column.values), -1, dtype=np.int64)
    states = [text_of(point) for point in points]
    return Variable(column.name, states), matching_codes(column.values, points)


def refuse_measurements(name: str, points: Floats) -> None:
    """`ModelError` where a target holds numbers that are not whole."""
    if (points % 1 != 0).any():
        raise ModelError(
            f"the target {name!r} holds measurements such as {points[points % 1 != 0][0]}, not "
            "classes; give its cut points in Discretization(cuts_by_column=...)"
        )


def _label_variable(column: LabelColumn) -> tuple[Variable, Codes]:
    """A variable with one state for each label that occurs or was declared."""
    occurring = np.unique(column.codes[column.codes >= 0]).tolist()
    if not column.declared:
        numbers = [number_in(column.labels[code]) for code in occurring]
        by_value = dict(zip(occurring, numbers, strict=True)) if None not in numbers else {}
        occurring.sort(key=lambda code: (by_value.get(code, 0.0), column.labels[code]))
    kept = list(range(len(column.labels))) if column.declared else occurring
    states = [column.labels[code] for code in kept] or [ANY]
    # The last entry stands for -1, so that missing cells need no step of their own.
    position = np.full(len(column.labels) + 1, -1, dtype=np.int64)
    position[kept] = np.arange(len(kept))
    return Variable(column.name, states), position[column.codes]
