"""Random decisions to explain: ties, zeros, several classes, hidden variables, many-valued features."""

from __future__ import annotations

import math

import numpy as np

from unswayed.core.errors import ImpossibleEvidence
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

THRESHOLDS = (0.1, 0.2, 0.25, 0.5, 0.5, 0.6, 0.75, 0.9)


def random_case(seed: int, max_features: int = 6) -> tuple[Classifier, dict[str, str]]:
    """A classifier and possible findings; the same for the same seed."""
    rng = np.random.default_rng(seed)
    while True:
        classifier = random_classifier(rng, max_features)
        names = [name for name in classifier.features if rng.random() < 0.7]
        hidden = [n for n in classifier.network.names if n not in (*classifier.features, classifier.target)]
        if hidden and rng.random() < 0.2:
            names.append(hidden[0])
        variables = [classifier.network.variable(name) for name in names]
        evidence = {v.name: str(rng.choice(v.states)) for v in variables}
        try:
            make_problem(classifier, evidence)
        except ImpossibleEvidence:
            continue
        return classifier, evidence


def random_classifier(rng: np.random.Generator, max_features: int) -> Classifier:
    """Naive Bayes or any network, with a hidden variable or two now and then."""
    target = Variable("C", [f"c{i}" for i in range(rng.choice([2, 2, 2, 3, 4]))])
    n_features, n_hidden = int(rng.integers(1, max_features + 1)), int(rng.choice([0, 0, 1, 2]))
    others = [Variable(f"F{i}", [f"s{k}" for k in range(rng.integers(2, 4))]) for i in range(n_features)]
    others += [Variable(f"H{i}", ["a", "b"]) for i in range(n_hidden)]
    naive = rng.random() < 0.3
    order = [target, *others] if naive else [[target, *others][i] for i in rng.permutation(len(others) + 1)]
    cpts = []
    for position, child in enumerate(order):
        count = min(position, int(rng.integers(0, 3)))
        chosen = [target] if naive and position else [order[i] for i in rng.permutation(position)[:count]]
        n_rows = math.prod(len(parent) for parent in chosen)
        cpts.append(Cpt(child, chosen, [random_row(rng, len(child)) for _ in range(n_rows)]))
    features = [v.name for v in others[:n_features]]
    return Classifier(BayesianNetwork(cpts), "C", features, random_rule(rng, target))


def three_state_case(seed: int, n_features: int) -> tuple[Classifier, dict[str, str]]:
    """Naive Bayes with findings between the best and the worst of their features, or that tell nothing."""
    rng = np.random.default_rng(seed)
    target = Variable("C", ["sick", "well"])
    cpts = [Cpt(target, [], rng.dirichlet([3, 3]))]
    for i in range(n_features):
        rows = rng.dirichlet([2.0, 6.0, 2.0], size=2)
        if seed % 3 == 0:  # the state in the middle weighs between the others
            rows = rows[:, np.argsort(np.log(rows[0] / rows[1]))]
        elif seed % 3 == 1 or rng.random() < 0.5:
            rows[1] = rows[0]
        cpts.append(Cpt(Variable(f"F{i}", ["low", "normal", "high"]), [target], rows))
    names = [f"F{i}" for i in range(n_features)]
    rule = ThresholdRule("sick", float(rng.choice([0.2, 0.5, 0.8])))
    evidence = {name: "normal" if rng.random() < 0.8 else "high" for name in names if rng.random() < 0.9}
    return Classifier(BayesianNetwork(cpts), "C", names, rule), evidence


def random_row(rng: np.random.Generator, size: int) -> list[float]:
    """Tenths, so that posteriors tie and entries are 0; or any numbers."""
    if rng.random() < 0.5:
        return rng.dirichlet(np.ones(size)).tolist()
    cuts = np.sort(rng.integers(0, 11, size - 1))
    return (np.diff([0, *cuts, 10]) / 10).tolist()


def random_rule(rng: np.random.Generator, target: Variable) -> Rule:
    """A threshold, the most probable state, or utilities of up to three actions."""
    kind = rng.integers(0, 4)
    if kind <= 1:
        return ThresholdRule(str(rng.choice(target.states)), float(rng.choice(THRESHOLDS)))
    if kind == 2:
        return MostProbable()
    return UtilityRule(
        {
            f"action {a}": {state: float(rng.integers(-5, 6)) for state in target.states}
            for a in range(rng.integers(1, 4))
        }
    )
