"""The Plackett-Luce model: it is a distribution, its maximum is a maximum, and orders may end early."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tolerances import ENGINE
from unswayed.core.errors import QueryError
from unswayed.spaces.plackett_luce import PlackettLuce, learn_plackett_luce

WORTHS = st.lists(st.floats(-4, 4), min_size=2, max_size=5)


def probability(order: tuple[int, ...], worth: list[float]) -> float:
    """By definition: each item by its share of what is left."""
    left, answer = set(range(1, len(worth) + 1)), 1.0
    for item in order:
        answer *= worth[item - 1] / sum(worth[i - 1] for i in left)
        left.remove(item)
    return answer


@given(WORTHS)
def test_probabilities_follow_the_definition_and_sum_to_one(logs):
    model, worth = PlackettLuce(np.array(logs)), np.exp(logs).tolist()
    everything = list(permutations(range(1, len(logs) + 1)))
    found = np.exp(model.log_likelihood(everything))
    assert found == pytest.approx([probability(order, worth) for order in everything], abs=ENGINE)
    assert found.sum() == pytest.approx(1, abs=ENGINE)
    begun = [order[:2] for order in everything]
    assert np.exp(model.log_likelihood(begun)) == pytest.approx(
        [sum(p for o, p in zip(everything, found, strict=True) if o[:2] == b) for b in begun], abs=ENGINE
    )


@settings(max_examples=30)
@given(st.lists(st.permutations(range(1, 5)), min_size=1, max_size=8), st.data())
def test_no_other_worths_explain_the_orders_and_the_prior_better(orders, data):
    cut = [order[: data.draw(st.integers(1, 4))] for order in orders]
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(cut), max_size=len(cut))))
    learned = learn_plackett_luce(cut, weights, n_items=4, prior=0.5)

    def objective(logs: np.ndarray) -> float:
        """With the item of middling worth at 0."""
        prior = 0.5 * (logs - 2 * np.log1p(np.exp(logs))).sum()
        return float(weights @ PlackettLuce(logs).log_likelihood(cut) + prior)

    # The prior ties the scale, which the model itself does not have: the best one is found by search.
    scale = max(np.linspace(-8, 8, 3201), key=lambda s: objective(learned.log_worth + s))
    best = learned.log_worth + scale
    for step in data.draw(
        st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4), min_size=5, max_size=5)
    ):
        assert objective(best + 0.1 * np.array(step)) <= objective(best) + 1e-4


def test_samples_are_its_own():
    model = PlackettLuce(np.array([1.0, 0.0, -1.0]))
    drawn = model.sample(20_000, np.random.default_rng(1))
    everything = list(permutations((1, 2, 3)))
    shares = [(drawn == order).all(axis=1).mean() for order in everything]
    assert shares == pytest.approx(np.exp(model.log_likelihood(everything)), abs=0.015)


@pytest.mark.parametrize(
    "orders", [[], [[]], [[1, 1]], [[0, 1]], [["a", "b"]], [[1.5, 2.0]], [[1, 9]]], ids=str
)
def test_what_is_no_order_is_refused(orders):
    with pytest.raises(QueryError):
        learn_plackett_luce(orders, n_items=3)
    with pytest.raises(QueryError, match="prior"):
        learn_plackett_luce([[1, 2]], prior=0)
