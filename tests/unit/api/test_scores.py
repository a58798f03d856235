"""A score with gaps, as people ask: what is certain, how probable, what next, in words and JSON."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import unswayed
from oracles.enumerate_score import all_forms, define_band, define_points, enumerate_laws
from score_cases import random_answers, random_score
from unswayed.api.scores import assess, score_classifier, with_prevalences
from unswayed.core.errors import ModelError, QueryError
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.points import score_inputs
from unswayed.model.score import Score, ScoreBand, read_answers, yes_no
from unswayed.model.scores import NAMES, example_score
from unswayed.view.json import to_json

CURB = example_score("curb_65")
SEEN = {"age": 71, "confusion": "no", "urea": 9.3}


def test_what_is_certain_needs_no_prevalences():
    found = assess(example_score("glasgow_coma"), {"eyes": "none", "verbal": "none"})
    assert found.points == (3, 8)
    assert found.is_certain
    assert found.is_safe
    assert found.band.name == "severe"
    assert found.next_item is None
    assert found.probabilities is None
    assert found.deciding == ()
    assert "Glasgow coma scale: severe, whatever the rest is." in str(found)
    assert "1 item left unanswered cannot change it." in str(found)


def test_without_prevalences_nothing_is_assumed():
    found = assess(example_score("glasgow_coma"), {"eyes": "none"})
    assert [band.name for band in found.bands] == ["severe", "moderate"]
    assert (found.band, found.sdp, found.is_safe, found.plans) == (None, None, False, None)
    assert found.next_item == "motor"
    assert "Nothing is assumed" in str(found)


def test_prevalences_give_probabilities_and_a_plan():
    found = assess(CURB, SEEN)
    assert found.probabilities == pytest.approx(
        {"low": 0, "intermediate": 0.75 * 0.651, "severe": 1 - 0.48825}
    )
    assert found.band.name == "severe"
    assert found.sdp == pytest.approx(0.51175)
    assert not found.is_safe
    assert assess(CURB, SEEN, at_least=0.5).is_safe
    assert found.plans.is_proven
    assert found.next_item in found.deciding


def test_answers_that_are_no_answers_are_refused():
    for answers, told in (
        ({"agee": 3}, "did you mean 'age'"),
        ({"age": "old"}, "unknown answer to 'age' 'old'"),
        ({"confusion": "maybe"}, "unknown answer to 'confusion' 'maybe'"),
        ({"confusion": 2}, "unknown answer to 'confusion' '2'"),
        ({"age": float("inf")}, "unknown answer to 'age'"),
        (3, "the answers must be of type Mapping"),
    ):
        with pytest.raises(QueryError, match=told):
            assess(CURB, answers)
    with pytest.raises(QueryError, match="the score must be of type Score"):
        assess("curb_65", {})
    score = Score("T", (yes_no("a", 1), yes_no("b", 1)), (ScoreBand("all"),), exclusive=(("a", "b"),))
    with pytest.raises(QueryError, match="'a', 'b' exclude each other"):
        assess(score, {"a": "yes", "b": "yes"})


def correlated(score, seed):
    rng, variables = np.random.default_rng(seed), [item.variable for item in score.items]
    cpts = [Cpt(variables[0], [], rng.dirichlet(np.ones(len(variables[0]))))]
    for before, here in itertools.pairwise(variables):
        cpts.append(Cpt(here, [before], rng.dirichlet(np.ones(len(here)), size=len(before))))
    return BayesianNetwork(cpts)


@pytest.mark.parametrize("seed", range(10))
def test_a_background_of_dependent_items_against_enumeration(seed):
    score = random_score(seed, max_items=5)
    score = Score(score.title, score.items, score.bands, limits=score.limits, rules=score.rules)
    network, answers = correlated(score, seed), random_answers(score, seed)
    known = read_answers(score, answers)
    tables = [cpt.table for cpt in network.cpts]
    mass, points, total = np.zeros(len(score.bands)), 0.0, 0.0
    for form in all_forms(score, known.items()):
        share = tables[0][0][form[0]]
        for table, before, here in zip(tables[1:], form, form[1:], strict=False):
            share *= table[before][here]
        mass[define_band(score, form)] += share
        points += share * float(define_points(score, form))
        total += share
    found = assess(score, answers, background=network)
    assert list(found.probabilities.values()) == pytest.approx((mass / total).tolist(), abs=1e-9)
    assert found.expected_points == pytest.approx(points / total, abs=1e-9)


def test_a_background_with_other_answers_is_refused():
    network = BayesianNetwork([Cpt(unswayed.Variable("age", ["a", "b"]), [], [0.5, 0.5])])
    with pytest.raises(QueryError, match="unknown variable"):
        assess(CURB, SEEN, background=network)
    others = [Cpt(item.variable, [], [0.5, 0.5]) for item in CURB.items if item.name != "age"]
    with pytest.raises(ModelError, match="the background has the states 'a', 'b' for 'age'"):
        assess(CURB, SEEN, background=BayesianNetwork([*network.cpts, *others]))


def test_prevalences_counted_in_a_table():
    score = example_score("glasgow_coma")
    table = {
        "eyes": ["none", "to pain", None, "none"],
        "verbal": ["none"] * 4,
        "motor": ["obeys", "", "none", None],
    }
    seen = with_prevalences(score, table)
    assert [a.prevalence for a in seen.item("eyes").answers] == pytest.approx([3 / 7, 2 / 7, 1 / 7, 1 / 7])
    assert [a.prevalence for a in seen.item("motor").answers] == pytest.approx([2 / 8, *[1 / 8] * 4, 2 / 8])
    assert sum(assess(seen).probabilities.values()) == pytest.approx(1.0)
    with pytest.raises(QueryError, match="the table has no column 'motor'"):
        with_prevalences(score, {"eyes": ["none"], "verbal": ["none"]})
    with pytest.raises(QueryError, match="unknown answer to 'eyes' 'shut'"):
        with_prevalences(score, {**table, "eyes": ["shut"] * 4})
    numbers = with_prevalences(CURB, {"age": [40, 70.5, None, 90]})
    assert [a.prevalence for a in numbers.item("age").answers] == pytest.approx([2 / 5, 3 / 5])


@pytest.mark.parametrize("name", NAMES)
def test_terms_of_additive_scores_decide_the_band_of_every_form(name):
    """The largest of straight lines in the sum is the band; scores with limits or rules have none."""
    score = example_score(name)
    found = score_inputs(score)
    assert (found is None) == bool(score.limits or score.rules)
    if found is None:
        return
    for form in all_forms(score):
        scores = found.bias + sum(term[k] for term, k in zip(found.terms, form, strict=True))
        decided = int(scores[0] > 0) if len(score.bands) == 2 else int(np.argmax(scores))
        assert decided == define_band(score, form)
    for item, cuts, pieces in zip(score.items, found.cuts, found.pieces, strict=True):
        for answer in item.answers if item.is_number else ():
            ends = [
                end for end in (answer.when.low, answer.when.high) if np.isfinite(end) and end in answer.when
            ]
            for end in ends:
                assert item.answers[pieces[int(np.searchsorted(cuts, end, side="left"))]] is answer


@pytest.mark.parametrize("seed", range(40))
def test_terms_of_random_additive_scores(seed):
    score = random_score(seed, max_items=4, plain=True)
    found = score_inputs(score)
    for form in all_forms(score):
        scores = found.bias + sum(term[k] for term, k in zip(found.terms, form, strict=True))
        decided = int(scores[0] > 0) if len(score.bands) == 2 else int(np.argmax(scores))
        assert decided == define_band(score, form)


def test_other_verbs_take_the_classifier_of_a_score():
    classifier = score_classifier(CURB)
    answers = {"age": ">= 65", "confusion": "no", "urea": "> 7"}
    _, bands = enumerate_laws(CURB, read_answers(CURB, answers).items())
    assert unswayed.decide(classifier, answers).posterior == pytest.approx({"low": 0.0, **bands})
    assert unswayed.sdp(classifier, answers).value == pytest.approx(max(bands.values()))
    plan = unswayed.plan(classifier, answers, at_least=1.0)
    assert plan.expected_cost == pytest.approx(
        assess(CURB, answers, costs=dict.fromkeys(SEEN, 1)).plans.bound
    )


def test_words_cards_and_json():
    found = assess(CURB, SEEN)
    assert "CURB-65: severe with probability 0.5117, not safe at 0.95; not certain yet." in str(found)
    assert "no medical device" in str(found)
    assert "severe" in found._repr_html_()
    answer = json.loads(json.dumps(to_json(found)))
    assert answer["next"] == found.next_item
    assert answer["bands"] == ["intermediate", "severe"]
    assert answer["plans"][0]["name"] == "optimal"
    assert "no medical device" in answer["disclaimer"]
