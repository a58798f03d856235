"""The columns of a table as variables whose states stand for values: cuts, representatives, codes.

A category is a state. Of numbers, few distinct whole ones are states themselves; others are cut into
intervals: where the model's trees cut, while these places are few, else at quantiles and where the trees cut
most often. Each interval stands for one value, the middle one of the rows in it. The outermost intervals are
open. Cuts are written in the fewest digits that divide the rows alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import listing
from unswayed.learning.predictors.fitted import Fitted
from unswayed.model.data.dataset import Dataset, smallest_type
from unswayed.model.data.encoding import state_codes
from unswayed.model.data.intervals import interval_states
from unswayed.model.data.tables import Column, LabelColumn, Table, number_in, text_of
from unswayed.model.nodes.predictor import Input
from unswayed.model.variable import Variable

NEVER_MEASURED = "missing"
"""The state of a value that is missing for good, which the model was trained on."""
REPRESENTATIVES = ("rows", "quantiles")


@dataclass(frozen=True, slots=True)
class Binning:
    """How columns become variables."""

    bins: int = 8
    """Intervals of a column of numbers."""
    representatives: str = "rows"
    """What an interval stands for: the middle value of its rows, or a rounded mean that is nobody's value."""
    missing_is_value: tuple[str, ...] = ()
    """Columns in which nothing measured is a value of its own."""

    def __post_init__(self) -> None:
        if not 2 <= self.bins <= 1000:
            raise QueryError(f"bins must be a number from 2 to 1000, not {self.bins!r}")
        if self.representatives not in REPRESENTATIVES:
            names = listing(list(REPRESENTATIVES))
            raise QueryError(f"representatives must be one of {names}, not {self.representatives!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """A table as states."""

    data: Dataset
    inputs: tuple[Input, ...]
    """What the states of each column stand for."""


def bin_columns(
    table: Table, words: Sequence[tuple[str, ...]], fitted: Fitted | None, binning: Binning
) -> Binned:
    """The columns as variables, with the states of all rows."""
    unknown = [name for name in binning.missing_is_value if name not in table.names]
    if unknown:
        raise QueryError(f"missing_is_value names {listing(unknown)}; the columns are {listing(table.names)}")
    cuts = _cuts_of_trees(fitted, len(table.columns))
    variables, inputs, codes = [], [], []
    for column, own, places in zip(table.columns, words, cuts, strict=True):
        has_gap = column.name in binning.missing_is_value
        states, each = _states(column, own, places, binning)
        found = np.asarray(state_codes(column, Variable(column.name, states)), dtype=np.int64)
        if has_gap:
            states, each = (*states, NEVER_MEASURED), Input((*each.values, math.nan), each.words)
            found[_gaps(column)] = len(states) - 1
        variables.append(Variable(column.name, states))
        inputs.append(each)
        codes.append(found)
    rows: Codes = np.column_stack(codes).astype(smallest_type(variables))
    return Binned(Dataset(variables, rows), tuple(inputs))


def _gaps(column: Column) -> Any:
    return column.codes < 0 if isinstance(column, LabelColumn) else np.isnan(column.values)


def _cuts_of_trees(fitted: Fitted | None, n_columns: int) -> list[Floats]:
    """Where the trees cut each column, a place as often as it is cut there."""
    if fitted is None or fitted.trees is None:
        return [np.empty(0)] * n_columns
    trees = fitted.trees
    return [trees.cut[(trees.feature == place) & ~np.isnan(trees.cut)] for place in range(n_columns)]


def _states(
    column: Column, words: tuple[str, ...], tree_cuts: Floats, binning: Binning
) -> tuple[tuple[str, ...], Input]:
    if isinstance(column, LabelColumn) or words:
        return _categories(column, words)
    values = column.values[~np.isnan(column.values)]
    if not len(values):
        raise ModelError(
            f"column {column.name!r} has no value in any row; leave it out, or give rows that have one"
        )
    distinct = np.unique(values)
    if len(distinct) <= binning.bins and (distinct == np.rint(distinct)).all():
        return tuple(map(text_of, distinct.tolist())), Input(tuple(distinct.tolist()))
    cuts = _choose_cuts(values, distinct, tree_cuts, binning.bins)
    which = np.searchsorted(cuts, values, side="left")
    parts = [np.sort(values[which == place]) for place in range(len(cuts) + 1)]
    return interval_states(cuts), Input(tuple(_represent(part, binning) for part in parts))


def input_for(variable: Variable, column: Column, words: tuple[str, ...]) -> Input:
    """What the states of a given variable stand for: their words, their numbers, the middle of their rows."""
    if isinstance(column, LabelColumn) or words:
        return Input(variable.states, words or variable.states)
    codes, values = state_codes(column, variable), []
    for state, name in enumerate(variable.states):
        rows, number = np.sort(column.values[codes == state]), number_in(name)
        if number is None and not len(rows):
            raise ModelError(
                f"no row is in the state {name!r} of {variable.name!r}; give rows, or join states"
            )
        values.append(_represent(rows, Binning()) if number is None else number)
    return Input(tuple(values))


def _categories(column: Column, words: tuple[str, ...]) -> tuple[tuple[str, ...], Input]:
    if isinstance(column, LabelColumn):
        seen = [label for code, label in enumerate(column.labels) if (column.codes == code).any()]
    else:
        seen = [text_of(value) for value in np.unique(column.values[~np.isnan(column.values)]).tolist()]
    if not seen:
        raise ModelError(
            f"column {column.name!r} has no value in any row; leave it out, or give rows that have one"
        )
    return tuple(seen), Input(tuple(seen), words or tuple(seen))


def _choose_cuts(values: Floats, distinct: Floats, tree_cuts: Floats, bins: int) -> Floats:
    """The cuts of a column, each with rows on both sides."""
    places, counts = np.unique(np.searchsorted(distinct, tree_cuts, side="right"), return_counts=True)
    inside = (places > 0) & (places < len(distinct))
    places, counts = places[inside], counts[inside]
    if not 0 < len(places) <= 2 * bins:
        at = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
        quantiles = np.searchsorted(distinct, at, side="right")
        most = places[np.argsort(-counts, kind="stable")[:bins]]
        places = np.unique(np.concatenate([most, quantiles[quantiles < len(distinct)]]))
    return np.array([_between(distinct[place - 1], distinct[place]) for place in places.tolist()])


def _between(low: float, high: float) -> float:
    """The number of fewest digits from `low` on and below `high`.

    >>> _between(3.1415, 3.19), _between(0.0, 1.0)
    (3.17, 0.5)
    """
    middle = low + (high - low) / 2
    for digits in range(1, 17):
        found = float(f"{middle:.{digits}g}")
        if low <= found < high:
            return found
    return float(low)


def _represent(values: Floats, binning: Binning) -> float:
    if binning.representatives == "rows":
        return float(values[(len(values) - 1) // 2])
    rounded = float(f"{values.mean():.3g}")
    return rounded if values[0] <= rounded <= values[-1] else float(values.mean())
