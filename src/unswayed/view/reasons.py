"""What drove a decision, and how far numbers may move: bars of contributions, and a tornado of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, FAINT, INK, SKY, VERMILLION
from unswayed.view.texts import cut

MOST_BARS = 25
"""Bars that are drawn before the list is cut."""
LONGEST_NAME = 44


@dataclass(frozen=True, slots=True)
class Push:
    """What one finding adds to the leaning towards the decision."""

    finding: str
    weight: float


@dataclass(frozen=True, slots=True)
class Leeway:
    """The values of a parameter that keep the decision, around the value that it has."""

    parameter: str
    value: float
    low: float
    high: float


def contributions_picture(pushes: Sequence[Push], *, leaning: str, title: str) -> Picture:
    """A bar for each finding: to the right for the decision, to the left against it."""
    shown = [push for push in pushes if abs(push.weight) != float("inf")][:MOST_BARS]
    return picture_of(lambda figure: _draw_pushes(figure, shown, leaning, title), _size(len(shown)))


def _draw_pushes(figure: Any, pushes: Sequence[Push], leaning: str, title: str) -> None:
    axes = figure.subplots()
    colours = [BLUE if push.weight >= 0 else VERMILLION for push in pushes]
    axes.barh(range(len(pushes)), [push.weight for push in pushes], height=0.66, color=colours)
    for place, push in enumerate(pushes):
        offset, align = ((3, 0), "left") if push.weight >= 0 else ((-3, 0), "right")
        text = "0" if abs(push.weight) < 1e-9 else f"{push.weight:+.3g}"
        point = (push.weight, place)
        axes.annotate(text, point, offset, textcoords="offset points", va="center", ha=align, fontsize=7.5)
    _name_rows(axes, [push.finding for push in pushes])
    axes.axvline(0.0, color=FAINT, linewidth=0.8)
    axes.margins(x=0.18)
    axes.set_xlabel(f"change in the {leaning}: right speaks for the decision, left against it", fontsize=8)
    axes.set_title(title)


def leeways_picture(leeways: Sequence[Leeway], *, title: str) -> Picture:
    """A bar from the lowest to the highest value of each parameter that keeps the decision."""
    shown = leeways[:MOST_BARS]
    return picture_of(lambda figure: _draw_leeways(figure, shown, title), _size(len(shown)))


def _draw_leeways(figure: Any, leeways: Sequence[Leeway], title: str) -> None:
    axes = figure.subplots()
    for place, each in enumerate(leeways):
        axes.barh(place, each.high - each.low, left=each.low, height=0.6, color=SKY)
        axes.plot([each.value, each.value], [place - 0.36, place + 0.36], color=INK, linewidth=1.8)
        for end, inner in ((each.low, 0.0), (each.high, 1.0)):
            if end != inner:
                axes.plot([end, end], [place - 0.3, place + 0.3], color=VERMILLION, linewidth=1.8)
    _name_rows(axes, [each.parameter for each in leeways])
    axes.set_xlim(-0.01, 1.01)
    axes.set_xlabel(
        "the decision stays within the bar and turns at a red end; black: the network's value", fontsize=8
    )
    axes.set_title(title)


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [cut(name, LONGEST_NAME) for name in names], fontsize=8)
    axes.invert_yaxis()
    tidy(axes, grid="x")
    axes.tick_params(labelsize=8)


def _size(n_rows: int) -> tuple[float, float]:
    return 7.5, 1.3 + 0.27 * max(n_rows, 3)
