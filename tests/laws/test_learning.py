"""What learning must not depend on: the order of rows, how they are divided, what states are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from learning_cases import datasets, take
from tolerances import EXACT
from unswayed.learning import (
    class_posteriors,
    count_families,
    learn_naive_bayes,
    learn_tan,
    merge,
    zero_counts,
)
from unswayed.learning.augmented import tan_families
from unswayed.model import BayesianNetwork, Variable
from unswayed.model.data.dataset import Dataset

LEARNERS = [learn_naive_bayes, learn_tan]


def assert_same(one: BayesianNetwork, other: BayesianNetwork) -> None:
    assert one.names == other.names
    for ours, theirs in zip(one.cpts, other.cpts, strict=True):
        assert ours.parents == theirs.parents
        assert ours.table == pytest.approx(theirs.table, abs=EXACT)


@given(datasets(), st.data())
@pytest.mark.parametrize("learn", LEARNERS)
def test_the_order_of_rows_does_not_matter(learn, data: Dataset, draw: st.DataObject) -> None:
    order = draw.draw(st.permutations(range(data.n_rows)))
    assert_same(learn(take(data, order), "V0"), learn(data, "V0"))


@given(datasets(), st.integers(0, 25))
def test_counts_of_parts_add_up_to_counts_of_the_whole(data: Dataset, cut: int) -> None:
    families = tan_families(len(data.variables), 0)
    parts = [count_families(take(data, part), families) for part in (slice(cut), slice(cut, None))]
    whole = count_families(data, families)
    merged = merge(merge(zero_counts(data.variables, families), parts[0]), parts[1])
    for ours, theirs in zip(merged.tables, whole.tables, strict=True):
        assert np.array_equal(ours, theirs)


@given(datasets(), st.data())
@pytest.mark.parametrize("learn", LEARNERS)
def test_a_weight_of_two_is_a_row_twice(learn, data: Dataset, draw: st.DataObject) -> None:
    weights = draw.draw(st.lists(st.integers(1, 3), min_size=data.n_rows, max_size=data.n_rows))
    weighted = Dataset(data.variables, data.codes, weights)
    repeated = take(data, np.repeat(np.arange(data.n_rows), weights))
    assert_same(learn(weighted, "V0"), learn(repeated, "V0"))


@given(datasets(), st.data())
@pytest.mark.parametrize("learn", LEARNERS)
def test_other_names_of_states_change_nothing(learn, data: Dataset, draw: st.DataObject) -> None:
    """States are renamed and put in another order; posteriors follow."""
    orders = [draw.draw(st.permutations(range(len(variable)))) for variable in data.variables]
    renamed = [
        Variable(variable.name, [f"new {variable.states[old]}" for old in order])
        for variable, order in zip(data.variables, orders, strict=True)
    ]
    positions = [np.append(np.argsort(order), -1) for order in orders]
    codes = np.column_stack([position[data.codes[:, j]] for j, position in enumerate(positions)])
    other = Dataset(renamed, codes)
    ours, theirs = learn(data, "V0"), learn(other, "V0")
    assert ours.names == theirs.names
    assert [[p.name for p in cpt.parents] for cpt in ours.cpts] == [
        [p.name for p in cpt.parents] for cpt in theirs.cpts
    ]
    found = class_posteriors(ours, "V0", by_network(data, ours))
    expected = class_posteriors(theirs, "V0", by_network(other, theirs))
    assert found[:, orders[0]] == pytest.approx(expected, abs=EXACT)


def by_network(data: Dataset, network: BayesianNetwork) -> Dataset:
    """The columns in the network's order."""
    columns = [data.index(name) for name in network.names]
    return Dataset(network.variables, data.codes[:, columns])


@settings(deadline=None)
@given(datasets(max_variables=4))
def test_smoothing_without_end_makes_everything_uniform(data: Dataset) -> None:
    for cpt in learn_tan(data, "V0", smoothing=1e12).cpts:
        assert cpt.table == pytest.approx(np.full_like(cpt.table, 1 / len(cpt.child)), abs=1e-9)
