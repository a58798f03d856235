"""Structured naive Bayes against Bayes' rule written out, and against scikit-learn on plain columns."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from tolerances import ENGINE, EXACT
from unswayed.core.errors import ImpossibleEvidence, ModelError, QueryError, UnswayedWarning
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space

RANKINGS = list(itertools.permutations((1, 2, 3)))


@pytest.fixture(scope="module")
def space():
    return ranking_space(3)


@pytest.fixture(scope="module")
def games():
    """Rankings of two classes that prefer different items first, with a label and a number."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    orders = np.array([RANKINGS[rng.choice(6, p=p)] for p in np.where(labels[:, None], _LEFT, _RIGHT)])
    sizes = rng.normal(labels, 1.0)
    colours = np.where(rng.random(300) < 0.3 + 0.4 * labels, "red", "blue")
    return orders, sizes, colours, labels


_LEFT = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
_RIGHT = _LEFT[::-1]


def ranking_tables(orders, labels, smoothing):
    """Pr(ranking | class) from a chain of choices: which item comes next depends on those taken."""
    tables = {}
    for each in (0, 1):
        mine = [tuple(order) for order in orders[labels == each].tolist()]
        for ranking in RANKINGS:
            mass = 1.0
            for turn in (0, 1):  # the circuit of three items has two turns with a choice
                seen = [m for m in mine if set(m[:turn]) == set(ranking[:turn])]
                taken = sum(m[turn] == ranking[turn] for m in seen)
                mass *= (taken + smoothing) / (len(seen) + smoothing * (3 - turn))
            tables[each, ranking] = mass
    return tables


def test_posteriors_are_bayes_rule(space, games):
    orders, *_, labels = games
    tables = ranking_tables(orders, labels, 1.0)
    classifier = StructuredNaiveBayes(space).fit(orders, labels)
    found = classifier.predict_proba(RANKINGS)
    prior = np.bincount(labels) / len(labels)
    for row, ranking in zip(found, RANKINGS, strict=True):
        joint = prior * [tables[0, ranking], tables[1, ranking]]
        assert row == pytest.approx(joint / joint.sum(), abs=ENGINE)


def test_attributes_of_all_kinds_multiply(space, games):
    orders, sizes, colours, labels = games
    frame = pd.DataFrame(
        {"size": sizes, "colour": colours, "p1": orders[:, 0], "p2": orders[:, 1], "p3": orders[:, 2]}
    )
    mixed = StructuredNaiveBayes([(space, ["p1", "p2", "p3"])]).fit(frame, labels)
    alone = [
        StructuredNaiveBayes(space).fit(orders, labels).predict_log_proba(orders),
        GaussianNB(var_smoothing=1e-9).fit(sizes[:, None], labels).predict_log_proba(sizes[:, None]),
        CategoricalNB(alpha=1.0)
        .fit((colours == "red")[:, None], labels)
        .predict_log_proba((colours == "red")[:, None]),
    ]
    joint = sum(alone) - 2 * np.log(np.bincount(labels) / len(labels))
    expected = joint - np.logaddexp(joint[:, :1], joint[:, 1:])
    assert mixed.predict_log_proba(frame) == pytest.approx(expected, abs=1e-7)


def test_frames_arrays_and_lists_of_objects_are_the_same(space, games):
    orders, sizes, _, labels = games
    whole = [[size, tuple(order)] for size, order in zip(sizes.tolist(), orders.tolist(), strict=True)]
    wide = np.column_stack([sizes, orders])
    expected = StructuredNaiveBayes([(space, [1, 2, 3])]).fit(wide, labels).predict_proba(wide)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"size": sizes.tolist(), "order": [row[1] for row in whole]})
        found = StructuredNaiveBayes([(space, "order")]).fit(frame, labels).predict_proba(frame)
        assert found == pytest.approx(expected, abs=EXACT)
    assert StructuredNaiveBayes([(space, 1)]).fit(whole, labels).predict_proba(whole) == pytest.approx(
        expected
    )


def test_objects_not_observed_are_left_out(space, games):
    orders, *_, labels = games
    objects = [tuple(order) for order in orders.tolist()]
    classifier = StructuredNaiveBayes(space).fit([*objects, None], [*labels, 1])
    prior = np.bincount([*labels, 1]) / (len(labels) + 1)
    assert classifier.predict_proba([None])[0] == pytest.approx(prior, abs=EXACT)


def test_partial_fit_and_weights_are_fit(space, games):
    orders, *_, labels = games
    whole = StructuredNaiveBayes(space).fit(orders, labels)
    parts = StructuredNaiveBayes(space)
    for part in np.array_split(np.arange(300), 7):
        parts.partial_fit(orders[part], labels[part], classes=[0, 1])
    weights = np.arange(300) % 3
    weighted = StructuredNaiveBayes(space).fit(orders, labels, weights)
    repeated = StructuredNaiveBayes(space).fit(np.repeat(orders, weights, axis=0), np.repeat(labels, weights))
    assert parts.predict_proba(RANKINGS) == pytest.approx(whole.predict_proba(RANKINGS), abs=EXACT)
    assert weighted.predict_proba(RANKINGS) == pytest.approx(repeated.predict_proba(RANKINGS), abs=EXACT)


