"""What a classifier was learned from: rows, classes, and the columns that turned out to say nothing."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from unswayed.model.dataset import Dataset
from unswayed.view.probabilities import shortened

MOST_CLASSES = 10
MOST_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The data behind a classifier, in numbers."""

    target: str
    """The class."""
    n_rows: int
    """How many rows counted."""
    rows_by_class: dict[str, float]
    """Rows of each class, by weight; rows that miss the class are in none."""
    constant_columns: tuple[str, ...]
    """Columns left with one state: of one value, or with no cut that tells about the class."""


def learned_from(rows: Dataset, target: str) -> LearnedFrom:
    """The facts of a dataset about its target."""
    position = rows.index(target)
    classes = rows.codes[:, position]
    states = rows.variables[position].states
    return LearnedFrom(
        target=target,
        n_rows=rows.n_rows,
        rows_by_class={s: float(rows.weights[classes == code].sum()) for code, s in enumerate(states)},
        constant_columns=tuple(v.name for v in rows.variables if len(v) == 1 and v.name != target),
    )


def learned_lines(facts: LearnedFrom) -> list[Text]:
    """The facts in a line or two.

    >>> facts = LearnedFrom("flu", 5, {"no": 3.0, "yes": 2.0}, ("name",))
    >>> for line in learned_lines(facts):
    ...     print(line.plain)
    learned from 5 rows; flu: no 3, yes 2
    of one state, so without influence: name
    """
    classes = tuple(f"{state} {weight:.10g}" for state, weight in facts.rows_by_class.items())
    rows = "1 row" if facts.n_rows == 1 else f"{facts.n_rows:,} rows"
    lines = [Text(f"learned from {rows}; {facts.target}: {shortened(classes, MOST_CLASSES)}")]
    if facts.constant_columns:
        names = shortened(facts.constant_columns, MOST_COLUMNS)
        lines.append(Text(f"of one state, so without influence: {names}"))
    return lines
