"""Maps too large for the circuit of all paths: split into regions, or cut down to what most trips use.

The circuit of all simple paths grows with the width of a map, so that a town of 300 crossings has none.
`split_map` keeps the whole map and gives up some paths: it halves the map again and again, and the space has
the paths that enter no region twice (`hierarchical_paths.py`). `cut_map` keeps all paths and gives up some of
the map: the crossings that few trips use.

Either way some trips are not in the space, and are counted: on trips that had no part in the choice, with an
interval that holds for trips to come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import Graph, as_graph, graph_from_edges
from unswayed.spaces.maps.halves import Piece, halve, pieces_inside
from unswayed.spaces.maps.regions import RegionTree, edges_among, join_components, local_graph, number_regions

MOST_STATES = 5e7
"""Largest price of an order of the edges, about the states of a search: seconds and half a gigabyte."""
MOST_LEAF_STATES = 5e5
"""The same for a leaf, times the nodes at its border, for the paths between any two of them."""
_MOST_LEAF_NODES = 150
"""Most nodes of a leaf."""
_GROWTH = 1.3
"""How much more trips a crossing must be on in the next attempt."""


@dataclass(frozen=True, slots=True, eq=False)
class MapPart:
    """A part of a map, or its regions, and the trips that suit them."""

    graph: Graph
    """The crossings that stay, and the streets between them."""
    trips: tuple[tuple[Any, ...], ...] = field(repr=False)
    """The trips that never leave it, and enter no region twice."""
    rows: tuple[int, ...] = field(repr=False)
    """Which of the trips given each of them was."""
    least_use: int
    """Every crossing is on at least so many of the trips that chose it."""
    share_outside: Measurement
    """Share of the other trips; the interval holds for trips of the same kind."""
    regions: RegionTree | None = None
    """Regions that no trip enters twice, if the map was split."""


def split_map(
    graph: Any,
    trips: Iterable[Sequence[Any]],
    *,
    most_states: float = MOST_LEAF_STATES,
    confidence: float = 0.95,
) -> MapPart:
    """The whole map in regions that few trips enter twice.

    Every other trip chooses the regions, the rest measure how many do (Clopper and Pearson's interval). A
    region is split while it has many nodes, or its paths would take longer to find than `most_states`.

    Cost: a second for 1,000 crossings and as many trips.
    """
    known, listed = _checked(graph, trips, confidence)
    choosing = [[known.position[node] for node in trip] for trip in listed[::2] if _is_inside(known, trip)]

    def split(nodes: Ints, pieces: list[Piece]) -> Any:
        if _is_small(known, nodes, most_states):
            return join_components(known, nodes)
        is_second = halve(known, nodes, pieces)
        first, second = nodes[~is_second], nodes[is_second]
        return split(first, pieces_inside(pieces, first)), split(second, pieces_inside(pieces, second))

    tree = number_regions(known, split(np.arange(len(known.nodes)), choosing))

    def suits(trip: tuple[Any, ...]) -> bool:
        if not _is_inside(known, trip):
            return False
        return not _comes_back(tree.by_depth[:, [known.position[node] for node in trip]])

    kept, rows, outside = _measure(listed, suits, confidence)
    return MapPart(known, kept, rows, 0, outside, tree)


def _comes_back(regions: Ints) -> bool:  # (depths, nodes of a trip)
    """Whether a trip enters a region twice."""
    for row in regions.tolist():
        entered = [one for before, one in pairwise([-1, *row]) if one != before]
        if len(set(entered)) < len(entered):
            return True
    return False


def _is_small(graph: Graph, nodes: Ints, most_states: float) -> bool:
    edges = edges_among(graph, nodes)
    if not len(edges):
        return True
    if len(nodes) > _MOST_LEAF_NODES:
        return False
    part = local_graph(graph, nodes, edges)
    touching = graph.edges[np.isin(graph.edges, nodes).any(axis=1)]
    n_doors = len(np.intersect1d(touching[~np.isin(touching, nodes).all(axis=1)], nodes))
    return len(nodes) < 4 or (1 + n_doors) * order_price(part, narrow_order(part)) <= most_states


def cut_map(
    graph: Any, trips: Iterable[Sequence[Any]], *, most_states: float = MOST_STATES, confidence: float = 0.95
) -> MapPart:
    """The part of a map that can be compiled and holds the most used crossings.

    Every other trip chooses the part, the rest measure what it leaves out (Clopper and Pearson's interval).
    The whole map is returned where it is narrow enough.
    """
    known, listed = _checked(graph, trips, confidence)
    uses = Counter(node for trip in listed[::2] for node in set(trip))
    least = 0
    while least <= max(uses.values()):
        part = _used(known, uses, least)
        if part is not None and order_price(part, narrow_order(part)) <= most_states:
            kept, rows, outside = _measure(listed, partial(_is_inside, part), confidence)
            return MapPart(part, kept, rows, least, outside)
        least = max(least + 1, int(_GROWTH * least))
    raise LimitError("no part of this map is narrow enough; raise most_states")


def _checked(
    graph: Any, trips: Iterable[Sequence[Any]], confidence: float
) -> tuple[Graph, list[tuple[Any, ...]]]:
    listed = [tuple(trip) for trip in trips]
    if len(listed) < 2 or not 0 < confidence < 1:
        raise QueryError("give two trips or more, and a confidence between 0 and 1")
    return as_graph(graph), listed


def _used(graph: Graph, uses: Counter[Any], least: int) -> Graph | None:
    """The map of the crossings with enough uses; None without a street."""
    kept = [uses[node] >= least for node in graph.nodes]
    edges = [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges.tolist() if kept[a] and kept[b]]
    return graph_from_edges(edges, is_directed=graph.is_directed) if edges else None


def _is_inside(graph: Graph, trip: tuple[Any, ...]) -> bool:
    return graph.position.keys() >= set(trip)


def _measure(
    trips: list[tuple[Any, ...]], suits: Callable[[tuple[Any, ...]], bool], confidence: float
) -> tuple[tuple[tuple[Any, ...], ...], tuple[int, ...], Measurement]:
    """The trips that suit, their rows, and the share of others among those that had no part in the choice."""
    is_inside = [suits(trip) for trip in trips]
    rows = tuple(row for row, suitable in enumerate(is_inside) if suitable)
    others = is_inside[1::2]
    return tuple(trips[row] for row in rows), rows, _share(others.count(False), len(others), confidence)


def _share(count: int, total: int, confidence: float) -> Measurement:
    """A share with Clopper and Pearson's interval: no share outside it makes the count likely."""
    from scipy.stats import beta

    tail = (1.0 - confidence) / 2
    low = float(beta.ppf(tail, count, total - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, total - count)) if count < total else 1.0
    return Measurement(count / total, low, high, Certainty.ESTIMATE, "counts", confidence=confidence)
