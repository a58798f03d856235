"""Numbers as files write them."""

from __future__ import annotations

_CHARACTERS = "0123456789+-.eE"


def decimal_number(word: str) -> float:
    """The number that `word` is; `ValueError` for what `float` would also take: nan, inf, 1_0, other digits.

    >>> decimal_number("2.5e-1")
    0.25
    """
    try:
        # Stripping stops at the first character that no decimal number has, so one of them remains.
        if not word.strip(_CHARACTERS):
            return float(word)
    except ValueError:
        pass
    raise ValueError(f"{word[:40]!r} is not a number")
