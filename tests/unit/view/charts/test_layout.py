"""Laws of the layout: arcs go down, boxes never overlap, rows are filled by least squares."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.isotonic import IsotonicRegression

from unswayed.view.charts.layout import (
    Arc,
    Room,
    RowLink,
    _place_row,
    centre_columns,
    count_crossings,
    place_nodes,
    reduce_crossings,
)

ROOM = Room(height=20, row_gap=30, column_gap=8, widest_row=300)


@st.composite
def graphs(draw):
    n_nodes = draw(st.integers(1, 14))
    pairs = [(a, b) for b in range(n_nodes) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25)) if pairs else []
    widths = draw(st.lists(st.integers(10, 120), min_size=n_nodes, max_size=n_nodes))
    return widths, [Arc(a, b) for a, b in chosen]


@given(graphs())
def test_arcs_go_down_from_edge_to_edge(graph):
    widths, arcs = graph
    layout = place_nodes(widths, arcs, ROOM)
    for arc, route in zip(arcs, layout.routes, strict=True):
        assert layout.centres[arc.source][1] < layout.centres[arc.target][1]
        assert route[0] == (layout.centres[arc.source][0], layout.centres[arc.source][1] + 10)
        assert route[-1] == (layout.centres[arc.target][0], layout.centres[arc.target][1] - 10)
        assert all(low <= high for (_, low), (_, high) in itertools.pairwise(route))


@given(graphs())
def test_boxes_never_overlap_and_no_lane_runs_through_one(graph):
    widths, arcs = graph
    layout = place_nodes(widths, arcs, ROOM)
    for (i, one), (j, two) in itertools.combinations(enumerate(layout.centres), 2):
        if one[1] == two[1]:
            assert abs(one[0] - two[0]) >= (widths[i] + widths[j]) / 2 + 8 - 1e-6
    for route in layout.routes:
        for x, y in route[1:-1]:
            for node, centre in enumerate(layout.centres):
                inside = abs(x - centre[0]) < widths[node] / 2 and abs(y - centre[1]) < 10
                assert not inside


@given(graphs())
def test_everything_lies_within_the_sheet(graph):
    widths, arcs = graph
    layout = place_nodes(widths, arcs, ROOM)
    for (x, y), width in zip(layout.centres, widths, strict=True):
        assert x - width / 2 >= -1e-6
        assert x + width / 2 <= layout.width + 1e-6
        assert 10 <= y <= layout.height - 10


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(6, 11)), unique=True), st.randoms())
def test_crossings_are_counted_and_never_grow(pairs, random):
    top, bottom = list(range(6)), list(range(6, 12))
    random.shuffle(top)
    random.shuffle(bottom)
    links = [RowLink(a, b) for a, b in pairs]
    place = {item: i for row in (top, bottom) for i, item in enumerate(row)}
    by_pairs = sum(
        (place[a.upper] - place[b.upper]) * (place[a.lower] - place[b.lower]) < 0
        for a, b in itertools.combinations(links, 2)
    )
    assert count_crossings([top, bottom], links) == by_pairs
    better = reduce_crossings([top, bottom], links)
    assert [sorted(row) for row in better] == [sorted(top), sorted(bottom)]
    assert count_crossings(better, links) <= by_pairs


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(1, 30)), min_size=1, max_size=12))
def test_a_row_is_the_isotonic_regression_to_what_is_wanted(cells):
    wanted, widths = [w for w, _ in cells], [width for _, width in cells]
    columns = [0.0] * len(cells)
    _place_row(list(range(len(cells))), wanted, columns, widths, gap=5.0)
    steps = [(a + b) / 2 + 5.0 for a, b in itertools.pairwise(widths)]
    away = np.concatenate([[0.0], np.cumsum(steps)])
    peer = IsotonicRegression().fit_transform(np.arange(len(cells)), np.array(wanted) - away) + away
    assert columns == pytest.approx(peer, abs=1e-6)


def test_a_fan_is_symmetric():
    columns = centre_columns([[0], [1, 2, 3]], [RowLink(0, 1), RowLink(0, 2), RowLink(0, 3)], [10.0] * 4, 10)
    assert columns[0] == columns[2] == pytest.approx((columns[1] + columns[3]) / 2)


def test_wide_rows_are_wrapped():
    layout = place_nodes([50.0] * 21, [Arc(0, child) for child in range(1, 21)], ROOM)
    rows = {y for _, y in layout.centres}
    # Twenty boxes of 58 points in rows of 300 take four rows, and the first stands above them.
    assert len(rows) == 5
    assert layout.width <= 400
