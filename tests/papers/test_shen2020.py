"""What [shen2020] works out by hand, states as a theorem, or prints."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import unswayed
from focs_strategies import bit
from unswayed.focs.decoding import (
    Channel,
    accuracy,
    adjacent_parities,
    code_network,
    decode,
    learn_code,
    make_decoder,
    regret,
    simulate,
)
from unswayed.focs.diagrams.obdd import step_diagram
from unswayed.focs.learn.thresholds import best_split, grow, make_rows
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import all_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import FunctionContexts
from unswayed.model.nodes.focs import FocsCpt, learn_columns
from unswayed.model.nodes.functional import LogisticCpt
from unswayed.model.nodes.steps import StepContexts, StepNetwork

# Figure 1a: rows d1 to d5 over U1, U2, X.
ROWS = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]])


def score(rows):
    """The perceptron of section 4.2 before its sigmoid."""
    u1, u2 = rows[:, 0], rows[:, 1]
    return (6 * u1 * u2 - 4 * u1 - 3 * u2 + 2).astype(float)


def test_figure_1_rows_are_sorted_by_the_perceptron_s_output():
    assert score(ROWS).tolist() == [2, -2, 1, -1, 1]
    assert (np.argsort(score(ROWS), kind="stable") + 1).tolist() == [2, 4, 3, 5, 1]


@pytest.mark.parametrize(
    ("threshold", "below", "above"),
    [
        (-math.inf, set(), {2, 4, 3, 5, 1}),
        (-2.0, {2}, {4, 3, 5, 1}),
        (-1.0, {2, 4}, {3, 5, 1}),
        (1.0, {2, 4, 3, 5}, {1}),
        (2.0, {2, 4, 3, 5, 1}, set()),
    ],
)
def test_figure_1_thresholds_and_partitions(threshold, below, above):
    scores = score(ROWS)
    assert {d + 1 for d in range(5) if scores[d] <= threshold} == below
    assert {d + 1 for d in range(5) if scores[d] > threshold} == above


def test_figure_1_the_threshold_of_highest_likelihood_is_found():
    """Of the five partitions of Figure 1c; columns and likelihoods counted anew for each."""
    scores, labels = score(ROWS), ROWS[:, 2]
    values = {}
    for threshold in (-math.inf, -2.0, -1.0, 1.0, 2.0):
        index = (scores > threshold).astype(int)
        columns = learn_columns(index, labels, (2, 2), smoothing=0)
        with np.errstate(divide="ignore"):  # the conditional log-likelihood of section 4.1
            values[threshold] = float(np.log(columns[index, labels]).sum())
    best = max(values, key=values.get)
    found = best_split(make_rows(scores, labels, 2), smoothing=0)
    assert best <= found.threshold < min(s for s in scores if s > best)
    assert found.gain == pytest.approx(values[best] - values[-math.inf])


def test_section_2_1_a_logistic_cpt_has_the_table_written_there():
    weights = {"0": 0.3, "1": -1.2, "2": 0.7}

    def sigma(a):
        return 1 / (1 + math.exp(-a))

    x, u1, u2 = (bit(name) for name in ("X", "U1", "U2"))
    table = LogisticCpt(x, [u1, u2], [weights["1"], weights["2"]], bias=weights["0"]).table
    expected = {
        (1, 1): sigma(0.3 - 1.2 + 0.7),
        (1, 0): sigma(0.3 - 1.2),
        (0, 1): sigma(1.0),
        (0, 0): sigma(0.3),
    }
    for (a, b), share in expected.items():
        assert table[2 * a + b].tolist() == pytest.approx([1 - share, share])


def test_theorem_1_explaining_a_logistic_node_solves_knapsack():
    """A knapsack as an explanation: values are log-odds of the parents, the weights are the logistic's.

    With a steep sigmoid, log Pr(x | u) is about 0 where the weights fit and far below any sum of values where
    they do not, so the best explanation is the best load.
    """
    weights, values, capacity = [5, 4, 3, 7, 2, 6], [10, 40, 30, 50, 15, 33], 12
    loads = [s for s in itertools.product([0, 1], repeat=6) if np.dot(weights, s) <= capacity]
    best = max(loads, key=lambda load: np.dot(values, load))
    items = [bit(f"U{i}") for i in range(6)]
    shares = [1 / (1 + math.exp(-value / 20)) for value in values]
    steep = 200.0
    fits = LogisticCpt(bit("X"), items, [-steep * w for w in weights], bias=steep * (capacity + 0.5))
    nodes = [Cpt(item, [], [1 - p, p]) for item, p in zip(items, shares, strict=True)]
    found = unswayed.mpe(BayesianNetwork([*nodes, fits]), {"X": "1"})
    assert tuple(int(found.states[f"U{i}"]) for i in range(6)) == best


def test_section_3_parity_by_a_sentence_and_by_a_thresholded_network():
    """The two FoCS CPTs of section 3 are the same conditional distribution."""
    x, *parents = (bit(name) for name in ("X", "U1", "U2", "U3"))
    rows = all_states([2, 2, 2])
    odd = rows.sum(axis=1) % 2
    sentence = FocsCpt(
        x, parents, FunctionContexts(3, 2, lambda u: 1 - u.sum(axis=1) % 2), [[0.9, 0.1], [0.1, 0.9]]
    )
    assert sentence.probabilities(rows)[:, 0] == pytest.approx(np.where(odd == 1, 0.9, 0.1))
    # Any function that scores odd parity at or below T gives the same contexts.
    thresholded = grow(make_rows(-odd.astype(float), odd, 2), max_contexts=2, smoothing=0)[-1]
    assert (thresholded.contexts.index(-odd[:, np.newaxis].astype(float)) == 1 - odd).all()


def test_section_5_1_the_linear_classifier_has_the_truth_table_printed():
    """1.15 U1 + .95 U2 - 1.05 U3 >= .52 is [not U3 and (U1 or U2)] or [U3 and U1 and U2]."""
    rows = all_states([2, 2, 2])
    neuron = StepContexts(StepNetwork([[115, 95, -105]], [-52], [1]), [0])
    found = step_diagram(neuron).index(rows)
    assert found.tolist() == [0, 0, 1, 0, 1, 0, 1, 1]
    u1, u2, u3 = rows.T.astype(bool)
    assert (found == ((~u3 & (u1 | u2)) | (u3 & u1 & u2))).all()


def test_section_7_2_the_cpt_of_a_noisy_parity():
    network = code_network(adjacent_parities(5, width=2), Channel())
    node = network.cpts[network.index("X4")]
    shares = node.probabilities(np.array([[1, 0, 0, 0, 0], [1, 0, 0, 0, 1]]))
    assert shares[:, 1].tolist() == [0.95, 0.05]


@pytest.mark.slow
@pytest.mark.parametrize(("n_bits", "words"), [(10, 0.750), (15, 0.651)])
def test_section_7_2_a_learned_code_decodes_as_well_as_printed(n_bits, words):
    """The printed accuracies are within three standard errors, and no decoder would be better."""
    rng = np.random.default_rng(n_bits)
    code, channel = adjacent_parities(n_bits), Channel()
    pairs, sent = simulate(code, channel, 13_107, rng), simulate(code, channel, 20_000, rng)
    found = decode(make_decoder(learn_code(pairs, rng=rng)), sent.received)
    right = accuracy(found.messages, sent.messages)
    assert right.words == pytest.approx(words, abs=3 * math.sqrt(words * (1 - words) / 20_000) + 0.002)
    assert regret(code, channel, sent.received, found.messages) <= 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("n_bits", "printed"), [(20, 0.578), (25, 0.493), (30, 0.414)])
def test_section_7_2_no_decoder_falls_below_what_was_printed(n_bits, printed):
    """The decoder that knows the code bounds every learned one: the printed accuracies lie below it."""
    code, channel = adjacent_parities(n_bits), Channel()
    sent = simulate(code, channel, 20_000, np.random.default_rng(n_bits))
    told = decode(make_decoder(code_network(code, channel)), sent.received)
    assert told.proven.all()
    right = accuracy(told.messages, sent.messages)
    assert right.words > printed - 0.004
    assert right.bits == pytest.approx(0.905, abs=0.006)
    assert regret(code, channel, sent.received, told.messages) < 1e-12
