"""How few findings a reason can have: a bound for sums of weights, without trying the subsets.

A finding in the best state of its feature is *better* than the forgotten feature: forgetting it takes a
deficit from the sum, which is 0 with the probability of that state and at least the gap to the next one
otherwise. A set of m findings leaves the deficits of all others. Put findings of similar probabilities in a
block, and let each deficit of the block have the lowest probability there: the sum only grows, and the best
findings to take from a block are then those with the largest gaps. So for m findings it is enough to try how
many come from each block. If no way to divide them reaches the level, no m findings do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.engines.parts import probability_of
from unswayed.reasons.additive import NOISE, AdditiveDecision, Spectra, make_weight_grid, useful_findings

N_POINTS = 2**12
"""Points of the grid: for 100 findings the roundings cost a few hundredths."""
BLOCKS = ((6, 4), (5, 4), (4, 4), (4, 3), (4, 2), (3, 2), (2, 2))
"""Numbers of blocks by the probability under the one class, and within each by that under the other."""
MOST_DIVISIONS = 2_000
"""Ways to divide findings over blocks that are tried for one size: few findings allow many blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class DeficitBlock:
    """Findings with deficits, the smallest gap first; entry k of an array is about the first k of them."""

    spectra: Spectra = field(repr=False)  # (findings + 1, classes, frequencies)
    """Product of the transforms of the deficits."""
    lowest: Floats
    """Smallest sum of the deficits."""
    off_high: Floats
    """By how much rounding moves the sum down at most."""
    best_weights: Floats
    """Largest sum of the weights of k findings."""

    def __len__(self) -> int:
        return len(self.lowest) - 1

    def taking(self, left: int, taken: int) -> PartialSums:
        """The sums of the first `left` deficits, when the best `taken` findings are kept."""
        lowest = float(self.lowest[left] + self.off_high[left])
        return PartialSums(self.spectra[left], lowest, float(self.best_weights[taken]))


@dataclass(frozen=True, slots=True, eq=False)
class PartialSums:
    """Deficits that are left in some blocks."""

    spectrum: Spectra = field(repr=False)  # (classes, frequencies)
    lowest: float
    """Where the sum begins, with what rounding may add."""
    gained: float
    """What the findings taken add to the leaning at most."""

    def times(self, other: PartialSums) -> PartialSums:
        """The sums of both."""
        lowest, gained = self.lowest + other.lowest, self.gained + other.gained
        return PartialSums(self.spectrum * other.spectrum, lowest, gained)


Blocks = tuple[list[DeficitBlock], DeficitBlock, float]
"""Deficits in blocks, all other variables in one, and the step of their grid."""


def fewest_findings(additive: AdditiveDecision, level: float, most: int) -> int:
    """A number of findings, at most `most`, such that no reason at the level has fewer."""
    useful = useful_findings(additive)
    best = [v for v in useful if additive.weight(v) >= float(additive.weights[v].max())]
    middle = [v for v in useful if v not in best]
    rest = [v for v in additive.weights if v not in useful]
    # A finding between the best and the worst state is let be the best, at no price.
    top = math.fsum(float(additive.weights[v].max()) for v in (*best, *middle))
    need = additive.cut - additive.base - top
    leaning = additive.base + math.fsum(max(additive.weight(v), 0.0) for v in middle)
    made: dict[tuple[int, int], Blocks] = {}
    for size in range(most):
        shape = next((each for each in BLOCKS if _n_divisions(size, math.prod(each)) <= MOST_DIVISIONS), None)
        if shape is None:
            return size
        if shape not in made:
            made[shape] = _blocks(additive, best, rest, shape)
        blocks, others, step = made[shape]
        start = others.taking(len(others), 0)
        if any(_highest(sums, need, leaning, step) >= level for sums in _divisions(blocks, size, start)):
            return size
    return most


def _n_divisions(size: int, n_blocks: int) -> int:
    return math.comb(size + n_blocks - 1, size)


def _highest(sums: PartialSums, need: float, leaning: float, step: float) -> float:
    """Upper bound on the SDP of any set that leaves such sums."""
    first = max(math.ceil((need - sums.lowest) / step - 1e-9), 0)
    upper, lower = np.fft.irfft(sums.spectrum)[:, first:].sum(axis=1)
    share = probability_of(leaning + sums.gained)
    return float(share * max(upper, lower) + (1 - share) * lower) + NOISE


def _divisions(blocks: Sequence[DeficitBlock], size: int, sums: PartialSums) -> Iterator[PartialSums]:
    """What is left for each way to take `size` findings from the blocks."""
    if not blocks:
        if size == 0:
            yield sums
        return
    first, *others = blocks
    room = sum(map(len, others))
    for count in range(max(size - room, 0), min(size, len(first)) + 1):
        yield from _divisions(others, size - count, sums.times(first.taking(len(first) - count, count)))


def _blocks(
    additive: AdditiveDecision, best: Sequence[int], rest: Sequence[int], shape: tuple[int, int]
) -> Blocks:
    """Deficits of the best findings in blocks, all other variables in one, and the step of their grid."""
    gaps = {v: _gap(additive, v) for v in best}
    chances = {v: _chances(additive, v) for v in best}
    parts = [part for part in _parts(best, chances, shape) if part]
    weights, shares = [additive.weights[v] for v in rest], [additive.shares[v] for v in rest]
    for part in parts:
        part.sort(key=lambda v: gaps[v])
        lowest = np.min([chances[v] for v in part], axis=0)
        weights.extend(np.array([-gaps[v], 0.0]) for v in part)
        shares.extend(np.array([lowest, 1.0 - lowest]) for _ in part)
    grid = make_weight_grid(weights, shares, N_POINTS)

    def block(first: int, members: Sequence[int], gains: list[float]) -> DeficitBlock:
        at = slice(first, first + len(members))
        one = np.ones((1, *grid.spectra.shape[1:]), dtype=np.complex128)
        spectra = np.multiply.accumulate(np.concatenate([one, grid.spectra[at]]), axis=0)
        sums = [np.concatenate([[0.0], np.cumsum(each[at])]) for each in (grid.lowest, grid.off_high)]
        best_weights = np.concatenate([[0.0], np.cumsum(sorted(gains, reverse=True))])
        return DeficitBlock(spectra, sums[0], sums[1], best_weights)

    others = block(0, rest, [0.0] * len(rest))
    made, first = [], len(rest)
    for part in parts:
        made.append(block(first, part, [additive.weight(v) for v in part]))
        first += len(part)
    return made, others, grid.step


def _gap(additive: AdditiveDecision, finding: int) -> float:
    """From the best weight of a feature to the next."""
    weights = additive.weights[finding]
    return float(weights.max() - weights[weights < weights.max()].max())


def _chances(additive: AdditiveDecision, finding: int) -> Floats:  # (2,)
    """Probability, under either class, that the feature is not in its best state."""
    weights = additive.weights[finding]
    missed: Floats = additive.shares[finding][weights < weights.max()].sum(axis=0)
    return missed


def _parts(best: Sequence[int], chances: dict[int, Floats], shape: tuple[int, int]) -> Iterator[list[int]]:
    """The findings divided by the one chance, and again by the other."""
    ordered = sorted(best, key=lambda v: float(chances[v][0]))
    for part in _split(ordered, shape[0]):
        yield from _split(sorted(part, key=lambda v: float(chances[v][1])), shape[1])


def _split(ordered: Sequence[int], count: int) -> Iterator[list[int]]:
    """Parts of nearly equal length."""
    ends = [round(i * len(ordered) / count) for i in range(count + 1)]
    for first, last in pairwise(ends):
        yield list(ordered[first:last])
