"""How a search went: the best so far rises, the bound falls, and where they meet the best is proven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, SKY, VERMILLION


@dataclass(frozen=True, slots=True)
class Instant:
    """How far a search was at one moment."""

    seconds: float
    incumbent: float
    bound: float
    evaluations: int


def progress_picture(instants: Sequence[Instant], *, title: str, value_label: str = "agreement") -> Picture:
    """Incumbent and bound over time, the gap between them shaded."""
    return picture_of(lambda figure: _draw(figure.add_subplot(), instants, title, value_label))


def _draw(axes: Any, instants: Sequence[Instant], title: str, value_label: str) -> None:
    times = [each.seconds for each in instants]
    best = [each.incumbent for each in instants]
    bound = [each.bound if math.isfinite(each.bound) else math.nan for each in instants]
    axes.fill_between(times, best, bound, step="post", color=SKY, alpha=0.25, linewidth=0, label="gap")
    axes.step(times, bound, where="post", color=VERMILLION, linestyle="--", label="nothing exceeds")
    axes.step(times, best, where="post", color=BLUE, linewidth=2, label="best so far")
    axes.plot(times[-1:], best[-1:], "o", color=BLUE)
    n_subsets = f"{instants[-1].evaluations:,}"
    axes.annotate(
        f"{n_subsets} subsets",
        (times[-1], best[-1]),
        (-6, -8),
        textcoords="offset points",
        ha="right",
        va="top",
    )
    axes.set(title=title, xlabel="seconds", ylabel=value_label)
    axes.margins(x=0.02, y=0.12)
    tidy(axes)
    axes.legend(frameon=False, loc="best")
