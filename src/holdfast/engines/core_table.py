"""A table over a core of features when there are too many for a table of all.

For naive Bayes, all other features enter through one number: how probable it is, under either class, that
their weights carry the sum past the cut. So the masses of each instantiation of the core are exact where
the others can be listed (`halves.py`), and between certified bounds where they cannot (`grid.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from holdfast.core.arrays import Floats
from holdfast.decisions.problem import Problem
from holdfast.decisions.rules import LogOddsIntervals
from holdfast.engines.grid import Blocks, make_blocks, rounded, window
from holdfast.engines.groups import Group
from holdfast.engines.halves import less, ordered
from holdfast.engines.parts import base_log_odds
from holdfast.engines.weights import (
    NOTHING,
    WeightList,
    combined,
    group_weights,
    joined,
    log_ratio,
    predicted_bits,
)

LISTED_BITS = 20.0
"""Logarithm to base 2 of how many outcomes of the other features are listed."""
GRID = 2**18
"""Grid points where they are not."""


@dataclass(frozen=True, slots=True, eq=False)
class CoreTable:
    """Masses of every instantiation of the core features; decisions from least to most."""

    features: tuple[int, ...]
    """The core, in the order of the table's axes."""
    class_mass: Floats = field(repr=False)  # (classes, instantiations)
    """Pr(class, core | evidence)."""
    least: Floats = field(repr=False)  # (actions, instantiations)
    """What is decided for each action for certain."""
    most: Floats = field(repr=False)  # (actions, instantiations)
    """What may be decided for each action."""
    is_exact: bool
    """Whether least and most are the same."""


def core_table(problem: Problem, groups: Sequence[Group], core: tuple[int, ...]) -> CoreTable:
    """The table over `core`, all other features summed out; each group must be one feature."""
    decider = problem.decider
    assert isinstance(decider, LogOddsIntervals)
    upper = decider.upper
    by_feature = {group.features[0]: group for group in groups}
    inside = _outcomes([by_feature[f] for f in core], upper)
    hidden = [
        group_weights(g, problem.sizes(g.features), frozenset(), upper)
        for f, g in by_feature.items()
        if f not in core
    ]
    needed = less(float(decider.cuts[0]) - base_log_odds(problem), inside.full)
    exact = predicted_bits(hidden) <= LISTED_BITS
    tails = _listed(hidden, needed) if exact else _bounded(hidden, needed)
    shares = problem.prior[upper] * inside.upper, problem.prior[1 - upper] * inside.lower
    total = shares[0] + shares[1]
    above = [shares[0] * tails[0][i] + shares[1] * tails[1][i] for i in (0, 1)]
    least = _by_action(decider, above[0], total - above[1])
    most = _by_action(decider, above[1], total - above[0])
    classes = np.empty((2, len(total)))
    classes[upper], classes[1 - upper] = shares
    return CoreTable(core, classes, np.maximum(least, 0.0), most, exact)


def _outcomes(groups: Sequence[Group], upper: int) -> WeightList:
    """All instantiations of the core in the order of a table, none merged or dropped."""
    result = NOTHING
    for group in groups:
        high, low = group.likelihood[:, upper], group.likelihood[:, 1 - upper]
        result = joined(result, WeightList(log_ratio(high, low), high, low, NOTHING.share))
    return result


Tails = tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
"""For the upper and the other class: least and most probability that the others reach what is needed."""


def _listed(hidden: list[WeightList], needed: Floats) -> Tails:
    ahead = ordered(combined(hidden))
    positions = ahead.first_at_least(needed)
    high, low = ahead.upper_tails[positions], ahead.lower_tails[positions]
    return (high, high), (low, low)


def _bounded(hidden: list[WeightList], needed: Floats) -> Tails:
    blocks = make_blocks(hidden)
    high, low = (_class_tails(blocks, needed, upper=is_upper) for is_upper in (True, False))
    return high, low


def _class_tails(blocks: Blocks, needed: Floats, *, upper: bool) -> tuple[Floats, Floats]:
    start, end, outside = window(blocks, upper=upper)
    step = max((end - start) / GRID, 1e-12)
    sums = rounded(blocks, step, (start, end), outside, upper=upper)
    tails = np.concatenate([np.cumsum(sums.masses[::-1])[::-1], [0.0]])
    infinite = sums.certain if upper else 0.0

    def reached(bounds: Floats) -> Floats:
        with np.errstate(over="ignore"):
            numbers = np.ceil((bounds - sums.shift) / step) - sums.first
        found: Floats = tails[np.clip(numbers, 0, len(sums.masses)).astype(np.int64)] + infinite
        return found

    margin = sums.reach + 1e-9 * step
    return np.maximum(reached(needed + margin) - sums.stray, 0.0), np.minimum(
        reached(needed - margin) + sums.stray, 1.0
    )


def _by_action(decider: LogOddsIntervals, above: Floats, below: Floats) -> Floats:
    rows = np.empty((2, len(above)))
    rows[decider.regions[1]], rows[decider.regions[0]] = above, below
    return rows
