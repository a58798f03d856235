"""Features chosen for cross-validated accuracy: the usual way, to compare trimming with.

Trimming asks which features decide as the full classifier does; the usual question is which features
decide as the labels do. Here is the latter for naive Bayes, as in [choi2018, section 6.1]: every subset
within the budget is valued by its mean accuracy over folds, each row decided by a classifier that was
learned without its fold. Naive Bayes adds up one logarithm per feature, so what each feature contributes to
each held-out row is worked out once, and a subset costs one addition more than a subset of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unswayed.core.anytime import bounded, settle, tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError, expect
from unswayed.core.numerics import is_whole, spendable
from unswayed.decisions.purchase import check_budget, check_costs
from unswayed.decisions.rules import Decider, MostProbable, Rule
from unswayed.learning.classifiers import as_dataset, learn_naive_bayes
from unswayed.model.data.dataset import Dataset

SAME = 1e-12
"""Accuracies closer than this are equal."""
STEP = 256
"""Subsets tried at a time."""


@dataclass(frozen=True, slots=True)
class AccuracySelection:
    """Features chosen for their accuracy."""

    kept: tuple[str, ...]
    """The features to keep, in the order of the data."""
    accuracy: float
    """Mean accuracy over the folds with these features."""
    full_accuracy: float
    """Mean accuracy over the folds with all features."""
    cost: float
    """What the kept features cost together."""
    evaluations: int
    """Subsets tried."""
    complete: bool
    """Whether every subset within the budget was tried."""
    seconds: float
    """How long it took."""


@bounded
def select_by_accuracy(
    data: Any,
    target: str,
    costs: Mapping[str, float] | None,
    budget: float,
    *,
    rule: Rule | None = None,
    folds: int = 10,
    smoothing: float = 1.0,
    rng: np.random.Generator | None = None,
) -> AccuracySelection:
    """The features within the budget whose naive Bayes classifier is most accurate by cross-validation.

    Ties go to lower cost, then to names. Without a rule the most probable class is decided. Rows are
    shuffled by `rng` before they are dealt to folds, in their own order without one. Every subset within
    the budget is tried; a limit on time ends this with the best so far.

    >>> rows = {"x": list("aabbaabb"), "noise": list("abababab"), "y": list("nnppnnpp")}
    >>> chosen = select_by_accuracy(rows, "y", None, 1, folds=4)
    >>> chosen.kept, chosen.accuracy
    (('x',), 1.0)
    """
    started = time.perf_counter()
    rows = as_dataset(data, target, discretization=None, weights=None)
    price = _prices(rows, target, costs, budget)
    folded = _folded(rows, target, _folds(rows, folds, rng), smoothing)
    rule = MostProbable() if rule is None else rule
    if not hasattr(rule, "bind"):
        raise QueryError(f"a rule is a ThresholdRule, MostProbable or UtilityRule, not {rule!r}")
    decider = rule.bind(rows.variables[rows.index(target)])
    truth = _truth(decider, folded)

    def search() -> Iterator[_Best]:
        best = _Best()
        for kept, cost, logs in _subsets(folded, price, budget):
            best = best.offered(kept, cost, _accuracy(decider, truth, folded, logs))
            if best.evaluations % STEP == 0:
                yield best
                tick(what="the accuracy of all subsets")
        yield best

    settled = settle(search())
    best = settled.last
    full = _accuracy(decider, truth, folded, folded.prior + folded.added.sum(axis=0))
    kept = tuple(sorted(best.kept, key=rows.names.index))
    seconds = time.perf_counter() - started
    return AccuracySelection(kept, best.accuracy, full, best.cost, best.evaluations, not settled.cut, seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Folded:
    """What the classifiers learned without each fold say about the rows in it."""

    names: tuple[str, ...]
    """The features, those of the first axis of `added`."""
    prior: Floats  # (rows, classes)
    added: Floats  # (features, rows, classes)
    labels: Ints  # (rows,)
    fold: Ints  # (rows,)
    weights: Floats  # (rows,)


@dataclass(frozen=True, slots=True)
class _Best:
    """The best subset so far: more accurate first, then cheaper, then by names."""

    kept: tuple[str, ...] = ()
    cost: float = math.inf
    accuracy: float = -1.0
    evaluations: int = 0

    def offered(self, kept: tuple[str, ...], cost: float, accuracy: float) -> _Best:
        """The better of this and one more subset."""
        evaluations = self.evaluations + 1
        is_better = accuracy > self.accuracy + SAME
        is_equal = accuracy >= self.accuracy - SAME and (cost, sorted(kept)) < (self.cost, sorted(self.kept))
        if is_better or is_equal:
            return _Best(kept, cost, max(accuracy, self.accuracy), evaluations)
        return replace(self, evaluations=evaluations)


def _prices(rows: Dataset, target: str, costs: Mapping[str, float] | None, budget: float) -> dict[str, float]:
    rows.index(target)
    features = tuple(name for name in rows.names if name != target)
    expect(costs, (Mapping, type(None)), "costs")
    check_costs(costs or {}, features)
    check_budget(budget)
    return {name: float((costs or {}).get(name, 1.0)) for name in features}


def _folds(rows: Dataset, folds: int, rng: np.random.Generator | None) -> Ints:
    """The fold of each row."""
    expect(rng, (np.random.Generator, type(None)), "rng")
    if not is_whole(folds) or not 2 <= folds <= rows.n_rows:
        raise QueryError(f"folds must be from 2 to the number of rows, {rows.n_rows}, not {folds}")
    dealt: Ints = np.arange(rows.n_rows) % folds
    return dealt if rng is None else rng.permutation(dealt)


def _folded(rows: Dataset, target: str, fold: Ints, smoothing: float) -> _Folded:
    position = rows.index(target)
    if (rows.codes[:, position] < 0).any():
        raise QueryError(f"{target!r} is missing in some rows; accuracy needs a label in every row")
    names = tuple(name for name in rows.names if name != target)
    n_classes = len(rows.variables[position])
    prior = np.empty((rows.n_rows, n_classes))
    added = np.zeros((len(names), rows.n_rows, n_classes))
    for number in range(int(fold.max()) + 1):
        held = fold == number
        train = Dataset(rows.variables, rows.codes[~held], rows.weights[~held])
        network = learn_naive_bayes(train, target, smoothing=smoothing)
        with np.errstate(divide="ignore"):
            prior[held] = np.log(network.cpts[network.index(target)].table)
            for axis, name in enumerate(names):
                table = np.log(network.cpts[network.index(name)].table).T  # (states, classes)
                added[axis, held] = _looked_up(table, rows.codes[held, rows.index(name)])
    labels: Ints = rows.codes[:, position].astype(np.int64)
    return _Folded(names, prior, added, labels, fold, rows.weights)


def _looked_up(table: Floats, codes: Any) -> Floats:
    """The row of the table for each code; what is missing adds nothing."""
    found: Floats = np.where((codes < 0)[:, np.newaxis], 0.0, table[codes])
    return found


def _subsets(
    folded: _Folded, price: Mapping[str, float], budget: float
) -> Iterator[tuple[tuple[str, ...], float, Floats]]:
    """Every subset within the budget with its cost and its log joint masses of the rows."""
    allowed = spendable(budget)
    waiting: list[tuple[tuple[int, ...], float, Floats]] = [((), 0.0, folded.prior)]
    while waiting:
        kept, cost, logs = waiting.pop()
        yield tuple(folded.names[i] for i in kept), cost, logs
        for later in range(len(folded.names) - 1, kept[-1] if kept else -1, -1):
            total = cost + price[folded.names[later]]
            if total <= allowed:
                waiting.append(((*kept, later), total, logs + folded.added[later]))


def _truth(decider: Decider, folded: _Folded) -> Ints:
    """What deciding right is for each row: what the rule decides when the class is certain."""
    n_classes = folded.prior.shape[1]
    right: Ints = decider.decide(np.eye(n_classes))[folded.labels]
    return right


def _accuracy(decider: Decider, truth: Ints, folded: _Folded, logs: Floats) -> float:
    largest = logs.max(axis=1, keepdims=True)
    possible = np.isfinite(largest[:, 0])
    # A row that no class can explain is decided by none, and counts as wrong.
    shifted = np.exp(logs - np.where(np.isfinite(largest), largest, 0.0))
    right: Bools = np.zeros(len(logs), dtype=bool)
    right[possible] = decider.decide(shifted[possible]) == truth[possible]
    sizes = np.bincount(folded.fold, weights=folded.weights)
    return float((np.bincount(folded.fold, weights=right * folded.weights) / sizes).mean())
