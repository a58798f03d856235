"""What single tests gain: exactly 0 where it cannot matter, and an order only where intervals have one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dependent_cases import random_problem
from oracles.enumerate_profile import enumerate_profile
from strategies import networks
from tolerances import ENGINE
from unswayed import Classifier, ThresholdRule, voi
from unswayed.api.ranking import ObservationRanking, find_ranks, ranking_of
from unswayed.api.values import SameDecisionGain, is_cut_off
from unswayed.core.measurement import POSTERIORS, Certainty, Measurement
from unswayed.decisions.measures import expected_agreement
from unswayed.inference.relevance import ancestors_of, linked_to
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes
from unswayed.view.sentences import next_text


def separated_in_the_moral_graph(network, one, other, observed):
    """d-separation by its other definition: married parents above the three, and no path without evidence."""
    above = ancestors_of(network, {one, other, *observed})
    edges = {frozenset({v, parent}) for v in above for parent in network.parents[v]}
    edges |= {frozenset(pair) for v in above for pair in combinations(network.parents[v], 2)}
    reached, waiting = {one}, [one]
    while waiting:
        here = waiting.pop()
        for there in {v for edge in edges if here in edge for v in edge} - reached - set(observed):
            reached.add(there)
            waiting.append(there)
    return other not in reached


@settings(max_examples=150)
@given(networks(), st.data())
def test_what_the_graph_links_is_what_the_moral_graph_does_not_separate(network, data):
    places = st.integers(0, len(network) - 1)
    source = data.draw(places)
    observed = data.draw(st.sets(places, max_size=3)) - {source}
    linked = linked_to(network, source, observed)
    for other in set(range(len(network))) - observed - {source}:
        assert (other in linked) != separated_in_the_moral_graph(network, source, other, observed)


def true_gain(problem, feature):
    """The gain in same-decision probability by enumeration."""
    after, now = (enumerate_profile(problem, frozenset(kept)) for kept in ({feature}, ()))
    return expected_agreement(after, problem.decider) - expected_agreement(now, problem.decider)


def gains_by_position(problem, **options):
    ranking = ranking_of(problem, None, costs=None, at_least=None, options=options)
    return {
        problem.network.index(name): values
        for name, values in zip(ranking.features, ranking.values, strict=True)
    }


@pytest.mark.parametrize("seed", range(40))
def test_gains_that_are_said_to_be_nothing_are_nothing_by_enumeration(seed):
    """By the graph all criteria are 0, by posteriors the gain in SDP; whichever engine answers the rest."""
    problem = random_problem(np.random.default_rng(seed), 5)
    for feature, (gain, *others) in gains_by_position(problem).items():
        truth = true_gain(problem, feature)
        assert gain.low - ENGINE <= truth <= gain.high + ENGINE
        if gain.engine == POSTERIORS:
            assert (gain.low, gain.value, gain.high, gain.certainty) == (0.0, 0.0, 0.0, Certainty.EXACT)
        if is_cut_off(problem, frozenset({feature})):
            assert [each.value for each in (gain, *others)] == [0.0] * (1 + len(others))


def test_estimated_gains_hold_the_truth_as_often_as_they_say():
    """One in a hundred may fail; samples are the same every time, so this holds or does not."""
    missed = n_tried = 0
    for seed in range(30):
        problem = random_problem(np.random.default_rng(seed), 5)
        for feature, (gain, *_) in gains_by_position(
            problem, engine="sampling", allow_estimates=True
        ).items():
            n_tried += 1
            missed += not gain.low - ENGINE <= true_gain(problem, feature) <= gain.high + ENGINE
            if gain.engine != POSTERIORS:
                assert gain.certainty is Certainty.ESTIMATE
                assert gain.low < gain.high
    assert n_tried > 40
    assert missed <= 0.03 * n_tried


def test_what_one_sample_set_gains_is_known_better_than_a_difference_of_two():
    """Of 10,000 samples a difference of two shares at 99% has an interval of .02 or more on either side."""
    network = random_naive_bayes(12, np.random.default_rng(3))
    classifier = Classifier(
        network, network.names[0], rule=ThresholdRule(network.variables[0].states[0], 0.5)
    )
    ranking = voi(classifier, engine="sampling", allow_estimates=True)
    estimated = [values[0] for values in ranking.values if values[0].certainty is Certainty.ESTIMATE]
    assert estimated
    assert all(gain.high - gain.low < 0.04 for gain in estimated)


ENDS = st.tuples(st.integers(-5, 20), st.integers(0, 6)).map(lambda ends: (ends[0], ends[0] + ends[1]))


@given(st.lists(ENDS, min_size=1, max_size=12))
def test_tests_share_a_place_unless_their_intervals_separate_them(ends):
    gains = {i: Measurement((a + b) / 2, a, b, Certainty.ESTIMATE, "s") for i, (a, b) in enumerate(ends)}
    ranks = find_ranks(gains, {})
    for one, other in combinations(gains, 2):
        if ranks[one] == ranks[other]:
            assert max(ends[one][0], ends[other][0]) <= min(ends[one][1], ends[other][1])
    for test, rank in ranks.items():
        ahead = [other for other in ranks if ranks[other] < rank]
        assert rank == 1 + len(ahead)
        for place in {ranks[other] for other in ahead}:
            assert any(ends[o][0] > ends[test][1] for o in ahead if ranks[o] == place)


def ranking_with(*ends, certainty=Certainty.ESTIMATE):
    values = tuple((Measurement((low + high) / 2, low, high, certainty, "any"),) for low, high in ends)
    names = tuple("ABCDEFGH"[: len(ends)])
    ranks = find_ranks(dict(enumerate(each[0] for each in values)), {})
    return ObservationRanking(("sdp",), names, values, (1.0,) * len(ends), ranks=tuple(ranks.values()))


def test_the_sentence_names_no_best_that_intervals_do_not_tell():
    overlapping = (0.01, 0.03), (0.02, 0.05), (0.0, 0.015)
    assert next_text(ranking_with(*overlapping)) == "These samples do not separate A and B by sdp."
    bounds = ranking_with(*overlapping, certainty=Certainty.BOUND)
    assert next_text(bounds) == "These bounds do not separate A and B by sdp."
    assert next_text(ranking_with((0.04, 0.05), (0.01, 0.03))) == "Observe next: A by sdp."
    unseen = ranking_with((-0.01, 0.03), (-0.02, 0.02))
    assert next_text(unseen) == "These samples show no gain of a single feature by sdp."
    exact = ranking_with((0.0, 0.0), (0.0, 0.0), certainty=Certainty.EXACT)
    assert next_text(exact) == "No single feature gains by sdp."


def test_a_test_that_the_evidence_cuts_off_gains_exactly_nothing():
    """A chain D, M, X: once M is known, X tells nothing more; Y still does."""
    d, m, x, y = (Variable(name, ["a", "b"]) for name in "DMXY")
    even, strong = [[0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]
    network = BayesianNetwork(
        [Cpt(d, [], even), Cpt(m, [d], strong), Cpt(x, [m], strong), Cpt(y, [d], strong)]
    )
    classifier = Classifier(network, "D", ["X", "Y"], ThresholdRule("a", 0.5))
    ranking = voi(classifier, {"M": "a"}, engine="sampling", allow_estimates=True)
    gains = dict(zip(ranking.features, ranking.values, strict=True))
    assert [gain.value for gain in gains["X"]] == [0.0, 0.0, 0.0]
    assert all(gain.certainty is Certainty.EXACT for gain in gains["X"])
    assert voi(classifier, {"M": "a"}, kept=["X"], reward=SameDecisionGain()).value == 0.0
    alone = voi(Classifier(network, "D", ["X"], ThresholdRule("a", 0.5)), {"M": "a"})
    assert next_text(alone).startswith("No single finding can turn the decision, so none gains by sdp")
