"""Variables for the columns of a table that need not fit into memory, and its rows as their states.

`infer_variables` passes over the table once and counts how often each value of each column occurs with each
class; from these counts it decides as `make_dataset` decides from the rows, and comes to the same variables.
`read_coded` passes over it again and gives the rows, block by block.

Columns of numbers are counted exactly up to `MOST_PAIRS` pairs of value and class over all columns. One that
has more than its share is counted again at a sample of its values (`value_tally.py`): its cut points then lie
next to values of the sample, the census names the column, and a warning says so. What is counted afterwards,
with these cut points, is exact as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.core.errors import LimitError, ModelError, QueryError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.data.column_warnings import SeenColumn
from unswayed.model.data.csv import CsvFile, RawColumn, find_pointed, refuse_infinite
from unswayed.model.data.dataset import (
    ColumnRecipe,
    Dataset,
    column_variable,
    refuse_measurements,
    smallest_type,
    target_codes,
)
from unswayed.model.data.discretize import Discretization, expect_discretization
from unswayed.model.data.encoding import column_codes
from unswayed.model.data.intervals import interval_codes
from unswayed.model.data.row_source import (
    LateTextError,
    RowSource,
    join_cells,
    length_of,
    open_source,
    source_blocks,
)
from unswayed.model.data.spelt_numbers import may_be_thousands
from unswayed.model.data.tables import Column, LabelColumn, NumberColumn, take_cells
from unswayed.model.data.value_tally import (
    ClassSplit,
    ValueTally,
    choose_borders,
    round_up,
    split_classes,
)
from unswayed.model.variable import Variable

MOST_PAIRS = 2**23
"""Pairs of value and class that are counted, over all columns: some 200 MB."""
MOST_TEXTS = 2**20
"""Different texts of one column."""
MOST_CLASSES = 2**12
"""Different values of the target."""

Report = Callable[[str, int], None]
"""Called with what is being done, and the number of rows it was done for."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCoding:
    """A variable, and how the cells of its column become its states."""

    variable: Variable
    state_by_text: Mapping[str, int]

    def encode(self, raw: RawColumn) -> Codes:
        """The state of each cell, -1 where it is missing."""
        if isinstance(raw, np.ndarray):
            return column_codes(NumberColumn(self.variable.name, raw), self.variable)
        texts, positions = raw
        states = np.array([*(self.state_by_text.get(text, -1) for text in texts), -1])
        codes: Codes = states[positions]
        return codes


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """What passes over a table found."""

    source: RowSource
    codings: tuple[ColumnCoding, ...]
    """One for each column that is a variable."""
    n_rows: int
    """Rows that count."""
    weights: str | None
    """The column that says how much each row counts."""
    as_text: frozenset[str]
    """Columns of a CSV file that hold more than numbers."""
    seen: tuple[SeenColumn, ...]
    """What the columns hold, to find those that are no features."""
    sampled: tuple[str, ...]
    """Columns of numbers with too many values to count each, whose cut points a sample decided."""
    class_weights: Floats | None
    """Weight of the rows in each state of the target; None without a target."""
    report: Report | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the columns."""
        return tuple(coding.variable for coding in self.codings)


def infer_variables(
    data: Any,
    target: str | None = None,
    *,
    discretization: Discretization | None = None,
    weights: str | None = None,
    ignored: Sequence[str] = (),
    report: Report | None = None,
) -> Census:
    """Variables for the columns of a file, a folder of Parquet files or an Arrow dataset, in bounded memory.

    They are those of `make_dataset`. `weights` names a column; `ignored` columns are left out. Warns of
    columns with too many numbers to count each, and of decimals that may be thousands; raises `LimitError`
    for a column of too many different texts.
    """
    source = open_source(data)
    asked = _Asked(source, target, expect_discretization(discretization), weights, tuple(ignored), report)
    as_text: frozenset[str] = frozenset()
    while True:
        try:
            return _count_columns(asked, as_text)
        except LateTextError as late:
            if str(late) in as_text:
                raise ModelError(f"column {late} cannot be read as texts") from None
            as_text |= {str(late)}


def read_coded(census: Census) -> Iterator[Dataset]:
    """The rows as states, block by block; rows of weight 0 are left out."""
    names, n_rows = [variable.name for variable in census.variables], 0
    for block, weights in source_blocks(census.source, names, census.as_text, census.weights):
        n_block = length_of(block[names[0]])
        codes = np.empty((n_block, len(names)), dtype=smallest_type(census.variables), order="F")
        for place, coding in enumerate(census.codings):
            codes[:, place] = coding.encode(block[coding.variable.name])
        yield Dataset(census.variables, codes, weights)
        n_rows += n_block
        if census.report is not None:
            census.report("counted", n_rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What a census is about."""

    source: RowSource
    target: str | None
    discretization: Discretization
    weights: str | None
    ignored: tuple[str, ...]
    report: Report | None

    def __post_init__(self) -> None:
        for name in (self.target, self.weights, *self.ignored, *self.discretization.cuts_by_column):
            if name is not None and name not in self.source.names:
                raise QueryError(unknown_name("column", name, self.source.names))
        if not self.names:
            raise ModelError("no column is left to learn from; ignore fewer")

    @property
    def names(self) -> list[str]:
        """The columns that become variables."""
        return [name for name in self.source.names if name != self.weights and name not in self.ignored]


