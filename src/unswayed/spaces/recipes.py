"""Spaces as JSON, so that a saved model can be loaded anywhere.

    {"kind": "rankings", "items": [...], "tiers": [1, 1, ...]}
    {"kind": "paths", "nodes": [...], "edges": [[0, 1], ...], "is_directed": false, "order": [...],
     "ends": {...}}
    {"kind": "sets", "description": ..., "elements": [...], "are_edges": false, "diagram": {...}}
    {"kind": "assignments", "description": ..., "vtree": {...}, "sdd": {...}}

Rankings and paths are made again from their definition; sets and assignments keep their diagram or circuit.
Nodes and edges are positions. A name is text or a number, or a list of names where it was a tuple.

Spaces of sets of edges are here too: matchings, spanning trees, and what Graphillion can say. Matchings and
trees come from the same frontier search as paths. A set is written as its edges, pairs of nodes in either
order; variable `a-b` says that the edge is in the set.

Graphillion (`pip install graphillion`) has many more ways to say which graphs are meant. Its sets are
zero-suppressed diagrams over the edges of a universe, in the universe's order; `dumps` writes them one
node a line, children first: number, level from 1, low and high child, with B and T for the constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Ints
from unswayed.core.errors import FormatError, ModelError, QueryError, expect
from unswayed.kernels import frontier
from unswayed.spaces.edge_sets import EdgeSets, diagram_of, narrow_order
from unswayed.spaces.formulas import AssignmentCoding, circuit_space
from unswayed.spaces.graphs import Graph, as_undirected, graph_from_edges, is_connected
from unswayed.spaces.maps.hierarchical_paths import space_of_regions
from unswayed.spaces.maps.regions import RegionTree, region_tree
from unswayed.spaces.paths import DirectedEnds, EndPairs, PathCoding, space_of_paths
from unswayed.spaces.rankings import RankingCoding, tiered_ranking_space
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


_VTREE = ("left", "right", "variable")
_SDD = ("kind", "vtree_node", "literal", "starts", "primes", "subs")
_DIAGRAM = ("level", "low", "high")


def describe_space(space: Space[Any]) -> dict[str, Any]:
    """The space as JSON can say it.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> describe_space(ranking_space("ab"))
    {'kind': 'rankings', 'items': ['a', 'b'], 'tiers': [1, 1]}
    """
    coding: Any = space.coding
    if isinstance(coding, RankingCoding):
        return {"kind": "rankings", "items": plain_names(coding.items), "tiers": list(coding.tiers)}
    if isinstance(coding, PathCoding):
        return _described_paths(coding)
    if isinstance(coding, SetCoding):
        diagram = {name: getattr(coding.diagram, name).tolist() for name in _DIAGRAM}
        return {
            "kind": "sets",
            "description": space.description,
            "elements": plain_names(coding.elements),
            "names": list(space.names),
            "are_edges": coding.key is either_way,
            "diagram": diagram | {"root": coding.diagram.root},
        }
    if isinstance(coding, AssignmentCoding):
        vtree = {name: getattr(space.vtree, name).tolist() for name in _VTREE}
        sdd = {name: getattr(space.sdd, name).tolist() for name in _SDD}
        return {
            "kind": "assignments",
            "description": space.description,
            "vtree": vtree | {"names": list(space.names)},
            "sdd": sdd | {"root": space.sdd.root},
        }
    raise ModelError(f"a space of {space.description} cannot be saved; use one of unswayed's own codings")


def _described_paths(coding: PathCoding) -> dict[str, Any]:
    names = ("starts", "stops") if isinstance(coding.ends, DirectedEnds) else ("group", "joins")
    ends = {name: getattr(coding.ends, name).tolist() for name in names}
    fixed = coding.ends.fixed
    return {
        "kind": "paths",
        "nodes": plain_names(coding.graph.nodes),
        "edges": coding.graph.edges.tolist(),
        "is_directed": coding.graph.is_directed,
        "order": coding.order.tolist(),
        "ends": ends | {"fixed": None if fixed is None else list(fixed)},
    } | ({} if coding.regions is None else {"regions": _described_regions(coding.regions)})


def _described_regions(tree: RegionTree) -> dict[str, Any]:
    return {"leaf_of": tree.leaf_of.tolist(), "halves": tree.halves.tolist()}


def make_space(recipe: dict[str, Any]) -> Space[Any]:
    """The space that `describe_space` described; `FormatError` when it is none."""
    kind = recipe["kind"]
    if kind == "rankings":
        return tiered_ranking_space(_names(recipe["items"]), recipe["tiers"])
    if kind == "paths":
        edges = np.array(recipe["edges"], dtype=np.int64)
        graph = Graph(_names(recipe["nodes"]), edges, bool(recipe["is_directed"]))
        ends, regions = _ends(recipe["ends"], graph), recipe.get("regions")
        if regions is None:
            return space_of_paths(graph, ends, recipe["order"])
        tree = region_tree(graph, RegionTree(regions["leaf_of"], regions["halves"]))
        return space_of_regions(graph, tree, ends.fixed)
    if kind == "sets":
        return _made_sets(recipe)
    if kind == "assignments":
        names, arrays = recipe["vtree"]["names"], recipe["sdd"]
        vtree = Vtree(tuple(map(str, names)), *(np.array(recipe["vtree"][name]) for name in _VTREE))
        fields: dict[str, Any] = {name: np.array(arrays[name]) for name in _SDD}
        return circuit_space(Sdd(vtree, **fields, root=int(arrays["root"])), str(recipe["description"]))
    raise FormatError(f"unknown kind of space {kind!r}; known: rankings, paths, sets, assignments")


def _ends(ends: dict[str, Any], graph: Graph) -> EndPairs | DirectedEnds:
    n_nodes = len(graph.nodes)
    given = None if ends["fixed"] is None else tuple(map(int, ends["fixed"]))
    if given is not None and (len(given) != 2 or not all(0 <= end < n_nodes for end in given)):
        raise FormatError(f"paths have two ends, both of them nodes of the graph, not {list(given)}")
    fixed = None if given is None else (given[0], given[1])
    if graph.is_directed:
        starts, stops = (np.array(ends[name], dtype=np.bool_) for name in ("starts", "stops"))
        if starts.shape != (n_nodes,) or stops.shape != (n_nodes,):
            raise FormatError("the ends of the paths do not fit the graph")
        return DirectedEnds(starts, stops, fixed)
    group, joins = (np.array(ends[name], dtype=np.int64) for name in ("group", "joins"))
    if group.shape != (n_nodes,) or joins.ndim != 2 or joins.shape != (group.max() + 1,) * 2:
        raise FormatError("the ends of the paths do not fit the graph")
    return EndPairs(group, joins, fixed)


def _made_sets(recipe: dict[str, Any]) -> Space[Any]:
    elements, arrays = _names(recipe["elements"]), recipe["diagram"]
    level, low, high = (np.array(arrays[name], dtype=np.int64) for name in _DIAGRAM)
    number, root = np.arange(len(level)), int(arrays["root"])
    inner = number > 1
    if (
        not len(level) == len(low) == len(high) > 1
        or ((low < 0) | (high < 0) | (low >= number) | (high >= number))[inner].any()
        or ((level[inner] < 0) | (level[low] <= level)[inner] | (level[high] <= level)[inner]).any()
        or not 0 < root < len(level)
    ):
        raise FormatError("the diagram of the sets is damaged: children come before parents, level by level")
    diagram = Diagram(len(elements), level, low, high, root)
    edges = bool(recipe["are_edges"])
    coding = SetCoding(
        elements,
        diagram,
        lambda found: f"these {len(found)} elements are not one of the {recipe['description']}",
        *((either_way, "edge") if edges else ()),
    )
    names = [str(name) for name in recipe["names"]]
    if len(names) != len(elements):
        raise FormatError(f"{len(elements)} elements need as many names, not {len(names)}")
    return diagram_space(str(recipe["description"]), diagram, names, coding)


def plain_names(names: Any) -> list[Any]:
    """Names as JSON has them; `ModelError` for one that it cannot have."""
    return [_plain(name) for name in names]


def _plain(name: Any) -> Any:
    if isinstance(name, tuple):
        return plain_names(name)
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, str | int | float | bool):
        return name
    raise ModelError(f"the name {name!r} cannot be saved; names are text, numbers or tuples of them")


def _names(values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise FormatError(f"expected a list of names, not {values!r}")
    return tuple(restored_name(value) for value in values)


def restored_name(value: Any) -> Any:
    """A name as it was before JSON made a list of a tuple."""
    if isinstance(value, list):
        return tuple(restored_name(each) for each in value)
    if not isinstance(value, str | int | float | bool):
        raise FormatError(f"{value!r} is no name; names are text, numbers or lists of them")
    return value
