"""The picture of a network: boxes in rows, arcs downward, and what each box is to the question."""

from __future__ import annotations

import itertools
from typing import Any

from unswayed.view.canvas import Picture, picture_of
from unswayed.view.colours import FAINT
from unswayed.view.graph import (
    FONT_SIZE,
    LOOK_BY_ROLE,
    Box,
    Graph,
    PlacedGraph,
    Role,
    legend_width,
    placed,
)
from unswayed.view.layered import Point
from unswayed.view.texts import text_width

MARGIN = 14.0
"""Points around the picture."""
HEADROOM = 26.0
"""Points for the title, and as much for the legend."""


def network_picture(graph: Graph, *, title: str = "") -> Picture:
    """The network drawn to scale, so that its text has the same size in every picture."""
    found = placed(graph)
    width = max(found.layout.width, legend_width(graph.roles), text_width(title, 13)) + 2 * MARGIN
    height = found.layout.height + 2 * MARGIN + 2 * HEADROOM
    return picture_of(lambda figure: _draw(figure, found, title, (width, height)), (width / 72, height / 72))


def _draw(figure: Any, found: PlacedGraph, title: str, size: tuple[float, float]) -> None:
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    left = (size[0] - found.layout.width) / 2
    axes.set(xlim=(-left, size[0] - left), ylim=(size[1] - MARGIN - HEADROOM, -MARGIN - HEADROOM))
    axes.set_axis_off()
    for route in found.layout.routes:
        _draw_arc(axes, route)
    for box, centre, width in zip(found.graph.boxes, found.layout.centres, found.widths, strict=True):
        _draw_box(axes, box, centre, (width, found.height))
    if title:
        axes.text(
            size[0] / 2 - left, -HEADROOM, title, ha="center", va="center", fontsize=11, fontweight="bold"
        )
    _draw_legend(axes, found.graph.roles)


def _draw_arc(axes: Any, route: tuple[Point, ...]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [route[0]], [Path.MOVETO]
    for curve in curves(route):
        points += curve
        codes += [Path.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Path(points, codes),
            arrowstyle="-|>,head_length=4,head_width=2",
            color=FAINT,
            linewidth=0.9,
            zorder=1,
            shrinkA=0,
            shrinkB=0,
        )
    )


def curves(route: tuple[Point, ...]) -> list[tuple[Point, Point, Point]]:
    """Cubic curves along a route, vertical at every point: two control points and the end of each."""
    found = []
    for (x, y), (next_x, next_y) in itertools.pairwise(route):
        bend = (next_y - y) * 0.5
        found.append(((x, y + bend), (next_x, next_y - bend), (next_x, next_y)))
    return found


def _draw_box(axes: Any, box: Box, centre: Point, size: tuple[float, float]) -> None:
    from matplotlib.patches import FancyBboxPatch

    look = LOOK_BY_ROLE[box.role]
    (x, y), (width, height) = centre, size
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=6",
            facecolor=look.fill,
            edgecolor=look.edge,
            linewidth=look.line_width,
            linestyle="--" if look.dashed else "-",
            zorder=2,
        )
    )
    weight = "bold" if look.bold else "normal"
    axes.text(
        x,
        y,
        box.label,
        ha="center",
        va="center_baseline",
        color=look.text,
        fontsize=FONT_SIZE,
        weight=weight,
        zorder=3,
    )


def _draw_legend(axes: Any, roles: tuple[Role, ...]) -> None:
    from matplotlib.patches import Patch

    looks = [LOOK_BY_ROLE[role] for role in roles]
    patches = [
        Patch(
            facecolor=look.fill, edgecolor=look.edge, label=role.value, linestyle="--" if look.dashed else "-"
        )
        for role, look in zip(roles, looks, strict=True)
    ]
    if len(patches) > 1:
        axes.legend(
            handles=patches,
            loc="lower center",
            ncols=len(patches),
            frameon=False,
            fontsize=8.5,
            handlelength=1.4,
            columnspacing=1.2,
        )
