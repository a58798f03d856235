"""Random fitted models as nodes, and classifiers that have them below a random tree."""

from __future__ import annotations

import math

import numpy as np

from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import Rule
from unswayed.model.cpt import Cpt
from unswayed.model.data.intervals import interval_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.additive import AdditiveCpt, Term
from unswayed.model.nodes.predictor import Input, Link, PredictorCpt
from unswayed.model.nodes.trees import LEAF, Trees, TreesCpt
from unswayed.model.variable import Variable

WORDS = ("red", "green", "blue")


def random_inputs(rng: np.random.Generator, n_inputs: int) -> tuple[tuple[Variable, ...], tuple[Input, ...]]:
    """Variables with what their states stand for: intervals, and categories in every third place."""
    variables, inputs = [], []
    for place in range(n_inputs):
        if place % 3 == 2:
            variables.append(Variable(f"x{place}", WORDS))
            inputs.append(Input(WORDS, WORDS))
            continue
        cuts = np.sort(rng.choice(np.arange(-3, 4), size=int(rng.integers(1, 4)), replace=False)).astype(
            float
        )
        variables.append(Variable(f"x{place}", interval_states(cuts)))
        values = np.concatenate([[cuts[0] - 0.25], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + 0.75]])
        inputs.append(Input(tuple(values.tolist())))
    return tuple(variables), tuple(inputs)


def n_scores(link: Link, n_classes: int) -> int:
    """How many scores a link needs."""
    return 1 if link is Link.LOGIT or (link is not Link.SOFTMAX and n_classes == 2) else n_classes


def random_additive(rng: np.random.Generator, n_inputs: int, link: Link, n_classes: int) -> AdditiveCpt:
    """Lines, parabolas and steps; numbers of few digits, so that ties happen."""
    variables, inputs = random_inputs(rng, n_inputs)
    scores, functions = n_scores(link, n_classes), []
    for each in inputs:
        pieces = len(each.words) + 1 if each.words else int(rng.integers(1, 3))
        powers = 1 if each.words else int(rng.integers(1, 4))
        coefficients = rng.integers(-4, 5, size=(pieces, powers, scores)) / 4
        functions.append(
            Term(coefficients, rng.integers(-4, 5, size=scores) / 4, np.arange(pieces - 1) + 0.5)
        )
    child = Variable("D", [f"c{i}" for i in range(n_classes)])
    return AdditiveCpt(child, variables, inputs, tuple(functions), rng.integers(-2, 3, size=scores) / 2, link)


def random_trees(
    rng: np.random.Generator, n_inputs: int, link: Link, n_classes: int, n_trees: int = 3
) -> TreesCpt:
    """Trees of depth three at most."""
    variables, inputs = random_inputs(rng, n_inputs)
    scores = n_scores(link, n_classes)
    nodes: list[dict[str, object]] = []

    def grow(depth: int) -> int:
        number = len(nodes)
        nodes.append({})
        is_leaf = depth == 0 or rng.random() < 0.2
        place = LEAF if is_leaf else int(rng.integers(n_inputs))
        is_word = not is_leaf and bool(inputs[place].words)
        value = rng.integers(-3, 4, size=scores) / 2
        if link is Link.IDENTITY:
            value = rng.dirichlet(np.ones(max(scores, 2)))[:scores] / n_trees
        nodes[number] = {
            "feature": place,
            "cut": np.nan if is_leaf or is_word else float(rng.integers(-6, 7) / 2),
            "codes_left": rng.random(4) < 0.5 if is_word else np.zeros(4, dtype=bool),
            "missing_left": bool(rng.random() < 0.5),
            "left": number if is_leaf else grow(depth - 1),
            "right": number if is_leaf else grow(depth - 1),
            "value": value,
        }
        return number

    roots = [grow(3) for _ in range(n_trees)]
    arrays = {name: np.array([node[name] for node in nodes]) for name in nodes[0]}
    child = Variable("D", [f"c{i}" for i in range(n_classes)])
    return TreesCpt(child, variables, inputs, Trees(**arrays, roots=np.array(roots)), np.zeros(scores), link)


def random_predictor(rng: np.random.Generator, n_inputs: int) -> PredictorCpt:
    """An additive model or trees, of two or three classes, with any link that fits."""
    n_classes = int(rng.integers(2, 4))
    links = (
        [Link.LOGIT, Link.IDENTITY, Link.STEP] if n_classes == 2 else [Link.SOFTMAX, Link.IDENTITY, Link.STEP]
    )
    if rng.random() < 0.5:
        link = links[int(rng.choice([0, 2]))]  # sums of terms are no probabilities
        return random_additive(rng, n_inputs, link, n_classes)
    return random_trees(rng, n_inputs, links[int(rng.integers(3))], n_classes)


def below_tree(cpt: PredictorCpt, rng: np.random.Generator) -> Classifier:
    """A classifier that has the model below a random tree over its inputs."""
    return below_background(cpt, rng, "tree")


def below_background(
    cpt: PredictorCpt, rng: np.random.Generator, kind: str, rule: Rule | None = None
) -> Classifier:
    """A classifier that has the model below a random tree, or a mixture of such, over its inputs."""
    hidden = (Variable("component", ["1", "2", "3"]),) if kind == "mixture" else ()
    cpts = [Cpt(each, (), rng.dirichlet(np.ones(3), size=1)) for each in hidden]
    for place, variable in enumerate(cpt.parents):
        above = (*hidden, *((cpt.parents[int(rng.integers(place))],) if place else ()))
        n_rows = math.prod(len(each) for each in above)
        rows = rng.dirichlet(np.ones(len(variable)), size=n_rows)
        cpts.append(Cpt(variable, above, rows, normalize=True))
    names = [parent.name for parent in cpt.parents]
    return Classifier(BayesianNetwork([*cpts, cpt]), "D", names, rule)
