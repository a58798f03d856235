"""From an address to the classifier, the findings and the prices to ask with."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

from unswayed.core.errors import QueryError
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.model.annotation import Annotation, Role
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import printer
from unswayed.web.case import parse_query
from unswayed.web.setting import NoTarget, Setting, find_spending, resolve
from unswayed.web.workspace import Origin, Workspace, hold_network


def setting(network: str, query: str) -> Setting:
    held = Workspace().find_network("", network)
    assert held is not None
    return resolve(parse_query(network, query), held)


def test_without_a_question_the_network_asks_its_own():
    found = setting("review", "")
    assert (found.asked.target, found.asked.rule) == ("D", ThresholdRule("+", 0.6))
    assert found.asked.features == ("R1", "R2", "AC")


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("threshold=0.3", ThresholdRule("+", 0.3)),
        ("positive=-", ThresholdRule("-", 0.6)),
        ("rule=likeliest", MostProbable()),
        ("target=R1", MostProbable()),
        ("target=R1&positive=-&threshold=0.2", ThresholdRule("-", 0.2)),
    ],
)
def test_the_address_changes_the_rule(query, rule):
    assert setting("review", query).asked.rule == rule


def test_utilities_decide_by_expected_utility():
    worth = 'utility=["print","%2B",5]&utility=["print","-",-2]&utility=["no","%2B",0]&utility=["no","-",0]'
    found = setting("review", worth.replace('"', "%22"))
    assert isinstance(found.asked.rule, UtilityRule)
    assert found.asked.actions == ("print", "no")
    with pytest.raises(QueryError, match="without a threshold"):
        setting("review", worth.replace('"', "%22") + "&threshold=0.5")


@pytest.mark.parametrize(
    ("query", "features"),
    [
        ("features=leaves", ("AC",)),
        ("features=all", ("R1", "R2", "AC")),
        ("feature=AC&feature=R1", ("AC", "R1")),
        ("target=AC&features=leaves", ("D", "R1", "R2")),  # its only leaf is the target: all others then
    ],
)
def test_the_address_changes_the_features(query, features):
    assert setting("review", query).asked.features == features


def test_what_cannot_be_done_is_left_out_of_the_decision():
    found = setting("printer", "skip=TestPage&find.Light=red")
    assert "TestPage" in found.asked.features
    assert "TestPage" not in found.classifier.features
    assert found.open == ("Ping",)


def test_costs_of_the_file_are_corrected_by_the_address():
    ill = Variable("Ill", ["+", "-"], Annotation(role=Role.TARGET, fault_states=("+",)))
    blood = Variable("Blood", ["+", "-"], Annotation(role=Role.OBSERVATION, cost=7.0, mandatory=True))
    skin = Variable("Skin", ["+", "-"], Annotation(role=Role.OBSERVATION, cost=2.0))
    row = [[0.9, 0.1], [0.2, 0.8]]
    network = BayesianNetwork([Cpt(ill, [], [0.3, 0.7]), Cpt(blood, [ill], row), Cpt(skin, [ill], row)])
    held = hold_network(network, Origin.UPLOADED)
    plain = resolve(parse_query(held.id, ""), held)
    assert plain.purchase.costs == {"Blood": 7.0, "Skin": 2.0}
    assert plain.purchase.mandatory == ("Blood",)
    cheaper = resolve(parse_query(held.id, "cost.Blood=3&skip=Skin"), held)
    assert cheaper.purchase.costs == {"Blood": 3.0}
    barred = resolve(parse_query(held.id, "never=Blood"), held)
    assert (barred.purchase.mandatory, barred.purchase.forbidden) == ((), ("Blood",))


def test_spending_counts_what_was_done():
    found = setting("printer", "find.Light=red&cost.Light=2&cost.Ping=5&budget=8")
    spending = find_spending(found)
    assert (spending.spent, spending.left, spending.rest) == (2.0, 6.0, 6.0)  # Ping 5, TestPage 1


def test_a_group_is_paid_once():
    found = setting(
        "printer", "group.Light=look&group.TestPage=look&cost.look=4&find.Light=red&find.TestPage=pale"
    )
    assert find_spending(found).spent == 4.0


def test_without_any_target_one_is_asked_for():
    links = [Variable(name, ["+", "-"]) for name in "AB"]
    chain = BayesianNetwork(
        [Cpt(links[0], [], [0.5, 0.5]), Cpt(links[1], [], [0.5, 0.5])],
    )
    with pytest.raises(NoTarget):
        resolve(parse_query("x", ""), hold_network(chain, Origin.UPLOADED))


def test_findings_may_be_named_by_their_labels():
    state = Variable("F", ["s0", "s1"], Annotation(label="Fever", state_labels=("none", "high")))
    ill = Variable("Ill", ["+", "-"])
    network = BayesianNetwork([Cpt(ill, [], [0.3, 0.7]), Cpt(state, [ill], [[0.9, 0.1], [0.2, 0.8]])])
    found = resolve(parse_query("x", "find.Fever=high"), hold_network(network, Origin.UPLOADED))
    assert found.evidence == {"F": "s1"}


def test_the_printer_has_no_threshold_to_move():
    held = hold_network(printer(), Origin.UPLOADED)
    with pytest.raises(QueryError, match="positive=STATE"):
        resolve(parse_query("x", "target=Fault&threshold=0.5"), held)
