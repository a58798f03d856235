"""Naive Bayes problems with the awkward cases drawn often, for searches on a grid and what they rest on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from strategies import decimal_rows, distributions
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

THRESHOLDS = st.one_of(st.sampled_from([0.01, 0.2, 0.5, 0.6, 0.75, 0.99]), st.floats(0.02, 0.98))


@st.composite
def tables(draw: st.DrawFn, size: int) -> list[list[float]]:
    """A row for each class: of any numbers, of tenths (ties), with zeros (certainties), or nearly equal."""
    kind = draw(st.sampled_from(["any", "any", "decimal", "zeros", "close"]))
    if kind == "decimal":
        return [draw(decimal_rows(size)) for _ in range(2)]
    if kind == "zeros":
        return [draw(distributions(size)) for _ in range(2)]
    weights = [draw(st.lists(st.integers(1, 1000), min_size=size, max_size=size)) for _ in range(2)]
    rows = [(np.array(row) / sum(row)).tolist() for row in weights]
    if kind == "close":
        mixed = 0.999 * np.array(rows[0]) + 0.001 * np.array(rows[1])
        rows[1] = (mixed / mixed.sum()).tolist()
    return rows


@st.composite
def naive_problems(draw: st.DrawFn, max_features: int = 7) -> Problem:
    """Two classes, up to `max_features` features of two to five states, some of them alike."""
    target = Variable("C", ["c0", "c1"])
    n = draw(st.integers(1, max_features))
    sizes = [draw(st.sampled_from([2, 2, 2, 3, 5])) for _ in range(n)]
    shapes = [draw(tables(size)) for size in sizes]
    for i in range(1, n):
        if draw(st.integers(0, 3)) == 0:
            shapes[i], sizes[i] = shapes[i - 1], sizes[i - 1]
    cpts = [Cpt(target, [], [draw(st.sampled_from([[0.5, 0.5], [0.3, 0.7], [0.9, 0.1], [0.62, 0.38]]))])]
    for i, rows in enumerate(shapes):
        cpts.append(Cpt(Variable(f"F{i}", [f"s{k}" for k in range(sizes[i])]), [target], rows))
    rule = draw(st.one_of(THRESHOLDS.map(lambda t: ThresholdRule("c0", t)), st.just(MostProbable())))
    return make_problem(Classifier(BayesianNetwork(cpts), "C", None, rule))
