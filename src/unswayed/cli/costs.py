"""What observing each feature costs, as typed (`--cost A=2,B=0.5`) or from a file (`--costs FILE.csv`).

The file has a line for each feature, its name and its cost; a first line may name the columns:

    feature,cost
    blood test,12.5
    temperature,0.5
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from unswayed.cli.evidence import pairs_in
from unswayed.core.errors import FormatError, QueryError

EXPECTED = "FEATURE=COST, such as Light=2"
HEADER = ["feature", "cost"]


def costs_of(words: Sequence[str] | None, path: Path | None) -> dict[str, float] | None:
    """Costs by feature; None when none are given, `QueryError` or `FormatError` when they make no sense."""
    if words and path is not None:
        raise QueryError("--cost and --costs both give costs; put all of them in one place")
    if path is not None:
        return _from_file(path)
    return _typed(words) if words else None


def _typed(words: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, text in pairs_in(words, expected=EXPECTED):
        if name in found:
            raise QueryError(f"--cost prices {name!r} twice; give one cost")
        cost = _number(text)
        if cost is None:
            raise QueryError(f"the cost of {name!r} is {text!r}; expected {EXPECTED}")
        found[name] = cost
    return found


def _from_file(path: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for line, cells in _rows(path):
        if len(cells) != 2:
            raise FormatError(f"expected FEATURE,COST; found {','.join(cells)!r}", path, line)
        name, cost = cells[0], _number(cells[1])
        if cost is None:
            raise FormatError(f"the cost of {name!r} is {cells[1]!r}; give a number", path, line)
        if not (math.isfinite(cost) and cost > 0):
            raise FormatError(f"the cost of {name!r} must be a positive number, not {cost:g}", path, line)
        if name in found:
            raise FormatError(f"{name!r} has a second cost; give one", path, line)
        found[name] = cost
    return found


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Numbered lines as cells without blanks around them; empty lines and the column names left out."""
    from unswayed.model.formats.source import load

    reader = csv.reader(io.StringIO(load(path).text, newline=""))
    is_first = True
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not (is_first and [cell.lower() for cell in cells] == HEADER):
                yield reader.line_num, cells
            is_first = is_first and not any(cells)
    except csv.Error as error:
        raise FormatError(f"no table: {error}", path, reader.line_num) from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
