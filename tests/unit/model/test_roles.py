"""Labels and roles: carried by variables, asked for by name, and no part of equality."""

from __future__ import annotations

import pickle

import pytest

from unswayed.core.errors import ModelError, QueryError
from unswayed.model import roles
from unswayed.model.annotation import Annotation, Role
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

FLU = Variable(
    "flu",
    ["yes", "no"],
    Annotation(label="Influenza", role=Role.TARGET, ranked=True, fault_states=("yes",)),
)
COLD = Variable("cold", ["yes", "no"], Annotation(role=Role.TARGET))
FEVER = Variable(
    "fever",
    ["hi", "lo"],
    Annotation(
        label="Body temperature", role=Role.OBSERVATION, mandatory=True, cost=2.0, state_labels=("38 up", "")
    ),
)
COUGH = Variable("cough", ["yes", "no"], Annotation(label="Symptom", role=Role.OBSERVATION))
ACHE = Variable("ache", ["yes", "no"], Annotation(label="Symptom", role=Role.OBSERVATION))


@pytest.fixture
def network():
    symptoms = [Cpt(v, [FLU, COLD], [0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.1, 0.9]) for v in (FEVER, COUGH, ACHE)]
    return BayesianNetwork([Cpt(FLU, [], [0.1, 0.9]), Cpt(COLD, [], [0.3, 0.7]), *symptoms])


def test_roles_are_read_off_the_annotations(network):
    assert roles.targets(network) == ("flu",)  # the only ranked one
    assert roles.observations(network) == ("fever", "cough", "ache")
    assert roles.mandatory_observations(network) == ("fever",)
    assert roles.fault_states(network, "flu") == ("yes",)
    assert roles.observation_costs(network) == {"fever": 2.0}


def test_labels_find_variables_and_states_where_they_are_unique(network):
    assert network.index("Body temperature") == network.index("fever")
    assert network.variable("fever").index("38 up") == 0
    with pytest.raises(
        QueryError, match="the label 'Symptom' belongs to several variables; use a name: 'cough'"
    ):
        network.index("Symptom")
    with pytest.raises(QueryError, match="unknown variable ''"):
        network.index("")
    with pytest.raises(QueryError, match="unknown state of 'fever' ''"):
        network.variable("fever").index("")


def test_annotations_survive_pickling_and_do_not_count_in_equality(network):
    plain = Variable("flu", ["yes", "no"])
    assert plain == FLU
    assert hash(plain) == hash(FLU)
    again = pickle.loads(pickle.dumps(network))
    assert [v.about for v in again.variables] == [v.about for v in network.variables]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"state_labels": ("one",)}, "2 states but 1 labels"),
        ({"fault_states": ("maybe",)}, "a fault of 'X': unknown state 'maybe'"),
        ({"label": "two\nlines"}, "unprintable"),
        ({"cost": -1.0}, "a number from 0 up"),
    ],
)
def test_annotations_that_contradict_the_variable_are_refused(about, message):
    with pytest.raises(ModelError, match=message):
        Variable("X", ["yes", "no"], Annotation(**about))
