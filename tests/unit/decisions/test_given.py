"""Findings that hold for every case: trimmed under evidence, a classifier keeps that evidence for good."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from tolerances import ENGINE
from unswayed import Classifier, MostProbable, QueryError, ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.zoo import random_bounded_treewidth, review


def faults(seed: int, rule=None) -> Classifier:
    network = random_bounded_treewidth(8, 2, np.random.default_rng(seed))
    target = network.names[0]
    rule = rule or ThresholdRule(network.variable(target).states[0], 0.4)
    return Classifier(network, target, network.names[1:7], rule)


@pytest.mark.parametrize("potential", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_trimmed_classifier_decides_under_its_evidence(seed, potential, tmp_path):
    full = faults(seed)
    name = full.features[0]
    evidence = {name: full.network.variable(name).states[1]}
    found = unswayed.trim(full, budget=2, evidence=evidence, potential=potential)
    trimmed = found.classifier
    assert trimmed.given == evidence
    unswayed.save_classifier(trimmed, tmp_path / "trimmed.json")
    loaded = unswayed.load_classifier(tmp_path / "trimmed.json")
    assert loaded.given == evidence
    agreement = 0.0
    joint = unswayed.joint(full.network, [*full.features[1:]], evidence)
    for states, mass in np.ndenumerate(joint.as_array()):
        row = {f: full.network.variable(f).states[s] for f, s in zip(full.features[1:], states, strict=True)}
        if mass == 0:
            continue
        whole = unswayed.decide(full, {**row, **evidence}).action
        part = {f: [row[f]] for f in trimmed.features}
        decisions = {tuple(c.predict(part or {full.features[1]: [None]})) for c in (trimmed, loaded)}
        assert len(decisions) == 1
        agreement += mass * (decisions.pop()[0] == whole)
    assert agreement == pytest.approx(found.agreement.value, abs=ENGINE)


def test_verbs_join_what_is_given_with_the_evidence():
    full = faults(1)
    one, other = full.features[:2]
    states = {f: full.network.variable(f).states[0] for f in (one, other)}
    part = Classifier(full.network, full.target, full.features, full.rule, given={one: states[one]})
    expected = unswayed.sdp(full, states)
    found = unswayed.sdp(part, {other: states[other]})
    assert found.value == pytest.approx(expected.value, abs=ENGINE)
    with pytest.raises(QueryError, match="is for cases where it is"):
        unswayed.decide(part, {one: full.network.variable(one).states[1]})


def test_what_is_given_softly_may_still_be_observed():
    """An observed state outweighs every report of it, and reports of one variable multiply."""
    full = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    part = Classifier(full.network, "D", full.features, full.rule, given={"R1": "+:0.8|-:0.2"})
    for verb in (unswayed.decide, lambda *asked: unswayed.sdp(*asked).value):
        assert verb(part, {"R1": "+", "AC": "-"}) == verb(full, {"R1": "+", "AC": "-"})
    twice = unswayed.decide(part, {"R1": {"+": 0.5, "-": 1.0}}).posterior["+"]
    assert twice == pytest.approx(unswayed.posterior(full.network, {"R1": "+:0.4|-:0.2"}, of="D")["+"])
    trimmed = unswayed.trim(full, budget=2, evidence={"R1": "+:0.8|-:0.2"}).classifier
    assert "R1" in trimmed.features
    votes = [{"R1": one, "R2": other} for one in "+-" for other in "+-"]
    decided = trimmed.predict({name: [each[name] for each in votes] for name in ("R1", "R2")})
    assert decided == [unswayed.decide(trimmed, each).action for each in votes]


def test_an_audit_takes_what_is_given_softly():
    full = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    finding = {"R1": "+:0.8|-:0.3"}
    part = Classifier(full.network, "D", full.features, full.rule, given=finding)
    rows = [{"R1": None, "R2": "+", "AC": "-"}, {"R1": "+", "R2": None, "AC": "+"}]
    found = unswayed.audit(part, {name: [each[name] for each in rows] for name in full.features})
    expected = [unswayed.sdp(full, {**rows[0], **finding}),
                unswayed.sdp(full, rows[1])]  # fmt: skip
    assert found.sdp.tolist() == pytest.approx([each.value for each in expected], abs=ENGINE)


def test_a_sweep_of_thresholds_keeps_what_is_given():
    """With the first reviewer for the paper, the second settles it; without, the second alone does not."""
    full = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.5))
    part = Classifier(full.network, "D", ["R2", "AC"], full.rule, given={"R1": "+"})
    swept = unswayed.thresholds(part, budget=1, thresholds=[0.3, 0.6]).selections
    expected = unswayed.thresholds(full, budget=1, thresholds=[0.3, 0.6], evidence={"R1": "+"}).selections
    assert [each.kept for each in swept] == [each.kept for each in expected]
    assert [each.value for each in swept] == pytest.approx([each.value for each in expected], abs=ENGINE)


def test_a_table_for_naive_bayes_that_decides_the_most_probable():
    """One feature turns the decision; with nothing kept, the better of two decisions is right in .58."""
    network = unswayed.BayesianNetwork(
        [
            unswayed.Cpt(c := unswayed.Variable("C", ["a", "b"]), [], [0.55, 0.45]),
            unswayed.Cpt(unswayed.Variable("A", ["x", "y"]), [c], [[0.4, 0.6], [0.8, 0.2]]),
        ]
    )
    classifier = Classifier(network, "C", None, MostProbable())
    for trimmed in (
        unswayed.trim(classifier, budget=0, potential=True),
        unswayed.frontier(classifier, potential=True).points[0],
    ):
        assert isinstance(trimmed.classifier, TableClassifier)
        assert trimmed.agreement.value == pytest.approx(0.58, abs=ENGINE)


@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1.0, 1e9])
def test_frontiers_do_not_depend_on_the_unit_of_costs(scale):
    full = faults(3)
    costs = {name: 1.0 + 0.3 * i for i, name in enumerate(full.features)}
    points = unswayed.frontier(full, costs=costs).points
    scaled = unswayed.frontier(full, costs={name: scale * cost for name, cost in costs.items()}).points
    assert [point.kept for point in scaled] == [point.kept for point in points]


def test_small_differences_between_large_costs_count():
    full = faults(3)
    dear, *others = full.features
    costs = {dear: 1e9 + 0.7, **dict.fromkeys(others, 1e9)}
    assert dear not in unswayed.trim(full, budget=1e9 + 0.5, costs=costs).kept
    below = unswayed.select(full, budget=1e9 + 0.6, costs=costs)
    assert below.cost <= 1e9 + 0.6
