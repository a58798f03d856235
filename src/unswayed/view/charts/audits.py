"""Charts about a table of decisions: how safe they are, and whether outcomes confirmed them as often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unswayed.view.charts.axes import Scale, across_axis, cut, down_axis, headed, legend, ticks
from unswayed.view.charts.decisions import WIDTH
from unswayed.view.drawing import SERIES, Cluster, Disc, Drawing, Look, Mark, Rectangle, filled, line, shift


@dataclass(frozen=True, slots=True)
class ConfirmedBand:
    """Decisions of about the same SDP, and how often their outcomes were as decided."""

    low: float
    high: float
    mean_sdp: float
    confirmed: float
    n_rows: int


def draw_sdp_histogram(
    counts: Mapping[str, Sequence[int]], at_least: float, *, title: str, subtitle: str = ""
) -> Drawing:
    """Rows over their SDP, the decisions on top of each other; a dashed line is the level of safety."""
    marks, top = headed(title, subtitle, WIDTH)
    n_bins = len(next(iter(counts.values())))
    heights = [sum(column) for column in zip(*counts.values(), strict=True)]
    across = Scale(0.0, 1.0, 56, WIDTH - 14)
    down = Scale(0.0, max(*heights, 1), top + 230, top + 24)
    marks += down_axis(down, ticks(0, down.high, 5, whole=True), (across.start, across.end), label="rows")
    marks += across_axis(across, ticks(0.0, 1.0, 10), down.start, label="same-decision probability")
    for bin_ in range(n_bins):
        below = 0
        for number, (action, rows) in enumerate(counts.items()):
            if rows[bin_]:
                span = (bin_ / n_bins, (bin_ + 1) / n_bins)
                bar = _bar(across, down, span, (below, below + rows[bin_]), SERIES[number % len(SERIES)])
                words = f"{action}: {rows[bin_]:,} rows with SDP {span[0]:g} to {span[1]:g}"
                marks.append(Cluster((bar,), words, "bar"))
                below += rows[bin_]
    x = across.at(at_least)
    marks.append(line([(x, down.start), (x, down.end)], "ink", 1.5, (5, 4)))
    samples: list[tuple[str, list[Mark]]] = [
        (cut(action), [Rectangle(2, 0, 16, 12, filled(SERIES[number % len(SERIES)]))])
        for number, action in enumerate(counts)
    ]
    samples.append((f"safe from {at_least:g} on", [line([(10, 0), (10, 12)], "ink", 1.5, (5, 4))]))
    key, deep = legend(samples, across.start, WIDTH - across.start)
    marks += [shift(mark, 0.0, down.start + 44) for mark in key]
    words = "; ".join(f"{action}: {sum(rows):,} rows" for action, rows in counts.items())
    return Drawing(WIDTH, down.start + 46 + deep, tuple(marks), title, f"{words}.")


def _bar(
    across: Scale, down: Scale, span: tuple[float, float], rows: tuple[int, int], colour: str
) -> Rectangle:
    left, right = across.at(span[0]) + 0.5, across.at(span[1]) - 0.5
    low, high = down.at(rows[0]), down.at(rows[1])
    return Rectangle(left, high, right - left, low - high, filled(colour))


def draw_calibration(
    bands: Sequence[ConfirmedBand], *, title: str, subtitle: str = "", verb: str = "confirmed"
) -> Drawing:
    """The share of decisions that outcomes confirmed over their mean SDP, a disc for each band."""
    marks, top = headed(title, subtitle, WIDTH)
    across = Scale(0.0, 1.0, 56, WIDTH - 14)
    down = Scale(0.0, 1.0, top + 300, top + 24)
    marks += down_axis(down, ticks(0.0, 1.0, 5), (across.start, across.end), label=f"share {verb}")
    marks += across_axis(across, ticks(0.0, 1.0, 10), down.start, label="same-decision probability")
    diagonal = [(across.at(0.0), down.at(0.0)), (across.at(1.0), down.at(1.0))]
    marks.append(line(diagonal, "faint", 1.0, (4, 4)))
    most = max((band.n_rows for band in bands), default=1)
    for band in bands:
        words = f"SDP {band.low:g} to {band.high:g}: {band.confirmed:.1%} of {band.n_rows:,} rows {verb}"
        place = across.at(band.mean_sdp), down.at(band.confirmed)
        radius = 3.0 + 9.0 * (band.n_rows / most) ** 0.5
        look = Look(fill="pale-blue", stroke="blue", width=2)
        marks.append(Cluster((Disc(*place, radius, look),), words, "point"))
    description = "; ".join(f"SDP about {b.mean_sdp:.2f}: {b.confirmed:.1%} {verb}" for b in bands)
    return Drawing(WIDTH, down.start + 46, tuple(marks), title, f"{description}.")
