"""The frontier as a picture: how much agreement each budget buys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.api.selection import Frontier
from holdfast.core.errors import FormatError, SolverError

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
BLUE, ORANGE = "#0072B2", "#D55E00"
"""Told apart with any colour vision (Okabe and Ito), and by shape too."""
REACH = 1.06
"""How far the curve goes on beyond the last point, as a share of its cost."""


def plot_frontier(frontier: Frontier, path: Path, *, title: str) -> None:
    """Write the agreement over the budget as a step curve; the suffix of `path` names the format.

    Points that are not proven optimal are hollow, with a bar up to what is not excluded. Raises
    `SolverError` when matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SolverError(
            f"matplotlib cannot be imported ({error}); install it with: pip install 'holdfast[plots]'"
        ) from None
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    _draw(figure.add_subplot(), frontier, title)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None


def _draw(axes: Any, frontier: Frontier, title: str) -> None:
    found = [point.selection for point in frontier.points]
    end = max(found[-1].cost * REACH, 1.0)
    costs, values = [each.cost for each in found], [each.value for each in found]
    axes.step([*costs, end], [*values, values[-1]], where="post", color=BLUE, linewidth=1.5)
    proven = [each for each in found if each.optimal]
    open_ = [each for each in found if not each.optimal]
    if proven:
        xs, ys = [s.cost for s in proven], [s.value for s in proven]
        axes.plot(xs, ys, "o", color=BLUE, label="best, proven", zorder=3)
    if open_:
        gaps = [[0.0] * len(open_), [min(s.gap, 1.0 - s.value) for s in open_]]
        style = {"color": ORANGE, "markerfacecolor": "white", "capsize": 3, "zorder": 4}
        xs, ys = [s.cost for s in open_], [s.value for s in open_]
        axes.errorbar(xs, ys, yerr=gaps, fmt="s", label="best found, and what is not excluded", **style)
    axes.set(
        title=title,
        xlabel="budget (cost of the kept features)",
        ylabel="agreement with the full classifier",
        xlim=(min(0.0, costs[0]) - 0.02 * end, end),
    )
    # Whole numbers of features are marked as such.
    axes.xaxis.get_major_locator().set_params(integer=all(cost == round(cost) for cost in costs))
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False)
