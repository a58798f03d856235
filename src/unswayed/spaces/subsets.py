"""Spaces of subsets with a given number of elements."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.spaces.set_coding import SetCoding
from unswayed.spaces.space import Space
from unswayed.spaces.zdd import count_sets, reduced
from unswayed.spaces.zdd_circuits import circuit_of

_BYTES_PER_NODE = 300.0
"""For each number of elements chosen at each item, in the diagram and in the circuit."""


def subset_space(
    items: int | Iterable[Hashable], sizes: int | Iterable[int], *, limits: Limits = DEFAULT_LIMITS
) -> Space[frozenset[Any]]:
    """All subsets of n items (numbered from 1) or of named ones, with one of the given sizes.

    Cost: n times the largest size.

    >>> subset_space(10, 3).size
    120
    >>> space = subset_space(["ham", "egg", "rye"], range(1, 3))
    >>> space.size, space.explain(["ham", "egg", "rye"])
    (6, '3 elements are chosen, not 1 or 2')
    """
    if isinstance(items, int):
        limits.check_bytes(100.0 * items, f"subsets of {items:,} items")
    named = tuple(range(1, items + 1)) if isinstance(items, int) else tuple(items)
    if not named or len({str(item) for item in named}) < len(named):
        raise QueryError("a subset needs at least one item, and every item a name of its own")
    wanted = sorted({sizes} if isinstance(sizes, int) else set(sizes))
    if not wanted or wanted[0] < 0 or wanted[-1] > len(named):
        raise QueryError(f"subsets of {len(named)} items have 0 to {len(named)} elements, not {wanted}")
    limits.check_bytes(_BYTES_PER_NODE * len(named) * (wanted[-1] + 1), f"subsets of {len(named):,} items")
    diagram = reduced(_levels(len(named), wanted))
    counts = " or ".join(map(str, wanted))
    coding = SetCoding(named, diagram, lambda found: f"{len(found)} elements are chosen, not {counts}")
    what = f"subsets of {counts} of {len(named)} items"
    return Space(what, circuit_of(diagram, [str(item) for item in named]), count_sets(diagram), coding)


def _levels(n_items: int, sizes: list[int]) -> list[Ints]:
    """One node for each number of elements chosen so far, up to the largest size."""
    most = sizes[-1]
    levels = []
    for decided in range(n_items):
        chosen = np.arange(min(decided, most) + 1)
        levels.append(np.stack([2 + chosen, np.where(chosen < most, 3 + chosen, 0)]))
    is_size = np.isin(np.arange(most + 1), sizes).astype(np.int64)
    last = levels[-1]
    levels[-1] = np.where(last > 0, is_size[np.maximum(last - 2, 0)], 0)
    return levels
