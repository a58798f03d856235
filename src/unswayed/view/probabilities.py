"""Numbers as people read them: probabilities in four decimals, bars beside them, columns that line up."""

from __future__ import annotations

from rich.cells import cell_len

BAR_WIDTH = 24
"""Cells that a probability of 1 fills."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def probability_text(value: float) -> str:
    """A probability in six characters or more, never rounded to a certainty it is not.

    >>> [probability_text(p) for p in (0.25, 0.0, 3e-7, 0.999999)]
    ['0.2500', '0.0000', '3.0e-07', '>0.9999']
    """
    if 0.0 < value < 5e-5:
        return f"{value:.1e}"
    return ">0.9999" if 0.99995 <= value < 1.0 else f"{value:.4f}"


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """A bar that fills `share` of `width` cells, to an eighth of a cell; visible for any positive share.

    >>> bar(0.25, width=8)
    '██'
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def padded(text: str, width: int) -> str:
    """`text` followed by blanks up to `width` terminal cells; wide characters count as two.

    >>> padded("a", 3) + "|"
    'a  |'
    """
    return text + " " * (width - cell_len(text))


def widest(texts: list[str]) -> int:
    """Terminal cells of the widest text; 0 for none."""
    return max(map(cell_len, texts), default=0)


def shortened(texts: tuple[str, ...], at_most: int) -> str:
    """The first texts, comma-separated, and how many follow.

    >>> shortened(("red", "green", "blue"), at_most=2)
    'red, green and 1 more'
    """
    shown = ", ".join(texts[:at_most])
    return shown if len(texts) <= at_most else f"{shown} and {len(texts) - at_most} more"
