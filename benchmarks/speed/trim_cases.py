"""What the benchmark of trimming runs: random classifiers, and searches to put to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

import unswayed
from unswayed.api import Method, Selection, frontier, trim
from unswayed.core.anytime import settle, within
from unswayed.core.arrays import Floats
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes
from unswayed.search.lattice import Node
from unswayed.search.nodes import search_nodes
from unswayed.search.plan import plan_search, plan_table, trimming_objective
from unswayed.search.task import Incumbent, Task

HALF = ThresholdRule("s0", 0.5)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search came to."""

    value: float
    evaluations: int
    optimal: bool


Search = Callable[[Classifier, float, Limits], Answer]


def answer(selection: Selection) -> Answer:
    return Answer(selection.value, selection.evaluations, selection.optimal)


def trimmed(method: Method, classifier: Classifier, budget: float, limits: Limits) -> Answer:
    """Trimming by this method."""
    return answer(trim(classifier, budget=budget, method=method, limits=limits).selection)


def selected(classifier: Classifier, budget: float, limits: Limits) -> Answer:
    """Selection by expected same-decision probability, branch and bound."""
    return answer(unswayed.select(classifier, budget=budget, limits=limits))


def interpreted(classifier: Classifier, budget: float, limits: Limits) -> Answer:
    """Trimming by branch and bound without the compiled search: node by node with numpy."""
    with within(limits):
        problem = make_problem(classifier)
        objective, variables = trimming_objective(problem), problem.network.variables
        plan = plan_table(plan_search(problem), objective)
        task = Task(
            root=Node(problem.free, objective.columns(plan.masses().table)),
            sizes=plan.sizes,
            costs=dict.fromkeys(problem.free, 1.0),
            budget=budget,
            objective=objective,
            names={f: variables[f].name for f in problem.free},
        )
        incumbent = Incumbent(task)
        incumbent.offer_nothing()
        found = settle(incumbent.found() for _ in search_nodes(task, incumbent)).last
    return Answer(found.value, found.evaluations, found.optimal)


def whole_frontier(classifier: Classifier, budget: float, limits: Limits) -> Answer:
    """The best trimming for every budget; the value is that of this budget."""
    points = [point.selection for point in frontier(classifier, limits=limits).points]
    best = max(point.value for point in points if point.cost <= budget)
    evaluations = sum(point.evaluations for point in points)
    return Answer(best, evaluations, all(point.optimal for point in points))


SEARCHES: Mapping[str, Search] = {
    "trim": partial(trimmed, Method.BRANCH_AND_BOUND),
    "select": selected,
    "trim, not compiled": interpreted,
    "trim, greedy": partial(trimmed, Method.GREEDY),
    "trim, exhaustive": partial(trimmed, Method.EXHAUSTIVE),
}
SEARCHES_OF_TREES: Mapping[str, Search] = {
    "trim": SEARCHES["trim"],
    "select": selected,
    "trim, not compiled": interpreted,
    "frontier": whole_frontier,
}


def naive_bayes(n_features: int) -> Classifier:
    """The same classifier for the same number of features."""
    network = random_naive_bayes(n_features, np.random.default_rng(n_features))
    return Classifier(network, "C", None, HALF)


def tree_augmented(n_features: int) -> Classifier:
    """Naive Bayes with a random tree among the features."""
    rng = np.random.default_rng(n_features)
    return _tree(n_features, rng, lambda n_rows: rng.dirichlet([1, 1], size=n_rows)[:, 0])


def nearly_equal(n_features: int) -> Classifier:
    """A tree of weak features that hardly differ: little can be pruned."""
    rng = np.random.default_rng(n_features)
    by_class = np.array([0.6, 0.4])
    return _tree(
        n_features, rng, lambda n_rows: np.repeat(by_class, n_rows // 2) + rng.uniform(-0.05, 0.05, n_rows)
    )


def _tree(n_features: int, rng: np.random.Generator, draw: Callable[[int], Floats]) -> Classifier:
    """Each feature depends on the class and on one before it; `draw` gives Pr(s0) for so many rows."""
    target, *features = (Variable(name, ["s0", "s1"]) for name in ("C", *_names(n_features)))
    cpts = [Cpt(target, [], [[0.5, 0.5]])]
    for number, feature in enumerate(features):
        parents = [target, features[int(rng.integers(number))]] if number else [target]
        first = draw(2 ** len(parents))
        cpts.append(Cpt(feature, parents, np.stack([first, 1 - first], axis=1).tolist()))
    return Classifier(BayesianNetwork(cpts, f"tree_{n_features}"), "C", _names(n_features), HALF)


def _names(n_features: int) -> list[str]:
    return [f"F{number}" for number in range(1, n_features + 1)]
