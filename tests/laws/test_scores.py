"""Laws of points scores: what is said of a form with gaps is what enumeration of all forms says."""

from __future__ import annotations

import pytest

import unswayed
from oracles.enumerate_score import all_forms, define_band, define_points, enumerate_laws
from score_cases import random_answers, random_score
from tolerances import EXACT
from unswayed.model.nodes.points import score_network
from unswayed.model.score import read_answers
from unswayed.model.score_laws import (
    band_law,
    count_patterns,
    deciding_items,
    expected_points,
    points_law,
    points_range,
    reachable_bands,
)
from unswayed.model.scores import NAMES, example_score

CASES = range(150)
FORMS = {name: example_score(name) for name in NAMES}
WITH_LAW = [name for name in NAMES if not FORMS[name].unknown_prevalences]


def is_same(found, wanted):
    return all(
        abs(found.get(key, 0.0) - wanted.get(key, 0.0)) < EXACT for key in found.keys() | wanted.keys()
    )


def check(score, answers):
    known = read_answers(score, answers)
    forms = list(all_forms(score, known.items()))
    points = [define_points(score, form) for form in forms]
    bands = [define_band(score, form) for form in forms]
    assert points_range(score, answers) == (min(points), max(points))
    names = [band.name for band in reachable_bands(score, answers)]
    assert names == [score.bands[k].name for k in sorted(set(bands))]
    by_form = dict(zip(forms, bands, strict=True))
    matter = {
        place
        for form, band in by_form.items()
        for place in range(len(form))
        for answer in range(len(score.items[place].answers))
        if by_form.get((*form[:place], answer, *form[place + 1 :]), band) != band
    }
    assert deciding_items(score, answers) == tuple(score.items[place].name for place in sorted(matter))
    if not score.unknown_prevalences:
        by_points, by_band = enumerate_laws(score, known.items())
        assert is_same(points_law(score, answers), by_points)
        assert is_same(band_law(score, answers), by_band)
        mean = sum(points * share for points, share in by_points.items())
        assert expected_points(score, answers) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("seed", CASES)
def test_a_form_with_gaps_says_what_enumeration_says(seed):
    score = random_score(seed)
    check(score, {})
    check(score, random_answers(score, seed))
    assert count_patterns(score) == len(list(all_forms(score)))


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_say_what_enumeration_says(name):
    check(FORMS[name], random_answers(FORMS[name], name, share=0.5))


@pytest.mark.parametrize("name", [name for name in NAMES if count_patterns(FORMS[name]) < 1000])
def test_every_form_of_an_example_has_the_points_of_its_definition(name):
    score = FORMS[name]
    for form in all_forms(score):
        code = sum(int(term[k]) for term, k in zip(score.sums.terms, form, strict=True))
        assert score.sums.points_at(code) == define_points(score, form)
        assert score.sums.band_at(code) == define_band(score, form)


@pytest.mark.parametrize("seed", range(25))
def test_the_node_of_a_score_gives_the_same_law(seed):
    """A network with the band as a leaf, asked by inference: by its table, and by its chain."""
    score = random_score(seed)
    answers = random_answers(score, seed + 1)
    network = score_network(score)
    assert is_same(unswayed.posterior(network, answers, of="Random"), band_law(score, answers))
    joint = unswayed.posterior(network, {}, of="Random")
    assert is_same(joint, band_law(score))
    node = network.cpts[network.index("Random")]
    chain = node.unroll({})
    table = chain.columns
    for step in reversed(chain.steps):
        table = step @ table.reshape(step.shape[2], -1)
        table = table.reshape(step.shape[0], -1)
    sizes = [len(node.parents[place]) for place in chain.places]
    whole = node.table.reshape(*(len(parent) for parent in node.parents), -1)
    idle = tuple(0 if place not in chain.places else slice(None) for place in range(len(node.parents)))
    assert (table.reshape(*sizes, -1) == whole[idle]).all()


@pytest.mark.parametrize("seed", range(25))
def test_the_most_probable_band_is_as_safe_as_it_is_probable(seed):
    """All items known, the decision is the band itself: SDP = max Pr(band | answers)."""
    score = random_score(seed, max_items=5)
    answers = random_answers(score, seed)
    classifier = unswayed.Classifier(score_network(score), "Random", [item.name for item in score.items])
    law = band_law(score, answers)
    measured = unswayed.sdp(classifier, answers)
    assert measured.value == pytest.approx(max(law.values()), abs=1e-9)
