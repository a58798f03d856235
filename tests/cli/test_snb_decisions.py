"""`unswayed snb sdp` and `unswayed snb next`: answers by enumeration, and mistakes with their messages."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from unswayed import save_classifier
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.rankings import ranking_space

ITEMS = ("tea", "milk", "rum", "water")


@pytest.fixture
def drinks(tmp_path):
    """A learned classifier, and its file."""
    rng = np.random.default_rng(3)
    orders = [tuple(rng.permutation(ITEMS)) for _ in range(12)]
    classifier = StructuredNaiveBayes(ranking_space(ITEMS)).fit(orders, ["land"] * 5 + ["sea"] * 7)
    save_classifier(classifier, tmp_path / "drinks.json")
    return classifier, tmp_path / "drinks.json"


def _enumerated(classifier, first):
    """SDP after the first item: the share of the rankings, given it, that lead to the present decision."""
    orders = [order for order in permutations(ITEMS) if order[0] == first]
    posteriors = classifier.predict_proba(orders)
    # Pr(order, class) is proportional to the posterior of the class times Pr(order).
    logs = np.array([classifier.model_.conditionals[0].psdds[k] for k in (0, 1)], dtype=object)
    mass = np.stack(
        [
            np.exp(_log_likelihoods(psdd, classifier.structured, orders) + prior)
            for psdd, prior in zip(logs, classifier.model_.log_prior, strict=True)
        ],
        axis=1,
    )
    decided = int(np.argmax(mass.sum(axis=0)))
    same = np.argmax(posteriors, axis=1) == decided
    return decided, mass.sum(axis=1)[same].sum() / mass.sum()


def _log_likelihoods(psdd, space, orders):
    from unswayed.circuits.psdd.query import log_likelihood

    return log_likelihood(psdd, space.encode_many(orders))


@pytest.mark.parametrize("first", ITEMS)
def test_the_chance_that_a_decision_survives_the_rest_is_that_by_enumeration(unswayed, drinks, first):
    classifier, path = drinks
    outcome = unswayed("snb", "sdp", path, "-e", f"{first}, ...", "--json")
    answer = json.loads(outcome.out)
    decided, expected = _enumerated(classifier, first)
    assert answer["decision"] == classifier.classes_[decided]
    assert answer["value"] == pytest.approx(expected, abs=1e-12)
    assert answer["evidence"] == {"object": f"{first}, ..."}


def test_words_tell_whether_to_go_on(unswayed, drinks):
    outcome = unswayed("snb", "sdp", drinks[1], "--evidence", "object=tea, milk, rum, water")
    assert outcome.out.splitlines()[-1].startswith("All features are observed")
    outcome = unswayed("snb", "sdp", drinks[1], "--positive", "sea", "--threshold", "0.99")
    assert outcome.out.startswith("decision: not sea (")
    assert "survives observing the object." in outcome.out


def test_attributes_are_ranked(unswayed, tmp_path):
    rng = np.random.default_rng(5)
    labels = rng.choice(["x", "y"], 60)
    table = pd.DataFrame({"told": labels, "noise": rng.choice(["a", "b"], 60), "number": rng.normal(size=60)})
    save_classifier(StructuredNaiveBayes().fit(table, labels), tmp_path / "m.json")
    answer = json.loads(unswayed("snb", "next", tmp_path / "m.json", "-e", "number=0.3", "--json").out)
    assert answer["ranking"][0]["feature"] == "told"
    assert unswayed("snb", "next", tmp_path / "m.json").out.endswith("Observe next: told by sdp.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-e", "coffee, ..."], "unknown item 'coffee'"),
        (["-e", "taste=tea, ..."], "unknown attribute 'taste'"),
        (["-e", "tea, milk"], "end it with"),
        (["--positive", "moon"], "moon"),
        (["--positive", "sea", "--threshold", "2"], "2"),
        (["--at-least", "0"], "between 0 and 1"),
    ],
)
def test_mistakes_are_told(unswayed, drinks, words, message):
    outcome = unswayed("snb", "sdp", drinks[1], *words)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err
