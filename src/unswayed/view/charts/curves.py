"""Curves: what each budget buys, the best features over the threshold, how a search went."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from unswayed.api.results.recording import Reported
from unswayed.view.charts.axes import (
    Box,
    Scale,
    across_axis,
    cut,
    down_axis,
    headed,
    legend,
    place_labels,
    ticks,
)
from unswayed.view.charts.decisions import WIDTH
from unswayed.view.drawing import Cluster, Disc, Drawing, Look, Mark, Point, Trace, filled, line, shift

REACH = 1.06
"""How far the frontier goes on beyond its last point, as a share of its cost."""


@dataclass(frozen=True, slots=True)
class OfferPoint:
    """The best that can be had from a cost on."""

    cost: float
    agreement: float
    kept: tuple[str, ...]
    proven: bool = True
    gap: float = 0.0
    """How much better it could be at most, where it is not proven."""


@dataclass(frozen=True, slots=True)
class BestAt:
    """The best subset at one threshold."""

    threshold: float
    agreement: float
    kept: tuple[str, ...]


def draw_frontier(
    offers: Sequence[OfferPoint], *, marked: int | None = None, title: str = "", subtitle: str = ""
) -> Drawing:
    """Agreement over the budget; points not proven to be the best are hollow, with a bar for the gap.

    `marked` is the number of the offer to point out.
    """
    marks, top = headed(title, subtitle, WIDTH)
    end = max(offers[-1].cost * REACH, 1.0)
    lowest = min(offer.agreement for offer in offers)
    reach = max(1.0 - lowest, 0.02)
    across = Scale(-0.02 * end, end, 46, WIDTH - 14)
    down = Scale(max(0.0, lowest - 0.12 * reach), 1.0 + 0.03 * reach, top + 230, top + 24)
    whole = all(offer.cost == round(offer.cost) for offer in offers)
    marks += down_axis(
        down, ticks(down.low, min(down.high, 1.0), 5), (across.start, across.end), label="agreement"
    )
    marks += across_axis(
        across,
        ticks(0.0, across.high, 8, whole=whole),
        down.start,
        label="budget: what the kept features cost",
    )
    steps: list[Point] = [(across.at(offers[0].cost), down.at(offers[0].agreement))]
    for offer in offers[1:]:
        steps += [(across.at(offer.cost), steps[-1][1]), (across.at(offer.cost), down.at(offer.agreement))]
    marks.append(line([*steps, (across.end, steps[-1][1])], "blue", 2))
    places = [(across.at(offer.cost), down.at(offer.agreement)) for offer in offers]
    for number, (offer, place) in enumerate(zip(offers, places, strict=True)):
        marks.append(_offer_mark(offer, place, down, is_marked=number == marked))
    bounds = (across.start, down.end, across.end, down.start)
    covered = _step_boxes(steps, places)
    covered += [(x - 2, _reach(o, down), x + 2, y) for o, (x, y) in zip(offers, places, strict=True)]
    marks += place_labels(_change_labels(offers, places, marked), bounds, covered)
    key, deep = legend(_frontier_legend(offers, marked), across.start, WIDTH - across.start)
    marks += _moved(key, down.start + 44)
    words = "; ".join(f"cost {o.cost:g}: {o.agreement:.4f}" for o in offers)
    return Drawing(WIDTH, down.start + 46 + deep, tuple(marks), title or "what each budget buys", f"{words}.")


def _moved(marks: Sequence[Mark], down: float) -> list[Mark]:
    return [shift(mark, 0.0, down) for mark in marks]


def _offer_mark(offer: OfferPoint, place: Point, down: Scale, *, is_marked: bool) -> Cluster:
    x, y = place
    kept = ", ".join(offer.kept) or "nothing"
    proof = "proven best" if offer.proven else f"could be better by {offer.gap:.4f} at most"
    marks: list[Mark] = []
    if is_marked:
        marks.append(Disc(x, y, 9, Look(stroke="green", width=2.5)))
    if not offer.proven and math.isfinite(offer.gap):
        marks.append(line([(x, y), (x, _reach(offer, down))], "orange", 1.5))
    marks.append(Disc(x, y, 4.5, _dot_look(proven=offer.proven)))
    return Cluster(
        tuple(marks), f"cost {offer.cost:g}: agreement {offer.agreement:.4f} ({proof}); keep {kept}", "point"
    )


def _reach(offer: OfferPoint, down: Scale) -> float:
    """How high an agreement that is not excluded lies."""
    return down.at(min(offer.agreement + (offer.gap if math.isfinite(offer.gap) else 0.0), 1.0))


def _dot_look(*, proven: bool) -> Look:
    return (
        Look(fill="blue", stroke="blue", width=2) if proven else Look(fill="paper", stroke="orange", width=2)
    )


def _frontier_legend(offers: Sequence[OfferPoint], marked: int | None) -> list[tuple[str, list[Mark]]]:
    entries: list[tuple[str, list[Mark]]] = []
    if any(offer.proven for offer in offers):
        entries.append(("best, proven", [Disc(10, 6, 4.5, _dot_look(proven=True))]))
    if not all(offer.proven for offer in offers):
        entries.append(("best found, and what is not excluded", [Disc(10, 6, 4.5, _dot_look(proven=False))]))
    if marked is not None:
        entries.append(("recommended", [Disc(10, 6, 7, Look(stroke="green", width=2.5))]))
    return entries


def _change_labels(
    offers: Sequence[OfferPoint], places: Sequence[Point], marked: int | None
) -> list[tuple[Point, list[str]]]:
    """What comes in (+) and goes out at each point; the one to point out first, then the cheap ones."""
    labels = []
    for number in range(1, len(offers)):
        before, kept = frozenset(offers[number - 1].kept), frozenset(offers[number].kept)
        parts = [f"+{cut(name, 16)}" for name in offers[number].kept if name not in before]
        parts += [f"\u2212{cut(name, 16)}" for name in sorted(before - kept)]
        text = parts if len(parts) <= 3 else [*parts[:2], f"and {len(parts) - 2} more"]
        labels.append((number != marked, number, (places[number], text)))
    return [label for *_, label in sorted(labels, key=lambda each: each[:2])]


def _step_boxes(steps: Sequence[Point], places: Sequence[Point]) -> list[Box]:
    """What the curve and its points cover."""
    boxes = [
        (min(a[0], b[0]) - 1, min(a[1], b[1]) - 1, max(a[0], b[0]) + 1, max(a[1], b[1]) + 1)
        for a, b in itertools.pairwise(steps)
    ]
    return boxes + [(x - 5, y - 5, x + 5, y + 5) for x, y in places]


def draw_thresholds(points: Sequence[BestAt], *, title: str, subtitle: str = "") -> Drawing:
    """The agreement of the best subset over the threshold, a diamond where another subset becomes the best.

    The picture of [choi2017, Figure 7]: how robust decisions are depends on the threshold, and so do the
    features worth keeping.
    """
    marks, top = headed(title, subtitle, WIDTH)
    lowest = min(point.agreement for point in points)
    reach = max(1.0 - lowest, 0.02)
    across = Scale(0, 1, 46, WIDTH - 10)
    down = Scale(max(0.0, lowest - 0.5 * reach), 1.0 + 0.3 * reach, top + 240, top + 24)
    marks += down_axis(
        down, ticks(down.low, 1.0, 5), (across.start, across.end), label="agreement of the best subset"
    )
    marks += across_axis(across, ticks(0, 1, 10), down.start, label="threshold of the full classifier")
    places = [(across.at(point.threshold), down.at(point.agreement)) for point in points]
    marks.append(Cluster((line(places, "blue", 2),), kind="series"))
    changed = [i for i, each in enumerate(points) if i == 0 or each.kept != points[i - 1].kept]
    for i, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        dot: Mark = Disc(x, y, 3.2, filled("blue"))
        if i in changed:
            dot = Trace(((x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)), filled("orange"), closed=True)
        kept = ", ".join(point.kept) or "nothing"
        words = f"threshold {point.threshold:g}: agreement {point.agreement:.4f}; keep {kept}"
        marks.append(Cluster((dot,), words, "change" if i in changed else "point"))
    labels = [(places[i], _few(points[i].kept)) for i in changed]
    covered = [(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    marks += place_labels(labels, (across.start, down.end - 6, across.end, down.start), covered)
    words = "; ".join(
        f"from {points[i].threshold:g}: {', '.join(points[i].kept) or 'nothing'}" for i in changed
    )
    return Drawing(WIDTH, down.start + 42, tuple(marks), title, f"Best subsets: {words}.")


def _few(names: Sequence[str], at_most: int = 3) -> list[str]:
    """Names below each other, the first few.

    >>> _few(["A", "B", "C", "D"]), _few([])
    (['A', 'B', 'and 2 more'], ['nothing'])
    """
    if not names:
        return ["nothing"]
    shown = [cut(name, 16) for name in (names if len(names) <= at_most else names[: at_most - 1])]
    return shown if len(names) <= at_most else [*shown, f"and {len(names) - len(shown)} more"]


def draw_progress(
    instants: Sequence[Reported], *, title: str, subtitle: str = "", value_label: str = "agreement"
) -> Drawing:
    """The best so far rises, the bound falls; where they meet, the best is proven. The gap is shaded."""
    marks, top = headed(title, subtitle, WIDTH)
    bounded = [each for each in instants if math.isfinite(each.bound)]
    values = [each.incumbent for each in instants] + [each.bound for each in bounded]
    reach = max(max(values) - min(values), 1e-4)
    # What came before the first report is preparation.
    first = instants[0].seconds
    last = max(instants[-1].seconds - first, 1e-6)
    across = Scale(first, first + last * 1.02, 56, WIDTH - 14)
    down = Scale(min(values) - 0.1 * reach, max(values) + 0.1 * reach, top + 220, top + 24)
    marks += down_axis(down, ticks(down.low, down.high, 5), (across.start, across.end), label=value_label)
    marks += across_axis(across, ticks(across.low, across.high, 6), down.start, label="seconds")
    best = _stairs([(across.at(each.seconds), down.at(each.incumbent)) for each in instants])
    bound = _stairs([(across.at(each.seconds), down.at(each.bound)) for each in bounded])
    if bounded:
        since = [(x, y) for x, y in best if x >= bound[0][0]] or best[-1:]
        marks.append(Trace((*bound, *reversed(since)), filled("blue", 0.12), closed=True))
        marks.append(Cluster((line(bound, "orange", 2, (6, 3)),), "upper bound", "bound"))
    marks.append(
        Cluster((line(best, "blue", 2.2), Disc(*best[-1], 4, filled("blue"))), "best so far", "best")
    )
    samples: list[tuple[str, list[Mark]]] = [("best so far", [line([(0, 6), (20, 6)], "blue", 2.2)])]
    if bounded:
        samples.append(("upper bound on every choice", [line([(0, 6), (20, 6)], "orange", 2, (6, 3))]))
    samples.append((f"{instants[-1].evaluations:,} subsets", [Disc(10, 6, 4, filled("blue"))]))
    key, deep = legend(samples, across.start, WIDTH - across.start)
    marks += _moved(key, down.start + 44)
    words = f"Best {instants[-1].incumbent:.4f} after {instants[-1].seconds:.3g} s."
    return Drawing(WIDTH, down.start + 46 + deep, tuple(marks), title, words)


def _stairs(points: Sequence[Point]) -> list[Point]:
    """Points joined by level lines and upright ones, each value lasting until the next."""
    path = list(points[:1])
    for x, y in points[1:]:
        path += [(x, path[-1][1]), (x, y)]
    return path
