"""A test plan as a flow chart, from left to right: boxes to test in, links by what a test tells, verdicts.

The chart is laid out once, in points, from the plan's nested data (`plans/nested.py`), and drawn by two thin
renderers: SVG, for pages, and matplotlib, for files. Tests deeper than `DEEPEST` are folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of
from unswayed.view.colours import FAINT, INK, PAPER, SERIES
from unswayed.view.markup import drawing, element, escaped
from unswayed.view.texts import cut, text_width

DEEPEST = 5
"""Tests of a path that are drawn before the rest is folded."""
FONT = 11.0
SMALL = 9.0
HEIGHT, ROW = 34.0, 46.0
"""Height of a box, and of a row with the space below it."""
PAD, MARGIN = 10.0, 8.0


@dataclass(frozen=True, slots=True)
class ChartBox:
    """A test or a verdict."""

    x: float
    y: float
    width: float
    title: str
    """Its first line."""
    note: str
    """Its second line, smaller."""
    fill: str
    dashed: bool
    is_test: bool
    full: str
    """What it says in full, for those who point at it."""


@dataclass(frozen=True, slots=True)
class ChartLink:
    """A way from a test to what follows."""

    start: tuple[float, float]
    end: tuple[float, float]
    label: str
    thickness: float


@dataclass(frozen=True, slots=True)
class FlowChart:
    """Everything that is drawn, in points."""

    width: float
    height: float
    boxes: tuple[ChartBox, ...]
    links: tuple[ChartLink, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A node with its column and row; rows of tests lie between those of what follows."""

    node: Mapping[str, Any]
    column: int
    row: float
    children: tuple[tuple[str, _Spot], ...]


def lay_out_plan(tree: Mapping[str, Any], *, deepest: int = DEEPEST) -> FlowChart:
    """Where everything goes: a column for each test of a path, a row for each verdict."""
    rows = [0]
    root = _spot(tree, 0, deepest, rows)
    spots = list(_all(root))
    colours = _colours(spots)
    widths = [0.0] * (1 + max(spot.column for spot in spots))
    gaps = [0.0] * len(widths)
    for spot in spots:
        title, note = _texts(spot)
        wide = max(text_width(title, FONT), text_width(note, SMALL)) + 2 * PAD
        widths[spot.column] = max(widths[spot.column], wide)
        for label, _ in spot.children:
            gaps[spot.column] = max(gaps[spot.column], text_width(label, SMALL) + 34.0)
    lefts = [MARGIN]
    for width, gap in zip(widths, gaps, strict=True):
        lefts.append(lefts[-1] + width + gap)
    boxes = tuple(_box(spot, lefts[spot.column], widths[spot.column], colours) for spot in spots)
    place = {id(spot): box for spot, box in zip(spots, boxes, strict=True)}
    links = tuple(
        _link(place[id(spot)], place[id(child)], label, float(child.node["probability"]))
        for spot in spots
        for label, child in spot.children
    )
    return FlowChart(lefts[-1] + MARGIN, rows[0] * ROW - (ROW - HEIGHT) + 2 * MARGIN, boxes, links)


def _spot(node: Mapping[str, Any], column: int, deepest: int, rows: list[int]) -> _Spot:
    """A node and what follows it; `rows` counts the rows that are taken."""
    if "test" not in node or column >= deepest:
        rows[0] += 1
        return _Spot(node, column, rows[0] - 1.0, ())
    children = []
    for label, child in node["outcomes"].items():
        share = child["probability"] / node["probability"]
        children.append((f"{cut(label, 24)} ({share:.0%})", _spot(child, column + 1, deepest, rows)))
    middle = 0.5 * (children[0][1].row + children[-1][1].row)
    return _Spot(node, column, middle, tuple(children))


def _all(spot: _Spot) -> Sequence[_Spot]:
    return [spot, *(each for _, child in spot.children for each in _all(child))]


def _texts(spot: _Spot) -> tuple[str, str]:
    """The two lines of a box."""
    node = spot.node
    if spot.children:
        return cut(str(node["test"])), f"cost {node['cost']:g}"
    folded = "" if "test" not in node else "… "
    missed = "" if node.get("reached", True) else ", not safe"
    return cut(folded + str(node["decision"])), f"SDP {node['sdp']:.3f}{missed}"


def _colours(spots: Sequence[_Spot]) -> dict[str, str]:
    """A tint for each decision, in the order in which they appear."""
    found = dict.fromkeys(str(spot.node["decision"]) for spot in spots if not spot.children)
    return {decision: _tint(SERIES[k % len(SERIES)]) for k, decision in enumerate(sorted(found))}


