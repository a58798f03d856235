"""How much agreement each budget buys, as a curve that steps up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.view.canvas import Picture, picture_of, probability_axis, tidy
from unswayed.view.colours import BLUE, GREEN, INK, VERMILLION
from unswayed.view.texts import cut

REACH = 1.06
"""How far the curve goes on beyond the last point, as a share of its cost."""
MOST_LABELS = 12
"""Points that are labelled before labels would overlap."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The best that can be had from a cost on."""

    cost: float
    agreement: float
    kept: tuple[str, ...]
    proven: bool = True
    gap: float = 0.0
    """How much better it could be at most, where it is not proven."""


def frontier_picture(offers: Sequence[Offer], *, title: str, marked: int | None = None) -> Picture:
    """The agreement over the budget; points not proven to be the best are hollow, with a bar for the gap.

    `marked` is the number of the offer to point out.
    """
    return picture_of(lambda figure: _draw(figure.add_subplot(), offers, title, marked))


def _draw(axes: Any, offers: Sequence[Offer], title: str, marked: int | None) -> None:
    end = max(offers[-1].cost * REACH, 1.0)
    costs, values = [each.cost for each in offers], [each.agreement for each in offers]
    axes.step([*costs, end], [*values, values[-1]], where="post", color=BLUE, linewidth=1.8)
    _draw_points(axes, offers)
    if len(offers) <= MOST_LABELS:
        _draw_labels(axes, offers)
    if marked is not None:
        offer = offers[marked]
        axes.plot(
            [offer.cost],
            [offer.agreement],
            "o",
            markersize=14,
            color="none",
            markeredgecolor=GREEN,
            markeredgewidth=2,
            label="recommended",
            zorder=2,
        )
    axes.set(
        title=title,
        xlabel="budget (what the kept features cost)",
        ylabel="agreement with the full classifier",
        xlim=(min(0.0, costs[0]) - 0.02 * end, end),
    )
    # Whole numbers of features are marked as such.
    axes.xaxis.get_major_locator().set_params(integer=all(cost == round(cost) for cost in costs))
    probability_axis(axes, min(values))
    tidy(axes)
    axes.legend(loc="lower right", frameon=False)


def _draw_points(axes: Any, offers: Sequence[Offer]) -> None:
    proven = [each for each in offers if each.proven]
    others = [each for each in offers if not each.proven]
    if proven:
        xs, ys = [each.cost for each in proven], [each.agreement for each in proven]
        axes.plot(xs, ys, "o", color=BLUE, label="best, proven", zorder=3)
    if others:
        gaps = [[0.0] * len(others), [min(each.gap, 1.0 - each.agreement) for each in others]]
        xs, ys = [each.cost for each in others], [each.agreement for each in others]
        style = {"color": VERMILLION, "markerfacecolor": "white", "capsize": 3, "zorder": 4}
        axes.errorbar(xs, ys, yerr=gaps, fmt="s", label="best found, and what is not excluded", **style)


def _draw_labels(axes: Any, offers: Sequence[Offer]) -> None:
    """What comes in (+) and goes out at each point, below its step."""
    before: frozenset[str] = frozenset()
    for number, offer in enumerate(offers):
        kept = frozenset(offer.kept)
        parts = [f"+{cut(name, 14)}" for name in offer.kept if name not in before]
        parts += [f"-{cut(name, 14)}" for name in sorted(before - kept)]
        before = kept
        if number:
            text = "\n".join(parts if len(parts) <= 3 else [*parts[:2], f"and {len(parts) - 2} more"])
            axes.annotate(
                text,
                (offer.cost, offer.agreement),
                (4, -5),
                textcoords="offset points",
                ha="left",
                va="top",
                fontsize=7.5,
                color=INK,
            )
