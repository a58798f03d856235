"""A choice of features: what it achieves, and what no other choice exceeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, GRID, VERMILLION
from unswayed.view.thresholds import subset_text


def selection_picture(
    kept: Sequence[str], value_and_bound: tuple[float, float], *, cost: float, title: str = ""
) -> Picture:
    """The value of the kept features as a bar, the gap to the bound hatched."""
    heading = title or f"{len(kept)} {'feature' if len(kept) == 1 else 'features'} kept, cost {cost:g}"
    return picture_of(lambda figure: _draw(figure, kept, value_and_bound, heading), (6.0, 2.2))


def _draw(figure: Any, kept: Sequence[str], value_and_bound: tuple[float, float], title: str) -> None:
    axes = figure.add_subplot()
    value, bound = value_and_bound
    axes.barh([0], [value], color=BLUE, height=0.5, label=f"found: {value:.4f}")
    if math.isfinite(bound) and bound > value + 1e-12:
        gap = {"color": GRID, "edgecolor": VERMILLION, "hatch": "///", "linewidth": 0.8, "height": 0.5}
        axes.barh([0], [bound - value], left=[value], label=f"not excluded: up to {bound:.4f}", **gap)
    axes.set_yticks([0], [subset_text(kept, at_most=6)])
    axes.set(title=title, xlabel="value of the kept features", ylim=(-0.6, 0.6))
    if 0 <= value <= 1 and bound <= 1:
        axes.set_xlim(0, 1)
    tidy(axes, grid="x")
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=2)
