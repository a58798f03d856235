"""Drawings as plain data: a few kinds of marks, in points, with colours called by name.

Every picture is drawn once, as a `Drawing`. Two thin renderers show it: `svg.py` for pages, notebooks and
`.svg` files, `figure.py` (matplotlib) for `.png` and `.pdf`. A mark says where it is and how it looks; it
knows no data. Colours are names, so that a page can change them in the dark; `PALETTE` says what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

Point = tuple[float, float]

PALETTE: Final[dict[str, tuple[str, str]]] = {
    "ink": ("#1b2430", "#e8ecf1"),
    "soft": ("#5b6675", "#9aa6b4"),
    "faint": ("#98a2ae", "#6b7684"),
    "line": ("#e1e5ea", "#303844"),
    "wash": ("#eef2f6", "#262d36"),
    "paper": ("#ffffff", "#1d2229"),
    "blue": ("#0b5f9e", "#6db5ec"),
    "pale-blue": ("#d9eaf7", "#1f3a52"),
    "orange": ("#b3470b", "#f0954f"),
    "pale-orange": ("#f9e3d3", "#4d3018"),
    "green": ("#0a7a55", "#4cc79a"),
    "pale-green": ("#d3efe5", "#17402f"),
    "amber": ("#805806", "#e3b44c"),
    "pale-amber": ("#fbeaba", "#463812"),
    "purple": ("#8b4a8f", "#d59bd8"),
}
"""Colours by name, on light and on dark paper. Readable text has a contrast of 4.5 on either."""
SERIES: Final = ("blue", "orange", "green", "purple", "amber", "soft")
"""Colours of several series, in this order; each series also has a mark or a dash of its own."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a mark looks; an empty colour is none."""

    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle, perhaps with round corners."""

    x: float
    y: float
    width: float
    height: float
    look: Look
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    look: Look


@dataclass(frozen=True, slots=True)
class Trace:
    """A line from point to point; `curved`: cubic curves, two control points and an end each."""

    points: tuple[Point, ...]
    look: Look
    closed: bool = False
    curved: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text whose baseline begins, has its middle, or ends at a point."""

    text: str
    x: float
    y: float
    size: float = 12.0
    anchor: str = "start"
    """"start", "middle" or "end"."""
    colour: str = "ink"
    bold: bool = False
    turned: float = 0.0
    """Degrees, clockwise, about the point."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Marks that belong together, with what a pointer resting on them is shown."""

    marks: tuple[Mark, ...]
    title: str = ""
    kind: str = ""
    """A word for style sheets and tests."""


Mark = Rectangle | Disc | Trace | Words | Cluster


@dataclass(frozen=True, slots=True)
class Drawing:
    """Marks on a sheet; y grows downward."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str
    """What the drawing is of."""
    description: str = ""
    """What it shows, in words, for those who do not see it."""
    least_scale: float = 0.0
    """How far a narrow page may shrink it; a wider drawing than fits then scrolls."""


def line(points: Iterable[Point], colour: str, width: float = 1.0, dash: tuple[float, ...] = ()) -> Trace:
    """A line through points."""
    return Trace(tuple(points), Look(stroke=colour, width=width, dash=dash))


def filled(colour: str, opacity: float = 1.0) -> Look:
    """A surface without an edge."""
    return Look(fill=colour, opacity=opacity)


def shift(mark: Mark, right: float, down: float) -> Mark:
    """The mark moved."""
    if isinstance(mark, Cluster):
        return replace(mark, marks=tuple(shift(each, right, down) for each in mark.marks))
    if isinstance(mark, Trace):
        return replace(mark, points=tuple((x + right, y + down) for x, y in mark.points))
    return replace(mark, x=mark.x + right, y=mark.y + down)


def pad(drawing: Drawing, margin: float) -> Drawing:
    """The drawing with a margin around it."""
    marks = tuple(shift(mark, margin, margin) for mark in drawing.marks)
    return replace(drawing, width=drawing.width + 2 * margin, height=drawing.height + 2 * margin, marks=marks)


def ring(centre: Point, radii: tuple[float, float], angles: tuple[float, float], look: Look) -> Trace:
    """A part of a ring between two radii and two angles (degrees, 0 to the right, counterclockwise)."""
    steps = max(2, math.ceil(abs(angles[1] - angles[0]) / 3))
    turns = [math.radians(angles[0] + (angles[1] - angles[0]) * i / steps) for i in range(steps + 1)]
    outer = [(centre[0] + radii[1] * math.cos(t), centre[1] - radii[1] * math.sin(t)) for t in turns]
    inner = [
        (centre[0] + radii[0] * math.cos(t), centre[1] - radii[0] * math.sin(t)) for t in reversed(turns)
    ]
    return Trace((*outer, *inner), look, closed=True)
