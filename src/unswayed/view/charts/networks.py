"""The drawing of a network: boxes in rows, arcs downward, and what each variable is to the question.

What a box is shows by its colour and, for those who see none, by its edge: the target is filled, what is
observed shows its state, dropped features are dashed, variables that are never observed thin. A box may also
hold the posterior of its variable, a bar for each state.

Text has one size in every drawing, so a large network makes a large picture. Of more than `MOST_READABLE`
variables only those nearest to the target are drawn, and a line says how many are left out.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from unswayed.core.errors import LimitError
from unswayed.view.charts.axes import SMALL, cut, headed, legend, text_width, wrap
from unswayed.view.charts.layout import Arc, Placement, Room, bend, place_nodes
from unswayed.view.drawing import Cluster, Drawing, Look, Mark, Point, Rectangle, Trace, Words, filled, shift
from unswayed.view.numbers import percent

FONT = 11.5
MARGIN = 6.0
MOST_READABLE = 100
"""Variables up to which all are drawn beside a target."""
MOST_NEAREST = 60
"""Variables that are drawn where there are more."""
MOST_NODES = 400
"""Boxes of a picture without a target; more are drawn on demand,"""
MOST_ON_DEMAND = 2000
"""up to so many."""
LEAST_SCALE = 0.8
"""How far a page may shrink a network: smaller letters cannot be read."""
PAGE_WIDTH = 640.0
"""Points across that fit on a page as they are."""
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
    n_left_out: int = 0
    """Variables that are not drawn."""

    @property
    def roles(self) -> tuple[BoxRole, ...]:
        """The roles that occur, in the order of the legend."""
        present = {box.role for box in self.boxes}
        return tuple(role for role in BoxRole if role in present)


def draw_graph(graph: NetworkGraph, *, title: str = "", subtitle: str = "", whole: bool = False) -> Drawing:
    """The network to scale, so that its text has the same size in every drawing.

    Of a network with many variables and a target, the nearest ones, unless the `whole` is wanted. Raises
    `LimitError` when there are too many variables to be read.
    """
    _check_size(graph, whole=whole)
    graph = graph if whole else find_nearest(graph)
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
    for text in wrap(_left_out_text(graph), width, SMALL):
        marks.append(Words(text, 0, bottom + 14, SMALL, colour="soft"))
        bottom += 18
    key, deep = legend(samples, 0.0, width)
    marks += [shift(mark, 0.0, bottom + 6) for mark in key]
    return Drawing(
        width,
        bottom + (deep + 10 if deep else 0),
        tuple(marks),
        title or "the network",
        _words(graph),
        LEAST_SCALE if width > PAGE_WIDTH else 0.0,
    )


def find_nearest(graph: NetworkGraph) -> NetworkGraph:
    """The part of a large network around its target: the Markov blanket, then by distance.

    What was observed and what is kept belongs to it, with the shortest way from there to the target.
    """
    target = next((i for i, box in enumerate(graph.boxes) if box.role is BoxRole.TARGET), None)
    if target is None or len(graph.boxes) <= MOST_READABLE:
        return graph
    distance, step = _walk_from(graph, target)
    needed, near = _list_ways(graph, step) | {target}, _blanket(graph, target)
    order = sorted(
        range(len(graph.boxes)), key=lambda i: (i not in needed, i not in near, distance.get(i, math.inf), i)
    )
    n_boxes = min(max(MOST_NEAREST, len(needed)), MOST_NODES)
    return _keep_boxes(graph, sorted(order[:n_boxes]))


def _walk_from(graph: NetworkGraph, target: int) -> tuple[dict[int, int], dict[int, int]]:
    """How many arcs each box is away from the target, whatever their direction; and the next box there."""
    beside: dict[int, list[int]] = {}
    for source, end in graph.arcs:
        beside.setdefault(source, []).append(end)
        beside.setdefault(end, []).append(source)
    distance, step, waiting = {target: 0}, dict[int, int](), deque([target])
    while waiting:
        box = waiting.popleft()
        for other in beside.get(box, ()):
            if other not in distance:
                distance[other], step[other] = distance[box] + 1, box
                waiting.append(other)
    return distance, step


def _list_ways(graph: NetworkGraph, step: Mapping[int, int]) -> set[int]:
    """The boxes that are observed or kept, and those on the way from them to the target."""
    found: set[int] = set()
    for box, each in enumerate(graph.boxes):
        if each.role in (BoxRole.EVIDENCE, BoxRole.KEPT):
            while box not in found:
                found.add(box)
                box = step.get(box, box)
    return found


def _blanket(graph: NetworkGraph, target: int) -> set[int]:
    """Parents, children and the children's other parents."""
    children = {end for source, end in graph.arcs if source == target}
    parents = {source for source, end in graph.arcs if end == target or end in children}
    return children | parents


def _keep_boxes(graph: NetworkGraph, kept: Sequence[int]) -> NetworkGraph:
    """The graph of some boxes."""
    place = {box: i for i, box in enumerate(kept)}
    arcs = tuple((place[a], place[b]) for a, b in graph.arcs if a in place and b in place)
    return NetworkGraph(tuple(graph.boxes[box] for box in kept), arcs, len(graph.boxes) - len(kept))


def _left_out_text(graph: NetworkGraph) -> str:
    """How many variables are not drawn, and how to have them; empty where all are."""
    if not graph.n_left_out:
        return ""
    total = len(graph.boxes) + graph.n_left_out
    target = next(box.name for box in graph.boxes if box.role is BoxRole.TARGET)
    how = "; unswayed draw --all shows them" if total <= MOST_ON_DEMAND else ""
    return f"{graph.n_left_out:,} of {total:,} variables, farther from {cut(target)}, are left out{how}."


def _words(graph: NetworkGraph) -> str:
    named = {role: [box.label for box in graph.boxes if box.role is role] for role in graph.roles}
    lists = [f"{role.value}: {', '.join(names[:30])}" for role, names in named.items()]
    drawn = f"{len(graph.boxes)} variables, {len(graph.arcs)} arcs; {'; '.join(lists)}."
    return f"{drawn} {_left_out_text(graph)}".rstrip()


def _check_size(graph: NetworkGraph, *, whole: bool) -> None:
    n_boxes = len(graph.boxes)
    if whole and n_boxes > MOST_ON_DEMAND:
        raise LimitError(f"{n_boxes:,} variables cannot be drawn; at most {MOST_ON_DEMAND:,} can")
    if not whole and n_boxes > MOST_NODES and BoxRole.TARGET not in graph.roles:
        how = ", or draw all of them with whole=True" if n_boxes <= MOST_ON_DEMAND else ""
        raise LimitError(
            f"a picture of {n_boxes:,} variables cannot be read; name a target to draw what is near it{how}"
        )


def _place(graph: NetworkGraph, height: float) -> Placement:
    widths = [box.width for box in graph.boxes]
    # A page's width, and more where the picture would become a tower.
    widest = max(PAGE_WIDTH, 9.0 * math.sqrt(sum(widths) * height / 24))
    room = Room(height=height, row_gap=36.0, column_gap=12, widest_row=widest)
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
