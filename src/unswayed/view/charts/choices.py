"""Charts about choosing features: what each is worth, and what a choice achieves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unswayed.view.charts.axes import NOISE, SMALL, TEXT, Scale, cut, headed, text_width, wrap
from unswayed.view.charts.decisions import WIDTH
from unswayed.view.drawing import Cluster, Drawing, Look, Mark, Rectangle, Words, filled, line

MOST_FEATURES = 25
"""Bars that are drawn before the list is cut."""
HEADING_BY_CRITERION = {
    "sdp": "gain in same-decision probability",
    "entropy": "gain in information (bits)",
    "margin": "gain in margin",
    "utility": "gain in utility",
}


@dataclass(frozen=True, slots=True)
class Worth:
    """What one feature is worth by one criterion."""

    value: float
    low: float
    high: float


def draw_ranking(
    features: Sequence[str], worth: Mapping[str, Sequence[Worth]], *, title: str, subtitle: str = ""
) -> Drawing:
    """A column of bars for each criterion, all in the order of `features`; the best of each stands out."""
    shown = list(features[:MOST_FEATURES])
    left = min(max((text_width(cut(name)) for name in shown), default=60.0) + 12, 190.0)
    column = max(150.0, (WIDTH - left) / max(len(worth), 1))
    width = left + column * len(worth)
    marks, top = headed(title, subtitle, width)
    marks += [
        Words(cut(name), left - 8, top + 40 + 21 * row + 14, TEXT, "end") for row, name in enumerate(shown)
    ]
    for number, (criterion, values) in enumerate(worth.items()):
        start = left + column * number
        heading = wrap(HEADING_BY_CRITERION.get(criterion, criterion), column - 16, SMALL)[:2]
        marks += [
            Words(text, start, top + 14 + 13 * i, SMALL, colour="soft") for i, text in enumerate(heading)
        ]
        marks += _worth_marks(shown, values, Scale(0, 1, start, start + column - 64), top + 40)
    bottom = top + 40 + 21 * len(shown)
    if len(features) > len(shown):
        marks.append(
            Words(f"and {len(features) - len(shown)} more", left - 8, bottom + 14, SMALL, "end", "soft")
        )
    first = next(iter(worth), "")
    words = "; ".join(
        f"{name} {_short(each.value)}" for name, each in zip(shown, worth.get(first, ()), strict=False)
    )
    return Drawing(width, bottom + 22, tuple(marks), title, f"By {first}: {words}." if words else "")


def _worth_marks(names: Sequence[str], values: Sequence[Worth], unit: Scale, top: float) -> list[Mark]:
    """Bars from a zero line; values that are rounding are 0 and have none."""
    sizes = [0.0 if abs(each.value) <= NOISE else each.value for each in values]
    low = min([0.0, *sizes, *(each.low for each in values if each.high - each.low > NOISE)])
    high = max([0.0, *sizes, *(each.high for each in values if each.high - each.low > NOISE)])
    scale = (
        Scale(low, high, unit.start, unit.end) if high - low > NOISE else Scale(0, 1, unit.start, unit.end)
    )
    best = max(range(len(sizes)), key=lambda i: (round(sizes[i], 12), -i), default=0)
    marks: list[Mark] = []
    for i, name in enumerate(names):
        zero, end, y = scale.at(0.0), scale.at(sizes[i]), top + 21 * i
        colour = "orange" if i == best and sizes[i] > 0 else "blue" if sizes[i] >= 0 else "faint"
        bar: list[Mark] = (
            [Rectangle(min(zero, end), y + 3, abs(end - zero), 14, filled(colour), 3)] if sizes[i] else []
        )
        if values[i].high - values[i].low > NOISE:
            whisker = [(scale.at(values[i].low), y + 10), (scale.at(values[i].high), y + 10)]
            bar.append(line(whisker, "ink", 1.5))
            end = max(end, whisker[1][0])
        marks.append(Cluster(tuple(bar), f"{name}: {_short(sizes[i])}", "worth"))
        marks.append(Words(_short(sizes[i]), max(zero, end) + 5, y + 14, SMALL, colour="soft"))
    zero = scale.at(0.0)
    marks.append(line([(zero, top - 2), (zero, top + 21 * len(names))], "faint"))
    return marks


def _short(value: float) -> str:
    """Short, and never a positive value as 0.

    >>> [_short(v) for v in (0.1275, 0.0, -1e-17, 0.00001)]
    ['0.128', '0', '0', '1e-05']
    """
    if abs(value) <= NOISE:
        return "0"
    text = f"{value:.0e}" if abs(value) < 5e-4 else f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"
    return text.replace("-", "\u2212", 1) if value < 0 else text


def draw_selection(
    kept: Sequence[str], value: float, bound: float, *, cost: float, title: str = "", subtitle: str = ""
) -> Drawing:
    """The value of the kept features as a bar, and pale what is not excluded."""
    noun = "feature" if len(kept) == 1 else "features"
    heading = title or f"{len(kept)} {noun} kept, cost {cost:g}"
    marks, top = headed(heading, subtitle, WIDTH)
    for text in wrap(", ".join(kept) or "nothing", WIDTH, TEXT)[:6]:
        marks.append(Words(text, 0, top + 12))
        top += 16
    open_gap = math.isfinite(bound) and bound > value + NOISE
    ends = [0.0, value, *([bound] if open_gap else [])]
    unit = 0 <= value <= 1 and (not open_gap or bound <= 1)
    high = 1.0 if unit else max(ends) if max(ends) > NOISE else 1.0
    scale = Scale(min(ends), high, 0, WIDTH)
    top += 8
    marks.append(Rectangle(0, top, WIDTH, 20, filled("wash"), 5))
    bar = Rectangle(scale.at(0), top, max(scale.at(value) - scale.at(0), 1), 20, filled("blue"), 5)
    marks.append(Cluster((bar,), f"found: {value:.4f}", "found"))
    text = f"found: {value:.4f}"
    if open_gap:
        gap = Rectangle(
            scale.at(value),
            top,
            scale.at(bound) - scale.at(value),
            20,
            Look("pale-orange", "orange", 1, (4, 3)),
        )
        marks.append(Cluster((gap,), f"not excluded: up to {bound:.4f}", "gap"))
        text += f"; not excluded: up to {bound:.4f}"
    elif not math.isfinite(bound):
        text += "; how good others could be is not known"
    marks.append(Words(text, 0, top + 38, TEXT, colour="soft"))
    return Drawing(WIDTH, top + 46, tuple(marks), heading, f"{', '.join(kept) or 'nothing'}; {text}.")
