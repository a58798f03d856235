"""What to observe next: ties, costs, the chance to be done, and bundles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

import unswayed
from plan_cases import LEVELS, plan_problems
from tolerances import ENGINE
from unswayed import (
    Classifier,
    MostProbable,
    NegativeEntropy,
    Purchase,
    ThresholdRule,
    probability,
    should_stop,
)
from unswayed.api.decisions import MeasuredSingle
from unswayed.api.values import SameDecisionGain
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.purchase import SetUp
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import review

PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))


def majority_of_three():
    """Three equal witnesses on a class that is sure of itself: one or two of them change nothing."""
    target, votes = Variable("C", ["yes", "no"]), [Variable(f"V{i}", ["+", "-"]) for i in range(3)]
    single = Variable("S", ["only"])
    cpts = [Cpt(target, [], [[0.95, 0.05]]), Cpt(single, [target], [[1.0], [1.0]])]
    cpts += [Cpt(vote, [target], [[0.7, 0.3], [0.2, 0.8]]) for vote in votes]
    return Classifier(BayesianNetwork(cpts), "C", ["S", "V0", "V1", "V2"], MostProbable())


def test_a_mute_criterion_names_the_smallest_bundle():
    """Odds of 19 for yes; each - divides them by 8/3, so that three turn the decision and two do not."""
    ranking = unswayed.voi(majority_of_three())
    assert [values[0].value for values in ranking.values] == pytest.approx([0.0, 0.0, 0.0], abs=ENGINE)
    assert ranking.bundle is None, "19 * (3/8)^3 is about 1.002: all three together do not turn it either"
    threshold = Classifier(
        majority_of_three().network, "C", ["S", "V0", "V1", "V2"], ThresholdRule("yes", 0.6)
    )
    ranking = unswayed.voi(threshold)
    assert ranking.bundle is not None
    assert ranking.bundle.tests == ("V0", "V1", "V2")
    assert ranking.best == "V0"
    turned = 0.95 * 0.3**3 + 0.05 * 0.8**3
    assert ranking.bundle.value.value == pytest.approx(turned), "all three say - and turn the decision"


def test_features_with_one_state_are_left_out():
    assert "S" not in unswayed.voi(majority_of_three()).features


def test_ties_go_to_the_most_informative_test():
    ranking = unswayed.voi(PAPERS)
    gains = [values[0].value for values in ranking.values]
    assert gains[1:] == pytest.approx([0.0, 0.0], abs=ENGINE)
    assert ranking.features == ("AC", "R2", "R1"), "R2 tells more about the paper than R1"


def test_costs_divide_values_and_groups_are_one_test():
    costs = Purchase(
        {"votes": 4.0}, groups={"votes": ("R1", "R2")}, set_ups={"mail": SetUp(1.0, ("AC", "votes"))}
    )
    ranking = unswayed.voi(PAPERS, reward=NegativeEntropy(), costs=costs)
    assert set(ranking.features) == {"votes", "AC"}
    for name, (value,), cost, ratio in zip(
        ranking.features, ranking.values, ranking.costs, ranking.per_cost, strict=True
    ):
        kept = ["R1", "R2"] if name == "votes" else ["AC"]
        assert value.value == pytest.approx(unswayed.voi(PAPERS, kept=kept, reward=NegativeEntropy()).value)
        assert cost == (5.0 if name == "votes" else 2.0)
        assert ratio == pytest.approx(value.value / cost)
    assert list(ranking.per_cost) == sorted(ranking.per_cost, reverse=True)


@settings(max_examples=25)
@given(plan_problems(max_features=4), LEVELS)
def test_the_chance_to_be_done_is_that_of_the_outcomes(case, level):
    problem, _, _ = case
    classifier = problem.classifier
    ranking = unswayed.voi(classifier, reward=SameDecisionGain(), at_least=level)
    for name, chance in zip(ranking.features, ranking.done, strict=True):
        joint = {}
        for state in problem.network.variable(name).states:
            joint[state] = probability(problem.network, {name: state})
        expected = sum(
            mass
            for state, mass in joint.items()
            if mass > 0 and should_stop(classifier, {name: state}, at_least=level).stop
        )
        assert chance == pytest.approx(expected, abs=ENGINE)


@settings(max_examples=15)
@given(plan_problems(max_features=4))
def test_bundles_are_the_smallest_that_gain(case):
    problem, _, _ = case
    ranking = unswayed.voi(problem.classifier, reward=SameDecisionGain())
    gains = {
        size: max(
            (
                unswayed.voi(problem.classifier, kept=kept, reward=SameDecisionGain()).value
                for kept in itertools.combinations(ranking.features, size)
            ),
            default=0.0,
        )
        for size in (1, 2, 3, 4)
    }
    smallest = next((size for size, gain in gains.items() if gain > 1e-11), None)
    if ranking.bundle is not None:
        assert len(ranking.bundle.tests) == smallest
        assert ranking.bundle.value.value == pytest.approx(gains[len(ranking.bundle.tests)], abs=ENGINE)
    elif smallest is not None:
        assert smallest == 1


def test_following_a_case_ranks_by_cost_too():
    case = unswayed.follow(PAPERS, {"R1": "+"})
    ranking = case.ranking(costs={"R2": 10.0}, at_least=0.99)
    assert dict(zip(ranking.features, ranking.costs, strict=True)) == {"R2": 10.0, "AC": 1.0}
    assert ranking.at_least == 0.99


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(QueryError, match="the level must lie between 0 and 1"):
        unswayed.voi(PAPERS, at_least=np.nan)


@pytest.mark.parametrize("n_bits", [4, 5])
def test_a_parity_of_many_bits_still_names_what_to_observe(n_bits):
    """No three bits tell anything about a parity of four; all of them tell everything."""
    bits = [Variable(f"b{i}", ["0", "1"]) for i in range(n_bits)]
    odd = np.indices((2,) * n_bits).sum(axis=0).reshape(-1) % 2
    cpts = [Cpt(bit, [], [[0.5, 0.5]]) for bit in bits]
    cpts.append(Cpt(Variable("P", ["odd", "even"]), bits, np.where(odd[:, None], [0.9, 0.1], [0.1, 0.9])))
    classifier = Classifier(BayesianNetwork(cpts), "P", [bit.name for bit in bits], ThresholdRule("odd", 0.6))
    ranking = unswayed.voi(classifier)
    assert ranking.best == "b0"
    assert ranking.bundle is not None
    assert set(ranking.bundle.tests) == {bit.name for bit in bits}
    assert ranking.bundle.value.value == pytest.approx(0.5), "half of the outcomes turn 'even' into 'odd'"


def test_gains_that_intervals_do_not_tell_from_none_tie_by_entropy(monkeypatch):
    """Whichever way a grid rounds: here the midpoints favour the witnesses that tell least."""
    names = PAPERS.network.names
    noise = {names.index("R1"): 4e-6, names.index("R2"): -5e-6, names.index("AC"): 3e-6}

    def certify(value):
        return Measurement(value, value - 5e-5, value + 5e-5, Certainty.BOUND, "grid")

    monkeypatch.setattr("unswayed.api.ranking.agreement_of", lambda *_: certify(0.98))
    after = {feature: MeasuredSingle(certify(0.98 + each)) for feature, each in noise.items()}
    monkeypatch.setattr("unswayed.api.ranking.singles_of", lambda *_: after)
    ranking = unswayed.voi(PAPERS)
    assert ranking.features == ("R2", "R1", "AC"), "by what they tell about the paper"
    after[names.index("AC")] = MeasuredSingle(certify(0.99))
    assert unswayed.voi(PAPERS).best == "AC", "a gain that the interval does tell comes first"


def test_the_notebook_names_the_bundle_and_what_settles_it():
    """Three coins whose parity is decided about: alone none tells, together they tell all."""
    coins = [Variable(f"X{i}", ["0", "1"]) for i in range(3)]
    parity = [[1 - bin(i).count("1") % 2, bin(i).count("1") % 2] for i in range(8)]
    network = BayesianNetwork(
        [*(Cpt(coin, [], [[0.5, 0.5]]) for coin in coins), Cpt(Variable("T", ["0", "1"]), coins, parity)]
    )
    ranking = unswayed.voi(Classifier(network, "T", ["X0", "X1", "X2"], ThresholdRule("1", 0.5)))
    for shown in (str(ranking), ranking._repr_html_()):
        assert "Together X0, X1 and X2 gain 0.5000 by sdp, for a cost of 3." in shown
        assert "No single test can bring the SDP to 0.95." in shown
