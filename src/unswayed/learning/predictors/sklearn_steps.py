"""The steps of a pipeline before its model: each column that comes out, as a function of one that goes in.

Scaling, imputing and encoding look at one column at a time. So a column before the model is a *derived* one:
a line over a number, or a table over the categories of a word, with a value for what is missing. Any other
step raises `UnreadableError`, and the pipeline is taken as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, frozen_floats
from unswayed.learning.predictors.fitted import UnreadableError
from unswayed.model.data.tables import text_of
from unswayed.model.nodes.additive import Term, linear_term, stepped_term


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A column before the model: subtract, then divide, then add; or a table over categories."""

    source: int
    """The column of the table that it is made of."""
    shift: float = 0.0
    scale: float = 1.0
    """A number x becomes (x - shift) / scale."""
    missing: Any = math.nan
    """What stands where nothing was measured: a number, or a word before it is encoded."""
    words: tuple[str, ...] = ()
    """Categories of a word; none for a number."""
    table: Floats | None = None
    """The number of each category and of unknown ones; None before they are encoded."""

    def at(self, values: Floats) -> Floats:
        """Numbers as the model gets them."""
        found: Floats = (values - self.shift) / self.scale
        return found

    def term(self, weights: Floats) -> Term:  # (scores,)
        """What the column adds under weights."""
        gap = float(self.missing) if _is_number(self.missing) else math.nan
        missing = weights * (0.0 if math.isnan(gap) else gap)
        if self.table is not None:
            return stepped_term(np.outer(self.table, weights), missing=missing)
        if self.words:
            raise UnreadableError("words reach the model as they are")
        line = linear_term(weights / self.scale, missing)
        return Term(line.coefficients - np.stack([weights * self.shift / self.scale, 0 * weights]), missing)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int | np.number)


def raw_columns(words: Sequence[tuple[str, ...]]) -> list[Derived]:
    """The columns of a table before any step."""
    return [Derived(source, words=each) for source, each in enumerate(words)]


def through(step: Any, columns: list[Derived]) -> list[Derived]:
    """The columns after a fitted step."""
    kind = type(step).__name__
    if step in ("passthrough", None) or (kind == "FunctionTransformer" and step.func is None):
        return columns
    if step == "drop":
        return []
    if kind in _STEPS:
        return _STEPS[kind](step, columns)
    raise UnreadableError(f"a step of type {kind}")


def _pipeline(step: Any, columns: list[Derived]) -> list[Derived]:
    for _, each in step.steps:
        columns = through(each, columns)
    return columns


def _column_transformer(step: Any, columns: list[Derived]) -> list[Derived]:
    found = []
    for name, each, _ in step.transformers_:
        chosen = [columns[i] for i in step._transformer_to_input_indices.get(name, [])]
        found += through(each, chosen) if chosen else []
    return found


def _scaled(columns: list[Derived], shifts: Any, scales: Any) -> list[Derived]:
    shifts = np.zeros(len(columns)) if shifts is None else shifts
    scales = np.ones(len(columns)) if scales is None else scales
    return [_scale(*each) for each in zip(columns, shifts.tolist(), scales.tolist(), strict=True)]


def _scale(column: Derived, shift: float, scale: float) -> Derived:
    if (column.words and column.table is None) or scale <= 0:
        raise UnreadableError("words or a negative scale are scaled")
    missing = (float(column.missing) - shift) / scale
    if column.table is not None:
        return replace(column, table=frozen_floats((column.table - shift) / scale), missing=missing)
    # ((x - a) / b - c) / d = (x - (a + c b)) / (b d)
    total = column.shift + shift * column.scale
    return replace(column, shift=total, scale=column.scale * scale, missing=missing)


def _standard(step: Any, columns: list[Derived]) -> list[Derived]:
    return _scaled(columns, step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None)


def _min_max(step: Any, columns: list[Derived]) -> list[Derived]:
    if step.clip:
        raise UnreadableError("a scaler that clips")
    return _scaled(columns, -step.min_ / step.scale_, 1.0 / step.scale_)


def _max_abs(step: Any, columns: list[Derived]) -> list[Derived]:
    return _scaled(columns, None, step.scale_)


def _robust(step: Any, columns: list[Derived]) -> list[Derived]:
    centre = step.center_ if step.with_centering else None
    return _scaled(columns, centre, step.scale_ if step.with_scaling else None)


def _impute(step: Any, columns: list[Derived]) -> list[Derived]:
    statistics = list(step.statistics_)
    if step.indicator_ is not None or not _is_nan(step.missing_values) or any(map(_is_nan, statistics)):
        raise UnreadableError("an imputer that adds or drops columns, or imputes other values than NaN")
    return [replace(column, missing=value) for column, value in zip(columns, statistics, strict=True)]


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value))


def _one_hot(step: Any, columns: list[Derived]) -> list[Derived]:
    if getattr(step, "_infrequent_enabled", False):
        raise UnreadableError("an encoder that puts rare categories together")
    found, dropped = [], step.drop_idx_
    for place, (column, categories) in enumerate(zip(columns, step.categories_, strict=True)):
        column = _as_words(column, categories)
        gone = None if dropped is None else dropped[place]
        for number, category in enumerate(categories):
            if number != gone:
                found.append(_indicator(column, category))
    return found


def _as_words(column: Derived, categories: Any) -> Derived:
    """A column of categories; numbers become their texts."""
    if column.table is not None or (column.shift, column.scale) != (0.0, 1.0):
        raise UnreadableError("columns are encoded after they were changed")
    texts = tuple(text_of(each) for each in categories if not _is_nan(each))
    return column if column.words else replace(column, words=texts)


def _indicator(column: Derived, category: Any) -> Derived:
    word = None if _is_nan(category) else text_of(category)
    table = [float(each == word) for each in column.words] + [0.0]
    filled = None if _is_nan(column.missing) else text_of(column.missing)
    return replace(column, table=frozen_floats(table), missing=float(filled == word))


def _ordinal(step: Any, columns: list[Derived]) -> list[Derived]:
    found = []
    for column, categories in zip(columns, step.categories_, strict=True):
        column = _as_words(column, categories)
        texts = ["" if _is_nan(each) else text_of(each) for each in categories]
        unknown = math.nan if step.unknown_value is None else float(step.unknown_value)
        table = [float(texts.index(each)) if each in texts else unknown for each in column.words] + [unknown]
        filled = None if _is_nan(column.missing) else text_of(column.missing)
        gap = float(texts.index(filled)) if filled in texts else float(step.encoded_missing_value)
        found.append(replace(column, table=frozen_floats(table), missing=gap))
    return found


_STEPS = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
    "SimpleImputer": _impute,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
}
