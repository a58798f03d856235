"""Intervals as states: a numeric variable carries its cut points in the names of its states.

With cuts c_1 < ... < c_k, state i is `c_i < x <= c_(i+1)`: a value equal to a cut belongs to the state below
it, and a value above the last cut to the last state. The states are called `<=3.5`, `3.5..7.25`, `>7.25`, in
the fewest digits that give the same number back. A network saved in any format thus knows its cut points,
and new rows can be classified in their original units with the file alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import ModelError
from unswayed.model.data.tables import number_in, text_of
from unswayed.model.variable import Variable

FEW = 16
"""Up to this many points, comparing a column with each of them is faster than searching among them."""
ANY = "any"
"""The only state of a numeric variable without cuts, and of a column without values."""


def interval_states(cuts: Sequence[float] | Floats) -> tuple[str, ...]:
    """Names of the intervals between cuts.

    >>> interval_states([3.5, 7.25])
    ('<=3.5', '3.5..7.25', '>7.25')
    >>> interval_states([])
    ('any',)
    """
    words = [text_of(float(cut)) for cut in cuts]
    if not words:
        return (ANY,)
    between = [f"{low}..{high}" for low, high in itertools.pairwise(words)]
    return (f"<={words[0]}", *between, f">{words[-1]}")


def interval_cuts(variable: Variable) -> Floats | None:
    """The cut points in a variable's state names, or None when they are not such names.

    >>> interval_cuts(Variable("Age", ["<=30", "30..60.5", ">60.5"])).tolist()
    [30.0, 60.5]
    """
    states = variable.states
    if states == (ANY,):
        return np.empty(0)
    if len(states) < 2 or not states[0].startswith("<="):
        return None
    cuts = [number_in(states[0][2:]), *(number_in(state.partition("..")[2]) for state in states[1:-1])]
    if any(cut is None or not np.isfinite(cut) for cut in cuts):
        return None
    found = np.array(cuts, dtype=np.float64)
    # Written again, the names must be the same up to the spelling of numbers: this checks the chain.
    same = [_normal(state) for state in states] == list(interval_states(found))
    return found if same and bool((np.diff(found) > 0).all()) else None


def _normal(state: str) -> str:
    """An interval's name with its numbers in their shortest form."""
    for mark in ("<=", ">"):
        if state.startswith(mark):
            return mark + _shortest(state.removeprefix(mark))
    low, dots, high = state.partition("..")
    return f"{_shortest(low)}{dots}{_shortest(high)}"


def _shortest(text: str) -> str:
    number = number_in(text)
    return text if number is None else text_of(number)


def checked_cuts(cuts: Any, name: str) -> Floats:
    """Cut points given by a user: finite and ascending, or a `ModelError`."""
    try:
        values = np.array(cuts, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"cut points of {name!r} must be numbers, not {cuts!r}") from None
    if values.ndim != 1 or not np.isfinite(values).all() or not (np.diff(values) > 0).all():
        raise ModelError(f"cut points of {name!r} must be finite and ascending, not {values.tolist()}")
    return values


def interval_codes(values: Floats, cuts: Floats) -> Codes:  # (rows,), (cuts,) -> (rows,)
    """Position of each value's interval, -1 for NaN."""
    if len(cuts) > FEW:
        codes = np.searchsorted(cuts, values, side="left")
    else:
        codes = np.zeros(len(values), dtype=np.int8)
        for cut in cuts:
            codes += values > cut
    codes[np.isnan(values)] = -1
    return codes


def matching_codes(values: Floats, points: Floats) -> Codes:  # (rows,), (points,) -> (rows,)
    """Position among ascending `points` of the one equal to each value, -1 where none is (NaN included)."""
    if len(points) > FEW:
        codes = np.minimum(np.searchsorted(points, values), len(points) - 1)
        return np.where(points[codes] == values, codes, -1)
    codes = np.full(len(values), -1, dtype=np.int8)
    for position, point in enumerate(points):
        np.copyto(codes, position, where=values == point, casting="unsafe")
    return codes
