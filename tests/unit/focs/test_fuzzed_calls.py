"""Calls with arguments that make no sense: an error that says so, never one from the inside."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import unswayed
from focs_strategies import bit
from unswayed.core.errors import UnswayedError
from unswayed.focs.coding import Channel, ParityCode, Transmissions, adjacent_parities, code_network, simulate
from unswayed.focs.decoding import bit_probabilities, decode
from unswayed.model.nodes.contexts import FunctionContexts, RuleContexts, TreeContexts
from unswayed.model.nodes.perceptron import Activation, Perceptron

JUNK = [None, "x", -1, 1.5, [], {}, [None], ["a", "b"], [[1, 2], [3]], float("nan"), np.array(3), object()]
X, U = bit("X"), [bit("U0"), bit("U1")]
ROWS = (np.array([[0, 1], [1, 1], [0, 0], [1, 0]]), np.array([0, 1, 0, 1]))
CODE = adjacent_parities(4)
RNG = np.random.default_rng(0)
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
    "TreeContexts": (TreeContexts, [2], TREE),
    "FunctionContexts": (FunctionContexts, [2, 2, len], {}),
    "learn_focs_cpt": (unswayed.focs.learn_focs_cpt, [X, U, ROWS], {"options": None, "rng": RNG}),
    "learn_tree_cpt": (unswayed.focs.learn_tree_cpt, [X, U, ROWS], {"max_depth": 2, "smoothing": 1.0}),
    "StepOptions": (
        unswayed.focs.StepOptions,
        [],
        {"max_contexts": 2, "max_inputs": 3, "n_hidden": 2, "bits": 8},
    ),
    "ParityCode": (ParityCode, [3, ((0, 1),)], {}),
    "Channel": (Channel, [0.5, 0.1], {}),
    "Transmissions": (Transmissions, [np.ones((2, 2), bool), np.ones((2, 2), bool)], {}),
    "adjacent_parities": (adjacent_parities, [5, 3], {}),
    "simulate": (simulate, [CODE, Channel(), 3, RNG], {}),
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
    "most_probable_explanation": (
        unswayed.most_probable_explanation,
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


def test_the_guide_says_how_many_calls_are_tried():
    text = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
    n_calls = sum(1 for name in CALLS for _ in fuzzed(name))
    assert f"{n_calls:,} calls of {len(CALLS)} functions" in " ".join(text.split())
