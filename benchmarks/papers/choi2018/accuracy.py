"""Agreement and accuracy of every small subset of features [choi2018, Figure 5]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.papers.choi2017.networks import DATA
from unswayed.core.arrays import Floats
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import maximum_achievable_agreement
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.dense import DenseEngine
from unswayed.learning.classifiers import learn_naive_bayes
from unswayed.model.network import BayesianNetwork

FILE_BY_NAME = {"pima": "pima.csv", "heart": "heart_cleveland.csv"}
FOLDS = 10
TEST_SHARE = 0.2
SMOOTHING = 0.5
"""Added to every count: with it the tables give the authors' networks of bupa, pima and heart."""
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Table:
    """Features and class of every row, 0 or 1."""

    name: str
    names: tuple[str, ...]
    rows: Rows  # (rows, features + 1), the class last

    @property
    def n_features(self) -> int:
        return len(self.names) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """All subsets on one split into training and test rows; arrays have one number for each subset."""

    table: str
    seed: int
    n_test: int
    subsets: tuple[tuple[int, ...], ...]
    agreement: Floats
    """The best that a threshold achieves, by the classifier learned from the training rows."""
    accuracy: Floats
    """By cross-validation on the training rows."""
    full_accuracy: float
    """Of all features, by the same cross-validation."""
    test_by_choice: dict[str, tuple[float, float]]
    """Agreement and accuracy on the test rows, of the subset best in agreement and of that in accuracy."""

    @property
    def share_above_full(self) -> float:
        """Of the subsets, how many are more accurate than all features."""
        return float((self.accuracy > self.full_accuracy + 1e-12).mean())

    @property
    def frontier(self) -> list[int]:
        """Positions of the subsets that no other beats in both, by growing accuracy."""
        order = np.lexsort((-self.agreement, -self.accuracy))
        best, kept = -1.0, []
        for i in order:
            if self.agreement[i] > best + 1e-12:
                best = float(self.agreement[i])
                kept.append(int(i))
        return kept[::-1]


def read_table(name: str) -> Table:
    """The table with every feature cut at its mean; rows with missing values are left out."""
    path = DATA / "tables" / "binary" / FILE_BY_NAME[name]
    names, *rows = (line.split(",") for line in path.read_text().split())
    return Table(name, tuple(names), np.array([row for row in rows if "" not in row], dtype=np.int64))


