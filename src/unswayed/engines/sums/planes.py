"""Bounds on how often two tests fail together, or hold together, from a sweep over pairs of frequencies.

With m <= 1_A <= M and m' <= 1_B <= M' the polynomials around two one-sided tests (`tails.py`),

    m M' + M m' - M M'  <=  1_A 1_B  <=  M M'

because the left side is 1 - v - v' - u v' - u' v - u u' where both hold (M = 1 + u, m = 1 - v), and a sum of
terms at most 0 elsewhere; likewise for both complements, with 1 - M <= 1 - 1_A <= 1 - m. The expectations
need phi(n, k) = E exp(2 pi i (n x + k y)) for |n| <= N and 0 <= k <= N: one elimination each. They differ by
the density along the two sides of the corner, over N; a corner that holds little mass needs few frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.engines.sums.pairs import Pair, Window, count_turns
from unswayed.engines.sums.passes import PassLayout
from unswayed.engines.sums.sweeps import (
    SweptCut,
    block_size,
    count_operations,
    cut_coefficients,
    price_columns,
)
from unswayed.engines.sums.tails import Complexes, coefficient_sum, rounding_bound
from unswayed.engines.sums.unions import Bounds
from unswayed.inference.batches import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class FailingSide:
    """One of two tests, by where it fails."""

    pair: Pair
    window: Window
    cut: SweptCut
    """Where the test turns, as the pair is oriented."""
    is_below: bool
    """Whether it fails below the cut, or else from it on."""

    def polynomials(self, degree: int) -> Complexes:  # (3, frequencies)
        """Below and above the indicator of failure, and 1."""
        low, high = cut_coefficients(self.pair, self.window, self.cut, degree)
        one = np.zeros_like(low)
        one[0] = 1.0
        return np.stack([one - high, one - low, one] if self.is_below else [low, high, one])

    def turns(self) -> list[Floats]:
        """The weights in turns of the circle."""
        return [weight / (self.window.high - self.window.low) for weight in self.pair.weights]

    @property
    def stray(self) -> float:
        """Mass that may lie outside the window."""
        return self.window.below + self.window.above


def sweep_plane(
    layout: PassLayout,
    sides: tuple[FailingSide, FailingSide],
    masses: Sequence[Floats],
    mass: Floats,
    rows: Ints,
    degree: int,
) -> tuple[Bounds, Bounds]:
    """Bounds on the mass where both tests fail and where both hold, in some rows.

    `masses` are the factors without outcomes of infinite weight, `mass` is their product in those rows.
    """
    layout, rows = layout.select(rows)
    first, second = (side.polynomials(degree) for side in sides)
    # The first test at negative frequencies too, so its coefficients are halved.
    first = np.concatenate([first[:, :0:-1].conj() / 2, first[:, :1], first[:, 1:] / 2], axis=1)
    values = np.zeros((3, 3, *mass.shape))
    length = max(block_size(layout, len(mass)) // (2 * degree + 1), 1)
    for start, leaves in _leaves(sides, masses, degree, length):
        chosen = second[:, start : start + length]
        tick(price_columns(layout, len(mass), chosen.shape[1] * first.shape[1]), "two sums over the features")
        found = layout.run(leaves)[:, rows]
        found = np.broadcast_to(found, (*mass.shape, chosen.shape[1] * first.shape[1]))
        by_first = found.reshape(*mass.shape, chosen.shape[1], -1) @ first.T
        values += np.einsum("crkp,qk->pqcr", by_first, chosen).real
    rounding = _rounding(layout, sides, degree) * mass
    # With p for 1 - q, E p p' = 1 - E q - E q' + E q q', and what lies below p is 1 less what lies above q.
    turned = values[2, 2] - values[:2, 2:3] - values[2:3, :2] + values[:2, :2]
    return _enclose(values, mass, rounding), _enclose(turned[::-1, ::-1], mass, 4.0 * rounding)


def _enclose(values: Floats, mass: Floats, rounding: Floats) -> Bounds:
    """From the expectations of products of polynomials below and above two indicators to bounds."""
    low = np.clip(values[0, 1] + values[1, 0] - values[1, 1] - 3.0 * rounding, 0.0, mass)
    return low, np.clip(values[1, 1] + rounding, low, mass)


def _rounding(layout: PassLayout, sides: tuple[FailingSide, FailingSide], degree: int) -> float:
    """What floating point can change in a double sum, in shares of the mass."""
    operations = count_operations(layout)
    once = sum(rounding_bound(degree, operations, count_turns(side.pair, side.window)) for side in sides)
    return once * coefficient_sum(degree)


def _leaves(
    sides: tuple[FailingSide, FailingSide], masses: Sequence[Floats], degree: int, length: int
) -> Iterator[tuple[int, list[Numbers]]]:
    """The factors at `length` frequencies of the second sum, each with all those of the first."""
    around = np.arange(-degree, degree + 1)
    turns = [side.turns() for side in sides]
    ramps = [np.exp(2j * np.pi * np.remainder(turn[..., np.newaxis] * around, 1.0)) for turn in turns[0]]
    for start in range(0, degree + 1, length):
        ahead = np.arange(start, min(start + length, degree + 1))
        made: list[Numbers] = []
        for mass, ramp, one, other in zip(masses, ramps, *turns, strict=True):
            if not one.any() and not other.any():
                made.append(mass[..., np.newaxis])
                continue
            phases = np.exp(2j * np.pi * np.remainder(other[..., np.newaxis] * ahead, 1.0))
            both = phases[..., :, np.newaxis] * ramp[..., np.newaxis, :]
            made.append(mass[..., np.newaxis] * both.reshape(*one.shape, -1))
        yield start, made
