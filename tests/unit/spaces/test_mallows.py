"""The Mallows model: it is a distribution, its maximum is a maximum, its samples are its own."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE, EXACT
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.spaces.mallows import (
    Mallows,
    heuristic_center,
    kemeny_ranking,
    kendall_distance,
    learn_mallows,
    pairwise_wins,
)
from unswayed.spaces.preflib import read_soc


def orders_of(n_items: int) -> np.ndarray:
    return np.array(list(permutations(range(1, n_items + 1))))


def disagreements(one: list[int], other: list[int]) -> int:
    """Pairs in opposite order, by definition."""
    return sum(
        (one.index(a) < one.index(b)) != (other.index(a) < other.index(b)) for a, b in combinations(one, 2)
    )


@given(st.integers(1, 6), st.data())
def test_distance_is_the_number_of_disagreements(n_items, data):
    one = data.draw(st.permutations(range(1, n_items + 1)))
    other = data.draw(st.permutations(range(1, n_items + 1)))
    assert kendall_distance(np.array([one]), np.array(other))[0] == disagreements(one, other)


@given(st.integers(1, 5), st.floats(0, 30), st.data())
def test_probabilities_sum_to_one_and_fall_with_distance(n_items, dispersion, data):
    center = data.draw(st.permutations(range(1, n_items + 1)))
    model = Mallows(np.array(center), dispersion)
    probability = np.exp(model.log_likelihood(orders_of(n_items)))
    assert abs(probability.sum() - 1) < EXACT * 100
    distance = [disagreements(order, center) for order in orders_of(n_items).tolist()]
    expected = np.exp(-dispersion * np.array(distance))
    assert np.allclose(probability, expected / expected.sum(), atol=ENGINE)


@settings(max_examples=20)
@given(st.lists(st.permutations(range(1, 5)), min_size=1, max_size=12), st.data())
def test_learning_finds_the_maximum(orders, data):
    """No other center, with no other dispersion, makes the rankings more probable."""
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(orders), max_size=len(orders)))
    learned = learn_mallows(np.array(orders), weights)
    best = float(np.array(weights) @ learned.log_likelihood(np.array(orders)))
    for center in orders_of(4):
        for dispersion in (
            0.0,
            0.1,
            0.5,
            1.0,
            2.0,
            5.0,
            learned.dispersion * 0.99,
            learned.dispersion * 1.01,
        ):
            if not math.isnan(dispersion):
                rival = Mallows(center, dispersion)
                assert float(np.array(weights) @ rival.log_likelihood(np.array(orders))) <= best + ENGINE


@given(st.integers(1, 5), st.data())
def test_kemeny_ranking_contradicts_least(n_items, data):
    entries = st.lists(st.floats(0, 9), min_size=n_items**2, max_size=n_items**2)
    wins = np.array(data.draw(entries)).reshape(n_items, n_items)

    def contradicted(order):
        return sum(wins[b, a] for a, b in combinations(order, 2))

    found = kemeny_ranking(wins).tolist()
    best = min(contradicted(order) for order in permutations(range(n_items)))
    assert contradicted(found) == pytest.approx(best, abs=ENGINE)


def test_wins_count_who_prefers_what():
    wins = pairwise_wins(np.array([[2, 0, 1], [0, 1, 2]]), np.array([3.0, 1.0]))
    assert wins.tolist() == [[0, 4, 1], [0, 0, 1], [3, 3, 0]]


def test_equal_rankings_leave_no_doubt():
    model = learn_mallows([[2, 1, 3]] * 4)
    assert model.dispersion == math.inf
    assert model.log_likelihood([[2, 1, 3], [1, 2, 3]]).tolist() == [0, -math.inf]
    assert (model.sample(5, np.random.default_rng(0)) == [2, 1, 3]).all()


@pytest.mark.slow
def test_samples_have_the_probabilities_of_the_model():
    model = Mallows(np.array([3, 1, 2, 4]), 0.8)
    drawn = model.sample(60_000, np.random.default_rng(9))
    for order, expected in zip(orders_of(4), np.exp(model.log_likelihood(orders_of(4))), strict=True):
        share = (drawn == order).all(axis=1).mean()
        assert abs(share - expected) < 5 * math.sqrt(expected / 60_000)


@pytest.mark.parametrize("orders", [[[1, 1]], [[0, 1]], [[1.0, 2.0]], [], [[1, 2], [2, 3]], [1, 2]], ids=repr)
def test_what_is_no_matrix_of_rankings_is_refused(orders):
    with pytest.raises(QueryError):
        learn_mallows(orders)


def test_bad_weights_dispersions_and_limits():
    with pytest.raises(QueryError, match="weight"):
        learn_mallows([[1, 2]], [-1])
    with pytest.raises(QueryError, match="dispersion"):
        Mallows(np.array([1, 2]), -0.5)
    with pytest.raises(QueryError, match="3 items for a model of 2"):
        Mallows(np.array([1, 2]), 1.0).log_likelihood([[1, 2, 3]])
    with pytest.raises(LimitError, match=r"central ranking of 30 items .*heuristic_center"):
        learn_mallows([list(range(1, 31))])
    with pytest.raises(LimitError), within(Limits(max_seconds=1e-9)):
        learn_mallows([list(range(1, 16))])


def test_beyond_the_exact_search_a_center_is_given_and_said_to_be_no_proof():
    rng = np.random.default_rng(3)
    truth = Mallows(1 + rng.permutation(40), 0.5)
    orders = truth.sample(300, rng)
    learned = learn_mallows(orders, center=heuristic_center(orders))
    assert not learned.is_optimal
    assert learned.log_likelihood(orders).sum() >= truth.log_likelihood(orders).sum()
    assert learn_mallows(orders[:, :1] * 0 + 1).is_optimal


@given(st.lists(st.permutations(range(1, 6)), min_size=1, max_size=8))
def test_the_heuristic_center_cannot_be_bettered_by_moving_one_item(orders):
    center = heuristic_center(np.array(orders)).tolist()
    cost = sum(disagreements(center, order) for order in orders)
    assert cost >= sum(
        disagreements(
            (1 + kemeny_ranking(pairwise_wins(np.array(orders) - 1, np.ones(len(orders))))).tolist(), o
        )
        for o in orders
    )
    for item in center:
        rest = [each for each in center if each != item]
        for place in range(len(center)):
            moved = [*rest[:place], item, *rest[place:]]
            assert cost <= sum(disagreements(moved, order) for order in orders)


@needs_shared_data
def test_course_choices_are_learned():
    data = read_soc(SHARED / "rankings" / "agh_courses_2004.soc")
    model = learn_mallows(data.orders, data.counts)
    uniform = -math.log(math.factorial(7))
    assert data.counts @ model.log_likelihood(data.orders) / data.counts.sum() > uniform
    # Course 7 was first in every one of the most frequent orders.
    assert model.center[0] == 7
