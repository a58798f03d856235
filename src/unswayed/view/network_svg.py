"""The picture of a network as SVG, for pages: no matplotlib, and every box tells its full name."""

from __future__ import annotations

from unswayed.view.colours import FAINT, INK
from unswayed.view.graph import (
    FONT_SIZE,
    LOOK_BY_ROLE,
    SWATCH,
    Box,
    Graph,
    Role,
    legend_width,
    placed,
)
from unswayed.view.layered import Point
from unswayed.view.markup import drawing, element, escaped
from unswayed.view.network import curves
from unswayed.view.texts import text_width

MARGIN = 6.0
LEGEND = 30.0


def network_svg(graph: Graph, *, label: str = "the network", scale: float = 1.0) -> str:
    """The network as one SVG element, with a legend when boxes differ in kind; `scale` enlarges it."""
    found = placed(graph)
    roles = graph.roles if len(graph.roles) > 1 else ()
    width = max(found.layout.width, legend_width(roles)) + 2 * MARGIN
    height = found.layout.height + 2 * MARGIN + (LEGEND if roles else 0.0)
    left = (width - found.layout.width) / 2
    arcs = "".join(_arc(route) for route in found.layout.routes)
    boxes = "".join(
        _box(box, centre, (each, found.height))
        for box, centre, each in zip(graph.boxes, found.layout.centres, found.widths, strict=True)
    )
    body = element("g", arcs + boxes, transform=f"translate({left:.1f} {MARGIN:g})")
    legend = _legend(roles, (width - legend_width(roles)) / 2, height - 12.0)
    return drawing(body + legend, width, height, label=label, scale=scale)


def _arc(route: tuple[Point, ...]) -> str:
    (x, y), (end_x, end_y) = route[0], route[-1]
    tip = 6.0
    path = f"M{x:.1f} {y:.1f}"
    for one, two, end in curves((*route[:-1], (end_x, end_y - tip))):
        path += "C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in (one, two, end))
    head = f"M{end_x:.1f} {end_y:.1f}l-3 {-tip:g}h6z"
    return element("path", d=path, fill="none", stroke=FAINT) + element("path", d=head, fill=FAINT)


def _box(box: Box, centre: Point, size: tuple[float, float]) -> str:
    look = LOOK_BY_ROLE[box.role]
    (x, y), (width, height) = centre, size
    rectangle = element(
        "rect",
        x=x - width / 2,
        y=y - height / 2,
        width=width,
        height=height,
        rx=6,
        fill=look.fill,
        stroke=look.edge,
        stroke_width=look.line_width,
        stroke_dasharray="4 3" if look.dashed else None,
    )
    text = element(
        "text",
        escaped(box.label),
        x=x,
        y=y + FONT_SIZE * 0.36,
        text_anchor="middle",
        font_size=FONT_SIZE,
        font_weight="600" if look.bold else None,
        fill=look.text,
    )
    told = f"{box.name} = {box.state}" if box.state else box.name
    title = element("title", escaped(f"{told} ({box.role.value})"))
    return element("g", title + rectangle + text, class_=f"box {box.role.name.lower()}")


def _legend(roles: tuple[Role, ...], left: float, middle: float) -> str:
    parts = []
    for role in roles:
        look = LOOK_BY_ROLE[role]
        parts.append(
            element(
                "rect",
                x=left,
                y=middle - 6,
                width=SWATCH,
                height=12,
                rx=3,
                fill=look.fill,
                stroke=look.edge,
                stroke_width=look.line_width,
                stroke_dasharray="4 3" if look.dashed else None,
            )
        )
        parts.append(
            element(
                "text",
                escaped(role.value),
                x=left + SWATCH + 6,
                y=middle + FONT_SIZE * 0.36,
                font_size=FONT_SIZE,
                fill=INK,
            )
        )
        left += SWATCH + 22.0 + text_width(role.value, FONT_SIZE)
    return "".join(parts)
