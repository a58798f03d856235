"""Texts in pictures: how wide they are without asking a font, and short enough to fit."""

from __future__ import annotations

import unicodedata

LONGEST = 26
"""Characters of a name before it is cut."""
_NARROW = frozenset("iljtfI.,:;'|!()[]{}-/ ")
_BROAD = frozenset("mwMW@%")


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a sans-serif font of this size; rather too wide than too narrow.

    >>> text_width("ii", 10) < text_width("WW", 10)
    True
    """
    return size * sum(map(_share, text))


def _share(character: str) -> float:
    if character in _NARROW:
        return 0.38
    if character in _BROAD:
        return 0.92
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.68 if character.isupper() else 0.62


def cut(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning and an ellipsis.

    >>> cut("concave points, mean", 10)
    'concave p…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
