"""The best tree over a few features by trying all of them, with information by its definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations


def information_by_definition(rows: Sequence[tuple[int, int, int]]) -> float:
    """I(X; Y | C) of rows (c, x, y), in nats, from relative frequencies."""
    n = len(rows)
    cxy = Counter(rows)
    cx = Counter((c, x) for c, x, _ in rows)
    cy = Counter((c, y) for c, _, y in rows)
    classes = Counter(c for c, _, _ in rows)
    return sum(
        count / n * math.log((count / classes[c]) / ((cx[c, x] / classes[c]) * (cy[c, y] / classes[c])))
        for (c, x, y), count in cxy.items()
    )


def is_spanning_tree(n_nodes: int, edges: Sequence[tuple[int, int]]) -> bool:
    group = list(range(n_nodes))
    for a, b in edges:
        if group[a] == group[b]:
            return False
        group = [group[a] if each == group[b] else each for each in group]
    return len(set(group)) == 1


def best_tree_weight(weights: Sequence[Sequence[float]]) -> float:
    """Weight of the heaviest spanning tree, among all sets of n - 1 edges."""
    n_nodes = len(weights)
    candidates = combinations(combinations(range(n_nodes), 2), n_nodes - 1)
    return max(sum(weights[a][b] for a, b in tree) for tree in candidates if is_spanning_tree(n_nodes, tree))
