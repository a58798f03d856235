"""The drawing of a network: boxes in rows, arcs downward, and what each variable is to the question.

What a box is shows by its colour and, for those who see none, by its edge: the target is filled, what is
observed shows its state, dropped features are dashed, variables that are never observed thin. A box may also
hold the posterior of its variable, a bar for each state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from unswayed.core.errors import LimitError
from unswayed.view.charts.axes import cut, headed, legend, text_width
from unswayed.view.charts.layout import Arc, Placement, Room, bend, place_nodes
from unswayed.view.drawing import Cluster, Drawing, Look, Mark, Point, Rectangle, Trace, Words, filled, shift
from unswayed.view.numbers import percent

FONT = 11.5
MARGIN = 6.0
MOST_NODES = 400
"""More boxes than this are no picture."""
MOST_BARS = 5
"""States of one variable that get a bar; the most probable ones."""
BAR_ROW = 15.0
BAR = 46.0
"""Width of the bar of a probability of 1."""


class BoxRole(Enum):
    """What a variable is to the question; the value is what the legend calls it."""

    TARGET = "decided about"
    EVIDENCE = "observed"
    KEPT = "kept"
    DROPPED = "dropped"
    FEATURE = "may be observed"
    HIDDEN = "not observed"


LOOK_BY_ROLE = {
    BoxRole.TARGET: Look("blue", "blue", 1.2),
    BoxRole.EVIDENCE: Look("pale-amber", "amber", 1.6),
    BoxRole.KEPT: Look("pale-green", "green", 2.0),
    BoxRole.DROPPED: Look("paper", "faint", 1.0, (4, 3)),
    BoxRole.FEATURE: Look("pale-blue", "blue", 1.0),
    BoxRole.HIDDEN: Look("wash", "faint", 0.8),
}
TEXT_BY_ROLE = {BoxRole.TARGET: "paper", BoxRole.DROPPED: "soft", BoxRole.HIDDEN: "soft"}
BOLD = frozenset({BoxRole.TARGET, BoxRole.KEPT})


@dataclass(frozen=True, slots=True)
class VariableBox:
    """A variable."""

    name: str
    role: BoxRole = BoxRole.HIDDEN
    state: str = ""
    """What it was observed to be."""
    posterior: Mapping[str, float] | None = None
    """A probability for each state, to be drawn as bars; none for a plain box."""

    @property
    def label(self) -> str:
        """What is written on it."""
        return f"{cut(self.name)} = {cut(self.state)}" if self.state else cut(self.name)

    @property
    def bars(self) -> dict[str, float]:
        """The states that are drawn: the most probable ones, in their order."""
        posterior = self.posterior or {}
        top = sorted(posterior, key=lambda state: -posterior[state])[:MOST_BARS]
        return {state: posterior[state] for state in posterior if state in top}

    @property
    def width(self) -> float:
        """Points across."""
        states = max((text_width(cut(state, 14), 10) for state in self.bars), default=0.0)
        bars = states + BAR + 56 if self.bars else 0.0
        return max(text_width(self.label, FONT) + 18, bars)

    @property
    def height(self) -> float:
        """Points from top to bottom."""
        return 24 + BAR_ROW * len(self.bars) + (5 if self.bars else 0)


@dataclass(frozen=True, slots=True)
class NetworkGraph:
    """Variables, parents first, and the arcs between them."""

    boxes: tuple[VariableBox, ...]
    arcs: tuple[tuple[int, int], ...]

    @property
    def roles(self) -> tuple[BoxRole, ...]:
        """The roles that occur, in the order of the legend."""
        present = {box.role for box in self.boxes}
        return tuple(role for role in BoxRole if role in present)


def draw_graph(graph: NetworkGraph, *, title: str = "", subtitle: str = "") -> Drawing:
    """The network to scale, so that its text has the same size in every drawing.

    Raises `LimitError` when there are too many variables to be read.
    """
    height = max((box.height for box in graph.boxes), default=0.0)
    placed = _place(graph, height)
    roles = graph.roles if len(graph.roles) > 1 else ()
    samples = [(role.value, [Rectangle(1, 0, 18, 12, LOOK_BY_ROLE[role], 3)]) for role in roles]
    width = max(placed.width + 2 * MARGIN, 320.0 if roles else 0.0, text_width(title, 15) if title else 0.0)
    marks, top = headed(title, subtitle, width)
    left = (width - placed.width) / 2
    inner: list[Mark] = []
    for (source, _), route in zip(graph.arcs, placed.routes, strict=True):
        # A row is as high as its highest box could be; an arc begins at its own box.
        (x, y), above = route[0], height - graph.boxes[source].height
        inner += _arc_marks(((x, y - above), *route[1:]))
    inner += [_box_mark(box, centre, height) for box, centre in zip(graph.boxes, placed.centres, strict=True)]
    marks += [shift(mark, left, top + MARGIN) for mark in inner]
    bottom = top + placed.height + 2 * MARGIN
    key, deep = legend(samples, 0.0, width)
    marks += [shift(mark, 0.0, bottom + 6) for mark in key]
    return Drawing(
        width, bottom + (deep + 10 if deep else 0), tuple(marks), title or "the network", _words(graph)
    )


def _words(graph: NetworkGraph) -> str:
    named = {role: [box.label for box in graph.boxes if box.role is role] for role in graph.roles}
    lists = [f"{role.value}: {', '.join(names[:30])}" for role, names in named.items()]
    return f"{len(graph.boxes)} variables, {len(graph.arcs)} arcs; {'; '.join(lists)}."


def _place(graph: NetworkGraph, height: float) -> Placement:
    n_boxes = len(graph.boxes)
    if n_boxes > MOST_NODES:
        raise LimitError(
            f"a picture of {n_boxes:,} variables cannot be read; draw at most {MOST_NODES}, such as "
            "those that matter for one target"
        )
    widths = [box.width for box in graph.boxes]
    # A page's width, and more where the picture would become a tower.
    widest = max(640.0, 9.0 * math.sqrt(sum(widths) * height / 24))
    room = Room(height=height, row_gap=36.0 if n_boxes <= 60 else 48.0, column_gap=12, widest_row=widest)
    return place_nodes(widths, [Arc(source, target) for source, target in graph.arcs], room)


def _arc_marks(route: tuple[Point, ...]) -> list[Mark]:
    (x, y), tip = route[-1], 7.0
    path = Trace(bend((*route[:-1], (x, y - tip))), Look(stroke="faint", width=1.1), curved=True)
    return [path, Trace(((x, y), (x - 3.5, y - tip), (x + 3.5, y - tip)), filled("faint"), closed=True)]


def _box_mark(box: VariableBox, centre: Point, height: float) -> Cluster:
    (x, y), width = centre, box.width
    left, top = x - width / 2, y - height / 2
    colour = TEXT_BY_ROLE.get(box.role, "ink")
    marks: list[Mark] = [Rectangle(left, top, width, box.height, LOOK_BY_ROLE[box.role], 6)]
    marks.append(Words(box.label, x, top + 16, FONT, "middle", colour, bold=box.role in BOLD))
    for row, (state, share) in enumerate(box.bars.items()):
        base = top + 35 + BAR_ROW * row
        start = left + width - BAR - 40
        marks.append(Words(cut(state, 14), start - 5, base, 10, "end", colour))
        marks.append(Rectangle(start, base - 8, BAR, 9, filled("wash"), 2))
        marks.append(Rectangle(start, base - 8, max(BAR * share, 0.8), 9, filled(_bar_colour(box.role)), 2))
        marks.append(Words(percent(share), start + BAR + 4, base, 10, colour=colour))
    told = f"{box.name} = {box.state}" if box.state else box.name
    return Cluster(tuple(marks), f"{told} ({box.role.value})", f"box {box.role.name.lower()}")


def _bar_colour(role: BoxRole) -> str:
    return {BoxRole.TARGET: "amber", BoxRole.EVIDENCE: "amber", BoxRole.KEPT: "green"}.get(role, "blue")
