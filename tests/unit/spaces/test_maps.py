"""Parts of large maps: small enough to compile, and honest about the trips that leave them."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import LimitError, QueryError
from unswayed.spaces.edge_sets import narrow_order, order_price
from unswayed.spaces.graphs import graph_from_edges, grid
from unswayed.spaces.maps.parts import cut_map
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