def split(table: Table, seed: int) -> Split:
    """One random split: everything measured on training rows, then the two best subsets on the rest."""
    rows = np.random.default_rng(seed).permutation(table.rows)
    n_test = round(TEST_SHARE * len(rows))
    test, train = rows[:n_test], rows[n_test:]
    n = table.n_features
    subsets = tuple(s for k in range(n // 2 + 1) for s in combinations(range(n), k))
    network = learned(table, train)
    agreement, thresholds = agreements(network, table, subsets)
    accuracy = cross_validated(table, train, [*subsets, tuple(range(n))])
    first, second = int(np.argmax(agreement)), int(np.argmax(accuracy[:-1]))
    weights = weights_of(network, table)
    chosen = {
        "best agreement": tested(weights, test, subsets[first], thresholds[first]),
        "best accuracy": tested(weights, test, subsets[second], 0.0),
    }
    return Split(table.name, seed, n_test, subsets, agreement, accuracy[:-1], float(accuracy[-1]), chosen)


def learned(table: Table, rows: Rows) -> BayesianNetwork:
    """The naive Bayes classifier of these rows."""
    columns = {name: [str(v) for v in rows[:, i]] for i, name in enumerate(table.names)}
    return learn_naive_bayes(columns, table.names[-1], smoothing=SMOOTHING)


def agreements(
    network: BayesianNetwork, table: Table, subsets: tuple[tuple[int, ...], ...]
) -> tuple[Floats, Floats]:
    """The best agreement of each subset with all features at threshold .5, and its threshold in log-odds."""
    classifier = Classifier(network, table.names[-1], table.names[:-1], ThresholdRule("1", 0.5))
    problem = make_problem(classifier)
    oracle = DenseEngine().prepare(problem)
    positive = network.variable(table.names[-1]).index("1")
    values, cuts = [], []
    for subset in subsets:
        kept = frozenset(network.index(table.names[i]) for i in subset)
        best = maximum_achievable_agreement(oracle.profile(kept), positive)
        values.append(best.value)
        cuts.append(np.log(best.threshold) - np.log1p(-best.threshold))
    return np.array(values), np.array(cuts)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Naive Bayes in log-odds of class 1: those of the class alone, and what each value adds."""

    prior: float
    added: Floats  # (features, 2)

    def log_odds(self, rows: Rows) -> Floats:  # (rows, features)
        """What each feature of each row adds."""
        return self.added[np.arange(len(self.added)), rows[:, :-1]]


def weights_of(network: BayesianNetwork, table: Table) -> Weights:
    """The weights of the classifier; "0" and "1" are looked up, whatever their order."""
    target = network.variable(table.names[-1])
    one, zero = target.index("1"), target.index("0")
    prior = network.cpts[network.index(target.name)].table.reshape(-1)
    added = []
    for name in table.names[:-1]:
        states = network.variable(name).states
        logs = np.log(network.cpts[network.index(name)].table.reshape(2, -1))
        weight = logs[one] - logs[zero]
        added.append([weight[states.index(v)] if v in states else 0.0 for v in ("0", "1")])
    return Weights(float(np.log(prior[one] / prior[zero])), np.array(added))


def cross_validated(table: Table, rows: Rows, subsets: list[tuple[int, ...]]) -> Floats:
    """The mean accuracy of each subset over ten folds, threshold .5."""
    kept = np.zeros((table.n_features, len(subsets)))
    for column, subset in enumerate(subsets):
        kept[list(subset), column] = 1.0
    mean: Floats = np.mean([_fold(table, rows, fold, kept) for fold in range(FOLDS)], axis=0)
    return mean


def _fold(table: Table, rows: Rows, fold: int, kept: Floats) -> Floats:
    held_out = np.arange(len(rows)) % FOLDS == fold
    weights = weights_of(learned(table, rows[~held_out]), table)
    odds = weights.prior + weights.log_odds(rows[held_out]) @ kept
    accuracy: Floats = ((odds >= -1e-9) == rows[held_out, -1:].astype(bool)).mean(axis=0)
    return accuracy


def tested(weights: Weights, rows: Rows, subset: tuple[int, ...], cut: float) -> tuple[float, float]:
    """Agreement with all features, and accuracy, of deciding by the subset."""
    added = weights.log_odds(rows)
    full = weights.prior + added.sum(axis=1) >= -1e-9
    decided = weights.prior + added[:, list(subset)].sum(axis=1) >= cut - 1e-9
    return float((decided == full).mean()), float((decided == rows[:, -1]).mean())


def splits(name: str, n_splits: int) -> Iterator[Split]:
    """Several random splits of one table."""
    table = read_table(name)
    yield from (split(table, seed) for seed in range(n_splits))


def plot(shown: list[Split], path: Path) -> None:
    """Agreement and accuracy of all subsets on one split, with the frontier and the two best."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, row = plt.subplots(1, len(shown), figsize=(8.0, 3.4), layout="constrained")
    for axes, each in zip(row, shown, strict=True):
        axes.plot(each.agreement, each.accuracy, ".", color="0.6", markersize=2, rasterized=True)
        front = each.frontier
        axes.plot(each.agreement[front], each.accuracy[front], "o-", color="tab:blue", markersize=3)
        for values, marker, label in (
            (each.agreement, "s", "best agreement"),
            (each.accuracy, "^", "best accuracy"),
        ):
            i = int(np.argmax(values))
            axes.plot(each.agreement[i], each.accuracy[i], marker, label=label)
        axes.axhline(each.full_accuracy, color="0.4", linestyle=":", label="all features")
        axes.set_title(each.table, fontsize="small")
        axes.set(xlabel="achievable agreement", ylabel="cross-validated accuracy")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="x-small", loc="lower right")
    figure.savefig(path, dpi=80)
    plt.close(figure)