@dataclass(slots=True)
class _ColumnTally:
    """Counts of the cells of one column: of its numbers, and of its texts by their positions in a list."""

    name: str
    numbers: ValueTally
    positions: ValueTally = field(default_factory=ValueTally)
    texts: dict[str, int] = field(default_factory=dict)
    borders: Floats | None = None
    """Values to which the numbers are rounded up; None counts them as they are."""
    n_numbers: int | None = None
    """About how many distinct numbers there are, where not all are counted."""

    def add(self, raw: RawColumn, split: ClassSplit) -> None:
        """Count the cells of a block."""
        if isinstance(raw, np.ndarray):
            self.numbers.add(raw if self.borders is None else round_up(raw, self.borders), split)
            return
        found = [self.texts.setdefault(text, len(self.texts)) for text in raw[0]]
        if len(self.texts) > MOST_TEXTS:
            raise LimitError(
                f"column {self.name!r} has more than {MOST_TEXTS:,} different texts, too many for the states "
                "of a variable; leave it out"
            )
        self.positions.add(np.array([*found, np.nan])[raw[1]], split)


@dataclass(slots=True)
class _ClassTally:
    """The values of the target, numbered as they turn up."""

    name: str | None
    cuts: Floats | None
    """Cut points, where they are given."""
    number_by_value: dict[float | str, int] = field(default_factory=dict)

    def classify(self, raw: RawColumn) -> Ints:
        """The number of each cell's value, -1 where it is missing."""
        if isinstance(raw, np.ndarray):
            distinct, positions = np.unique(self._round(raw), return_inverse=True)
            values: list[float | str | None] = [None if np.isnan(v) else v for v in distinct.tolist()]
        else:
            used, positions = np.unique(raw[1], return_inverse=True)
            values = [None if place < 0 else raw[0][place] for place in used.tolist()]
        numbers = self.number_by_value
        found = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
        if len(numbers) > MOST_CLASSES:
            self._refuse()
        classes: Ints = np.array(found, dtype=np.int64)[positions]
        return classes

    def _round(self, values: Floats) -> Floats:
        """With cut points, one value for each interval."""
        if self.cuts is None:
            return values
        above = np.nextafter(self.cuts[-1], np.inf) if len(self.cuts) else 0.0
        rounded: Floats = np.array([*self.cuts, above, np.nan])[interval_codes(values, self.cuts)]
        return rounded

    def _refuse(self) -> None:
        numbers = np.array([value for value in self.number_by_value if isinstance(value, float)])
        refuse_measurements(str(self.name), numbers)
        raise LimitError(f"the target {self.name!r} has over {MOST_CLASSES:,} different values; group them")


