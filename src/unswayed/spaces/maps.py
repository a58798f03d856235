"""Parts of large maps: the crossings that most trips use, as many as a circuit of all paths can hold.

The circuit of all paths grows with the width of a map, and most crossings of a town are on few trips. Leaving
those out makes a map narrow: of a town of 3,061 crossings, the 597 that are used most have a circuit of a
million choices, ready in seconds. Trips that leave the part are not in the space, so the part says how many
they are: counted on trips that did not choose it, with an interval that holds for trips to come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import Graph, as_graph, graph_from_edges

MOST_STATES = 5e7
"""Largest price of an order of the edges, about the states of a search: seconds and half a gigabyte."""
_GROWTH = 1.3
"""How much more trips a crossing must be on in the next attempt."""


@dataclass(frozen=True, slots=True, eq=False)
class MapPart:
    """A part of a map and the trips inside it."""

    graph: Graph
    """The crossings that stay, and the streets between them."""
    trips: tuple[tuple[Any, ...], ...] = field(repr=False)
    """The trips that never leave it."""
    rows: tuple[int, ...] = field(repr=False)
    """Which of the trips given each of them was."""
    least_use: int
    """Every crossing is on at least so many of the trips that chose it."""
    share_outside: Measurement
    """Share of trips that leave the part; the interval holds for trips of the same kind."""


def cut_map(
    graph: Any, trips: Iterable[Sequence[Any]], *, most_states: float = MOST_STATES, confidence: float = 0.95
) -> MapPart:
    """The part of a map that can be compiled and holds the most used crossings.

    Every other trip chooses the part, the rest measure what it leaves out (Clopper and Pearson's interval).
    The whole map is returned where it is narrow enough.
    """
    known = as_graph(graph)
    listed = [tuple(trip) for trip in trips]
    if len(listed) < 2 or not 0 < confidence < 1:
        raise QueryError("give two trips or more, and a confidence between 0 and 1")
    uses = Counter(node for trip in listed[::2] for node in set(trip))
    least = 0
    while least <= max(uses.values()):
        part = _used(known, uses, least)
        if part is not None and order_price(part, narrow_order(part)) <= most_states:
            return _measured(part, listed, least, confidence)
        least = max(least + 1, int(_GROWTH * least))
    raise LimitError("no part of this map is narrow enough; raise most_states")


def _used(graph: Graph, uses: Counter[Any], least: int) -> Graph | None:
    """The map of the crossings with enough uses; None without a street."""
    kept = [uses[node] >= least for node in graph.nodes]
    edges = [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges.tolist() if kept[a] and kept[b]]
    return graph_from_edges(edges, is_directed=graph.is_directed) if edges else None


def _measured(part: Graph, trips: list[tuple[Any, ...]], least: int, confidence: float) -> MapPart:
    inside = [all(node in part.position for node in trip) for trip in trips]
    rows = tuple(row for row, is_inside in enumerate(inside) if is_inside)
    outside = _share(inside[1::2].count(False), len(inside[1::2]), confidence)
    return MapPart(part, tuple(trips[row] for row in rows), rows, least, outside)


def _share(count: int, total: int, confidence: float) -> Measurement:
    """A share with Clopper and Pearson's interval: no share outside it makes the count likely."""
    from scipy.stats import beta

    tail = (1.0 - confidence) / 2
    low = float(beta.ppf(tail, count, total - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, total - count)) if count < total else 1.0
    return Measurement(count / total, low, high, Certainty.ESTIMATE, "counts", confidence=confidence)
