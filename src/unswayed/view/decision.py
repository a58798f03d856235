"""A decision: the posterior as bars, and below it how probably the decision lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, FAINT, GREEN, GRID, INK, SKY
from unswayed.view.texts import cut

MOST_STATES = 20
"""States with a bar of their own; the most probable ones."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A same-decision probability and the level at which to stop."""

    value: float
    low: float
    high: float
    at_least: float


def decision_picture(
    posterior: Mapping[str, float], decided: str, *, title: str = "", gauge: Gauge | None = None
) -> Picture:
    """The posterior of the target, the bar of what was decided filled; with a gauge, its safety too."""
    shown = _most_probable(posterior)
    height = 0.9 + 0.32 * len(shown) + (1.0 if gauge else 0.0)
    heading = title or f"decision: {cut(decided, 40)}"
    return picture_of(lambda figure: _draw(figure, shown, decided, title=heading, gauge=gauge), (6.0, height))


def _most_probable(posterior: Mapping[str, float]) -> dict[str, float]:
    top = sorted(posterior, key=lambda state: -posterior[state])[:MOST_STATES]
    return {state: posterior[state] for state in posterior if state in top}


def _draw(figure: Any, shown: Mapping[str, float], decided: str, *, title: str, gauge: Gauge | None) -> None:
    ratios = [max(len(shown), 1), 1.6] if gauge else [1]
    panels = figure.subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    _draw_bars(panels[0], shown, decided)
    panels[0].set_title(title)
    if gauge:
        _draw_gauge(panels[1], gauge)


def _draw_bars(axes: Any, shown: Mapping[str, float], decided: str) -> None:
    values = list(shown.values())
    # A threshold's "not +" is decided for no single state: then no bar stands out.
    colours = [BLUE if state == decided else SKY for state in shown]
    axes.barh(range(len(values)), values, color=colours, height=0.7)
    for place, value in enumerate(values):
        axes.annotate(
            f"{value:.4f}", (value, place), (4, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.set_yticks(range(len(values)), [cut(state) for state in shown])
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.12), xlabel="posterior probability")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    tidy(axes, grid="x")


def _draw_gauge(axes: Any, gauge: Gauge) -> None:
    axes.barh([0], [1], color=GRID, height=0.5)
    axes.barh([0], [gauge.value], color=GREEN, height=0.5)
    if gauge.high > gauge.low:
        axes.barh([0], [gauge.high - gauge.low], left=[gauge.low], color=FAINT, alpha=0.6, height=0.5)
    axes.plot([gauge.at_least] * 2, [-0.3, 0.34], color=INK, linestyle=":", linewidth=1.6)
    axes.annotate(
        f"stop at {gauge.at_least:g}",
        (gauge.at_least, 0.34),
        (0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7.5,
    )
    axes.annotate(f"{gauge.value:.4f}", (1, 0), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set(xlim=(0, 1.12), ylim=(-0.4, 0.8), yticks=[], xlabel="same-decision probability")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    tidy(axes, grid="x")
    axes.spines["left"].set_visible(False)