def _count_columns(asked: _Asked, as_text: frozenset[str]) -> Census:
    share = MOST_PAIRS // len(asked.names)
    tallies = [_ColumnTally(name, ValueTally(share)) for name in asked.names]
    given = asked.discretization.cuts_by_column.get(asked.target or "")
    classes = _ClassTally(asked.target, None if given is None else np.array(given, dtype=np.float64))
    n_rows = _pass_over(asked, tallies, classes, as_text)
    class_codes = _class_codes(asked, classes)
    sampled = [tally for tally in tallies if _needs_sample(tally, asked)]
    if sampled:
        most = share // max(len(classes.number_by_value), 1)
        again = [_at_borders(tally, most) for tally in sampled]
        _pass_over(asked, again, classes, as_text)
        recounted = {tally.name: tally for tally in again}
        tallies = [recounted.get(tally.name, tally) for tally in tallies]
    found = [_finish(tally, asked, class_codes) for tally in tallies]
    names = tuple(tally.name for tally in sampled)
    _warn_of_samples(names, share)
    _warn_of_points(asked, tallies)
    return Census(
        source=asked.source,
        codings=tuple(coding for coding, _ in found),
        n_rows=n_rows,
        weights=asked.weights,
        as_text=as_text,
        seen=tuple(seen for _, seen in found),
        sampled=names,
        class_weights=None if class_codes is None else _class_weights(tallies, asked, class_codes),
        report=asked.report,
    )


def _pass_over(
    asked: _Asked, tallies: Sequence[_ColumnTally], classes: _ClassTally, as_text: frozenset[str]
) -> int:
    """Count the cells of these columns; the answer is how many rows count."""
    names, target, n_rows = [tally.name for tally in tallies], asked.target, 0
    wanted = names if target is None else [*names, target]
    for block, weights in source_blocks(asked.source, wanted, as_text, asked.weights):
        if target is None:
            numbers: Ints = np.zeros(length_of(block[names[0]]), dtype=np.int64)
        else:
            numbers = classes.classify(block[target])
        split = split_classes(numbers, weights)
        for tally in tallies:
            tally.add(block[tally.name], split)
        n_rows += len(numbers)
        if asked.report is not None:
            asked.report("read", n_rows)
    return n_rows


def _class_codes(asked: _Asked, classes: _ClassTally) -> Ints | None:
    """The state of the target for each number of its values, and -1 at the end; None without a target."""
    if asked.target is None:
        return None
    numbers = {value: n for value, n in classes.number_by_value.items() if isinstance(value, float)}
    texts = {value: n for value, n in classes.number_by_value.items() if isinstance(value, str)}
    column = join_cells(asked.source, asked.target, np.array(list(numbers)), list(texts))
    codes = np.full(len(classes.number_by_value) + 1, -1)
    codes[[*numbers.values(), *texts.values()]] = target_codes(column, asked.discretization)
    return codes


def _class_weights(tallies: Sequence[_ColumnTally], asked: _Asked, class_codes: Ints) -> Floats:
    target = next(tally for tally in tallies if tally.name == asked.target)
    found: Floats = np.zeros(int(class_codes.max()) + 1)
    for counted in (target.numbers.counted(), target.positions.counted()):
        codes = class_codes[counted.classes]
        np.add.at(found, codes[codes >= 0], counted.weights[codes >= 0])
    return found


def _needs_sample(tally: _ColumnTally, asked: _Asked) -> bool:
    """Whether the column has too many values to count each, and they matter."""
    name, discretization = tally.name, asked.discretization
    tally.numbers.join()
    if not tally.numbers.n_halvings or name == asked.target or name in discretization.cuts_by_column:
        return False
    if discretization.max_categories is None:
        raise LimitError(
            f"column {name!r} has too many numbers for each to be a state; cut it, or leave it out"
        )
    return True


