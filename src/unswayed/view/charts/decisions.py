"""Charts about one decision: the posterior, how safe it is, how a case went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.view.charts.axes import SMALL, TEXT, Scale, cut, down_axis, headed, spread, text_width
from unswayed.view.drawing import (
    SERIES,
    Cluster,
    Disc,
    Drawing,
    Mark,
    Rectangle,
    Trace,
    Words,
    filled,
    line,
    ring,
    shift,
)
from unswayed.view.numbers import percent, probability_text

WIDTH = 520.0
"""Of a chart: wide enough for a column, and still read when a phone shows it at two thirds."""
MOST_STATES = 20
"""States with a bar of their own; the most probable ones."""
MOST_LINES = 6
"""States with a line of their own in the history of a case."""
VERDICT_COLOUR = {"safe": "green", "unsafe": "orange", "open": "amber"}


@dataclass(frozen=True, slots=True)
class Gauge:
    """A same-decision probability, the interval it lies in, and the level asked for."""

    value: float
    low: float
    high: float
    at_least: float

    @property
    def verdict(self) -> str:
        """ "safe", "unsafe", or "open" while the level lies within the interval."""
        if self.low >= self.at_least - LEVEL_SLACK:
            return "safe"
        return "unsafe" if self.high < self.at_least else "open"


@dataclass(frozen=True, slots=True)
class Moment:
    """How things stand after one more observation."""

    observed: str
    """What was observed, as people write it; empty at the beginning."""
    posterior: Mapping[str, float]
    decision: str
    sdp: float
    sdp_low: float
    sdp_high: float


def draw_posterior(
    posterior: Mapping[str, float],
    decided: str,
    *,
    threshold: tuple[str, float] | None = None,
    title: str = "",
    subtitle: str = "",
) -> Drawing:
    """The posterior as bars, that of what was decided filled; the threshold is marked on its state's bar."""
    shown = _most_probable(posterior)
    marks, top = headed(title or f"decision: {cut(decided, 40)}", subtitle, WIDTH)
    left = min(max(text_width(cut(state)) for state in shown) + 10, WIDTH * 0.4)
    scale = Scale(0, 1, left, WIDTH - 52)
    for row, (state, value) in enumerate(shown.items()):
        y = top + 24 * row
        marks.append(Rectangle(left, y + 3, scale.end - left, 15, filled("wash"), 4))
        # A threshold's "not +" decides for no single state: then no bar stands out.
        colour = "blue" if state == decided else "faint"
        bar = Rectangle(left, y + 3, max(scale.at(value) - left, 1.0), 15, filled(colour), 4)
        marks.append(Cluster((bar,), f"{state}: {probability_text(value)}", "bar"))
        marks.append(Words(cut(state), left - 8, y + 15, TEXT, "end", bold=state == decided))
        marks.append(Words(probability_text(value), scale.end + 8, y + 15, TEXT))
        if threshold and threshold[0] == state:
            marks.append(
                line([(scale.at(threshold[1]), y - 1), (scale.at(threshold[1]), y + 22)], "ink", 2, (4, 3))
            )
    bottom = top + 24 * len(shown)
    if threshold and threshold[0] in shown:
        text = f"decide {cut(threshold[0])} from {threshold[1]:g} on"
        half = text_width(text, SMALL) / 2
        x = min(max(scale.at(threshold[1]), half), WIDTH - half)
        marks.append(Words(text, x, bottom + 14, SMALL, "middle", "soft"))
        bottom += 20
    words = ", ".join(f"{state} {probability_text(value)}" for state, value in shown.items())
    said = f"Posterior: {words}. Decision: {decided}."
    return Drawing(WIDTH, bottom + 4, tuple(marks), title or f"decision: {decided}", said)


def _most_probable(posterior: Mapping[str, float]) -> dict[str, float]:
    top = sorted(posterior, key=lambda state: -posterior[state])[:MOST_STATES]
    return {state: posterior[state] for state in posterior if state in top}


