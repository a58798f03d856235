"""Charts of reasons: what each finding added to a decision, and how far numbers may move and keep it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unswayed.view.charts.axes import SMALL, TEXT, Scale, across_axis, cut, headed, text_width, wrap
from unswayed.view.charts.decisions import WIDTH
from unswayed.view.drawing import Cluster, Drawing, Mark, Rectangle, Words, filled, line

MOST_BARS = 25
"""Bars that are drawn before the list is cut."""
LONGEST_NAME = 34
ROW = 24.0


@dataclass(frozen=True, slots=True)
class Push:
    """What one finding adds to the leaning towards a decision; infinite where it settles it."""

    finding: str
    weight: float


@dataclass(frozen=True, slots=True)
class Leeway:
    """The values of a parameter that keep the decision, around the value that it has."""

    parameter: str
    value: float
    low: float
    high: float


def draw_contributions(pushes: Sequence[Push], *, title: str, subtitle: str = "", unit: str = "") -> Drawing:
    """A bar for each finding: to the right for the decision, to the left against it."""
    shown = list(pushes)[:MOST_BARS]
    marks, top = headed(title, subtitle, WIDTH)
    left = _name_room([push.finding for push in shown])
    finite = [abs(push.weight) for push in shown if math.isfinite(push.weight)]
    reach = max([*finite, 1e-9])
    scale = Scale(-reach, reach, left + 46, WIDTH - 46)
    marks += _name_marks([push.finding for push in shown], left, top)
    marks += [_push_mark(push, scale, top + ROW * row) for row, push in enumerate(shown)]
    bottom = top + ROW * len(shown)
    marks.append(line([(scale.at(0.0), top - 2), (scale.at(0.0), bottom)], "faint"))
    notes = [f"and {len(pushes) - len(shown)} more"] if len(pushes) > len(shown) else []
    for text in [*notes, *wrap(unit, WIDTH, SMALL)]:
        bottom += 15
        marks.append(Words(text, 0, bottom, SMALL, colour="soft"))
    words = "; ".join(f"{push.finding}: {_signed(push.weight)}" for push in shown)
    return Drawing(WIDTH, bottom + 8, tuple(marks), title, f"{words}.")


def _push_mark(push: Push, scale: Scale, y: float) -> Cluster:
    end = scale.at(min(max(push.weight, scale.low), scale.high))
    zero, towards = scale.at(0.0), push.weight >= 0
    bar = Rectangle(min(zero, end), y + 4, abs(end - zero), 14, filled("blue" if towards else "orange"), 3)
    place = (end + 5, "start") if towards else (end - 5, "end")
    label = Words(_signed(push.weight), place[0], y + 15, SMALL, place[1], "soft")
    return Cluster((bar, label), f"{push.finding}: {_signed(push.weight)}", "push")


def _signed(weight: float) -> str:
    if not math.isfinite(weight):
        return "+\u221e" if weight > 0 else "\u2212\u221e"
    return "0" if abs(weight) < 1e-9 else f"{weight:+.3g}".replace("-", "\u2212")


def draw_leeways(leeways: Sequence[Leeway], *, title: str, subtitle: str = "") -> Drawing:
    """A bar over the values of each parameter that keep the decision, its own value marked.

    The decision turns at an orange end; an end at 0 or 1 is none.
    """
    shown = list(leeways)[:MOST_BARS]
    marks, top = headed(title, subtitle, WIDTH)
    left = _name_room([each.parameter for each in shown])
    scale = Scale(0, 1, left + 4, WIDTH - 12)
    marks += _name_marks([each.parameter for each in shown], left, top)
    marks += [_leeway_mark(each, scale, top + ROW * row) for row, each in enumerate(shown)]
    bottom = top + ROW * len(shown) + 2
    marks += across_axis(scale, [0, 0.25, 0.5, 0.75, 1], bottom)
    key = (
        "The decision stays within the bar and turns at an orange end; the dark mark is the network's value."
    )
    bottom += 22
    for text in wrap(key, WIDTH, SMALL):
        bottom += 15
        marks.append(Words(text, 0, bottom, SMALL, colour="soft"))
    words = "; ".join(
        f"{each.parameter} is {each.value:g}: {each.low:.4g} to {each.high:.4g}" for each in shown
    )
    return Drawing(WIDTH, bottom + 8, tuple(marks), title, f"{words}.")


def _leeway_mark(each: Leeway, scale: Scale, y: float) -> Cluster:
    start, end, here = scale.at(each.low), scale.at(each.high), scale.at(each.value)
    marks: list[Mark] = [Rectangle(scale.start, y + 6, scale.end - scale.start, 10, filled("wash"), 3)]
    marks.append(Rectangle(start, y + 4, max(end - start, 1), 14, filled("pale-blue"), 3))
    turns = [x for x, edge, at in ((start, 0.0, each.low), (end, 1.0, each.high)) if at != edge]
    marks += [line([(x, y + 3), (x, y + 19)], "orange", 2.5) for x in turns]
    marks.append(line([(here, y + 1), (here, y + 21)], "ink", 2))
    words = f"{each.parameter} is {each.value:g}; from {each.low:.6g} to {each.high:.6g} the decision stays"
    return Cluster(tuple(marks), words, "leeway")


def _name_room(names: Sequence[str]) -> float:
    return min(max((text_width(cut(name, LONGEST_NAME)) for name in names), default=0) + 10, WIDTH * 0.48)


def _name_marks(names: Sequence[str], left: float, top: float) -> list[Mark]:
    return [
        Words(cut(name, LONGEST_NAME), left - 6, top + ROW * row + 15, TEXT, "end")
        for row, name in enumerate(names)
    ]
