"""Agreement over the threshold of the full classifier, with the changes of the best subset marked.

The picture of [choi2017, Figure 7]: how robust decisions are depends on the threshold, and so do the features
worth keeping. Large markers stand where another subset becomes the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, INK, VERMILLION
from unswayed.view.texts import cut


@dataclass(frozen=True, slots=True)
class BestAt:
    """The best subset at one threshold."""

    threshold: float
    agreement: float
    kept: tuple[str, ...]


def thresholds_picture(points: Sequence[BestAt], *, title: str) -> Picture:
    """The agreement of the best subset over the threshold; large markers where the subset changes."""
    return picture_of(lambda figure: _draw(figure.add_subplot(), points, title))


def changes(points: Sequence[BestAt]) -> list[int]:
    """Numbers of the points whose subset is not that of the point before; the first one included.

    >>> changes([BestAt(0.1, 1, ("A",)), BestAt(0.2, 1, ("A",)), BestAt(0.3, 1, ())])
    [0, 2]
    """
    return [i for i, each in enumerate(points) if i == 0 or each.kept != points[i - 1].kept]


def _draw(axes: Any, points: Sequence[BestAt], title: str) -> None:
    places, values = [each.threshold for each in points], [each.agreement for each in points]
    axes.plot(places, values, "o-", color=BLUE, markersize=4, label="best subset at this threshold")
    changed = changes(points)
    axes.plot(
        [places[i] for i in changed],
        [values[i] for i in changed],
        "D",
        color=VERMILLION,
        markersize=9,
        linestyle="none",
        label="another subset from here on",
    )
    for i in changed:
        axes.annotate(
            subset_text(points[i].kept),
            (places[i], values[i]),
            (0, 9),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7.5,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
        )
    axes.set(title=title, xlabel="threshold of the full classifier", ylabel="agreement of the best subset")
    axes.set_xlim(0, 1)
    # Room above for the names of a subset that agrees always, and below for the legend.
    reach = max(1 - min(values), 0.02)
    axes.set_ylim(max(0.0, min(values) - 0.35 * reach), 1 + 0.25 * reach)
    axes.set_yticks([tick for tick in axes.get_yticks() if axes.get_ylim()[0] <= tick <= 1])
    tidy(axes)
    axes.legend(loc="lower left", frameon=False)


def subset_text(names: Sequence[str], at_most: int = 3) -> str:
    """Names below each other, the first few.

    >>> subset_text(["A", "B", "C", "D"]), subset_text([])
    ('A\\nB\\nand 2 more', 'nothing')
    """
    if not names:
        return "nothing"
    shown = list(names) if len(names) <= at_most else [*names[: at_most - 1]]
    rest = [] if len(names) <= at_most else [f"and {len(names) - at_most + 1} more"]
    return "\n".join([cut(name, 16) for name in shown] + rest)
