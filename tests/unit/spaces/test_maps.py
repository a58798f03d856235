"""Parts of large maps: small enough to compile, and honest about the trips that leave them."""

from __future__ import annotations

import csv
import gzip
import math
from itertools import pairwise

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.circuits.psdd.learn import Laplace, learn
from unswayed.circuits.psdd.query import log_likelihood
from unswayed.core.errors import LimitError, QueryError
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import Graph, graph_from_edges, grid, neighbours
from unswayed.spaces.maps.hierarchical_paths import hierarchical_path_space
from unswayed.spaces.maps.parts import cut_map, split_map
from unswayed.spaces.paths import path_space_between
from unswayed.spaces.route_files import simple_trips


def test_a_narrow_map_stays_whole():
    part = cut_map(grid(3, 3), [[(0, 0), (0, 1)], [(1, 1), (1, 2)]])
    assert len(part.graph.nodes) == 9
    assert part.trips == (((0, 0), (0, 1)), ((1, 1), (1, 2)))
    assert part.share_outside.low == part.share_outside.value == 0
    # One trip that stays inside says little: Clopper and Pearson's bound for 0 of 1 is 1 - 0.025.
    assert part.share_outside.high == pytest.approx(0.975)


def test_what_is_left_out_is_counted_on_other_trips():
    rng = np.random.default_rng(1)
    wide = grid(30, 30)
    trips = []
    for _ in range(200):
        row = 0 if rng.random() < 0.9 else int(rng.integers(1, 30))
        begin = int(rng.integers(0, 20))
        trips.append([(row, column) for column in range(begin, begin + 5)])
    part = cut_map(wide, trips, most_states=1e4)
    crossings = set(part.graph.nodes)
    assert {(0, column) for column in range(5, 20)} <= crossings
    assert len(crossings) < 200
    outside = [not crossings.issuperset(trip) for trip in trips]
    assert part.share_outside.value == np.mean(outside[1::2])
    assert part.share_outside.low < np.mean(outside) < part.share_outside.high
    assert len(part.trips) == outside.count(False)
    assert order_price(part.graph, narrow_order(part.graph)) <= 1e4
    space = path_space_between(part.graph)
    assert space.encode_many(part.trips).sum() == 4 * len(part.trips)


def random_walks(graph, n_walks, rng):
    """Simple paths by chance: to a neighbour that was not visited yet, while there is one."""
    beside = neighbours(graph)
    for _ in range(n_walks):
        walk = [int(rng.integers(len(graph.nodes)))]
        while len(walk) < 15 and (ahead := [node for node in beside[walk[-1]] if node not in walk]):
            walk.append(int(rng.choice(ahead)))
        if len(walk) > 2:
            yield tuple(graph.nodes[node] for node in walk)


@pytest.mark.parametrize("is_directed", [False, True])
def test_trips_that_enter_a_region_twice_are_counted(is_directed):
    plain = grid(7, 9)
    both = np.concatenate([plain.edges, plain.edges[:, ::-1]])
    graph = Graph(plain.nodes, both, is_directed=True) if is_directed else plain
    trips = list(random_walks(graph, 120, np.random.default_rng(0)))
    split = split_map(graph, trips, most_states=5e3)
    regions = [{graph.nodes[node] for node in region} for region in split.regions.members()]
    assert 4 <= split.regions.n_leaves == (len(regions) + 1) / 2
    inside = [[[node in region for node in trip] for region in regions] for trip in trips]
    suits = [max(sum(b > a for a, b in pairwise([False, *row])) for row in rows) == 1 for rows in inside]
    assert 0 < suits.count(False) < len(trips)
    assert split.rows == tuple(np.flatnonzero(suits))
    assert split.trips == tuple(trips[row] for row in split.rows)
    assert split.share_outside.value == pytest.approx(1 - np.mean(suits[1::2]))
    assert split.share_outside.low < 1 - np.mean(suits) < split.share_outside.high
    space = hierarchical_path_space(split.graph, split.regions)
    assert space.encode_many(split.trips).sum() == sum(len(trip) - 1 for trip in split.trips)
    assert all((trip in space) == suitable for trip, suitable in zip(trips, suits, strict=True))


def test_regions_end_where_no_trip_crosses():
    """Two blocks with streets between them that nobody takes: the first border is there."""
    graph = grid(8, 16)
    walks = random_walks(graph, 400, np.random.default_rng(1))
    trips = [walk for walk in walks if len({column >= 6 for _, column in walk}) == 1]
    split = split_map(graph, trips, most_states=5e3)
    half = split.regions.members()[int(split.regions.halves[-1, 0])]
    assert len({graph.nodes[node][1] >= 6 for node in half}) == 1


def test_bad_questions_are_refused():
    with pytest.raises(QueryError, match="two trips"):
        cut_map(grid(2, 2), [[(0, 0), (0, 1)]])
    with pytest.raises(LimitError, match="narrow enough"):
        cut_map(grid(2, 2), [[(0, 0), (0, 1)], [(0, 0), (0, 1)]], most_states=1)


@needs_shared_data
@pytest.mark.slow
def test_a_town_of_thousands_of_crossings():
    with gzip.open(SHARED / "routes" / "borlange_links.csv.gz", "rt") as file:
        ends = {row["link"]: (row["tail"], row["head"]) for row in csv.DictReader(file)}
    with gzip.open(SHARED / "routes" / "borlange_trips.txt.gz", "rt") as file:
        links = [line.split() for line in file]
    walked = [[ends[one[0]][0], *(ends[each][1] for each in one)] for one in links]
    streets = sorted({tuple(sorted(pair)) for pair in ends.values() if pair[0] != pair[1]})
    trips = simple_trips(walked, erase_loops=True)
    part = cut_map(graph_from_edges(streets), trips.paths)
    assert len(part.graph.nodes) > 400
    space = path_space_between(part.graph)
    assert len(space.encode_many(part.trips)) == len(part.trips) > 500
    split = split_map(graph_from_edges(streets), trips.paths)
    assert split.share_outside.high < 0.25 < part.share_outside.low
    town = hierarchical_path_space(split.graph, split.regions)
    rows = town.encode_many(split.trips)
    learned = learn(town.structure, rows[::2], prior=Laplace(0.1))
    assert log_likelihood(learned, rows[1::2]).mean() > -0.2 * math.log(town.size)
