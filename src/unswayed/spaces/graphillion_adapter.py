"""Graphillion's sets of graphs as spaces.

Graphillion (`pip install graphillion`) has many more ways to say which graphs are meant. Its sets are
zero-suppressed diagrams over the edges of a universe, in the universe's order; `dumps` writes them one
node a line, children first: number, level from 1, low and high child, with B and T for the constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.core.errors import QueryError
from unswayed.spaces.graphs import graph_from_edges
from unswayed.spaces.set_coding import SetCoding
from unswayed.spaces.space import Space
from unswayed.spaces.zdd import Diagram, count_sets
from unswayed.spaces.zdd_circuits import circuit_of


def graphset_space(graphs: Any) -> Space[frozenset[Any]]:
    """The graphs of a `graphillion.GraphSet`, each a set of edges of the universe."""
    if not hasattr(graphs, "dumps") or not hasattr(type(graphs), "universe"):
        raise QueryError(f"a graphillion.GraphSet is needed, not a {type(graphs).__name__}")
    universe = [tuple(edge[:2]) for edge in type(graphs).universe()]
    diagram = _diagram(graphs.dumps(), len(universe))
    if diagram.root == 0:
        raise QueryError("this GraphSet is empty, so there is no space of its graphs")
    names = graph_from_edges(universe).edge_names()
    coding = SetCoding(
        tuple(universe),
        diagram,
        lambda found: f"no graph of the set has exactly these {len(found)} edges",
        key=lambda edge: frozenset(edge) if isinstance(edge, tuple | list) else edge,
        what="edge",
    )
    return Space("graphs of a GraphSet", circuit_of(diagram, names), count_sets(diagram), coding)


def _diagram(text: str, n_edges: int) -> Diagram:
    number = {"B": 0, "T": 1}
    nodes = [(n_edges, 0, 0), (n_edges, 1, 1)]
    root = 0
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 4:
            name, level, low, high = words
            root = number[name] = len(nodes)
            nodes.append((int(level) - 1, number[low], number[high]))
        elif words and words[0] in number:
            root = number[words[0]]
    level, low, high = np.array(nodes, dtype=np.int64).T.copy()
    return Diagram(n_edges, level, low, high, root)
