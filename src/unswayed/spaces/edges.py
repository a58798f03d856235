"""Spaces of sets of edges of a graph: matchings, spanning trees, and what Graphillion can say.

Matchings and trees come from the same frontier search as paths. A set is written as its edges, pairs of
nodes in either order; variable `a-b` says that the edge is in the set.

Graphillion (`pip install graphillion`) has many more ways to say which graphs are meant. Its sets are
zero-suppressed diagrams over the edges of a universe, in the universe's order; `dumps` writes them one
node a line, children first: number, level from 1, low and high child, with B and T for the constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError, expect
from unswayed.kernels import frontier
from unswayed.spaces.edge_sets import EdgeSets, diagram_of, narrow_order
from unswayed.spaces.graphs import Graph, as_undirected, graph_from_edges, is_connected
from unswayed.spaces.space import Space
from unswayed.spaces.subsets import SetCoding
from unswayed.spaces.zdd import Diagram, diagram_space


def matching_space(graph: Any, *, perfect: bool = False) -> Space[frozenset[Any]]:
    """All matchings: sets of edges, no two of which share a node; perfect ones cover all nodes.

    >>> from unswayed.spaces.graphs import grid
    >>> matching_space(grid(2, 2)).size, matching_space(grid(4, 4), perfect=True).size
    (7, 36)
    """
    known = as_undirected(graph)
    expect(perfect, bool, "perfect")
    if perfect and len(set(known.edges.ravel().tolist())) < len(known.nodes):
        raise QueryError("a node without edges cannot be matched; there is no perfect matching")
    required = np.full(len(known.nodes), int(perfect), dtype=np.int64)
    what = "perfect matchings" if perfect else "matchings"
    return _space(_wanted(known, frontier.MATCHINGS, required), what, _why_no_matching)


def spanning_tree_space(graph: Any) -> Space[frozenset[Any]]:
    """All spanning trees: sets of edges that join all nodes without a cycle.

    >>> spanning_tree_space([("a", "b"), ("b", "c"), ("a", "c")]).size
    3
    """
    known = as_undirected(graph)
    if not is_connected(known):
        raise QueryError("the graph is not connected, so it has no spanning tree")
    required = np.zeros(len(known.nodes), dtype=np.int64)
    return _space(_wanted(known, frontier.TREES, required), "spanning trees", _why_no_tree)


def _space(wanted: EdgeSets, what: str, reason: Callable[[Graph, Ints], str]) -> Space[frozenset[Any]]:
    diagram = diagram_of(wanted)
    if diagram.root == 0:
        raise QueryError(f"this graph has no {what}")
    graph, order = wanted.graph, wanted.order
    names = graph.edge_names()
    coding = SetCoding(
        tuple((graph.nodes[a], graph.nodes[b]) for a, b in graph.edges[order].tolist()),
        diagram,
        lambda found: reason(graph, order[sorted(found)]),
        key=either_way,
        what="edge",
    )
    return diagram_space(what, diagram, [names[edge] for edge in order.tolist()], coding)


def _wanted(graph: Graph, kind: int, required: Ints) -> EdgeSets:
    """Sets without ends, unlike paths."""
    nothing = np.full(len(graph.nodes), -1, dtype=np.int64)
    order, no_ends = narrow_order(graph, kind), np.zeros((1, 1), dtype=np.int64)
    return EdgeSets(graph, order, kind, nothing, no_ends, required)


def either_way(edge: Any) -> Hashable:
    """What the two ways to write an edge have in common."""
    a, b = edge if isinstance(edge, tuple | list) and len(edge) == 2 else (edge, edge)
    return frozenset((a, b))


def _why_no_matching(graph: Graph, edges: Ints) -> str:
    counts = Counter(graph.edges[edges].ravel().tolist())
    shared = [node for node, count in sorted(counts.items()) if count > 1]
    if shared:
        return f"two edges meet at {graph.nodes[shared[0]]}"
    left = next(node for node in range(len(graph.nodes)) if node not in counts)
    return f"{graph.nodes[left]} is not matched"


def _why_no_tree(graph: Graph, edges: Ints) -> str:
    component = list(range(len(graph.nodes)))
    for a, b in graph.edges[edges].tolist():
        one, other = component[a], component[b]
        if one == other:
            return f"edge {graph.nodes[a]}-{graph.nodes[b]} closes a cycle"
        component = [one if each == other else each for each in component]
    apart = next(node for node in range(len(component)) if component[node] != component[0])
    return f"{graph.nodes[apart]} is not joined to {graph.nodes[0]}"


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
        key=either_way,
        what="edge",
    )
    return diagram_space("graphs of a GraphSet", diagram, names, coding)


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
