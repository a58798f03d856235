"""FocsClassifier: contexts, columns, scorers of any kind, many classes, and wrong parameters."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

from focs_strategies import bit
from unswayed.api.networks import posterior
from unswayed.core.errors import LimitError, ModelError, UnswayedWarning
from unswayed.focs.learn.cpts import learn_tree_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


@pytest.fixture(scope="module")
def cardinality():
    """Eight bits; the label says whether more than half are 1, and errs one time in twenty."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (1200, 8))
    return rows, np.where((rows.sum(axis=1) > 4) ^ (rng.random(1200) < 0.05), "many", "few")


@pytest.fixture(scope="module")
def classifier(cardinality):
    return FocsClassifier(hidden_units=8, max_iterations=60, random_state=0).fit(*cardinality)


def test_two_contexts_are_found_with_their_shares(classifier, cardinality):
    rows, _ = cardinality
    assert classifier.classes_.tolist() == ["few", "many"]
    assert classifier.contexts_.n_contexts == 2
    assert classifier.columns_[:, 1] == pytest.approx([0.05, 0.95], abs=0.02)
    assert (classifier.predict(rows) == np.where(rows.sum(axis=1) > 4, "many", "few")).all()
    assert len(classifier.contexts_.thresholds) == 1


@pytest.mark.parametrize(
    "scorer",
    [LogisticRegression(), LinearSVC(), BernoulliNB()],
    ids=["decision function", "no probabilities", "probabilities only"],
)
def test_any_scorer_will_do(cardinality, scorer):
    rows, labels = cardinality
    classifier = FocsClassifier(scorer, random_state=0).fit(rows, labels)
    assert np.mean(classifier.predict(rows) == labels) > 0.93
    assert not hasattr(scorer, "classes_")


def test_a_fitted_scorer_is_used_as_it_is(cardinality):
    rows, labels = cardinality
    fitted = LogisticRegression().fit(rows, labels)
    classifier = FocsClassifier(FrozenEstimator(fitted), max_contexts=2, random_state=0).fit(rows, labels)
    scores = fitted.decision_function(rows)
    cut = classifier.contexts_.thresholds[0]
    assert (classifier.contexts_.index(rows) == (scores > cut)).all()


@pytest.mark.parametrize("ordinal", [False, True], ids=["one score a class", "ordinal cuts"])
def test_many_classes(ordinal):
    rng = np.random.default_rng(1)
    level = rng.integers(0, 3, 600)
    rows = rng.normal(size=(600, 3)) * 0.3 + level[:, np.newaxis]
    classifier = FocsClassifier(ordinal=ordinal, max_iterations=60, random_state=0).fit(rows, level)
    assert np.mean(classifier.predict(rows) == level) > 0.95
    assert classifier.contexts_.splits.n_inputs == (1 if ordinal else 3)
    if not ordinal:
        with pytest.raises(ModelError, match="form a tree"):
            _ = classifier.contexts_.thresholds


def test_cross_fitted_scores_give_columns_that_hold_for_new_rows():
    """Labels at random: a scorer that learned them by heart would make columns near 0 and 1."""
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(size=(150, 40)), rng.integers(0, 2, 150)
    sure = FocsClassifier(alpha=1e-3, cross_fit=0, random_state=0).fit(rows, labels)
    careful = FocsClassifier(alpha=1e-3, random_state=0).fit(rows, labels)
    assert sure.columns_.max() > 0.95
    assert careful.columns_.max() < 0.75


def test_what_was_learned_stands_in_a_network(classifier, cardinality):
    rows, _ = cardinality
    cpt = classifier.as_cpt(Variable("X", ["few", "many"]), [bit(f"U{i}") for i in range(8)])
    assert cpt.probabilities(rows) == pytest.approx(classifier.predict_proba(rows))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_contexts": 0}, "max_contexts must be a whole number from 1 on"),
        ({"smoothing": -1.0}, "smoothing must be a number from 0 on"),
        ({"activation": "step"}, "activation must be one of"),
        ({"cross_fit": -1}, "cross_fit"),
        ({"scorer": LinearRegression()}, "decision_function or predict_proba"),
    ],
)
def test_wrong_parameters_are_named(cardinality, parameters, message):
    rows, labels = cardinality
    with pytest.raises(ModelError, match=message):
        FocsClassifier(**parameters).fit(rows, (labels == "many").astype(int))


