"""Hierarchical paths, compared with every simple path of small maps and with counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import unswayed
from unswayed.circuits.psdd.learn import learn
from unswayed.circuits.psdd.query import log_likelihood, marginals, sample
from unswayed.circuits.psdd.structure import uniform_psdd
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.files import load_structured, save_structured
from unswayed.spaces.decisions.classifier import structured_classifier
from unswayed.spaces.graphs import Graph, as_graph, grid
from unswayed.spaces.maps.hierarchical_paths import hierarchical_path_space
from unswayed.spaces.maps.regions import RegionTree
from unswayed.spaces.paths import path_space_between
from unswayed.spaces.space import Partial

Cell = tuple[int, int]


def quarter(node: Cell, n_rows: int, n_columns: int) -> tuple[bool, bool]:
    return node[0] >= n_rows // 2, node[1] >= n_columns // 2


def two_regions(n_rows: int, n_columns: int) -> Any:
    nodes = grid(n_rows, n_columns).nodes
    return tuple(
        {node for node in nodes if quarter(node, n_rows, n_columns)[0] == low} for low in (False, True)
    )


def four_regions(n_rows: int, n_columns: int) -> Any:
    nodes = grid(n_rows, n_columns).nodes
    return tuple(
        tuple(
            {node for node in nodes if quarter(node, n_rows, n_columns) == (low, right)}
            for right in (False, True)
        )
        for low in (False, True)
    )


def one_way(graph: Graph, seed: int) -> Graph:
    """The graph with most streets one-way, some both ways, some closed."""
    rng = np.random.default_rng(seed)
    arcs = [pair for pair in graph.edges.tolist() if rng.random() < 0.8]
    arcs += [pair[::-1] for pair in graph.edges.tolist() if rng.random() < 0.6]
    return Graph(graph.nodes, np.array(arcs), is_directed=True)


def simple_paths(graph: Graph) -> list[tuple[Any, ...]]:
    """Every simple path, by trying; one of a path and its reverse where streets go both ways."""
    onward: dict[int, list[int]] = {node: [] for node in range(len(graph.nodes))}
    for a, b in graph.edges.tolist():
        onward[a].append(b)
        if not graph.is_directed:
            onward[b].append(a)
    found, waiting = [], [[node] for node in onward]
    while waiting:
        path = waiting.pop()
        if len(path) > 1 and (graph.is_directed or path[0] < path[-1]):
            found.append(tuple(graph.nodes[node] for node in path))
        waiting += [[*path, node] for node in onward[path[-1]] if node not in path]
    return found


def all_regions(nested: Any) -> list[set[Any]]:
    if not isinstance(nested, tuple):
        return [set(nested)]
    inner = [all_regions(half) for half in nested]
    return [*inner[0], *inner[1], inner[0][-1] | inner[1][-1]]


def enters_none_twice(path: tuple[Any, ...], regions: list[set[Any]]) -> bool:
    entries = [
        sum(b and not a for a, b in pairwise([False, *(n in region for n in path)])) for region in regions
    ]
    return max(entries) == 1


@pytest.mark.parametrize("split", [two_regions, four_regions])
@pytest.mark.parametrize(
    ("shape", "seed"), [((3, 3), None), ((4, 4), None), ((3, 3), 0), ((3, 4), 1), ((4, 4), 2)]
)
def test_the_space_has_the_simple_paths_that_enter_no_region_twice(split, shape, seed):
    graph = grid(*shape) if seed is None else one_way(grid(*shape), seed)
    regions = all_regions(split(*shape))
    every = simple_paths(graph)
    inside = [path for path in every if enters_none_twice(path, regions)]
    space = hierarchical_path_space(graph, split(*shape))
    assert space.size == len(inside) < len(every)
    rows = space.encode_many(inside)
    chances = np.exp(log_likelihood(uniform_psdd(space.structure), rows))
    assert chances == pytest.approx(1.0 / len(inside), rel=1e-12)  # all of them, so they sum to one
    assert set(space.decode_many(rows)) == set(inside)
    outside = next(path for path in every if not enters_none_twice(path, regions))
    assert "enter no region twice" in space.explain(outside)
    drawn = space.decode_many(space.sample(50, np.random.default_rng(0)))
    assert set(drawn) <= set(inside)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_ends_may_be_fixed(seed):
    graph = grid(4, 4) if seed is None else one_way(grid(4, 4), seed)
    regions = all_regions(four_regions(4, 4))
    both_ways = simple_paths(graph) + ([path[::-1] for path in simple_paths(graph)] if seed is None else [])
    for source, target in [((0, 0), (3, 3)), ((1, 2), (0, 1)), ((3, 0), (1, 1))]:
        wanted = [p for p in both_ways if (p[0], p[-1]) == (source, target) and enters_none_twice(p, regions)]
        if not wanted:
            with pytest.raises(QueryError, match="not connected"):
                hierarchical_path_space(graph, four_regions(4, 4), source, target)
            continue
        space = hierarchical_path_space(graph, four_regions(4, 4), source, target)
        assert space.size == len(wanted)
        assert np.exp(log_likelihood(uniform_psdd(space.structure), space.encode_many(wanted))).sum() == (
            pytest.approx(1.0)
        )


def test_one_region_has_all_simple_paths():
    space = hierarchical_path_space(grid(3, 3), set(grid(3, 3).nodes))
    assert space.size == path_space_between(grid(3, 3)).size


def test_learned_chances_are_relative_frequencies():
    """A square of two regions: the street taken between them, then what happens in each, by counting."""
    square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    space = hierarchical_path_space(square, ({"a", "b"}, {"c", "d"}))
    trips = ["ab", "ab", "bc", "abc", "abc", "abcd", "ad", "bad", "cd", "cd"]
    psdd = learn(space.structure, space.encode_many([tuple(trip) for trip in trips]))
    # Of 10 trips 4 take b-c, 2 take d-a, 4 stay in a region. Whether a-b is taken too is open in the same way
    # on either side, so it is one parameter: 4 of the 6 trips that cross do; and 1 of the 6 takes c-d.
    expected = {"abcd": 0.4 * 4 / 6 * 1 / 6, "abc": 0.4 * 4 / 6 * 5 / 6, "bc": 0.4 * 2 / 6 * 5 / 6}
    expected |= {"ab": 0.2, "cd": 0.2, "ad": 0.2 * 2 / 6 * 5 / 6, "bad": 0.2 * 4 / 6 * 5 / 6}
    asked = space.encode_many([tuple(trip) for trip in expected])
    assert np.exp(log_likelihood(psdd, asked)).tolist() == pytest.approx(list(expected.values()))


def test_partial_trips_are_evidence():
    """What a piece of a trip says about every street, and samples, are as enumeration has it."""
    space = hierarchical_path_space(grid(3, 3), two_regions(3, 3))
    paths = [p for p in simple_paths(grid(3, 3)) if enters_none_twice(p, all_regions(two_regions(3, 3)))]
    rng = np.random.default_rng(3)
    psdd = learn(space.structure, space.encode_many([paths[i] for i in rng.integers(0, len(paths), 400)]))
    rows = space.encode_many(paths)
    weights = np.exp(log_likelihood(psdd, rows))
    piece = space.observe(Partial([(1, 0), (1, 1), (0, 1)]))
    agree = (rows[:, piece == 1]).all(axis=1)
    expected = weights[agree] @ rows[agree] / weights[agree].sum()
    assert marginals(psdd, [piece])[0] == pytest.approx(expected)
    counted = Counter(space.decode_many(sample(psdd, 2000, rng)))
    heaviest = paths[int(np.argmax(weights))]
    assert counted[heaviest] / 2000 == pytest.approx(weights.max(), abs=0.03)


def test_decisions_agree_with_enumeration_and_models_are_saved(tmp_path):
    space = hierarchical_path_space(grid(3, 3), four_regions(3, 3))
    paths = [p for p in simple_paths(grid(3, 3)) if enters_none_twice(p, all_regions(four_regions(3, 3)))]
    rng = np.random.default_rng(0)
    chosen = [paths[i] for i in rng.integers(0, len(paths), 60)]
    model = StructuredNaiveBayes(space, smoothing=0.5).fit(
        chosen, ["x" if len(p) > 5 else "y" for p in chosen]
    )
    joint = np.exp(
        model.model_.log_prior
        + np.column_stack(
            [log_likelihood(psdd, space.encode_many(paths)) for psdd in model.model_.conditionals[0].psdds]
        )
    )
    prior = joint.sum(axis=0)
    agrees = joint.argmax(axis=1) == prior.argmax()
    classifier = structured_classifier(model)
    assert unswayed.sdp(classifier).value == pytest.approx(joint[agrees].sum())
    begun = {"object": Partial([(1, 1), (1, 2)])}
    holds = space.encode_many(paths)[:, space.observe(begun["object"]) == 1].all(axis=1)
    now = joint[holds].sum(axis=0)
    share = joint[holds][joint[holds].argmax(axis=1) == now.argmax()].sum() / now.sum()
    assert unswayed.sdp(classifier, begun).value == pytest.approx(share)
    save_structured(model, tmp_path / "town.json")
    again = load_structured(tmp_path / "town.json")
    assert again.predict_proba(paths) == pytest.approx(model.predict_proba(paths), rel=1e-12)


def test_regions_that_do_not_fit_are_refused():
    square = as_graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    for regions, message in [
        (({"a"}, {"b", "c"}), "d is in no region"),
        (({"a", "b"}, {"b", "c", "d"}), "b is in two regions"),
        (({"a", "b"}, {"c", "e"}), "node 'e'"),
        (({"a", "b"}, "cd"), "is no region"),
        (({"a", "c"}, {"b", "d"}), "no streets inside; join them"),
        (RegionTree(np.zeros(3), np.zeros((0, 2))), "the regions are of 3 nodes"),
    ]:
        with pytest.raises(QueryError, match=message):
            hierarchical_path_space(square, regions)
    with pytest.raises(ModelError, match="half of one larger region"):
        RegionTree(np.array([0, 1, 2]), np.array([[0, 0], [1, 2]]))
    with pytest.raises(ModelError, match="each needs a node"):
        RegionTree(np.array([0, 0, 0]), np.array([[0, 1]]))
    with pytest.raises(QueryError, match="both ends"):
        hierarchical_path_space(square, {"a", "b", "c", "d"}, "a")
    with pytest.raises(QueryError, match="have no SDD"):
        _ = hierarchical_path_space(square, {"a", "b", "c", "d"}).sdd
    for limits in (Limits(max_bytes=100_000), Limits(max_seconds=1e-9)):
        with pytest.raises(LimitError), within(limits):
            hierarchical_path_space(grid(6, 6), two_regions(6, 6))
    with pytest.raises(LimitError, match="ways between regions"), within(Limits(max_bytes=3_000)):
        hierarchical_path_space(grid(6, 6), four_regions(6, 6))


def test_nodes_that_no_street_joins_stay_apart():
    """A leaf in two pieces: a path may not leave it in one piece and come back in the other."""
    line = as_graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    space = hierarchical_path_space(line, ({"a", "b", "d", "e"}, {"c"}))
    inside = [p for p in simple_paths(line) if enters_none_twice(p, [set("abde"), {"c"}])]
    assert space.size == len(inside) == 6
    assert np.exp(log_likelihood(uniform_psdd(space.structure), space.encode_many(inside))).sum() == (
        pytest.approx(1.0)
    )
