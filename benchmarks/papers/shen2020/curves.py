"""Contexts against likelihood: an MLP, trees of growing depth, FoCS CPTs of growing size, on one data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from unswayed.focs.learn.cpts import learn_tree_cpt
from unswayed.focs.learn.rows import WeightedRows, share_out
from unswayed.focs.learn.scorers import cross_fit_scores, fit_estimator
from unswayed.focs.learn.thresholds import grow, make_rows, row_log_likelihoods
from unswayed.model.nodes.contexts import Scorer
from unswayed.model.variable import Variable

MOST_CONTEXTS = 12
DEPTHS = range(1, 13)
N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Data:
    """Rows to learn from and rows to judge by."""

    name: str
    train: np.ndarray[Any, Any]
    train_labels: np.ndarray[Any, Any]
    test: np.ndarray[Any, Any]
    test_labels: np.ndarray[Any, Any]
    stops_early: bool
    """Whether training stops when held-out rows no longer gain, or goes on for 100 epochs."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Negated mean conditional log-likelihood on the test rows."""

    name: str
    mlp: float
    tree: list[tuple[int, float]]
    """Leaves and value, by depth."""
    focs: list[tuple[int, float]]
    """Contexts and value; thresholds and columns from cross-fitted scores."""
    plain: list[tuple[int, float]]
    """The same from the scores of the rows the MLP was fitted to, as in the paper."""
    seconds: float

    def best_tree(self) -> float:
        """The best tree of any depth, chosen with hindsight."""
        return min(value for _, value in self.tree)

    def best_focs(self, at_most: int) -> float:
        """The best FoCS CPT of at most so many contexts."""
        return min(value for size, value in self.focs if size <= at_most)


def network(*, stops_early: bool) -> MLPClassifier:
    """The paper's MLP: 16 rectifiers, Adam."""
    return MLPClassifier((16,), activation="relu", solver="adam", early_stopping=stops_early, max_iter=100)


@contextmanager
def quietly() -> Iterator[None]:
    """Without warnings about training that came to its last epoch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def curves(data: Data, seed: int) -> Curves:
    """All curves of one panel."""
    started = time.perf_counter()
    rng = np.random.default_rng(seed)
    fit = fit_estimator(network(stops_early=data.stops_early), is_ordinal=False)
    train, labels = data.train.astype(np.float64), data.train_labels
    rows = WeightedRows(train, labels, np.ones(len(labels)))
    with quietly():
        scorer = fit(rows, rng)
        parts, fold = share_out(rows, N_FOLDS, rng)
        crossed, places = cross_fit_scores(fit, parts, fold, rng, range(N_FOLDS))
    test = make_rows(scorer.scores(data.test.astype(np.float64)), data.test_labels, 2)
    return Curves(
        name=data.name,
        mlp=_log_loss(scorer, data),
        tree=[_tree(data, depth) for depth in DEPTHS],
        focs=_by_size(make_rows(crossed, parts.labels[places], 2), test),
        plain=_by_size(make_rows(scorer.scores(train), labels, 2), test),
        seconds=time.perf_counter() - started,
    )


def _by_size(train: Any, test: Any) -> list[tuple[int, float]]:
    partitions = grow(train, max_contexts=MOST_CONTEXTS)
    return [(p.contexts.n_contexts, -float(row_log_likelihoods(p, test).mean())) for p in partitions]


def _log_loss(scorer: Scorer, data: Data) -> float:
    odds = scorer.scores(data.test.astype(np.float64))[:, 0]
    return float(np.logaddexp(0.0, np.where(data.test_labels == 1, -odds, odds)).mean())


def _tree(data: Data, depth: int) -> tuple[int, float]:
    child = Variable("X", ["0", "1"])
    parents = [Variable(f"U{i}", ["0", "1"]) for i in range(data.train.shape[1])]
    cpt = learn_tree_cpt(child, parents, (data.train.astype(np.int64), data.train_labels), max_depth=depth)
    index = cpt.contexts.index(data.test.astype(np.int64))
    return cpt.contexts.n_contexts, -float(np.log(cpt.columns[index, data.test_labels]).mean())


def plot(panels: list[Curves], path: Path) -> None:
    """One panel each: contexts against negated likelihood."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(4.0 * len(panels), 3.2), layout="constrained")
    for axis, panel in zip(axes, panels, strict=True):
        axis.plot(*zip(*panel.tree, strict=True), marker="^", markersize=3, label="tree CPT (ID3)")
        axis.plot(*zip(*panel.plain, strict=True), marker="s", markersize=3, label="FoCS, training scores")
        axis.plot(*zip(*panel.focs, strict=True), marker="o", markersize=3, label="FoCS, cross-fitted")
        axis.axhline(panel.mlp, color="grey", linestyle="--", label="MLP")
        axis.set(xscale="log", title=panel.name, xlabel="contexts")
        axis.grid(visible=True, alpha=0.3)
    axes[0].set_ylabel("negated CLL of a row")
    axes[0].legend(fontsize="x-small")
    figure.savefig(path, dpi=90)
    plt.close(figure)