def draw_gauge(gauge: Gauge, *, title: str = "") -> Drawing:
    """A half ring filled up to the probability, coloured by the verdict; a tick at the level asked for.

    Where only an interval is known, the ring is filled up to its lower end and pale up to its upper one.
    """
    centre, radii = (120.0, 112.0), (72.0, 94.0)
    colour = VERDICT_COLOUR[gauge.verdict]
    marks: list[Mark] = [ring(centre, radii, (180, 0), filled("wash"))]
    if gauge.high > gauge.low:
        band = ring(centre, radii, (_angle(gauge.low), _angle(gauge.high)), filled(f"pale-{colour}"))
        marks.append(Cluster((band,), f"between {gauge.low:.6g} and {gauge.high:.6g}", "band"))
    marks.append(ring(centre, radii, (180, _angle(gauge.low)), filled(colour)))
    turn = math.radians(_angle(gauge.at_least))
    across, up = math.cos(turn), math.sin(turn)
    marks.append(
        line([(centre[0] + r * across, centre[1] - r * up) for r in (radii[0] - 4, radii[1] + 5)], "ink", 2.5)
    )
    anchor = "start" if across > 0.3 else "end" if across < -0.3 else "middle"
    place = (centre[0] + 102 * across, centre[1] - 102 * up)
    marks.append(Words(f"{gauge.at_least:g}", *place, SMALL, anchor, "soft"))
    marks.append(Words(percent(gauge.value), centre[0], 100, 30, "middle", bold=True))
    marks.append(Words("same decision", centre[0], 118, SMALL, "middle", "soft"))
    interval = "" if gauge.high <= gauge.low else f" (between {gauge.low:.6g} and {gauge.high:.6g})"
    words = (
        f"The decision survives with probability {probability_text(gauge.value)}{interval}; asked for is "
        f"{gauge.at_least:g}: {gauge.verdict}."
    )
    return Drawing(262.0, 126.0, tuple(marks), title or "same-decision probability", words)


def _angle(share: float) -> float:
    return 180.0 * (1.0 - min(max(share, 0.0), 1.0))


def draw_decision(
    posterior: Mapping[str, float],
    decided: str,
    gauge: Gauge,
    *,
    threshold: tuple[str, float] | None = None,
    title: str = "",
    subtitle: str = "",
) -> Drawing:
    """The posterior, and below it how safe the decision is."""
    above = draw_posterior(posterior, decided, threshold=threshold, title=title, subtitle=subtitle)
    dial = draw_gauge(gauge)
    top = above.height + 12
    advice = {
        "safe": f"safe: at least {gauge.at_least:g}",
        "unsafe": f"not safe yet: below {gauge.at_least:g}",
        "open": f"open: {gauge.at_least:g} lies within the interval",
    }[gauge.verdict]
    words = [
        Words("The decision survives everything", dial.width + 14, top + 50),
        Words(f"else with probability {probability_text(gauge.value)}.", dial.width + 14, top + 67),
        Words(advice, dial.width + 14, top + 90, bold=True, colour=VERDICT_COLOUR[gauge.verdict]),
    ]
    marks = (*above.marks, *(shift(mark, 0.0, top) for mark in dial.marks), *words)
    said = f"{above.description} {dial.description}"
    return Drawing(WIDTH, top + dial.height, marks, above.title, said)


def draw_history(
    moments: Sequence[Moment],
    *,
    threshold: tuple[str, float] | None = None,
    at_least: float | None = None,
    title: str = "",
    subtitle: str = "",
) -> Drawing:
    """Posterior and same-decision probability, observation by observation; the decision on top.

    `threshold` is the positive state and its threshold: then only its posterior is drawn. `at_least` is the
    level at which to stop.
    """
    width = max(WIDTH, 200 + 74.0 * len(moments))
    marks, top = headed(title, subtitle, width)
    states = [threshold[0]] if threshold else _leading(moments)
    series = [
        (f"Pr({cut(state, 14)})", SERIES[i], [m.posterior[state] for m in moments])
        for i, state in enumerate(states)
    ]
    series.append(("survives", "green" if threshold else "ink", [m.sdp for m in moments]))
    right = width - 16 - max(text_width(name, SMALL) for name, _, _ in series)
    across = Scale(-0.5, len(moments) - 0.5, 40, right)
    down = Scale(0, 1, top + 204, top + 34)
    marks += _spell_marks(moments, across, down)
    marks += down_axis(down, [0, 0.25, 0.5, 0.75, 1], (across.start, across.end))
    marks += _level_marks(threshold, at_least, across, down)
    marks += _band_marks(moments, across, down)
    for number, (name, colour, values) in enumerate(series):
        marks.append(_series_mark(name, colour, values, (across, down), dash=_DASHES[number % len(_DASHES)]))
    ends = spread([down.at(values[-1]) for _, _, values in series], 14)
    marks += [
        Words(name, across.end + 6, y + 4, SMALL, colour=colour, bold=True)
        for (name, colour, _), y in zip(series, ends, strict=True)
    ]
    marks += _observed_marks(moments, across, down.start)
    words = "; ".join(
        f"{m.observed or 'nothing yet'}: {m.decision}, survives with {probability_text(m.sdp)}"
        for m in moments
    )
    deep = 62 if _slanted(moments, across) else 34
    return Drawing(width, down.start + deep, tuple(marks), title or "a case as evidence arrives", f"{words}.")


_DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 3), (9, 3, 2, 3), (4, 4), (1, 2))


def _leading(moments: Sequence[Moment]) -> list[str]:
    """The states worth a line: by their highest posterior."""
    states = list(moments[0].posterior)
    top = sorted(states, key=lambda state: -max(moment.posterior[state] for moment in moments))
    return [state for state in states if state in top[: MOST_LINES - 1]]


def _spell_marks(moments: Sequence[Moment], across: Scale, down: Scale) -> list[Mark]:
    """Bands in which one decision lasts, its name on top."""
    spells: list[tuple[int, int, str]] = []
    for i, moment in enumerate(moments):
        if spells and spells[-1][2] == moment.decision:
            spells[-1] = (spells[-1][0], i, moment.decision)
        else:
            spells.append((i, i, moment.decision))
    marks: list[Mark] = []
    for number, (start, end, decision) in enumerate(spells):
        left, right = across.at(start - 0.5), across.at(end + 0.5)
        if number % 2 == 0:
            marks.append(
                Rectangle(left, down.end - 22, right - left, down.start - down.end + 22, filled("wash"), 4)
            )
        room = max(int((right - left) / 7), 3)
        marks.append(Words(cut(decision, room), (left + right) / 2, down.end - 8, SMALL, "middle", bold=True))
    return marks


def _level_marks(
    threshold: tuple[str, float] | None, at_least: float | None, across: Scale, down: Scale
) -> list[Mark]:
    """Dashed lines at the threshold and at the level asked for, named at the left end."""
    levels = [] if threshold is None else [(threshold[1], f"threshold {threshold[1]:g}", "blue")]
    levels += [] if at_least is None else [(at_least, f"safe from {at_least:g}", "green")]
    places = spread([down.at(level) - 4 for level, _, _ in levels], 13)
    marks: list[Mark] = []
    for (level, text, colour), y in zip(levels, places, strict=True):
        marks.append(line([(across.start, down.at(level)), (across.end, down.at(level))], colour, 1, (3, 4)))
        marks.append(Words(text, across.start + 4, y, 10, colour=colour))
    return marks


def _band_marks(moments: Sequence[Moment], across: Scale, down: Scale) -> list[Mark]:
    if all(moment.sdp_low == moment.sdp_high for moment in moments):
        return []
    upper = [(across.at(i), down.at(moment.sdp_high)) for i, moment in enumerate(moments)]
    lower = [(across.at(i), down.at(moment.sdp_low)) for i, moment in enumerate(moments)]
    band = Trace((*upper, *reversed(lower)), filled("green", 0.2), closed=True)
    return [Cluster((band,), "what the same-decision probability is known to lie in", "band")]


def _series_mark(
    name: str, colour: str, values: Sequence[float], scales: tuple[Scale, Scale], *, dash: tuple[float, ...]
) -> Cluster:
    points = [(scales[0].at(i), scales[1].at(value)) for i, value in enumerate(values)]
    dots = [
        Cluster((Disc(*point, 4, filled(colour)),), f"{name} {probability_text(value)}")
        for point, value in zip(points, values, strict=True)
    ]
    return Cluster((line(points, colour, 2.2, dash), *dots), kind="series")


def _slanted(moments: Sequence[Moment], across: Scale) -> bool:
    room = across.at(1) - across.at(0) - 6
    return any(text_width(cut(m.observed, 22) or "nothing yet", SMALL) > room for m in moments)


def _observed_marks(moments: Sequence[Moment], across: Scale, bottom: float) -> list[Mark]:
    slanted = _slanted(moments, across)
    return [
        Words(
            cut(moment.observed, 22) or "nothing yet",
            across.at(i) + (6 if slanted else 0),
            bottom + 16,
            SMALL,
            "end" if slanted else "middle",
            turned=-24 if slanted else 0,
        )
        for i, moment in enumerate(moments)
    ]
