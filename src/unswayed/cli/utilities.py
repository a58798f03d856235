"""Utilities from a file: what each action is worth in each state of the target.

A JSON file maps actions to states to numbers; a CSV file has a row for each action, whose name comes first,
and a column for each state:

    {"treat": {"ill": 10, "well": -2}, "wait": {"ill": -5, "well": 0}}

    action,ill,well
    treat,10,-2
    wait,-5,0
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unswayed.core.errors import FormatError

if TYPE_CHECKING:
    from unswayed.model.data.tables import Column, Table

Utilities = dict[str, dict[str, float]]


def utilities_in(path: Path) -> Utilities:
    """The utilities in a file, by action and state; `FormatError` tells what was expected."""
    match path.suffix.lower():
        case ".json":
            return _from_json(path)
        case ".csv":
            from unswayed.model.data.tables import read_table

            return _from_table(read_table(path), path)
    raise FormatError(f"utilities come from .json or .csv files, not {path.suffix!r}", path)


def _from_json(path: Path) -> Utilities:
    from unswayed.model.formats.reading.guard import json_content
    from unswayed.model.formats.reading.source import load

    found = json_content(load(path))
    if not isinstance(found, dict) or not all(isinstance(worth, dict) for worth in found.values()):
        raise FormatError('expected an object such as {"treat": {"ill": 10, "well": -2}}', path)
    return {
        action: {state: _number(value, action, state, path) for state, value in worth.items()}
        for action, worth in found.items()
    }


def _from_table(table: Table, path: Path) -> Utilities:
    from unswayed.model.data.tables import number_in

    actions, *states = map(_texts, table.columns)
    found: Utilities = {}
    for row, action in enumerate(actions):
        if action in found:
            raise FormatError(f"the action {action!r} has two rows; give it one", path)
        found[action] = {}
        for name, texts in zip(table.names[1:], states, strict=True):
            number = number_in(texts[row])
            value = texts[row] if number is None else number
            found[action][name] = _number(value, action, name, path)
    return found


def _texts(column: Column) -> list[str]:
    """A column's cells as texts, empty where nothing is given: an action may be called 1."""
    from unswayed.model.data.tables import NumberColumn, is_missing, text_of

    if isinstance(column, NumberColumn):
        return ["" if is_missing(value) else text_of(value) for value in column.values.tolist()]
    return ["" if code < 0 else column.labels[code] for code in column.codes.tolist()]


def _number(value: object, action: str, state: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"the utility of {action!r} in state {state!r} is {value!r}; give a number", path)
    return float(value)
