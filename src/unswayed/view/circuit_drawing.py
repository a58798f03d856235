"""The picture of a small circuit: a row of paired cells for each decision node, and its vtree.

The number in the circle is that of the vtree node that a decision node belongs to; in the left cell of a pair
is the prime, in the right one the sub. In a PSDD the probability of each pair stands above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unswayed.circuits.vtree import Vtree
from unswayed.view.canvas import Picture, picture_of
from unswayed.view.circuit import Cell, Gate
from unswayed.view.colours import BLUE, FAINT, GREEN, INK, PAPER, SKY
from unswayed.view.layered import Arc, Layout, Point, Room, layered
from unswayed.view.network import curves
from unswayed.view.texts import cut, text_width

FONT_SIZE = 9.0
CELL = 20.0
"""Height of a cell."""
HEAD = 24.0
"""Height of the circle above the cells, and of the probabilities."""
GAP = 6.0
"""Between two elements."""
MARGIN, TITLE = 14.0, 24.0


def circuit_picture(gates: Sequence[Gate], *, title: str) -> Picture:
    """Decision nodes from the root down."""
    widths = [_gate_width(gate) for gate in gates]
    room = Room(height=HEAD + CELL, row_gap=30, column_gap=20, widest_row=900)
    layout = layered(widths, _arcs(gates), room)
    size = (max(layout.width + 2 * MARGIN, 220.0), layout.height + 2 * MARGIN + TITLE)
    return picture_of(
        lambda figure: _draw(figure, gates, layout, title=title, size=size), (size[0] / 72, size[1] / 72)
    )


def _cell_width(cell: Cell) -> float:
    return max(text_width(cell.text, FONT_SIZE) + 8, CELL)


def _gate_width(gate: Gate) -> float:
    cells = sum(_cell_width(each.prime) + _cell_width(each.sub) for each in gate.elements)
    return cells + GAP * (len(gate.elements) - 1)


def _cells(gate: Gate) -> list[tuple[Cell, float, float]]:
    """Each cell with its left edge, from the left edge of the gate, and its width."""
    found, left = [], 0.0
    for element in gate.elements:
        for cell in (element.prime, element.sub):
            width = _cell_width(cell)
            found.append((cell, left, width))
            left += width
        left += GAP
    return found


def _arcs(gates: Sequence[Gate]) -> list[Arc]:
    return [
        Arc(number, cell.leads_to, left + width / 2 - _gate_width(gate) / 2)
        for number, gate in enumerate(gates)
        for cell, left, width in _cells(gate)
        if cell.leads_to is not None
    ]


def _draw(
    figure: Any, gates: Sequence[Gate], layout: Layout, *, title: str, size: tuple[float, float]
) -> None:
    axes = _sheet(figure, size, (size[0] - layout.width) / 2, title)
    for route in layout.routes:
        _draw_line(axes, route)
    for gate, (x, y) in zip(gates, layout.centres, strict=True):
        _draw_gate(axes, gate, x, y - (HEAD + CELL) / 2)


def _sheet(figure: Any, size: tuple[float, float], left: float, title: str) -> Any:
    """Axes in points, y downward, without frame; the title on top."""
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-left, size[0] - left), ylim=(size[1] - MARGIN - TITLE, -MARGIN - TITLE))
    axes.set_axis_off()
    axes.text(size[0] / 2 - left, -TITLE, title, ha="center", va="center", fontsize=11, fontweight="bold")
    return axes


def _draw_line(axes: Any, route: tuple[tuple[float, float], ...]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points, codes = [(route[0][0], route[0][1] - CELL / 2), route[0]], [Path.MOVETO, Path.LINETO]
    for curve in curves(route):
        points += curve
        codes += [Path.CURVE4] * 3
    axes.add_patch(PathPatch(Path(points, codes), facecolor="none", edgecolor=FAINT, linewidth=1, zorder=3))
    axes.plot(*points[0], "o", color=INK, markersize=3.5, zorder=4)


def _draw_gate(axes: Any, gate: Gate, x: float, top: float) -> None:
    from matplotlib.patches import Circle, Rectangle

    left, bottom = x - _gate_width(gate) / 2, top + HEAD
    axes.add_patch(Circle((x, top + 8), 8, facecolor=BLUE, edgecolor=BLUE, zorder=2))
    _write(axes, (x, top + 8), str(gate.vtree_node), PAPER, size=7.5)
    for number, (cell, start, width) in enumerate(_cells(gate)):
        fill = "#DDF0FB" if number % 2 == 0 else PAPER
        axes.add_patch(
            Rectangle(
                (left + start, bottom), width, CELL, facecolor=fill, edgecolor=SKY, linewidth=1, zorder=2
            )
        )
        _write(axes, (left + start + width / 2, bottom + CELL / 2), cell.text, INK)
    for element, place in zip(gate.elements, _cells(gate)[::2], strict=True):
        if element.probability is not None:
            middle = left + place[1] + (_cell_width(element.prime) + _cell_width(element.sub)) / 2
            # A probability beside the circle, where it would be covered by it, moves aside.
            aside = 8 + 12 if abs(middle - x) < 20 else 0
            _write(axes, (middle + aside, bottom - 5), f"{element.probability:.2f}", GREEN, size=7)


def _write(axes: Any, place: Point, text: str, colour: str, *, size: float = FONT_SIZE) -> None:
    axes.text(*place, text, ha="center", va="center", color=colour, fontsize=size, zorder=5)


def vtree_picture(vtree: Vtree, *, title: str) -> Picture:
    """The vtree: inner nodes by number, leaves by variable, both where they stand in order."""
    names = [cut(vtree.names[int(v)]) for v in vtree.variable[::2]]
    step = max([text_width(name, FONT_SIZE) for name in names] + [24.0]) / 2 + 6
    depth = _depths(vtree)
    size = (len(vtree) * step + 2 * MARGIN, (max(depth) + 1) * 34 + 2 * MARGIN + TITLE)

    def draw(figure: Any) -> None:
        axes = _sheet(figure, size, MARGIN, title)
        for node in range(len(vtree)):
            place = ((node + 0.5) * step, depth[node] * 34 + 10)
            if vtree.parent[node] >= 0:
                above = int(vtree.parent[node])
                xs, ys = ((above + 0.5) * step, place[0]), (depth[above] * 34 + 10, place[1])
                axes.plot(xs, ys, color=FAINT, linewidth=1, zorder=1)
            _draw_vtree_node(axes, place, names[node // 2] if node % 2 == 0 else "", node)

    return picture_of(draw, (size[0] / 72, size[1] / 72))


def _draw_vtree_node(axes: Any, place: tuple[float, float], name: str, node: int) -> None:
    if name:
        box = {"facecolor": "#DDF0FB", "edgecolor": SKY, "boxstyle": "round,pad=0.3"}
        axes.text(*place, name, ha="center", va="center", fontsize=FONT_SIZE, bbox=box, zorder=3)
        return
    from matplotlib.patches import Circle

    axes.add_patch(Circle(place, 8, facecolor=BLUE, edgecolor=BLUE, zorder=2))
    _write(axes, place, str(node), PAPER, size=7.5)


def _depths(vtree: Vtree) -> list[int]:
    depth = [0] * len(vtree)
    waiting = [vtree.root]
    while waiting:
        node = waiting.pop()
        for child in (int(vtree.left[node]), int(vtree.right[node])):
            if child >= 0:
                depth[child] = depth[node] + 1
                waiting.append(child)
    return depth
