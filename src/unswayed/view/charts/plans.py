"""The flow chart of a test plan, from left to right: tests in boxes, links by what a test tells, verdicts.

A plan is nested plain data, as in the JSON of `unswayed plan`: a test is `{"test", "cost", "decision", "sdp",
"probability", "outcomes": {state: ...}}`, a leaf `{"decision", "sdp", "probability"}`, with the tests that
are left as `"rest"` where all of them are to be done. Tests deeper than `DEEPEST` are folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.charts.axes import TEXT, cut, headed, text_width
from unswayed.view.drawing import Cluster, Drawing, Look, Mark, Rectangle, Trace, Words, line, shift
from unswayed.view.numbers import percent, probability_text

DEEPEST = 5
"""Tests of a path that are drawn before the rest is folded."""
NOTE = 10.0
"""Size of what is written smaller."""
HEIGHT, ROW = 36.0, 48.0
"""Height of a box, and of a row with the space below it."""
PAD = 10.0
TINTS = ("blue", "orange", "green", "amber")
"""Colours of decisions, in their order; each decision is also written in its box."""


@dataclass(frozen=True, slots=True)
class FlowBox:
    """A test or a verdict: its data, its column, its row, and what follows."""

    node: Mapping[str, Any]
    column: int
    row: float
    """Rows of tests lie between those of what follows."""
    children: tuple[tuple[str, FlowBox], ...]

    @property
    def texts(self) -> tuple[str, str]:
        """The two lines that are written in it."""
        if self.children:
            return cut(str(self.node["test"])), f"cost {self.node['cost']:g}"
        if rest := self.node.get("rest"):
            return f"all {len(rest)} tests left", f"cost {self.node['rest_cost']:g}, then decide"
        folded = "… " if "test" in self.node else ""
        missed = "" if self.node.get("reached", True) else ", not safe"
        least = "≥ " if self.node.get("is_bound") else ""
        return cut(
            folded + str(self.node["decision"])
        ), f"SDP {least}{probability_text(self.node['sdp'])}{missed}"

    @property
    def title(self) -> str:
        """What it says in full, for those who point at it."""
        node = self.node
        what = node["test"] if self.children else node["decision"]
        if "test" in node and not self.children:
            what = f"{node['test']}, then further tests; now {node['decision']}"
        return f"{what} (probability {probability_text(node['probability'])})"


def draw_plan(
    tree: Mapping[str, Any], *, title: str = "", subtitle: str = "", deepest: int = DEEPEST
) -> Drawing:
    """A column for each test of a path, a row for each verdict."""
    root, n_rows = _place(tree, 0, deepest, 0)
    boxes = _list_boxes(root)
    lefts, widths = _columns(boxes)
    width = max(lefts[-1], 260.0)
    marks, top = headed(title, subtitle, width)
    names = sorted({str(box.node["decision"]) for box in boxes if not box.children})
    colours = {decision: TINTS[k % len(TINTS)] for k, decision in enumerate(names)}
    inner: list[Mark] = []
    for box in boxes:
        start = lefts[box.column] + widths[box.column]
        for label, child in box.children:
            inner += _link_marks(label, child, (start, box.row), lefts[child.column])
    inner += [_box_mark(box, lefts[box.column], widths[box.column], colours) for box in boxes]
    marks += [shift(mark, 0.0, top + 2) for mark in inner]
    return Drawing(
        width, top + n_rows * ROW - ROW + HEIGHT + 6, tuple(marks), title or "a test plan", _words(root)
    )


def _place(node: Mapping[str, Any], column: int, deepest: int, n_rows: int) -> tuple[FlowBox, int]:
    """A node and what follows it, and how many rows are taken then."""
    if "test" not in node or column >= deepest:
        return FlowBox(node, column, float(n_rows), ()), n_rows + 1
    children = []
    for label, child in node["outcomes"].items():
        share = child["probability"] / node["probability"]
        box, n_rows = _place(child, column + 1, deepest, n_rows)
        children.append((f"{cut(str(label), 24)} ({percent(share)})", box))
    middle = 0.5 * (children[0][1].row + children[-1][1].row)
    return FlowBox(node, column, middle, tuple(children)), n_rows


def _list_boxes(box: FlowBox) -> list[FlowBox]:
    return [box, *(each for _, child in box.children for each in _list_boxes(child))]


def _columns(boxes: Sequence[FlowBox]) -> tuple[list[float], list[float]]:
    """Left edges of the columns, with the right edge of the last after them; and their widths."""
    widths = [0.0] * (1 + max(box.column for box in boxes))
    gaps = [0.0] * len(widths)
    for box in boxes:
        title, note = box.texts
        wide = max(text_width(title) * 1.05, text_width(note, NOTE)) + 2 * PAD
        widths[box.column] = max(widths[box.column], wide)
        for label, _ in box.children:
            gaps[box.column] = max(gaps[box.column], text_width(label, NOTE) + 34.0)
    lefts = [2.0]
    for width, gap in zip(widths, gaps, strict=True):
        lefts.append(lefts[-1] + width + gap)
    return [*lefts[:-1], lefts[-1] + 2.0], widths


def _link_marks(label: str, child: FlowBox, start: tuple[float, float], end: float) -> list[Mark]:
    """A link as thick as its branch is probable, its outcome written above its level part."""
    x, y, below = start[0], start[1] * ROW + HEIGHT / 2, child.row * ROW + HEIGHT / 2
    bend = x + 12.0
    width = 1.0 + 4.0 * float(child.node["probability"])
    curve = ((x, y), (bend, y), (x, below), (bend + 6, below))
    return [
        Trace(curve, Look(stroke="faint", width=width), curved=True),
        line([(bend + 6, below), (end, below)], "faint", width),
        Words(label, bend + 8, below - 5, NOTE, colour="soft"),
    ]


def _box_mark(box: FlowBox, left: float, width: float, colours: Mapping[str, str]) -> Cluster:
    top, (title, note) = box.row * ROW, box.texts
    is_test = bool(box.children)
    is_open = not is_test and ("test" in box.node or "rest" in box.node)
    dash = (4.0, 3.0) if is_open or not box.node.get("reached", True) else ()
    colour = "soft" if is_test else colours[str(box.node["decision"])]
    look = Look("paper" if is_test else f"pale-{colour}", colour, 1.2, dash)
    marks = (
        Rectangle(left, top, width, HEIGHT, look, 5 if is_test else HEIGHT / 2),
        Words(title, left + width / 2, top + 16, TEXT, "middle", bold=True),
        Words(note, left + width / 2, top + 29, NOTE, "middle", "soft"),
    )
    return Cluster(marks, box.title, "test" if is_test else "verdict")


def _words(box: FlowBox) -> str:
    """The plan in words, for those who do not see it."""
    if not box.children:
        rest = ", then further tests" if "test" in box.node else ""
        return f"{box.node['decision']}{rest}."
    branches = [f"If {label}: {_words(child)}" for label, child in box.children]
    return f"Test {box.node['test']}. {' '.join(branches)}"