def test_bags_multiply_and_parts_add_up(space, games):
    orders, sizes, _, labels = games
    second = np.where(sizes > 0, "high", "low")
    pairs = np.column_stack([labels.astype(str), second])
    classifier = StructuredNaiveBayes(space).fit(orders, pairs)
    assert classifier.predict(orders[:5]).shape == (5, 2)
    assert len(classifier.classes_) == 4
    one = classifier.posteriors(orders[:4], bags=["b", "a", "b", "b"])
    assert one.sources == ("b", "a")
    joint = np.log(classifier.predict_proba(orders[[0, 2, 3]])).sum(axis=0) - 2 * classifier.model_.log_prior
    expected = np.exp(joint - joint.max())
    assert one.probabilities[0] == pytest.approx(expected / expected.sum(), abs=ENGINE)
    part = classifier.posteriors(orders[:4], bags=["b", "a", "b", "b"], part=0)
    assert part.labels == ("0", "1")
    assert part.probabilities[:, 0] == pytest.approx(one.probabilities[:, :2].sum(axis=1), abs=EXACT)
    assert set(part.best) <= {"0", "1"}


def test_mistakes_are_named(space, games):
    orders, *_, labels = games
    classifier = StructuredNaiveBayes(space, smoothing=0.0).fit([(1, 2, 3), (1, 2, 3)], [0, 1])
    with pytest.raises(ImpossibleEvidence, match="probability zero in every class"):
        classifier.predict([(3, 2, 1)])
    with pytest.raises(QueryError, match="ranked twice"):
        classifier.predict([(3, 3, 1)])
    with pytest.raises(QueryError, match="there is no part 0"):
        classifier.posteriors([(1, 2, 3)], part=0)
    with pytest.raises(QueryError, match="as many bags"):
        classifier.posteriors([(1, 2, 3)], bags=[1, 2])
    with pytest.raises(ModelError, match="at least 0"):
        StructuredNaiveBayes(space, smoothing=-1).fit(orders, labels)
    with pytest.raises(QueryError, match="did you mean 'p1'"):
        StructuredNaiveBayes([(space, "p11")]).fit(pd.DataFrame({"p1": RANKINGS}), [0] * 6)
    with pytest.raises(ModelError, match="share a column"):
        StructuredNaiveBayes([(space, 0), (space, 0)]).fit(pd.DataFrame({"p1": RANKINGS}), [0] * 6)
    with pytest.raises(ModelError, match="inconsistent numbers"):
        StructuredNaiveBayes(space).fit(RANKINGS, [0, 1])


def test_new_labels_are_not_observed(games):
    _, _, colours, labels = games
    classifier = StructuredNaiveBayes().fit(colours[:, None], labels)
    with pytest.warns(UnswayedWarning, match="'green'"):
        found = classifier.predict_proba(np.array([["green"]], dtype=object))
    assert found[0] == pytest.approx(np.bincount(labels) / len(labels), abs=EXACT)


def test_anomalies_are_what_chance_explains_better():
    space = path_space(grid(4, 4), (0, 0), (3, 3))
    rng = np.random.default_rng(0)
    normal = [_staircase(rng) for _ in range(200)]
    detector = StructuredAnomalyDetector(space).fit(normal)
    drawn = space.decode_many(space.sample(200, rng))
    odd = [path for path in drawn if len(path) > 7]
    assert (detector.predict([_staircase(rng) for _ in range(100)]) == 1).mean() > 0.9
    assert (detector.predict(odd) == -1).mean() > 0.9
    strict = clone(detector).set_params(contamination=0.2).fit(normal)
    assert (strict.predict(normal) == -1).mean() == pytest.approx(0.2, abs=0.1)
    with pytest.raises(ModelError, match="prior must be between"):
        clone(detector).set_params(prior=1.0).fit(normal)


def test_anomaly_scores_average_to_one_under_chance():
    """The score is a log-ratio to the uniform distribution, so exp(score) averages to 1 over the space."""
    space = ranking_space(4)
    everything = list(itertools.permutations((1, 2, 3, 4)))
    detector = StructuredAnomalyDetector(space).fit(everything[:9])
    assert np.exp(detector.score_samples(everything)).mean() == pytest.approx(1.0, abs=ENGINE)


def _staircase(rng) -> list[tuple[int, int]]:
    path = [(0, 0)]
    while path[-1] != (3, 3):
        row, column = path[-1]
        down = column == 3 or (row < 3 and rng.random() < 0.5)
        path.append((row + 1, column) if down else (row, column + 1))
    return path
