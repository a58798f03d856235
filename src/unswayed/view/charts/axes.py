"""What charts are made of: scales, round numbers, axes, headings, legends, labels that do not collide.

Widths of texts are estimated without asking a font, rather too wide than too narrow, so that a drawing is the
same wherever it is made.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from unswayed.view.drawing import Mark, Point, Words, line, shift

NOISE = 1e-12
"""Differences of exact numbers below this are rounding, and no picture shows them."""
TEXT, SMALL, HEADING = 12.0, 11.0, 15.0
"""Sizes of type."""
LONGEST = 26
"""Characters of a name before it is cut."""
_NARROW = frozenset("iljtfI.,:;'|!()[]{}-/ ")
_BROAD = frozenset("mwMW@%")


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` on a line from `start` to `end`.

    >>> Scale(0, 10, 100, 200).at(2.5)
    125.0
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, count: int = 5, *, whole: bool = False) -> list[float]:
    """About `count` round numbers between two.

    >>> ticks(0.87, 1.0, 4), ticks(0, 15, 5, whole=True)
    ([0.9, 0.95, 1.0], [0.0, 5.0, 10.0, 15.0])
    """
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= raw * 0.99)
    if whole:
        step = max(1.0, float(round(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def text_width(text: str, size: float = TEXT) -> float:
    """About how wide a text is in a sans-serif font of this size.

    >>> text_width("ii", 10) < text_width("WW", 10)
    True
    """
    return size * sum(map(_share, text))


def _share(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _BROAD:
        return 0.9
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.67 if character.isupper() else 0.59


def cut(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning and an ellipsis.

    >>> cut("concave points, mean", 10)
    'concave p…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def wrap(text: str, width: float, size: float = TEXT) -> list[str]:
    """The text in lines no wider than `width`, broken between words.

    >>> wrap("deciding about the disease", 90, 12)
    ['deciding about', 'the disease']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def headed(title: str, subtitle: str, width: float) -> tuple[list[Mark], float]:
    """A title and below it, smaller, what it is about; and the height that they take."""
    marks: list[Mark] = []
    y = 0.0
    for text in wrap(title, width, HEADING):
        y += HEADING * 1.3
        marks.append(Words(text, 0, y - 4, HEADING, bold=True))
    for text in wrap(subtitle, width, TEXT):
        y += TEXT * 1.35
        marks.append(Words(text, 0, y - 3, TEXT, colour="soft"))
    return marks, y + (8.0 if marks else 0.0)


def across_axis(scale: Scale, places: Sequence[float], y: float, *, label: str = "") -> list[Mark]:
    """A horizontal axis below a chart, with numbers and a label."""
    marks: list[Mark] = [line([(scale.start, y), (scale.end, y)], "faint")]
    for place in places:
        x = scale.at(place)
        marks.append(line([(x, y), (x, y + 4)], "faint"))
        marks.append(Words(f"{place:g}", x, y + 16, SMALL, "middle", "soft"))
    if label:
        marks.append(Words(label, (scale.start + scale.end) / 2, y + 33, TEXT, "middle", "soft"))
    return marks


def down_axis(
    scale: Scale, places: Sequence[float], across: tuple[float, float], *, label: str = ""
) -> list[Mark]:
    """Numbers left of a chart, and light lines through it from one end of `across` to the other."""
    left, right = across
    marks: list[Mark] = []
    for place in places:
        y = scale.at(place)
        marks.append(line([(left, y), (right, y)], "line"))
        marks.append(Words(f"{place:g}", left - 6, y + 4, SMALL, "end", "soft"))
    if label:
        marks.append(Words(label, 0, min(scale.start, scale.end) - 8, TEXT, colour="soft"))
    return marks


def legend(
    entries: Sequence[tuple[str, Sequence[Mark]]], left: float, width: float
) -> tuple[list[Mark], float]:
    """Samples with their names, in lines no wider than `width`, and the height that they take.

    A sample fills 20 by 12 points from the origin.
    """
    marks: list[Mark] = []
    x, y = left, 0.0
    for text, sample in entries:
        need = 26 + text_width(text, SMALL) + 16
        if x > left and x + need > left + width:
            x, y = left, y + 18
        marks += [shift(mark, x, y) for mark in sample]
        marks.append(Words(text, x + 26, y + 10, SMALL, colour="soft"))
        x += need
    return marks, y + 16 if entries else 0.0


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places as near as possible to those wanted, in their order, no two nearer than `gap`.

    With i gaps taken off the place of the i-th, places must not decrease, so that least squares is the
    regression to a non-decreasing sequence: means of neighbours, pooled while they are out of order.

    >>> spread([0, 1, 10], 4)
    [-1.5, 2.5, 10.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    pools = pool([wanted[i] - gap * rank for rank, i in enumerate(order)])
    placed = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        placed[i] = pools[rank] + gap * rank
    return placed


def pool(values: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to the values by least squares."""
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for value in values:
        mean, count = float(value), 1
        while pools and pools[-1][0] > mean:
            other, n_other = pools.pop()
            mean, count = (mean * count + other * n_other) / (count + n_other), count + n_other
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def place_labels(
    labels: Sequence[tuple[Point, Sequence[str]]],
    bounds: Box,
    taken: Sequence[Box] = (),
    *,
    size: float = SMALL,
) -> list[Mark]:
    """Labels beside their points: below right, above left, or where else there is room; else none.

    Labels that come first are placed first. `taken` are boxes that no label may cover.
    """
    covered = list(taken)
    marks: list[Mark] = []
    for (x, y), lines in labels:
        width = max((text_width(each, size) for each in lines), default=0.0)
        height = len(lines) * size * 1.2
        for left, top in _beside(x, y, width, height):
            box = (left, top, left + width, top + height)
            if _inside(box, bounds) and not any(_overlap(box, other) for other in covered):
                # Labels side by side would read as one.
                covered.append((left - size / 2, top, left + width + size / 2, top + height))
                marks += [
                    Words(each, left, top + size * (0.95 + 1.2 * i), size, colour="soft")
                    for i, each in enumerate(lines)
                ]
                break
    return marks


def _beside(x: float, y: float, width: float, height: float) -> list[Point]:
    """Where a label of a point may begin, best first."""
    return [
        (x + 7, y + 4),
        (x - width - 7, y - height - 4),
        (x + 7, y - height - 4),
        (x - width - 7, y + 4),
        (x - width / 2, y + 10),
        (x - width / 2, y - height - 10),
    ]


def _inside(box: Box, bounds: Box) -> bool:
    return box[0] >= bounds[0] and box[1] >= bounds[1] and box[2] <= bounds[2] and box[3] <= bounds[3]


def _overlap(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
