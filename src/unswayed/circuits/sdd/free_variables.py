"""Free variables: those that a trimmed circuit leaves out between a node and the place where it is used.

An element of a node at vtree node v has a prime about the variables left of v and a sub about those right
of v. A trimmed prime may belong to a node further down, at u; the variables left of v but not below u are
free, and each multiplies what is counted by the sum of its two weights. Numbered in order, they are two
runs of leaves, one on each side of u: a *gap*. Circuits have many elements but few different gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.sdd.sdd import FALSE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Floats, Ints, read_only


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a circuit; the first is empty."""

    primes: Ints = field(repr=False)  # (elements,)
    """The gap above the prime of each element."""
    subs: Ints = field(repr=False)  # (elements,)
    """The gap above the sub of each element."""
    root: int
    """The gap above the root."""
    runs: Ints = field(repr=False)  # (gaps, 2, 2)
    """For each gap two runs of leaves: the first leaf and the one after the last, counted from the left."""

    def __post_init__(self) -> None:
        for name in ("primes", "subs", "runs"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def sizes(self) -> Ints:
        """How many variables each gap leaves out."""
        sizes: Ints = (self.runs[:, :, 1] - self.runs[:, :, 0]).sum(axis=1)
        return sizes


def gaps_of(sdd: Sdd) -> Gaps:
    """The gaps of a circuit. Cost: O(elements log elements)."""
    vtree = sdd.vtree
    owner = np.repeat(sdd.vtree_node, np.diff(sdd.starts))
    above = np.concatenate([vtree.left[owner], vtree.right[owner], [vtree.root]])
    child = np.concatenate([sdd.primes, sdd.subs, [sdd.root]])
    below = sdd.vtree_node[child]
    # What is false counts for nothing, however many variables are free.
    is_empty = (above == below) | (sdd.kind[child] == FALSE)
    code = np.where(is_empty, -1, above * (len(vtree) + 1) + below + 1)
    codes, gap = np.unique(np.append(code, -1), return_inverse=True)
    n_elements = sdd.n_elements
    runs = _runs(vtree, codes // (len(vtree) + 1), codes % (len(vtree) + 1) - 1)
    runs[0] = 0
    return Gaps(gap[:n_elements], gap[n_elements : 2 * n_elements], int(gap[2 * n_elements]), runs)


def _runs(vtree: Vtree, above: Ints, below: Ints) -> Ints:
    first, last = vtree.first // 2, vtree.last // 2
    start, end = first[above], last[above] + 1
    is_constant = below == NOTHING
    middle = np.where(is_constant, end, first[below])
    after = np.where(is_constant, end, last[below] + 1)
    return np.stack([np.stack([start, middle], axis=1), np.stack([after, end], axis=1)], axis=1)


def gap_products(gaps: Gaps, leaf_sums: Floats, combine: np.ufunc = np.multiply) -> Floats:
    """Product over the leaves of each gap, (gaps, columns), of numbers given as (leaves, columns).

    Of logarithms, `combine` is `np.add`. Without division, since sums may be zero: a table holds the
    products of runs of 1, 2, 4, ... leaves, and any run is put together from as many of them as its length
    has binary digits.
    """
    factors = np.full((len(gaps.runs), leaf_sums.shape[1]), float(combine.identity))
    place = gaps.runs[:, :, 0].copy()
    left = gaps.runs[:, :, 1] - place
    power, products = 1, leaf_sums
    while left.any():
        for side in (0, 1):
            using = np.flatnonzero(left[:, side] & power)
            factors[using] = combine(factors[using], products[place[using, side]])
            place[using, side] += power
            left[using, side] -= power
        products = combine(products[:-power], products[power:])
        power *= 2
    return factors
