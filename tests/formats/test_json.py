"""unswayed's JSON files: every kind of node comes back as it was; whatever else stands there is refused."""

from __future__ import annotations

import contextlib
import copy
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from focs_strategies import bit
from format_checks import read_text, refusal
from mixed_strategies import mixed_networks
from oracles.enumerate_functions import enumerate_rows
from unswayed.core.errors import FormatError, ModelError
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.model.annotation import Annotation, Role
from unswayed.model.cpt import Cpt
from unswayed.model.formats import json_network
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import FunctionContexts
from unswayed.model.nodes.focs import FocsCpt, rule_cpt
from unswayed.model.nodes.functional import LogisticCpt
from unswayed.model.nodes.noisy import NoisyMaxCpt, NoisyOrCpt
from unswayed.model.nodes.steps import StepContexts, parity_network
from unswayed.model.variable import Variable

U = [bit("U0"), bit("U1"), bit("U2")]


def one_of_each() -> BayesianNetwork:
    level = Variable("Level", ["high", "low", "none"], Annotation(label="Niveau", role=Role.TARGET, cost=2.5))
    return BayesianNetwork(
        [
            *(Cpt(u, [], [0.3, 0.7]) for u in U),
            NoisyOrCpt(bit("Or"), U, [0.1, 0.5, 0.9], leak=0.01),
            LogisticCpt(bit("Log"), U, [0.1, -2.5, 1e-17], bias=-0.25),
            NoisyMaxCpt(level, U[:1], [[[0, 0, 1], [0.2, 0.3, 0.5]]], leak=[0.0, 0.1, 0.9]),
            FocsCpt(bit("Parity"), U, parity_network(3, [0, 2]), [[0.9, 0.1], [0.05, 0.95]]),
            rule_cpt(bit("Rule"), [level], [({"Level": state}, [0.25, 0.75]) for state in level.states]),
        ],
        "one of each: \u00e9, \"quoted\"",
    )  # fmt: skip


def test_every_kind_of_node_comes_back(tmp_path):
    network = one_of_each()
    write_network(network, tmp_path / "net.json.gz")
    found = read_network(tmp_path / "net.json.gz")
    assert found == network
    assert found.variable("Level").about == network.variable("Level").about


@given(mixed_networks())
def test_reading_what_was_written_gives_the_same_network(network):
    if any(isinstance(getattr(cpt, "contexts", None), FunctionContexts) for cpt in network.cpts):
        with pytest.raises(ModelError, match="Python code"):
            json_network.write(network)
        return
    found = read_text(json_network, json_network.write(network))
    assert found.names == network.names
    np.testing.assert_array_equal(enumerate_rows(found, {})[1], enumerate_rows(network, {})[1])


def test_contexts_of_a_perceptron_come_back():
    rows = np.random.default_rng(0).integers(0, 2, (300, 3))
    classifier = FocsClassifier(random_state=0, max_iterations=40).fit(rows, rows.sum(axis=1) > 1)
    cpt = classifier.as_cpt(bit("X"), U)
    network = BayesianNetwork([*(Cpt(u, [], [0.5, 0.5]) for u in U), cpt])
    assert read_text(json_network, json_network.write(network)) == network


def test_contexts_without_neurons_come_back():
    cpt = FocsCpt(bit("X"), U, StepContexts(parity_network(3, []).network, []), [[0.5, 0.5]])
    network = BayesianNetwork([*(Cpt(u, [], [0.5, 0.5]) for u in U), cpt])
    found = read_text(json_network, json_network.write(network))
    assert found.cpts[3].probabilities(np.array([[0, 1, 0]])).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("[1]", "expected a JSON object"),
        ('{"format": "unswayed network", "format": 1}', "stands twice"),
        ('{"format": "other"}', "does not say"),
        ('{"format": "unswayed network", "version": 2}', "reads up to 1"),
        ('{"format": "unswayed network", "version": true}', "wrong type"),
        ("[" * 100_000, "deep"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1' + "0" * 5000 + "}", "integer"),
    ],
)
def test_what_is_no_network_is_refused(text, message):
    assert message in str(refusal(json_network, text))


def broken(change):
    content = json.loads(json_network.write(one_of_each()))
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(extra=1), "unknown field 'extra'"),
        (lambda c: c["variables"].append(7), "variables[8]: expected an object"),
        (lambda c: c["variables"][0].update(states=["0"]), "table of 'U0': 2 numbers found"),
        (lambda c: c["variables"][0].update(states=[0, 1]), "list of texts"),
        (lambda c: c["variables"][5].update(about={"role": "boss"}), "unknown role"),
        (lambda c: c["nodes"][3].update(kind="noisy"), "unknown kind of node"),
        (lambda c: c["nodes"][3].update(strengths=[0.1, 0.2]), "one strength for each"),
        (lambda c: c["nodes"][3].update(strengths=[0.1, "x", 2]), "must be numbers"),
        (lambda c: c["nodes"][3].update(parents=["U0", "U1", "U9"]), "unknown variable 'U9'"),
        (lambda c: c["nodes"][3].pop("leak"), "'leak' is missing"),
        (lambda c: c["nodes"].append(copy.deepcopy(c["nodes"][3])), "two nodes"),
        (lambda c: c["nodes"].pop(), "has no probability table"),
        (lambda c: c["nodes"][0].update(rows=[[1.0]]), "1 numbers found, expected 2"),
        (lambda c: c["nodes"][0].update(rows=[["x", 1]]), "numbers only"),
        (lambda c: c["nodes"][6]["contexts"].update(kind="magic"), "unknown kind of contexts"),
        (lambda c: c["nodes"][6]["contexts"].update(weights=[[0.5, 0, 0]]), "whole numbers"),
        (lambda c: c["nodes"][6]["contexts"].update(weights=[[2**60, 0, 0]] * 2), "2^52"),
        (lambda c: c["nodes"][6].update(columns=[[1.0, 1.0], [0.5, 0.5]]), "not a distribution"),
        (lambda c: c["nodes"][7]["contexts"]["rules"].pop(), "one column for each"),
        (lambda c: c["nodes"][7]["contexts"]["rules"][0].update(Level="top"), "unknown state"),
        (lambda c: c["nodes"][0].update(parents=["Or"]), "expected 4"),
    ],
)
def test_a_broken_entry_is_named(change, message):
    assert message in str(refusal(json_network, broken(change)))


@pytest.mark.slow
@given(st.data())
def test_no_change_of_a_value_ends_in_anything_but_a_network_or_a_refusal(data):
    """Any value of a file is replaced by any other: a network or a `FormatError`, nothing else."""
    content = json.loads(json_network.write(one_of_each()))
    holder, key = content, data.draw(st.sampled_from(sorted(content)))
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[key] = data.draw(st.sampled_from([None, True, -1, 10**20, 1e308, "", "x", [], {}, [[]], [{}]]))
    with contextlib.suppress(FormatError):
        assert len(read_text(json_network, json.dumps(content)))
