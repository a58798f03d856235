"""Functional, rule, tree and FoCS CPTs: what they compute, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from focs_strategies import bit
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.inference.sampling import row_log_likelihoods, sample_states
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import all_states, write_table
from unswayed.model.network import BayesianNetwork, to_tables
from unswayed.model.nodes.contexts import FunctionContexts, RuleContexts, TreeContexts
from unswayed.model.nodes.focs import FocsCpt, learn_columns, rule_cpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation, Perceptron, on_raw_inputs
from unswayed.model.nodes.steps import StepContexts, StepNetwork, parity_network, quantised
from unswayed.model.variable import Variable
from unswayed.model.zoo import printer, review

U = [bit(f"U{i}") for i in range(3)]
X = bit("X")
RELU = Activation.RELU


def test_noisy_or_is_the_product_of_inhibitions():
    cpt = NoisyOrCpt(X, U, [0.9, 0.5, 0.2], leak=0.1)
    absent = cpt.probabilities(all_states([2, 2, 2]))[:, 0]
    factors = [0.9 * a * b * c for a in (1, 0.1) for b in (1, 0.5) for c in (1, 0.8)]
    assert absent == pytest.approx(factors)


def test_logistic_is_the_sigmoid_of_the_sum_and_does_not_overflow():
    rows = all_states([2, 2, 2])
    cpt = LogisticCpt(X, U, [1.0, -2.0, 0.5], bias=0.3)
    expected = 1 / (1 + np.exp(-(0.3 + rows @ [1.0, -2.0, 0.5])))
    assert cpt.probabilities(rows)[:, 1] == pytest.approx(expected)
    far = LogisticCpt(X, U, [900.0, -900.0, 0.0]).probabilities(rows)
    assert np.isfinite(far).all()
    assert far.sum(axis=1) == pytest.approx(np.ones(8))


def test_a_perceptron_of_several_outputs_is_a_softmax():
    child = Variable("Y", ["a", "b", "c"])
    network = Perceptron([np.eye(3)], [np.zeros(3)], Activation.TANH)
    shares = PerceptronCpt(child, tuple(U), network).probabilities(np.array([[0, 0, 1]]))
    assert shares[0] == pytest.approx(np.exp([0, 0, 1]) / np.exp([0, 0, 1]).sum())


@pytest.mark.parametrize("activation", Activation, ids=lambda each: each.value)
def test_scaling_can_be_folded_into_the_first_layer(activation):
    rng = np.random.default_rng(0)
    network = Perceptron(
        [rng.normal(size=(4, 3)), rng.normal(size=(3, 2))], [rng.normal(size=3), np.zeros(2)], activation
    )
    rows, centre, scale = rng.normal(size=(5, 4)), rng.normal(size=4), rng.random(4) + 0.5
    raw = on_raw_inputs(network, centre, scale)
    assert raw.scores(rows) == pytest.approx(network.scores((rows - centre) / scale))


def test_columns_are_smoothed_shares():
    index, labels = np.array([0, 0, 0, 2]), np.array([0, 0, 1, 1])
    found = learn_columns(index, labels, (3, 2))
    assert found.tolist() == [[3 / 5, 2 / 5], [1 / 2, 1 / 2], [1 / 3, 2 / 3]]


def test_functions_stand_in_networks_with_many_parents():
    """Thirty parents: no table could exist, and rows are sampled and judged all the same."""
    parents = [bit(f"P{i}") for i in range(30)]
    roots = [Cpt(parent, [], [0.2, 0.8]) for parent in parents]
    network = BayesianNetwork(
        [*roots, FocsCpt(X, parents, parity_network(30, [3, 7, 9]), [[0.9, 0.1], [0.1, 0.9]])]
    )
    rows = sample_states(network, 4000, {}, np.random.default_rng(0))
    parity = rows[:, [3, 7, 9]].sum(axis=1) % 2
    assert np.mean(rows[:, network.index("X")] == parity) == pytest.approx(0.9, abs=0.02)
    ones = rows[:, :30].sum(axis=1)
    right = rows[:, 30] == parity
    expected = ones * np.log(0.8) + (30 - ones) * np.log(0.2) + np.where(right, np.log(0.9), np.log(0.1))
    assert row_log_likelihoods(network, rows) == pytest.approx(expected)
    with pytest.raises(LimitError, match="30 parents"):
        to_tables(network)


def test_tables_may_be_all_there_is():
    network = BayesianNetwork(printer().cpts, "printer")
    assert to_tables(network) == printer()


def test_networks_travel_between_processes():
    network = BayesianNetwork(review().cpts, "review")
    again = pickle.loads(pickle.dumps(network))
    assert again.names == network.names
    assert to_tables(again) == to_tables(network)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NoisyOrCpt(X, U, [0.9, 0.5]), "one strength for each of 3 parents"),
        (lambda: NoisyOrCpt(X, U, [0.9, 0.5, 1.5]), "each from 0 to 1"),
        (lambda: NoisyOrCpt(X, [X], [0.9]), "appears twice"),
        (lambda: LogisticCpt(X, U, [1.0, np.nan, 0.0]), "one finite weight for each"),
        (lambda: LogisticCpt(X, [Variable("V", "abc")], [1.0]), "has 3 states"),
        (lambda: PerceptronCpt(X, tuple(U), Perceptron([np.eye(2)], [np.zeros(2)], RELU)), "2 inputs"),
        (lambda: Perceptron([np.eye(2), np.eye(3)], [np.zeros(2), np.zeros(3)], Activation.TANH), "layer 1"),
        (lambda: Perceptron([[[np.inf]]], [[0.0]], Activation.TANH), "not finite"),
        (lambda: FocsCpt(X, U, parity_network(2, [0]), np.eye(2)), "take 2 inputs, but there are 3 parents"),
        (lambda: FocsCpt(X, U, parity_network(3, [0]), [[1.0, 0.0]]), "columns of shape"),
        (lambda: FocsCpt(X, U, parity_network(3, [0]), [[1.0, 0.0], [0.7, 0.7]]), "context 1"),
        (lambda: FocsCpt(X, U, parity_network(3, [0]), [[1.5, -0.5], [1.0, 0.0]]), "context 0"),
        (lambda: RuleContexts((2, 2), ({0: 1}, {0: 0, 1: 1})), "leave out 0.25"),
        (lambda: RuleContexts((2, 2), ({0: 2},)), "does not exist"),
        (lambda: rule_cpt(X, U, [({"Z": "1"}, [1, 0])]), "'Z', which is not a parent"),
        (lambda: TreeContexts(1, feature=[0, -1], cut=[0, 0], left=[1, -1], right=[0, -1]), "one tree"),
        (lambda: TreeContexts(1, feature=[4, -1, -1], cut=[0] * 3, left=[1] * 3, right=[2] * 3), "input 4"),
        (lambda: StepNetwork([[0.5]], [0], [1]), "whole numbers"),
        (lambda: StepNetwork([[1, 1]], [0, 0], [1]), "one bias for each neuron"),
        (lambda: StepNetwork([[2**52, 2**52]], [0], [1]), "scale it down"),
        (lambda: StepContexts(parity_network(1, [0]).network, [1, 1]), "must ascend"),
        (lambda: BayesianNetwork([]), "at least one variable"),
        (lambda: BayesianNetwork([Cpt(X, [], [1, 0])] * 2), "two tables"),
        (lambda: BayesianNetwork([LogisticCpt(X, U, [1, 1, 1])]), "without a table"),
        (
            lambda: BayesianNetwork([LogisticCpt(U[0], [U[1]], [1.0]), LogisticCpt(U[1], [U[0]], [1.0])]),
            "form a cycle: U",
        ),
        (
            lambda: BayesianNetwork([Cpt(Variable("U0", "ab"), [], [1, 0]), LogisticCpt(X, U[:1], [1.0])]),
            "was made for 'U0'",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_wrong_rows_are_refused():
    cpt = FocsCpt(X, U, parity_network(3, [0, 1]), np.eye(2))
    with pytest.raises(QueryError, match="rows of 3 values"):
        cpt.probabilities(np.zeros((2, 2)))
    network = BayesianNetwork(review().cpts)
    with pytest.raises(QueryError, match="4 columns"):
        row_log_likelihoods(network, np.zeros((1, 3), dtype=int))
    with pytest.raises(QueryError, match="state of 'R1' that does not exist"):
        row_log_likelihoods(network, np.array([[0, 2, 0, 0]]))
    with pytest.raises(ModelError, match="must give one of 0 to 1"):
        FunctionContexts(1, 2, lambda rows: rows[:, 0] + 5).index(np.zeros((1, 1)))


def test_names_that_are_not_there_are_met_with_those_that_are():
    network = BayesianNetwork(review().cpts)
    with pytest.raises(QueryError, match="unknown variable 'R3'; known"):
        network.evidence({"R3": "+"})


def test_quantised_neurons_keep_their_side_of_the_step():
    rng = np.random.default_rng(1)
    weights, biases = rng.normal(size=(4, 6)), rng.normal(size=4)
    rows = all_states([2] * 6)
    sums = rows @ weights.T + biases
    network = quantised(weights, biases, rng.normal(size=4), bits=12)
    # Rounding moves a sum by at most half a unit for each input and the bias.
    certain = np.abs(sums) > 7 * 0.5 * np.abs(weights).max(axis=1) / (2**12 - 1)
    assert (network.neurons(rows) == (sums >= 0))[certain].all()
    assert np.abs(network.weights).max() == 2**12 - 1


def test_limits_hold_when_tabulating():
    with pytest.raises(LimitError, match="the table of 'X'"), within(Limits(max_bytes=1200)):
        write_table(LogisticCpt(X, U, [1, 1, 1]))
