"""What observing each feature is worth, criterion beside criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import BLUE, FAINT, VERMILLION
from unswayed.view.texts import cut

MOST_FEATURES = 25
"""Bars that are drawn before the list is cut."""
TITLE_BY_CRITERION = {
    "sdp": "gain in same-decision\nprobability",
    "entropy": "gain in information\n(bits)",
    "margin": "gain in margin",
    "utility": "gain in utility",
}


@dataclass(frozen=True, slots=True)
class Worth:
    """What one feature is worth by one criterion."""

    value: float
    low: float
    high: float


def ranking_picture(features: Sequence[str], worth: Mapping[str, Sequence[Worth]], *, title: str) -> Picture:
    """A panel of bars for each criterion, all in the order of `features`; the best bar of each stands out."""
    shown = features[:MOST_FEATURES]
    height = 1.3 + 0.26 * max(len(shown), 3)
    width = max(4.5, 1.6 + 2.1 * len(worth))
    return picture_of(lambda figure: _draw(figure, shown, worth, _headed(title, features)), (width, height))


def _headed(title: str, features: Sequence[str]) -> str:
    hidden = len(features) - MOST_FEATURES
    return f"{title} (the first {MOST_FEATURES} of {len(features)})" if hidden > 0 else title


def _draw(figure: Any, features: Sequence[str], worth: Mapping[str, Sequence[Worth]], title: str) -> None:
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    panels = figure.subplots(1, len(worth), sharey=True, squeeze=False)[0]
    for axes, (criterion, values) in zip(panels, worth.items(), strict=True):
        _draw_bars(axes, values[: len(features)])
        axes.set_title(TITLE_BY_CRITERION.get(criterion, criterion), fontsize=9.5, fontweight="normal")
    panels[0].set_yticks(range(len(features)), [cut(name) for name in features])
    panels[0].invert_yaxis()
    figure.supxlabel(
        "expected gain from observing one feature; the best by each criterion stands out", fontsize=8
    )


def _draw_bars(axes: Any, values: Sequence[Worth]) -> None:
    sizes = [each.value for each in values]
    best = max(range(len(sizes)), key=lambda i: (round(sizes[i], 12), -i), default=0)
    colours = [VERMILLION if i == best and sizes[i] > 0 else BLUE for i in range(len(sizes))]
    places = range(len(values))
    axes.barh(places, sizes, height=0.66, color=colours)
    wide = [i for i in places if values[i].high > values[i].low]
    if wide:
        reach = [[sizes[i] - values[i].low for i in wide], [values[i].high - sizes[i] for i in wide]]
        axes.errorbar([sizes[i] for i in wide], wide, xerr=reach, fmt="none", color=FAINT, capsize=2)
    for place, size in zip(places, sizes, strict=True):
        axes.annotate(
            _number(size),
            (max(size, 0.0), place),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )
    axes.axvline(0.0, color=FAINT, linewidth=0.8)
    tidy(axes, grid="x")
    axes.margins(x=0.25)
    axes.tick_params(labelsize=8)
    axes.xaxis.get_major_locator().set_params(nbins=4)


def _number(value: float) -> str:
    """Short, and never a positive value as 0.

    >>> [_number(v) for v in (0.1275, 0.0, -1e-17, 0.00001)]
    ['0.128', '0', '0', '1e-05']
    """
    if abs(value) < 1e-12:
        return "0"
    return f"{value:.0e}" if abs(value) < 5e-4 else f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"
