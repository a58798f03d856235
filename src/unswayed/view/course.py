"""A case as its evidence arrives: the posterior and the decision above, how safe the decision is below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, tidy
from unswayed.view.colours import FAINT, GREEN, INK, MARKERS, SERIES, SKY
from unswayed.view.texts import cut

MOST_CLASSES = 6
"""States of the target that get a line of their own: those that are ever most probable come first."""

LEGEND = {"frameon": False, "fontsize": 8, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""Legends stand beside the panels, where no line runs."""


@dataclass(frozen=True, slots=True)
class Moment:
    """How things stand after one more observation."""

    observed: str
    """What was observed, as people write it; empty at the beginning."""
    posterior: dict[str, float]
    decision: str
    sdp: float
    sdp_low: float
    sdp_high: float


def course_picture(
    moments: Sequence[Moment],
    *,
    title: str,
    threshold: tuple[str, float] | None = None,
    at_least: float | None = None,
) -> Picture:
    """Posterior and same-decision probability from the first moment to the last.

    `threshold` is the positive state and its threshold: then only its posterior is drawn. `at_least` is the
    level at which to stop.
    """
    size = (max(6.0, 3.6 + 0.75 * len(moments)), 5.0)
    return picture_of(
        lambda figure: _draw(figure, moments, title=title, threshold=threshold, at_least=at_least), size
    )


def _draw(
    figure: Any,
    moments: Sequence[Moment],
    *,
    title: str,
    threshold: tuple[str, float] | None,
    at_least: float | None,
) -> None:
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1))
    above.set_title(title)
    _draw_posterior(above, moments, threshold)
    _draw_safety(below, moments, at_least)
    labels = [cut(moment.observed, 22) or "nothing yet" for moment in moments]
    slanted = len(moments) > 4 or max(map(len, labels)) > 12
    below.set_xticks(
        range(len(moments)), labels, rotation=30 if slanted else 0, ha="right" if slanted else "center"
    )
    below.set_xlabel("observed, one after the other")
    below.set_xlim(-0.4, len(moments) - 0.6)


def _draw_posterior(axes: Any, moments: Sequence[Moment], threshold: tuple[str, float] | None) -> None:
    states = [threshold[0]] if threshold else _leading(moments)
    for i, state in enumerate(states):
        values = [moment.posterior[state] for moment in moments]
        style = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)], "markersize": 5}
        axes.plot(range(len(moments)), values, label=f"Pr({cut(state)})", **style)
    if threshold:
        axes.axhline(
            threshold[1], color=INK, linestyle="--", linewidth=1, label=f"threshold {threshold[1]:g}"
        )
    for number, (start, end, decision) in enumerate(_spells(moments)):
        axes.axvspan(start - 0.5, end + 0.5, color=SKY, alpha=0.16 * (number % 2 == 0), linewidth=0)
        axes.text(
            (start + end) / 2, 1.03, cut(decision, 18), ha="center", va="bottom", fontsize=8, weight="bold"
        )
    axes.set_ylim(0, 1.14)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("posterior; decision on top")
    tidy(axes, grid="y")
    axes.legend(**LEGEND)


def _leading(moments: Sequence[Moment]) -> list[str]:
    """The states worth a line: by their highest posterior."""
    states = list(moments[0].posterior)
    top = sorted(states, key=lambda state: -max(moment.posterior[state] for moment in moments))
    return [state for state in states if state in top[:MOST_CLASSES]]


def _spells(moments: Sequence[Moment]) -> list[tuple[int, int, str]]:
    """From which moment to which each decision lasts."""
    spells: list[tuple[int, int, str]] = []
    for i, moment in enumerate(moments):
        if spells and spells[-1][2] == moment.decision:
            spells[-1] = (spells[-1][0], i, moment.decision)
        else:
            spells.append((i, i, moment.decision))
    return spells


def _draw_safety(axes: Any, moments: Sequence[Moment], at_least: float | None) -> None:
    places, values = range(len(moments)), [moment.sdp for moment in moments]
    axes.plot(places, values, "o-", color=GREEN, markersize=5, label="same-decision probability")
    lows, highs = [moment.sdp_low for moment in moments], [moment.sdp_high for moment in moments]
    if lows != highs:
        axes.fill_between(places, lows, highs, color=GREEN, alpha=0.2, linewidth=0, label="certain to lie in")
    if at_least is not None:
        axes.axhline(at_least, color=INK, linestyle=":", linewidth=1.2, label=f"stop at {at_least:g}")
    low = min([*lows, at_least or 1.0])
    axes.set_ylim(max(0.0, low - 0.15 * max(1 - low, 0.05)), 1 + 0.06 * max(1 - low, 0.05))
    axes.set_ylabel("decision survives\nall other features")
    axes.spines["left"].set_color(FAINT)
    tidy(axes, grid="y")
    axes.legend(**LEGEND)
