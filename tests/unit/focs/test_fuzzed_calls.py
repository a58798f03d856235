"""Calls with arguments that make no sense: an error that says so, never one from the inside."""

from __future__ import annotations

import re
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import unswayed
from focs_strategies import bit
from unswayed.core.errors import UnswayedError
from unswayed.focs.decoding import (
    Channel,
    ParityCode,
    Transmissions,
    adjacent_parities,
    bit_probabilities,
    code_network,
    decode,
    random_parities,
    simulate,
)
from unswayed.focs.mpe.choice import Elimination
from unswayed.focs.mpe.program import Highs
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.model.data.dataset import make_dataset
from unswayed.model.nodes.contexts import FunctionContexts, RuleContexts, TreeContexts
from unswayed.model.nodes.focs import learn_columns
from unswayed.model.nodes.perceptron import Activation, Perceptron

NO_NUMBERS = [float("nan"), float("inf"), float("-inf"), True, np.True_, "3", [2]]
JUNK = [None, "x", -1, 1.5, [], {}, [None], ["a", "b"], [[1, 2], [3]], np.array(3), object(), *NO_NUMBERS]
X, U = bit("X"), [bit("U0"), bit("U1")]
ROWS = (np.array([[0, 1], [1, 1], [0, 0], [1, 0]]), np.array([0, 1, 0, 1]))
CODE = adjacent_parities(4)
RNG = np.random.default_rng(0)
TABLE = make_dataset({"x": ["a", "b", "c"] * 4, "y": ["a", "b"] * 6})
TREE = {"feature": [0, -1, -1], "cut": [0.5, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1]}

CALLS = {
    "FocsCpt": (unswayed.model.FocsCpt, [X, U, RuleContexts((2, 2), ({},)), [[0.5, 0.5]]], {}),
    "rule_cpt": (unswayed.model.rule_cpt, [X, U, [({}, [0.5, 0.5])]], {}),
    "NoisyOrCpt": (unswayed.model.NoisyOrCpt, [X, U, [0.1, 0.2]], {"leak": 0.1}),
    "NoisyMaxCpt": (unswayed.model.NoisyMaxCpt, [X, U, [np.eye(2), np.eye(2)]], {"leak": [0, 1]}),
    "LogisticCpt": (unswayed.model.LogisticCpt, [X, U, [1.0, 2.0]], {"bias": 0.0}),
    "StepNetwork": (unswayed.model.StepNetwork, [[[1, 1]], [-1], [1]], {}),
    "StepContexts": (unswayed.model.StepContexts, [unswayed.model.StepNetwork([[1, 1]], [-1], [1]), [0]], {}),
    "Perceptron": (Perceptron, [[np.ones((2, 1))], [np.ones(1)], Activation.TANH], {}),
    "RuleContexts": (RuleContexts, [(2, 2), ({},)], {}),
    "TreeContexts": (TreeContexts, [], {"n_inputs": 2, **TREE}),
    "FunctionContexts": (FunctionContexts, [], {"n_inputs": 2, "n_contexts": 2, "function": len}),
    "learn_columns": (partial(learn_columns, ROWS[1], ROWS[1], (2, 2)), [], {"smoothing": 1.0}),
    "learn_focs_cpt": (unswayed.focs.learn_focs_cpt, [X, U, ROWS], {"options": None, "rng": RNG}),
    "learn_states_cpt": (
        unswayed.focs.learn_states_cpt,
        [X, U, ROWS],
        {"max_contexts": 2, "smoothing": 1.0, "rng": RNG},
    ),
    "learn_tree_cpt": (
        unswayed.focs.learn_tree_cpt,
        [X, U, ROWS],
        {"max_depth": 2, "max_leaves": 2, "smoothing": 1.0, "seed": 0},
    ),
    "learn_context_network": (
        unswayed.focs.learn_context_network,
        [TABLE, "y"],
        {"max_contexts": 2, "smoothing": 1.0, "rng": RNG},
    ),
    "FocsClassifier": (
        lambda **options: unswayed.focs.FocsClassifier(**options).fit(*ROWS),
        [],
        {"max_contexts": 2, "hidden_units": 2, "max_iterations": 2, "n_restarts": 1, "cross_fit": 0}
        | {"smoothing": 1.0, "alpha": 1.0},
    ),
    "StepOptions": (
        unswayed.focs.StepOptions,
        [],
        {"max_contexts": 2, "max_inputs": 3, "n_hidden": 2, "n_ranking_rows": 9, "n_starts": 1, "bits": 8}
        | {"smoothing": 1.0},
    ),
    "BranchAndBound": (BranchAndBound, [], {"n_starts": 3, "seed": 0, "table_cells": 8}),
    "Elimination": (Elimination, [], {"table_cells": 8}),
    "Highs": (Highs, [], {"table_cells": 8}),
    "ParityCode": (ParityCode, [], {"n_bits": 3, "checks": ((0, 1),)}),
    "Channel": (Channel, [], {"ones": 0.5, "noise": 0.1}),
    "Transmissions": (Transmissions, [np.ones((2, 2), bool), np.ones((2, 2), bool)], {}),
    "adjacent_parities": (adjacent_parities, [], {"n_bits": 5, "width": 3}),
    "random_parities": (random_parities, [], {"n_bits": 5, "width": 3, "rng": RNG}),
    "simulate": (simulate, [CODE, Channel()], {"count": 3, "rng": RNG}),
    "code_network": (code_network, [CODE, Channel()], {}),
    "decode": (
        decode,
        [unswayed.focs.make_decoder(code_network(CODE, Channel())), np.ones((1, 4), bool)],
        {},
    ),
    "bit_probabilities": (
        bit_probabilities,
        [unswayed.focs.make_decoder(code_network(CODE, Channel())), np.ones((1, 4), bool)],
        {},
    ),
    "make_decoder": (unswayed.focs.make_decoder, [code_network(CODE, Channel())], {}),
    "mpe": (
        unswayed.mpe,
        [code_network(CODE, Channel())],
        {"evidence": {"X0": "1"}, "method": None},
    ),
}


def fuzzed(name):
    """The call's arguments with one of them replaced by each piece of junk."""
    function, given, named = CALLS[name]
    for place, junk in product(range(len(given)), JUNK):
        yield function, [*given[:place], junk, *given[place + 1 :]], named
    for key, junk in product(named, JUNK):
        yield function, given, {**named, key: junk}


@pytest.mark.parametrize("name", CALLS)
def test_a_senseless_argument_is_refused_by_name(name):
    wrong = []
    for function, given, named in fuzzed(name):
        try:
            function(*given, **named)
        except UnswayedError:
            pass
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{name}({given!r}, {named!r}): {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


NUMBERS = [
    (name, key)
    for name, (_, _, named) in CALLS.items()
    for key, value in named.items()
    if np.isscalar(value) and key not in ("leak", "bias")  # which are parts of tables
]


@pytest.mark.parametrize(("name", "option"), NUMBERS)
def test_what_is_no_number_is_refused_by_the_name_of_the_option(name, option):
    function, given, named = CALLS[name]
    for no_number in NO_NUMBERS:
        with pytest.raises(UnswayedError, match=rf"\b{option}\b.* must be .*{re.escape(repr(no_number))}"):
            function(*given, **{**named, option: no_number})


def test_the_guide_says_how_many_calls_are_tried():
    text = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
    n_calls = sum(1 for name in CALLS for _ in fuzzed(name))
    assert f"{n_calls:,} calls of {len(CALLS)} functions" in " ".join(text.split())