def _tint(colour: str) -> str:
    """A colour mixed with four parts of white."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * 0.25):02X}" for part in parts)


def _box(spot: _Spot, left: float, width: float, colours: Mapping[str, str]) -> ChartBox:
    title, note = _texts(spot)
    node, is_test = spot.node, bool(spot.children)
    full = (
        f"{node['test']}, then further tests; now {node['decision']}" if "test" in node else node["decision"]
    )
    return ChartBox(
        left,
        MARGIN + spot.row * ROW,
        width,
        title,
        note,
        PAPER if is_test else colours[str(node["decision"])],
        not node.get("reached", True) or (not is_test and "test" in node),
        is_test,
        f"{node['test'] if is_test else full} (probability {node['probability']:.4f})",
    )


def _link(one: ChartBox, other: ChartBox, label: str, probability: float) -> ChartLink:
    start = (one.x + one.width, one.y + HEIGHT / 2)
    return ChartLink(start, (other.x, other.y + HEIGHT / 2), label, 0.8 + 4.0 * probability)


def flow_chart_svg(tree: Mapping[str, Any], *, label: str = "a test plan", deepest: int = DEEPEST) -> str:
    """The chart of a plan's nested data as one SVG element."""
    chart = lay_out_plan(tree, deepest=deepest)
    links = "".join(map(_svg_link, chart.links))
    return drawing(links + "".join(map(_svg_box, chart.boxes)), chart.width, chart.height, label=label)


def _svg_link(link: ChartLink) -> str:
    (x, y), (end_x, end_y) = link.start, link.end
    bend = x + 12.0
    path = element(
        "path",
        d=f"M{x:.1f} {y:.1f}C{bend:.1f} {y:.1f} {x:.1f} {end_y:.1f} {bend + 6:.1f} {end_y:.1f}H{end_x:.1f}",
        fill="none",
        stroke=FAINT,
        stroke_width=link.thickness,
        opacity=0.55,
    )
    text = element("text", escaped(link.label), x=bend + 8, y=end_y - 5, font_size=SMALL, fill=INK)
    return path + text


def _svg_box(box: ChartBox) -> str:
    frame = element(
        "rect",
        x=box.x,
        y=box.y,
        width=box.width,
        height=HEIGHT,
        rx=4 if box.is_test else HEIGHT / 2,
        fill=box.fill,
        stroke=INK,
        stroke_dasharray="4 3" if box.dashed else None,
    )
    middle = box.x + box.width / 2
    title = element(
        "text", escaped(box.title), x=middle, y=box.y + 15, text_anchor="middle", font_size=FONT, fill=INK
    )
    note = element(
        "text", escaped(box.note), x=middle, y=box.y + 27, text_anchor="middle", font_size=SMALL, fill=INK
    )
    return element("g", element("title", escaped(box.full)) + frame + title + note)


def flow_chart_picture(tree: Mapping[str, Any], *, title: str = "", deepest: int = DEEPEST) -> Picture:
    """The chart of a plan's nested data as a figure of matplotlib."""
    chart = lay_out_plan(tree, deepest=deepest)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.set(xlim=(0, chart.width), ylim=(chart.height + 2, -20 if title else 0))
        axes.axis("off")
        if title:
            axes.text(MARGIN, -6, title, fontsize=FONT, fontweight="bold")
        for link in chart.links:
            _plot_link(axes, link)
        for box in chart.boxes:
            _plot_box(axes, box)

    return picture_of(draw, (chart.width / 72, (chart.height + (22 if title else 2)) / 72))


def _plot_link(axes: Any, link: ChartLink) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    (x, y), (end_x, end_y) = link.start, link.end
    bend = x + 12.0
    points = [(x, y), (bend, y), (x, end_y), (bend + 6, end_y), (end_x, end_y)]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
    axes.add_patch(
        PathPatch(Path(points, codes), fill=False, edgecolor=FAINT, linewidth=link.thickness, alpha=0.55)
    )
    axes.text(bend + 8, end_y - 5, link.label, fontsize=SMALL * 0.95)


def _plot_box(axes: Any, box: ChartBox) -> None:
    from matplotlib.patches import FancyBboxPatch

    style = f"round,pad=0,rounding_size={4 if box.is_test else HEIGHT / 2}"
    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y),
            box.width,
            HEIGHT,
            boxstyle=style,
            facecolor=box.fill,
            edgecolor=INK,
            linestyle="--" if box.dashed else "-",
        )
    )
    middle = box.x + box.width / 2
    axes.text(middle, box.y + 15, box.title, ha="center", fontsize=FONT * 0.95)
    axes.text(middle, box.y + 27, box.note, ha="center", fontsize=SMALL * 0.95)
