"""Averages of the synthetic runs and their plots, after Figures 8 and 9 of [chen2014]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.papers.chen2014.synthetic import DISTANCES, Point

BINS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 9), (10, 13), (14, 20))
"""Numbers of components averaged together, so that each has several networks."""


@dataclass(frozen=True, slots=True)
class Average:
    """The mean over the computations that share a label."""

    label: str
    n_runs: int
    seconds: float
    """Of the depth-first search."""
    explored: float
    """Instantiations that it explored."""
    ours: float
    """Seconds of the cheapest exact engine of unswayed."""


def by_components(points: Sequence[Point]) -> list[Average]:
    """Averages over networks with as many components."""
    averages = []
    for low, high in BINS:
        label = f"{low}" if low == high else f"{low}-{high}"
        averages.append(_average(label, [p for p in points if low <= p.n_components <= high]))
    return [average for average in averages if average]


def by_distance(points: Sequence[Point]) -> list[Average]:
    """Averages over thresholds as far from the posterior."""
    averages = [_average(f"{d:g}", [p for p in points if p.distance == d]) for d in DISTANCES]
    return [average for average in averages if average]


def _average(label: str, points: Sequence[Point]) -> Average | None:
    """The mean of the computations that finished; None when there are none."""
    chosen = [p for p in points if all(r.answer for r in p.runs.values())]
    if not chosen:
        return None
    searches = [p.runs["depth-first"] for p in chosen]
    explored = [r.answer.n_explored or 0 for r in searches if r.answer]
    ours = fmean(p.runs["unswayed"].seconds for p in chosen)
    return Average(label, len(chosen), fmean(r.seconds for r in searches), fmean(explored), ours)


def plot(averages: Sequence[Average], x_label: str, path: Path) -> None:
    """Instantiations explored and seconds, on logarithmic scales, one above the other."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(6.0, 5.2), sharex=True, layout="constrained")
    places = range(len(averages))
    above.plot(places, [a.explored for a in averages], "o-", color="tab:blue", label="depth-first search")
    above.axhline(2.0**20, color="0.5", linestyle=":", label="all instantiations, $2^{20}$")
    above.set(yscale="log", ylabel="instantiations explored")
    below.plot(places, [a.seconds for a in averages], "o-", color="tab:blue", label="depth-first search")
    below.plot(
        places, [a.ours for a in averages], "s--", color="tab:orange", label="unswayed, cheapest engine"
    )
    below.set(yscale="log", ylabel="seconds", xlabel=x_label)
    below.set_xticks(list(places), [a.label for a in averages])
    for axes in (above, below):
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)
