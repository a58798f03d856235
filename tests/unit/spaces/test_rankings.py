"""Rankings as rows: what is refused and how, and that matrices of numbers are quick to encode."""

from __future__ import annotations

import time

import numpy as np
import pytest

from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.spaces.rankings import ranking_space, tiered_ranking_space


@pytest.mark.parametrize(
    ("ranking", "reason"),
    [
        ((1, 2, 2, 4), "item 2 is ranked twice"),
        ((1, 2, 3), "3 positions are filled, not 4"),
        ((1, 2, 3, 9), "unknown item '9'"),
        ((1, 2, 3, [4]), "is no item"),
        (7, "7 is no ranking"),
        (None, "None is no ranking"),
        ("1234", "unknown item '1'"),
    ],
    ids=["twice", "short", "unknown", "unhashable", "number", "none", "text"],
)
def test_what_is_no_ranking_is_refused_by_the_rule_it_breaks(ranking, reason):
    space = ranking_space(4)
    assert ranking not in space
    assert reason in space.explain(ranking)


def test_among_many_the_wrong_one_is_named():
    with pytest.raises(QueryError, match="object 1: item 3 is ranked twice"):
        ranking_space(3).encode_many([(1, 2, 3), (3, 3, 1)])
    with pytest.raises(QueryError, match="object 2: unknown item '0'"):
        ranking_space(3).encode_many(np.array([[1, 2, 3], [3, 2, 1], [0, 1, 2]]))


def test_a_matrix_of_numbers_and_a_list_of_tuples_are_the_same():
    rng = np.random.default_rng(3)
    for items in (7, [40, 10, 30, 20], range(3, 9)):
        space = ranking_space(items)
        labels = np.array(space.decode_many(space.sample(50, rng)))
        assert (space.encode_many(labels) == space.encode_many([tuple(row) for row in labels.tolist()])).all()


def test_named_items_are_not_taken_for_numbers():
    with pytest.raises(QueryError, match="items are names"):
        ranking_space(["a", "b"]).encode_many(np.array([[0, 1]]))


def test_matrices_of_the_wrong_width_are_refused():
    with pytest.raises(QueryError, match="2 positions, not 3"):
        ranking_space(3).encode_many(np.array([[1, 2]]))


@pytest.mark.parametrize("row", [[0] * 9, [1] * 9, [1, 0, 0, 1, 0, 0, 0, 0, 1]], ids=["none", "all", "twice"])
def test_rows_that_are_no_ranking_are_not_decoded(row):
    with pytest.raises(QueryError):
        ranking_space(3).decode(row)


@pytest.mark.parametrize(
    "rows",
    [[[1, 0]], [[2, 0, 0, 0]], [["a", "b", "c", "d"]], [[1, 0], [1]]],
    ids=["short", "two", "text", "ragged"],
)
def test_what_is_no_row_is_refused(rows):
    with pytest.raises(QueryError):
        ranking_space(2).decode_many(rows)


def test_tiers_are_sets():
    space = tiered_ranking_space("abcde", [2, 2])
    assert (space.encode([["b", "a"], ["e", "d"]]) == space.encode([("a", "b"), ("d", "e")])).all()
    assert "tier 1 has 1 items, not 2" in space.explain([["a"], ["b", "c"]])


@pytest.mark.parametrize(
    ("items", "options"),
    [(0, {}), ([], {}), (["a", "a"], {}), (["1", 1], {}), (3, {"top": 0}), (3, {"top": 4})],
    ids=["none", "empty", "equal", "same text", "top 0", "top 4"],
)
def test_spaces_that_make_no_sense_are_refused(items, options):
    with pytest.raises(QueryError):
        ranking_space(items, **options)


def test_too_many_items_are_refused_before_any_work():
    with pytest.raises(LimitError, match="rankings of 40 items"):
        ranking_space(40)
    with pytest.raises(LimitError), within(Limits(max_seconds=1e-3)):
        _ = ranking_space(16).structure


def test_len_says_so_when_it_cannot_say():
    assert len(ranking_space(5)) == 120
    space = tiered_ranking_space(64, [1] * 1)
    assert len(space) == 64


def test_samples_are_spread_evenly():
    space = ranking_space(3)
    rows = space.sample(6000, np.random.default_rng(1))
    _, counts = np.unique(rows, axis=0, return_counts=True)
    # Six cells of mean 1000 and standard deviation 29.
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 5 * 29


@pytest.mark.slow
def test_a_million_rankings_are_encoded_in_seconds():
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(1, 10), (1_000_000, 1)), axis=1)
    space = ranking_space(9)
    begun = time.perf_counter()
    rows = space.encode_many(orders)
    assert rows.sum() == 9_000_000
    assert time.perf_counter() - begun < 5
