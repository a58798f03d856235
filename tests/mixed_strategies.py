"""Random networks with nodes of every kind and variables of two and three states."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import FunctionContexts, TreeContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
from unswayed.model.nodes.noisy import NoisyMaxCpt, NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork
from unswayed.model.variable import Variable

WEIGHTS = (0, 0, 1, 2, 3, 5)
"""Numbers that distributions are made of; zeros make some states impossible."""


@st.composite
def distributions(draw: st.DrawFn, count: int, size: int, *, zeros: bool = True) -> np.ndarray:
    """`count` distributions over `size` states."""
    choices = st.sampled_from(WEIGHTS if zeros else WEIGHTS[2:])
    rows = np.array([[draw(choices) for _ in range(size)] for _ in range(count)], dtype=float)
    rows[rows.sum(axis=1) == 0] = 1.0
    return rows / rows.sum(axis=1, keepdims=True)


@st.composite
def boxed_trees(draw: st.DrawFn, sizes: list[int]) -> TreeContexts:
    """A tree over inputs of these sizes; some leaves may be out of reach."""
    feature, cut, left, right = [], [], [], []

    def grow(depth: int) -> int:
        node = len(feature)
        feature.append(draw(st.integers(0, len(sizes) - 1)) if depth < 3 and draw(st.booleans()) else -1)
        cut.append(draw(st.sampled_from([0.5, 1.5])))
        left.append(-1)
        right.append(-1)
        if feature[node] >= 0:
            left[node], right[node] = grow(depth + 1), grow(depth + 1)
        return node

    grow(0)
    return TreeContexts(len(sizes), feature=feature, cut=cut, left=left, right=right)


@st.composite
def step_functions(draw: st.DrawFn, sizes: list[int]) -> StepContexts:
    """A step network of inputs of these sizes, with up to four contexts."""
    small = st.integers(-3, 3)
    n_neurons = draw(st.integers(1, 3))
    weights = np.array([[draw(small) for _ in sizes] for _ in range(n_neurons)]).reshape(
        n_neurons, len(sizes)
    )
    biases, outputs = ([draw(small) for _ in range(n_neurons)] for _ in range(2))
    return StepContexts(
        StepNetwork(weights, biases, outputs), sorted(draw(st.sets(st.integers(-3, 3), max_size=3)))
    )


@st.composite
def nodes(draw: st.DrawFn, child: Variable, parents: list[Variable]) -> ConditionalDistribution:
    """A node of any kind that fits the family."""
    sizes = [len(parent) for parent in parents]
    kinds = ["table", "noisy-max", "tree", "steps", "perceptron", "function"]
    if all(len(variable) == 2 for variable in (child, *parents)):
        kinds += ["noisy-or", "logistic"]
    match draw(st.sampled_from(kinds)):
        case "table":
            return Cpt(child, parents, draw(distributions(int(np.prod(sizes)), len(child))))
        case "noisy-max":
            effects = [draw(distributions(size, len(child))) for size in sizes]
            return NoisyMaxCpt(child, parents, effects, leak=draw(distributions(1, len(child)))[0])
        case "noisy-or":
            shares = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
            return NoisyOrCpt(child, parents, [draw(shares) for _ in sizes], leak=draw(shares))
        case "logistic":
            reals = st.sampled_from([-1.3, -0.5, 0.0, 0.5, 1.1])
            return LogisticCpt(child, parents, [draw(reals) for _ in sizes], bias=draw(reals))
        case "perceptron":
            rng = np.random.default_rng(draw(st.integers(0, 99)))
            n_outputs = 1 if len(child) == 2 else len(child)
            layers = [rng.normal(size=(len(sizes), 2)), rng.normal(size=(2, n_outputs))]
            biases = [rng.normal(size=2), rng.normal(size=n_outputs)]
            return PerceptronCpt(child, tuple(parents), Perceptron(layers, biases, Activation.TANH))
        case "function":
            contexts = FunctionContexts(len(sizes), 2, lambda rows: rows.sum(axis=1) % 2)
        case "tree":
            contexts = (
                draw(boxed_trees(sizes)) if sizes else StepContexts(StepNetwork(np.zeros((0, 0)), [], []), [])
            )
        case _:
            contexts = draw(step_functions(sizes))
    return FocsCpt(child, parents, contexts, draw(distributions(contexts.n_contexts, len(child))))


@st.composite
def mixed_networks(draw: st.DrawFn, *, max_variables: int = 7) -> BayesianNetwork:
    """A network of up to `max_variables` variables, each with up to four parents among those before it."""
    count = draw(st.integers(2, max_variables))
    variables = [Variable(f"V{i}", ["a", "b", "c"][: draw(st.sampled_from([2, 2, 3]))]) for i in range(count)]
    cpts = []
    for place, variable in enumerate(variables):
        chosen = draw(st.sets(st.integers(0, place - 1), max_size=4)) if place else set()
        cpts.append(draw(nodes(variable, [variables[p] for p in sorted(chosen)])))
    return BayesianNetwork(cpts)


@st.composite
def mixed_findings(draw: st.DrawFn, network: BayesianNetwork) -> dict[str, str]:
    """Evidence on some of the variables; it may be impossible."""
    chosen = draw(st.sets(st.sampled_from(network.names), max_size=3))
    return {name: draw(st.sampled_from(network.variable(name).states)) for name in sorted(chosen)}
