"""Random classifiers whose features depend on each other: trees, polytrees and any networks, by a seed."""

from __future__ import annotations

import numpy as np

from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


def random_rows(rng: np.random.Generator, count: int, size: int, kind: str) -> np.ndarray:
    """Distributions: any numbers, tenths (which tie), or with zeros."""
    if kind == "tenths":
        return np.array([np.bincount(rng.integers(0, size, 10), minlength=size) / 10 for _ in range(count)])
    rows = rng.dirichlet(np.ones(size), count)
    if kind == "zeros":
        rows = rows * (rng.random(rows.shape) > 0.3)
        rows[rows.sum(axis=1) == 0, 0] = 1.0
    return rows / rows.sum(axis=1, keepdims=True)


def random_rule(rng: np.random.Generator, target: Variable) -> Rule:
    """Any rule."""
    kind = rng.choice(["threshold", "threshold", "most probable", "utility"])
    if kind == "threshold":
        threshold = float(rng.choice([0.1, 0.5, 0.6, 0.9, rng.uniform(0.02, 0.98)]))
        return ThresholdRule(target.states[rng.integers(len(target))], threshold)
    if kind == "most probable":
        return MostProbable()
    return UtilityRule(
        {
            f"action {a}": {state: float(rng.integers(-5, 6)) for state in target.states}
            for a in range(rng.integers(1, 4))
        }
    )


def random_tree(rng: np.random.Generator, n_features: int, sizes=(2, 4), classes: int = 2) -> BayesianNetwork:
    """A tree-augmented naive Bayes network with target C."""
    target = Variable("C", [f"c{i}" for i in range(classes)])
    variables = [
        target,
        *(Variable(f"F{i}", [f"s{k}" for k in range(rng.integers(*sizes))]) for i in range(n_features)),
    ]
    cpts = []
    for i, child in enumerate(variables):
        parents = [] if i == 0 else [target]
        if i > 1:
            parents.append(variables[int(rng.integers(1, i))])
        n_rows = int(np.prod([len(p) for p in parents], dtype=int))
        cpts.append(Cpt(child, parents, random_rows(rng, n_rows, len(child), "any")))
    return BayesianNetwork(cpts)


def random_problem(rng: np.random.Generator, max_features: int) -> Problem:
    """A classifier with 2 to 5 classes, some hidden variables and some evidence."""
    while True:
        classifier, evidence = _classifier(rng, max_features)
        try:
            return make_problem(classifier, evidence)
        except ImpossibleEvidence:
            continue


def _classifier(rng: np.random.Generator, max_features: int) -> tuple[Classifier, dict[str, str]]:
    target = Variable("C", [f"c{i}" for i in range(rng.choice([2, 2, 3, 4, 5]))])
    n = int(rng.integers(1, max_features + 1))
    others = [Variable(f"F{i}", [f"s{k}" for k in range(rng.integers(1, 4))]) for i in range(n)]
    shape = rng.choice(["tree", "below", "anywhere"])
    order = [target, *others]
    if shape == "anywhere":
        order = [order[i] for i in rng.permutation(n + 1)]
    kind, cpts = rng.choice(["any", "tenths", "zeros"]), []
    for i, child in enumerate(order):
        parents = [order[j] for j in rng.permutation(i)[: rng.integers(0, 3)]]
        if shape == "tree" and i:
            parents = [target, *([order[int(rng.integers(1, i))]] if i > 1 and rng.random() < 0.8 else [])]
        n_rows = int(np.prod([len(p) for p in parents], dtype=int))
        cpts.append(Cpt(child, parents, random_rows(rng, n_rows, len(child), kind)))
    features = [v.name for v in others if rng.random() < 0.8]
    evidence = {v.name: v.states[rng.integers(len(v))] for v in others if rng.random() < 0.15}
    return Classifier(BayesianNetwork(cpts), "C", features, random_rule(rng, target)), evidence


def tied_by_a_hidden_variable() -> Classifier:
    """Three classes and 45 features: beyond every engine but samples."""
    rng = np.random.default_rng(0)
    target, hidden = Variable("T", ["a", "b", "c"]), Variable("H", ["x", "y", "z"])
    features = [Variable(f"F{i}", ["0", "1"]) for i in range(45)]
    network = BayesianNetwork(
        [
            Cpt(target, [], [[0.2, 0.3, 0.5]]),
            Cpt(hidden, [target], rng.dirichlet(np.ones(3), 3)),
            *(Cpt(feature, [hidden], rng.dirichlet(np.ones(2), 3)) for feature in features),
        ]
    )
    return Classifier(network, "T", [feature.name for feature in features], MostProbable())
