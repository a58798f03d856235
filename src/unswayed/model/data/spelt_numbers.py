"""Numbers as spreadsheets of many countries spell them: decimal commas, and marks between thousands.

A column is read so only where all of its cells allow it, and one of them has a comma. `1,234` alone could be
either; where every comma is followed by three digits, the commas divide thousands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unswayed.model.data.tables import MARKS_AMONG_NUMBERS, MISSING_WORDS, number_in

_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_DECIMAL = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d+,\d+")


def read_spelt(texts: Sequence[str]) -> tuple[list[float], str] | None:
    """The numbers that cells spell, NaN for missing ones, and how they were read; None where they spell none.

    >>> read_spelt(["1,5", "2", "?"])
    ([1.5, 2.0, nan], "'1,5' is read as 1.5 (decimal commas)")
    >>> read_spelt(["1,234", "12"])
    ([1234.0, 12.0], "'1,234' is read as 1234 (commas between thousands)")
    >>> read_spelt(["a,b", "1,5"]) is None
    True
    """
    cells = [text.strip() for text in texts]
    missing = MISSING_WORDS | MARKS_AMONG_NUMBERS
    with_commas = [cell for cell in cells if "," in cell]
    if not with_commas:
        return None
    if all(_GROUPED.fullmatch(cell) for cell in with_commas):
        how, marks = "commas between thousands", {",": ""}
    elif all(_DECIMAL.fullmatch(cell) for cell in with_commas):
        how, marks = "decimal commas", {".": "", ",": "."}
    else:
        return None
    spelling = str.maketrans(marks)
    found = [float("nan") if cell in missing else number_in(cell.translate(spelling)) for cell in cells]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(found):
        return None
    first = with_commas[0]
    return numbers, f"{first!r} is read as {float(first.translate(spelling)):.12g} ({how})"
