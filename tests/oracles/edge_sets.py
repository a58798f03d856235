"""Sets of edges by definition: what is a path, a matching, a spanning tree, checked one set at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

Edge = tuple[int, int]


def all_subsets(edges: list[Edge]) -> Iterator[tuple[tuple[bool, ...], list[Edge]]]:
    """Every choice of edges, as truth values and as edges."""
    for row in product((False, True), repeat=len(edges)):
        yield row, [edge for edge, taken in zip(edges, row, strict=True) if taken]


def degrees(edges: list[Edge]) -> Counter[int]:
    """How many edges each node has."""
    return Counter(node for edge in edges for node in edge)


def component(start: int, edges: list[Edge]) -> set[int]:
    """The nodes that edges join to a node."""
    found = {start}
    while True:
        more = {node for edge in edges if found & set(edge) for node in edge} - found
        if not more:
            return found
        found |= more


def is_path(edges: list[Edge], source: int, target: int) -> bool:
    """Whether the edges are one simple path between two nodes."""
    degree = degrees(edges)
    inside = [node for node in degree if node not in (source, target)]
    return (
        degree[source] == degree[target] == 1
        and all(degree[node] == 2 for node in inside)
        and component(source, edges) == set(degree)
    )


def is_path_between_any(edges: list[Edge]) -> bool:
    """Whether the edges are one simple path."""
    ends = [node for node, degree in degrees(edges).items() if degree == 1]
    return len(ends) == 2 and is_path(edges, *ends)


def is_matching(edges: list[Edge]) -> bool:
    """Whether no two edges share a node."""
    return all(degree == 1 for degree in degrees(edges).values())


def is_spanning_tree(edges: list[Edge], n_nodes: int) -> bool:
    """Whether the edges join all nodes, and none of them is needless."""
    return len(edges) == n_nodes - 1 and component(0, edges) == set(range(n_nodes))


def members(edges: list[Edge], belongs: Callable[[list[Edge]], bool]) -> list[list[Edge]]:
    """All sets of edges with a property."""
    return [chosen for _, chosen in all_subsets(edges) if belongs(chosen)]
