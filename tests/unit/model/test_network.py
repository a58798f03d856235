"""Variables, tables and networks refuse what contradicts itself, and say what and where."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from unswayed.core.errors import ModelError, QueryError
from unswayed.model import BayesianNetwork, Cpt, Variable
from unswayed.model.cpt import configuration_of, row_of
from unswayed.model.zoo import binary_network, printer, random_bounded_treewidth, review, sprinkler

A = Variable("A", ["yes", "no"])
B = Variable("B", ["low", "mid", "high"])
C = Variable("C", ["yes", "no"])


@pytest.mark.parametrize(
    ("name", "states", "message"),
    [
        ("", ["a"], "must not be empty"),
        (" A", ["a"], "begin or end with a space"),
        ("A\n", ["a"], "begin or end with a space"),
        ("A\x00B", ["a"], "unprintable"),
        (3, ["a"], "must be a string, not 3"),
        ("A", [], "has no states"),
        ("A", ["x", "y", "x"], "state 'x' twice"),
        ("A", ["x", 1], "must be a string, not 1"),
    ],
)
def test_variable_refuses(name, states, message):
    with pytest.raises(ModelError, match=message):
        Variable(name, states)


def test_unknown_names_suggest_the_nearest():
    network = sprinkler()
    with pytest.raises(QueryError, match=r"unknown variable 'Sprinkle'; did you mean 'Sprinkler'\?"):
        network.index("Sprinkle")
    with pytest.raises(QueryError, match=r"unknown state of 'Rain' 'Yes'; did you mean 'yes'\?"):
        network.evidence({"Rain": "Yes"})
    with pytest.raises(QueryError, match="known: 'Cloudy', 'Sprinkler', 'Rain', 'WetGrass'"):
        network.index("zzz")


def test_row_that_does_not_sum_names_child_parent_states_and_sum():
    rows = np.full((6, 2), 0.5)
    rows[4] = [0.5, 0.6]
    with pytest.raises(ModelError, match=r"CPT of 'C', row \(A=no, B=mid\): probabilities sum to 1.1, not 1"):
        Cpt(C, [A, B], rows)
    assert Cpt(C, [A, B], rows, normalize=True).table[4] == pytest.approx([5 / 11, 6 / 11])


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_entries_that_are_no_probabilities_are_refused(bad):
    with pytest.raises(ModelError, match=r"row \(A=yes\).*not a probability"):
        Cpt(C, [A], [[bad, 1.0], [0.5, 0.5]])


def test_row_of_zeros_is_refused_even_when_normalizing():
    with pytest.raises(ModelError, match="sum to 0"):
        Cpt(A, [], [0.0, 0.0], normalize=True)


def test_wrong_number_of_entries_is_refused():
    with pytest.raises(ModelError, match="6 numbers given, but 6 rows of 2 states need 12"):
        Cpt(C, [A, B], np.ones(6))


def test_a_parent_twice_or_the_child_as_parent_is_refused():
    with pytest.raises(ModelError, match="appears twice"):
        Cpt(C, [A, A], np.full((4, 2), 0.5))
    with pytest.raises(ModelError, match="appears twice"):
        Cpt(C, [C], np.full((2, 2), 0.5))


def test_axes_for_parents_and_rows_mean_the_same():
    by_axes = np.random.default_rng(0).dirichlet([1, 1], size=(2, 3))
    assert Cpt(C, [A, B], by_axes) == Cpt(C, [A, B], by_axes.reshape(6, 2))
    assert by_axes[1, 2].tolist() == Cpt(C, [A, B], by_axes).table[row_of((1, 2), (2, 3))].tolist()


def test_rows_and_configurations_are_inverse():
    sizes = (2, 3, 1, 4)
    states = [configuration_of(row, sizes) for row in range(24)]
    assert states == sorted(states)
    assert [row_of(each, sizes) for each in states] == list(range(24))


def test_cycles_name_the_cycle():
    half = [[0.5, 0.5], [0.5, 0.5]]
    d = Variable("D", ["yes", "no"])
    with pytest.raises(ModelError, match=r"cycle: (A -> C -> D -> A|C -> D -> A -> C|D -> A -> C -> D)"):
        BayesianNetwork([Cpt(A, [d], half), Cpt(C, [A], half), Cpt(d, [C], half)])


def test_missing_doubled_and_changed_variables_are_refused():
    with pytest.raises(ModelError, match="at least one variable"):
        BayesianNetwork([])
    with pytest.raises(ModelError, match="'A' has two tables"):
        BayesianNetwork([Cpt(A, [], [0.5, 0.5]), Cpt(A, [], [0.4, 0.6])])
    with pytest.raises(ModelError, match="parent without a table: unknown variable 'A'"):
        BayesianNetwork([Cpt(C, [A], [[0.5, 0.5], [0.5, 0.5]])])
    other = Variable("A", ["no", "yes"])
    with pytest.raises(ModelError, match="was made for 'A' with states"):
        BayesianNetwork([Cpt(A, [], [0.5, 0.5]), Cpt(C, [other], [[0.5, 0.5], [0.5, 0.5]])])


def test_parents_come_first_and_a_sorted_order_stays():
    network = random_bounded_treewidth(30, 3, np.random.default_rng(5))
    assert BayesianNetwork(network.cpts, network.name).names == network.names
    turned = BayesianNetwork(reversed(network.cpts))
    for child, parents in enumerate(turned.parents):
        assert all(parent < child for parent in parents)


def test_networks_are_values():
    assert review() == review()
    assert hash(review()) == hash(review())
    assert review() != sprinkler()
    assert pickle.loads(pickle.dumps(printer())) == printer()
    with pytest.raises(ValueError, match="read-only"):
        review().cpts[0].table[0, 0] = 1.0
    with pytest.raises(AttributeError):
        review().name = "other"


def test_given_tables_are_not_shared():
    """Changing the array that a table was made from leaves the table alone."""
    numbers = np.array([0.5, 0.5])
    cpt = Cpt(A, [], numbers)
    numbers[:] = [0.9, 0.1]
    assert cpt.table.tolist() == [[0.5, 0.5]]


def test_one_state_variables_are_allowed():
    only = Variable("Only", ["it"])
    network = BayesianNetwork([Cpt(only, [], [1.0]), Cpt(A, [only], [[0.3, 0.7]])])
    assert len(network) == 2


def test_binary_network_is_what_it_says():
    network = binary_network({"X": ((), [0.25])})
    assert network.cpts[0].table.tolist() == [[0.25, 0.75]]
