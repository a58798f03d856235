"""Several targets: the joined variable says what its parts say, and the most probable fault is decided."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from oracles.enumerate_joint import joint_table
from strategies import networks
from tolerances import ENGINE
from unswayed import decide, posterior
from unswayed.core.errors import QueryError
from unswayed.decisions.faults import NO_FAULT, fault_classifier, join_targets, joint_classifier
from unswayed.model.zoo import review


@settings(max_examples=25)
@given(networks(max_variables=4), st.data())
def test_a_joined_target_has_the_joint_distribution(network, data):
    targets = data.draw(st.lists(st.sampled_from(network.names), min_size=1, max_size=3, unique=True))
    name = next(each for each in ("joined", "joined too", "and so on") if each not in network.names)
    found = posterior(join_targets(network, targets, name), of=name)
    joint = joint_table(network)
    axes = [network.index(each) for each in targets]
    others = tuple(axis for axis in range(joint.ndim) if axis not in axes)
    kept = sorted(axes)
    expected = joint.sum(axis=others).transpose([kept.index(axis) for axis in axes])
    assert list(found.values()) == pytest.approx(expected.reshape(-1).tolist(), abs=ENGINE)


def test_the_most_probable_fault_is_decided():
    network = review()
    for vote in ("+", "-"):
        votes = fault_classifier(network, {"R1": "-", "R2": "-", "D": "-"}, ["AC"])
        chances = {name: posterior(network, {"AC": vote}, of=name)["-"] for name in ("R1", "R2", "D")}
        best = max(chances, key=lambda name: chances[name])
        found = decide(votes, {"AC": vote})
        joint = posterior(votes.network, {"AC": vote}, of="fault")
        none = sum(p for label, p in joint.items() if "=-" not in label)
        assert found.action == (f"{best}=-" if chances[best] >= none else NO_FAULT)


def test_plans_and_rankings_work_on_several_targets():
    votes = fault_classifier(review(), {"R1": "-", "D": "-"}, ["R2", "AC"])
    plan = unswayed.plan(votes, at_least=0.99)
    assert plan.optimal
    assert set(unswayed.voi(votes).features) == {"R2", "AC"}
    assert set(joint_classifier(review(), ["R1", "R2"], ["AC"]).actions) == {
        "R1=+, R2=+",
        "R1=+, R2=-",
        "R1=-, R2=+",
        "R1=-, R2=-",
    }


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: join_targets(review(), ["R1", "R1"]), "name each target once"),
        (lambda: join_targets(review(), []), "at least one"),
        (lambda: join_targets(review(), ["R1"], "D"), "'D' exists already"),
        (lambda: fault_classifier(review()), "the network marks no faults"),
        (lambda: fault_classifier(review(), {"R1": "broken"}), "unknown state"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, message):
    with pytest.raises(QueryError, match=message):
        ask()
