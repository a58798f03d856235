"""Every subset within the budget: one after another, which the other searches must equal, or all at a time.

Few subsets of two-state features are valued sooner together than searched. The Walsh transform of a table of
signed masses has a coefficient for each set of features: the mass of an even number of second states less
that of an odd one. The masses of a subset's instantiations are sums, with signs, of the coefficients of its
own subsets alone, so that one transform serves all subsets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.core.numerics import is_cheaper
from unswayed.search.lattice import Node, drop
from unswayed.search.task import SLACK, Found, Incumbent, Task, units_of_pass

MOST_CELLS = 2**15
"""Instantiations of all subsets within the budget up to which they are valued together: .5 ms."""
LARGEST_TRANSFORM = 2**14
"""Cells of a table whose transform takes no longer than that."""
_PAIR = np.array([[1.0, 1.0], [1.0, -1.0]])
SIGNS = np.kron(np.kron(_PAIR, _PAIR), _PAIR)
"""The transform of eight values; of two and four in its corner."""


def exhaustive(task: Task) -> Iterator[Found]:
    """The best of all subsets within the budget.

    Features are decided one after another, the cheapest last. A branch that keeps more than the budget
    allows holds no subset within it and is not entered.
    """
    incumbent = Incumbent(task)
    incumbent.offer_nothing()
    incumbent.bound = task.objective.ceiling(task.root.table)
    yield incumbent.found()
    order = sorted(task.root.features, key=lambda f: (-task.costs[f], f))
    waiting: list[tuple[Node, int, tuple[int, ...]]] = [(task.root, 0, ())]
    while waiting:
        node, depth, kept = waiting.pop()
        if depth == len(order):
            incumbent.evaluations += 1
            incumbent.offer(kept, task.objective.value(node.table))
            yield incumbent.found()
            continue
        tick(units_of_pass(node), "the search")
        more = (*kept, order[depth])
        if task.affordable(task.cost(more)):
            waiting.append((node, depth + 1, more))
        waiting.append((drop(node, order[depth], task.sizes), depth + 1, kept))
    incumbent.bound = incumbent.value
    yield incumbent.found()


def are_few(task: Task, column: Floats) -> bool:
    """Whether `offer_all` takes next to no time: few subsets of two-state features, worth their ceilings."""
    if not task.objective.monotone or len(column) > LARGEST_TRANSFORM or task.checkpoint is not None:
        return False
    n_features = len(column).bit_length() - 1
    if len(column) != 1 << n_features or any(task.sizes[f] > 2 for f in task.root.features):
        return False
    sizes = range(_most_kept(task) + 1)
    return sum(math.comb(n_features, size) << size for size in sizes) <= MOST_CELLS


def offer_all(task: Task, column: Floats, incumbent: Incumbent) -> None:
    """Value all subsets within the budget together, and take the best; `column` has the signed masses."""
    tick(MOST_CELLS * 1e-2, "the search")
    several = [f for f in task.root.features if task.sizes[f] > 1]
    costs, coefficients = np.array([task.costs[f] for f in several]), _transform(column, len(column))
    valued: list[tuple[float, float, tuple[int, ...]]] = []
    top = incumbent.value
    for size in range(min(_most_kept(task), len(several)) + 1):
        chosen, places = _subsets(len(several), size)
        masses = _transform(coefficients[places].reshape(-1), 1 << size).reshape(places.shape)
        values = 0.5 + 0.5 * np.abs(masses).sum(axis=1) / (1 << size)
        spent = costs[chosen].sum(axis=1)
        incumbent.evaluations += len(chosen)
        values[spent > task.spendable] = -1.0
        top = max(top, float(values.max()))
        near = np.flatnonzero(values >= top - SLACK).tolist()
        valued += [(float(values[row]), float(spent[row]), tuple(chosen[row].tolist())) for row in near]
    best = [each for each in valued if each[0] >= top - SLACK]
    least = min((cost for _, cost, _ in best), default=0.0)
    for value, cost, kept in best:  # of the cheapest, names decide
        if not is_cheaper(least, cost):
            incumbent.offer((several[place] for place in kept), value)
    incumbent.bound = incumbent.value


def _most_kept(task: Task) -> int:
    """How many features the budget pays for at most."""
    spent = np.cumsum(sorted(task.costs[f] for f in task.root.features if task.sizes[f] > 1))
    return int(np.searchsorted(spent, task.spendable, side="right"))


def _transform(values: Floats, length: int) -> Floats:
    """The Walsh transform of each run of this length: bits of a place say which features are in the set."""
    found, half = values, length // 2
    while half >= len(SIGNS):
        pairs = found.reshape(-1, 2, half)
        found = np.empty_like(pairs)
        np.add(pairs[:, 0], pairs[:, 1], out=found[:, 0])
        np.subtract(pairs[:, 0], pairs[:, 1], out=found[:, 1])
        half //= 2
    # Short runs are products: numpy's loops along them would be as short.
    return (found.reshape(-1, 2 * half) @ SIGNS[: 2 * half, : 2 * half]).reshape(-1) if half else found


@lru_cache(maxsize=64)
def _subsets(n_features: int, size: int) -> tuple[Ints, Ints]:
    """All subsets of a size (subsets, size), and places of their coefficients (subsets, 2^size)."""
    listed = list(itertools.combinations(range(n_features), size))
    chosen = np.array(listed, dtype=np.int64).reshape(len(listed), size)
    places = np.zeros((len(chosen), 1), dtype=np.int64)
    for place in range(size):
        bit = np.left_shift(1, n_features - 1 - chosen[:, place : place + 1])
        places = np.concatenate([places, places + bit], axis=1)
    return chosen, places