def test_classes_find_their_states_wherever_these_stand():
    rows = np.random.default_rng(0).integers(0, 2, (300, 3))
    labels = np.where(rows[:, 0] == 1, "sick", "well")
    classifier = FocsClassifier(random_state=0).fit(rows, labels)
    parents = [Variable(f"U{i}", ["0", "1"]) for i in range(3)]
    for states in (["sick", "well"], ["well", "sick"]):
        cpt = classifier.as_cpt(Variable("X", states), parents)
        found = cpt.probabilities(np.array([[1, 0, 0]]))[0, states.index("sick")]
        assert found == classifier.predict_proba([[1, 0, 0]])[0, 0]
        assert found > 0.9
    with pytest.raises(ModelError, match="are not the states of 'X'"):
        classifier.as_cpt(Variable("X", ["ill", "well"]), parents)


def noisy_majority(count, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (count, 7)).astype(float)
    return rows, (rows.sum(axis=1) > 3) ^ (rng.random(count) < 0.1)


def test_weights_say_how_much_a_row_counts():
    """Rows of weight 0 might as well be absent, and columns are weighted shares."""
    rows, labels = noisy_majority(600)
    weights = np.where(np.arange(600) < 400, 1.0, 0.0)
    weighted = FocsClassifier(random_state=0, max_iterations=50).fit(rows, labels, sample_weight=weights)
    fewer = FocsClassifier(random_state=0, max_iterations=50).fit(rows[:400], labels[:400])
    np.testing.assert_allclose(weighted.predict_proba(rows), fewer.predict_proba(rows))
    tilted = FocsClassifier(random_state=0, max_contexts=1).fit(rows, labels, np.where(labels, 3.0, 1.0))
    n_true, n_false = labels.sum(), (~labels).sum()
    assert tilted.columns_[0, 1] == pytest.approx((3 * n_true + 1) / (3 * n_true + n_false + 2))


def test_missing_values_and_sparse_rows_are_taken():
    rows, labels = noisy_majority(800)
    classifier = FocsClassifier(random_state=0, max_iterations=50).fit(csr_array(rows), labels)
    np.testing.assert_array_equal(classifier.predict(csr_array(rows)), classifier.predict(rows))
    holes = rows.copy()
    holes[np.random.default_rng(1).random(rows.shape) < 0.1] = np.nan
    patched = FocsClassifier(random_state=0, max_iterations=50).fit(holes, labels)
    assert patched.score(*noisy_majority(2000, seed=2)) > 0.85
    means = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    np.testing.assert_allclose(patched.predict_proba(holes), patched.predict_proba(means))


def test_more_classes_than_contexts_are_warned_of():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(UnswayedWarning, match="3 classes, but max_contexts=2"):
        FocsClassifier(max_contexts=2, max_iterations=20).fit(rows, np.arange(60) % 3)


def test_the_number_of_contexts_hardly_depends_on_the_draw():
    rows, labels = noisy_majority(1500)
    found = [
        FocsClassifier(random_state=seed, max_iterations=50).fit(rows, labels).contexts_.n_contexts
        for seed in range(6)
    ]
    assert max(found) - min(found) <= 1


@pytest.mark.slow
def test_a_hundred_thousand_rows_take_seconds():
    rows, labels = noisy_majority(100_000)
    started = time.process_time()
    classifier = FocsClassifier(random_state=0).fit(rows, labels)
    assert time.process_time() - started < 20
    assert classifier.score(*noisy_majority(5000, seed=1)) > 0.89


def test_what_cannot_be_read_parent_by_parent_says_what_can():
    """Several scores are compared at once; a tree of the same rows answers, and by the same network verb."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (300, 26))
    labels = rows[:, 0] + rows[:, 1]
    parents = [Variable(f"U{i}", ["0", "1"]) for i in range(26)]
    child = Variable("Y", ["0", "1", "2"])
    roots = [Cpt(parent, [], [0.5, 0.5]) for parent in parents]
    scored = FocsClassifier(LogisticRegression(), random_state=0).fit(rows, labels).as_cpt(child, parents)
    with pytest.raises(LimitError, match="learn_states_cpt, learn_tree_cpt"):
        posterior(BayesianNetwork([*roots, scored]), {}, of="Y")
    tree = learn_tree_cpt(child, parents, (rows, labels), max_leaves=4)
    found = posterior(BayesianNetwork([*roots, tree]), {"U0": "1"}, of="Y")
    counted = np.array([tree.probabilities(np.array([[1, second] + [0] * 24]))[0] for second in (0, 1)])
    assert [found[state] for state in child.states] == pytest.approx(counted.mean(axis=0))
