"""Selection by cross-validated accuracy, against scikit-learn subset by subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from tolerances import EXACT
from unswayed.core.anytime import within
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.rules import ThresholdRule
from unswayed.learning.accuracy import select_by_accuracy
from unswayed.model.data.dataset import Dataset
from unswayed.model.variable import Variable

FOLDS = 4


def dataset(seed: int, n_classes: int = 2) -> Dataset:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, n_classes, 120)
    columns = [
        np.where(rng.random(120) < 0.25 + 0.1 * i, label % 3, rng.integers(0, 3, 120)) for i in range(4)
    ]
    variables = [Variable(name, ["a", "b", "c"]) for name in "PQRS"]
    target = Variable("Y", [f"y{i}" for i in range(n_classes)])
    return Dataset([*variables, target], np.column_stack([*columns, label]))


def peer_accuracy(rows: Dataset, subset: tuple[int, ...], fold: np.ndarray) -> float:
    """Mean accuracy over folds by scikit-learn, with the class counts smoothed as ours are."""
    x, y = rows.codes[:, list(subset)].astype(int), rows.codes[:, -1].astype(int)
    n_classes = len(rows.variables[-1])
    scores = []
    for number in range(FOLDS):
        train, held = fold != number, fold == number
        counts = np.bincount(y[train], minlength=n_classes) + 1.0
        if not subset:
            scores.append(float((y[held] == counts.argmax()).mean()))
            continue
        model = CategoricalNB(alpha=1.0, min_categories=3, class_prior=counts / counts.sum())
        scores.append(float((model.fit(x[train], y[train]).predict(x[held]) == y[held]).mean()))
    return float(np.mean(scores))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("budget", [0, 1, 2, 4])
def test_the_most_accurate_subset_is_that_of_scikit_learn(n_classes, budget):
    rows = dataset(5, n_classes)
    fold = np.arange(rows.n_rows) % FOLDS
    best = max(
        peer_accuracy(rows, subset, fold)
        for size in range(budget + 1)
        for subset in combinations(range(4), size)
    )
    chosen = select_by_accuracy(rows, "Y", None, budget, folds=FOLDS)
    assert chosen.accuracy == pytest.approx(best, abs=EXACT)
    positions = tuple(rows.index(name) for name in chosen.kept)
    assert peer_accuracy(rows, positions, fold) == pytest.approx(best, abs=EXACT)
    assert chosen.full_accuracy == pytest.approx(peer_accuracy(rows, (0, 1, 2, 3), fold), abs=EXACT)
    assert chosen.complete


def test_costs_limit_the_subsets():
    chosen = select_by_accuracy(dataset(2), "Y", {"S": 5.0}, 2, folds=FOLDS)
    assert "S" not in chosen.kept
    assert chosen.cost <= 2
    assert chosen.evaluations == 1 + 3 + 3


def test_a_threshold_changes_what_is_decided():
    """With a threshold near 0 everything is decided positive, so accuracy is the share of positives."""
    rows = dataset(3)
    chosen = select_by_accuracy(rows, "Y", None, 4, rule=ThresholdRule("y1", 1e-9), folds=FOLDS)
    fold = np.arange(rows.n_rows) % FOLDS
    share = np.mean([(rows.codes[fold == f, -1] == 1).mean() for f in range(FOLDS)])
    assert chosen.accuracy == pytest.approx(share, abs=EXACT)
    assert chosen.kept == ()


def test_missing_values_add_nothing():
    rows = dataset(4)
    codes = rows.codes.copy()
    codes[:, 1] = -1
    chosen = select_by_accuracy(Dataset(rows.variables, codes), "Y", None, 4, folds=FOLDS)
    assert "Q" not in chosen.kept


def test_time_over_gives_the_best_so_far():
    rng = np.random.default_rng(0)
    variables = [Variable(f"v{i}", ["a", "b"]) for i in range(15)]
    with within(Limits(max_seconds=1e-3)):
        chosen = select_by_accuracy(Dataset(variables, rng.integers(0, 2, (20, 15))), "v0", None, 14)
    assert not chosen.complete
    assert chosen.evaluations >= 256


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": -1}, "at least 0"),
        ({"costs": {"Z": 1.0}}, "'Z'"),
        ({"costs": {"P": 0.0}}, "positive"),
        ({"folds": 1}, "from 2 to"),
        ({"target": "W"}, "W"),
    ],
)
def test_bad_questions_are_told_apart(changes, message):
    wanted = {"target": "Y", "costs": None, "budget": 1.0, "folds": 4} | changes
    with pytest.raises(QueryError, match=message):
        select_by_accuracy(
            dataset(1), wanted["target"], wanted["costs"], wanted["budget"], folds=wanted["folds"]
        )
