"""A network as a graph to be drawn: what each variable is to the question, and where its box goes.

What a box is shows by its colour and, for those who see none, by its edge: the target is filled, what is
observed shows its state, dropped features are dashed, variables that are never observed thin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from unswayed.core.errors import LimitError
from unswayed.view.colours import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, SKY
from unswayed.view.layered import Arc, Layout, Room, layered
from unswayed.view.texts import cut, text_width

FONT_SIZE = 9.5
SWATCH = 18.0
"""Width of a sample in the legend."""
MOST_NODES = 400
"""More boxes than this are no picture."""


class Role(Enum):
    """What a variable is to the question; the value is what the legend calls it."""

    TARGET = "decided about"
    EVIDENCE = "observed"
    KEPT = "kept"
    DROPPED = "dropped"
    FEATURE = "may be observed"
    HIDDEN = "not observed"


@dataclass(frozen=True, slots=True)
class Look:
    """How boxes of a role look."""

    fill: str
    edge: str
    text: str
    line_width: float
    dashed: bool = False
    bold: bool = False


LOOK_BY_ROLE = {
    Role.TARGET: Look(BLUE, BLUE, PAPER, 1.2, bold=True),
    Role.EVIDENCE: Look("#FBE3B0", ORANGE, INK, 1.6),
    Role.KEPT: Look("#CFECE3", GREEN, INK, 2.0, bold=True),
    Role.DROPPED: Look(PAPER, FAINT, "#6E6E6E", 1.0, dashed=True),
    Role.FEATURE: Look("#DDF0FB", SKY, INK, 1.2),
    Role.HIDDEN: Look("#F4F4F4", "#C4C4C4", "#6E6E6E", 0.8),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A variable."""

    name: str
    role: Role = Role.HIDDEN
    state: str = ""
    """What it was observed to be."""

    @property
    def label(self) -> str:
        """What is written on it."""
        return f"{cut(self.name)} = {cut(self.state)}" if self.state else cut(self.name)


@dataclass(frozen=True, slots=True)
class Graph:
    """Variables, parents first, and the arcs between them."""

    boxes: tuple[Box, ...]
    arcs: tuple[tuple[int, int], ...]

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that occur, in the order of the legend."""
        present = {box.role for box in self.boxes}
        return tuple(role for role in Role if role in present)


@dataclass(frozen=True, slots=True)
class PlacedGraph:
    """A graph with the place of everything, in points."""

    graph: Graph
    layout: Layout
    widths: tuple[float, ...]
    height: float
    """Height of a box."""


def legend_width(roles: Sequence[Role]) -> float:
    """Points that a legend of these roles takes in one line."""
    return sum(SWATCH + 22.0 + text_width(role.value, FONT_SIZE) for role in roles)


def placed(graph: Graph) -> PlacedGraph:
    """The graph laid out; `LimitError` when it has too many variables to be read."""
    if len(graph.boxes) > MOST_NODES:
        raise LimitError(
            f"a picture of {len(graph.boxes):,} variables cannot be read; draw at most {MOST_NODES}, such as "
            "those that matter for one target"
        )
    widths = tuple(text_width(box.label, FONT_SIZE) + 16 for box in graph.boxes)
    room = Room(height=22, row_gap=_row_gap(len(graph.boxes)), column_gap=10, widest_row=_widest_row(widths))
    arcs = [Arc(source, target) for source, target in graph.arcs]
    return PlacedGraph(graph, layered(widths, arcs, room), widths, room.height)


def _widest_row(widths: Sequence[float]) -> float:
    """A page's width, and more where the picture would become a tower."""
    return max(540.0, 9.0 * math.sqrt(sum(widths)))


def _row_gap(n_boxes: int) -> float:
    return 34.0 if n_boxes <= 60 else 46.0
