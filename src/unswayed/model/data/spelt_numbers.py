"""Numbers as spreadsheets of many countries spell them: decimal commas, and marks between thousands.

A column is read so only where all of its cells allow it, and one of them has such a mark. `1,234` alone
could be either; where every comma is followed by three digits, the commas divide thousands. `1.234` could be
either, too, and is a decimal: a person may say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.data.tables import MARKS_AMONG_NUMBERS, MISSING_WORDS, number_in

_COMMAS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_DECIMAL = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?|[+-]?\d+,\d+")
# Blanks of three widths, and apostrophes as typed and as typeset.
_BLANKS = re.compile(r"[+-]?\d{1,3}(?:([ \u00a0\u202f'\u2019])\d{3}(?:\1\d{3})*)?([.,]\d+)?")
_POINTED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_WHOLE = re.compile(r"[+-]?\d{1,3}")
_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?")
_WITHOUT_BLANKS = str.maketrans("", "", " \u00a0\u202f'\u2019")


def read_spelt(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """The numbers that cells spell, NaN for missing ones, and how they were read; None where they spell none.

    >>> read_spelt(["1,5", "2", "?"])
    ([1.5, 2.0, nan], "'1,5' is read as 1.5 (decimal commas)")
    >>> read_spelt(["1,234", "12"])
    ([1234.0, 12.0], "'1,234' is read as 1234 (commas between thousands)")
    >>> read_spelt(["1 234,5", "12"])
    ([1234.5, 12.0], "'1 234,5' is read as 1234.5 (marks between thousands, decimal commas)")
    >>> read_spelt(["1.234.567", "12.500", "12"])
    ([1234567.0, 12500.0, 12.0], "'1.234.567' is read as 1234567 (points between thousands)")
    >>> read_spelt(["a,b", "1,5"]) is None, read_spelt(["2.5", "1,5"]) is None
    (True, True)
    """
    cells = [text.strip() for text in texts]
    bare = [cell.translate(_WITHOUT_BLANKS) if _BLANKS.fullmatch(cell) else cell for cell in cells]
    how = ["marks between thousands"] if bare != cells else []
    commas, points = ([cell for cell in bare if mark in cell.strip(mark)] for mark in ",.")
    marks = {}
    if commas and not how and all(_COMMAS.fullmatch(cell) for cell in commas):
        how, marks = ["commas between thousands"], {",": ""}
    elif commas and all(map(_DECIMAL.fullmatch, {*commas, *points})):
        how, marks = [*how, "decimal commas"], {".": "", ",": "."}
    elif any(cell.count(".") > 1 for cell in points) and all(map(_DECIMAL.fullmatch, points)):
        how, marks = ["points between thousands"], {".": ""}
    elif commas or not how:
        return None
    spelling = str.maketrans(marks)
    missing = MISSING_WORDS | MARKS_AMONG_NUMBERS
    found = [float("nan") if cell in missing else number_in(cell.translate(spelling)) for cell in bare]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(found):
        return None
    first = next(i for i, cell in enumerate(cells) if cell != bare[i] or set(marks).intersection(cell))
    return numbers, f"{cells[first]!r} is read as {numbers[first]:.12g} ({', '.join(how)})"


def list_pointed(texts: Sequence[str]) -> list[bool] | None:
    """For each cell whether it has a point; None unless all points may separate thousands.

    Three digits follow such a point, and one to three stand before it that do not begin with 0.

    >>> list_pointed(["8.767", "950", "?"]), list_pointed(["8.767", "0.123"]), list_pointed(["8.767", "5.1"])
    ([True, False, False], None, None)
    """
    found = []
    for text in map(str.strip, texts):
        is_pointed = _POINTED.fullmatch(text) is not None
        if not (is_pointed or _WHOLE.fullmatch(text) or text in MISSING_WORDS | MARKS_AMONG_NUMBERS):
            return None
        found.append(is_pointed)
    return found


def drop_points(text: str) -> str | None:
    """The number of a cell without the points between its thousands; None where it has other points.

    >>> drop_points("1.234.567"), drop_points("8.767,5"), drop_points("950"), drop_points("8.7")
    ('1234567', '8767.5', '950', None)
    """
    cell = text.strip()
    if _POINTS.fullmatch(cell):
        return cell.replace(".", "").replace(",", ".")
    return cell if "." not in cell.strip(".") else None


def may_be_thousands(values: Floats) -> bool:
    """Whether numbers have up to three digits before the point, not 0 alone, and some have three after it."""
    size = np.abs(values)
    fit = (size < 1000) & ((size >= 1) | (size == 0)) & (np.round(size, 3) == size)
    return bool(fit.all() and (np.round(size, 2) != size).any())