def _at_borders(tally: _ColumnTally, at_most: int) -> _ColumnTally:
    """What counts the numbers of a column at a sample of at most so many of them."""
    sample = tally.numbers.counted()
    # Where no number of the sample occurs twice, hardly any does.
    is_distinct = bool((sample.weights == 1).all())
    n_numbers = tally.numbers.n_seen if is_distinct else len(np.unique(sample.values))
    return _ColumnTally(
        tally.name, ValueTally(), borders=choose_borders(tally.numbers, at_most), n_numbers=n_numbers
    )


def _finish(tally: _ColumnTally, asked: _Asked, class_codes: Ints | None) -> tuple[ColumnCoding, SeenColumn]:
    """The variable of a column and how to code it, and what it holds."""
    numbers, positions = tally.numbers.counted(), tally.positions.counted()
    texts, n_numbers = list(tally.texts), len(numbers.values)
    places = positions.values.astype(np.int64)
    rows = np.concatenate([np.arange(n_numbers), n_numbers + places])
    column = take_cells(join_cells(asked.source, tally.name, numbers.values, texts), rows)
    if isinstance(column, NumberColumn) and np.isinf(column.values).any():
        assert isinstance(asked.source.data, CsvFile)  # frames are refused as they are read
        refuse_infinite(asked.source.data, tally.name)
    weights = np.concatenate([numbers.weights, positions.weights])
    classes = np.concatenate([numbers.classes, positions.classes])
    known = None if class_codes is None else class_codes[classes]
    variable, codes = column_variable(
        column, ColumnRecipe(asked.target, asked.discretization, weights, known)
    )
    state_by_text = {texts[p]: c for p, c in zip(places.tolist(), codes[n_numbers:].tolist(), strict=True)}
    return ColumnCoding(variable, state_by_text), _seen(tally, column)


def _seen(tally: _ColumnTally, column: Column) -> SeenColumn:
    n_rows = tally.numbers.n_seen + tally.positions.n_seen
    if isinstance(column, LabelColumn):
        texts = tuple(column.labels[code] for code in np.unique(column.codes) if code >= 0)
        return SeenColumn(tally.name, n_rows, texts)
    values = np.unique(column.values[~np.isnan(column.values)])
    if not len(values):
        return SeenColumn(tally.name, 0)
    n_numbers = len(values) if tally.n_numbers is None else tally.n_numbers
    return SeenColumn(tally.name, n_rows, (), n_numbers, float(values[0]), float(values[-1]))


def _warn_of_samples(names: Sequence[str], share: int) -> None:
    if names:
        warnings.warn(
            f"too many different numbers to count each (over {share:,} pairs of number and class) in "
            f"{listing(names)}: cut points are chosen next to a sample of the numbers; all rows count",
            UnswayedWarning,
            stacklevel=4,
        )


def _warn_of_points(asked: _Asked, tallies: Sequence[_ColumnTally]) -> None:
    """Warn of columns of a CSV file whose decimal points may separate thousands."""
    file = asked.source.data
    if not isinstance(file, CsvFile):
        return
    # Their spelling takes another pass, so numbers that rule it out are sorted out first.
    names = [tally.name for tally in tallies if may_be_thousands(tally.numbers.counted().values)]
    for name, (first, n_cells) in find_pointed(file, names).items():
        cells = f"{first!r} is read as a decimal"
        if n_cells > 1:
            others = "1 other" if n_cells == 2 else f"{n_cells - 1:,} others"
            cells = f"{first!r} and {others} are read as decimals"
        warnings.warn(
            f"column {name!r}: {cells}; if the point separates thousands, name the column in "
            "open_csv(thousands=...)",
            UnswayedWarning,
            stacklevel=4,
        )
