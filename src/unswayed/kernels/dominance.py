"""How much mass two lists have together where both coordinates of a sum are large enough.

Points of the one list come in ascending order of the first coordinate. More and more points of the other list
reach the first cut with them; those are entered into a Fenwick tree by the rank of their second coordinate,
which gives the mass of the ranks from any one on in logarithmic time. Plain Python; compiled at the end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PAIRS_AT_ONCE = 2**20
"""Pairs that are compared at a time without compiled code."""
UNITS_PER_PAIR = 3e-3
"""What a pair takes to be compared, where pairs are; the loop takes far less for long lists."""


def sum_dominated(asking: Floats, n_entered: Ints, first_rank: Ints, entering: Floats, ranks: Ints) -> Floats:
    """For each class, the mass of all pairs of a point that asks and one that has entered and ranks enough.

    `asking` and `entering` hold a mass for each point and class. The point in place i meets the first
    `n_entered[i]` of the other list, and of these the ranks from `first_rank[i]` on; ranks count from 0.

    >>> one = np.ones((2, 1))
    >>> sum_dominated(one, np.array([1, 2]), np.array([0, 1]), one, np.array([0, 1])).tolist()
    [2.0]
    """
    n, n_classes = entering.shape
    tree, total = np.zeros((n + 1, n_classes)), np.zeros(n_classes)
    n_in = 0
    for i in range(len(asking)):
        while n_in < n_entered[i]:
            # Ranks are turned round, so that a prefix of the tree holds the highest.
            place = n - ranks[n_in]
            while place <= n:
                for c in range(n_classes):
                    tree[place, c] += entering[n_in, c]
                place += place & -place
            n_in += 1
        place = n - first_rank[i]
        while place > 0:
            for c in range(n_classes):
                total[c] += asking[i, c] * tree[place, c]
            place -= place & -place
    return total


def compare_pairs(asking: Floats, n_entered: Ints, first_rank: Ints, entering: Floats, ranks: Ints) -> Floats:
    """`sum_dominated` by looking at every pair, in numpy."""
    total = np.zeros(entering.shape[1])
    places, step = np.arange(len(ranks)), max(1, PAIRS_AT_ONCE // max(len(ranks), 1))
    for start in range(0, len(asking), step):
        part = slice(start, start + step)
        meets = (places < n_entered[part, np.newaxis]) & (ranks >= first_rank[part, np.newaxis])
        total += np.einsum("ic,ic->c", asking[part], meets @ entering)
    return total


def _units(asking: Floats, n_entered: Ints, first_rank: Ints, entering: Floats, ranks: Ints) -> float:
    return UNITS_PER_PAIR * len(asking) * len(ranks)


compiled_sum_dominated = Kernel(compare_pairs, loop=sum_dominated, price=_units, slower=1.0)
