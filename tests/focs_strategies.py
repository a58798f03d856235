"""Random step networks and functional networks for hypothesis: small weights, so that ties occur."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork
from unswayed.model.variable import Variable

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0])
SMALL = st.integers(-3, 3)


def bit(name: str) -> Variable:
    """A variable of states 0 and 1."""
    return Variable(name, ["0", "1"])


@st.composite
def step_contexts(draw: st.DrawFn, n_inputs: int, *, max_neurons: int = 4) -> StepContexts:
    """Contexts of a step network; sums of small whole numbers often meet the step exactly."""
    n_neurons = draw(st.integers(1, max_neurons))

    def numbers(count: int) -> list[int]:
        return draw(st.lists(SMALL, min_size=count, max_size=count))

    weights = np.array([numbers(n_inputs) for _ in range(n_neurons)]).reshape(n_neurons, n_inputs)
    network = StepNetwork(weights, numbers(n_neurons), numbers(n_neurons))
    return StepContexts(network, sorted(draw(st.sets(st.integers(-4, 4), max_size=3))))


@st.composite
def columns(draw: st.DrawFn, count: int) -> list[list[float]]:
    """Distributions of a two-state child, certain ones among them."""
    ones = draw(st.lists(SHARES, min_size=count, max_size=count))
    return [[1.0 - p, p] for p in ones]


@st.composite
def functions(
    draw: st.DrawFn, child: Variable, parents: list[Variable], *, only_step: bool
) -> ConditionalDistribution:
    """A functional CPT over all the parents."""
    n = len(parents)
    kind = (
        "step" if only_step else draw(st.sampled_from(["step", "step", "noisy-or", "logistic", "perceptron"]))
    )
    reals = st.floats(-3, 3).map(lambda value: round(value, 2))
    if kind == "noisy-or":
        return NoisyOrCpt(child, parents, draw(st.lists(SHARES, min_size=n, max_size=n)), leak=draw(SHARES))
    if kind == "logistic":
        return LogisticCpt(child, parents, draw(st.lists(reals, min_size=n, max_size=n)), bias=draw(reals))
    if kind == "perceptron":
        rng = np.random.default_rng(draw(st.integers(0, 999)))
        layers = [rng.normal(size=(n, 3)), rng.normal(size=(3, 1))]
        biases = [rng.normal(size=3), rng.normal(size=1)]
        return PerceptronCpt(
            child, tuple(parents), Perceptron(layers, biases, draw(st.sampled_from(Activation)))
        )
    contexts = draw(step_contexts(n))
    return FocsCpt(child, parents, contexts, draw(columns(contexts.n_contexts)))


@st.composite
def functional_networks(
    draw: st.DrawFn, *, max_roots: int = 5, max_children: int = 3, only_step: bool = False
) -> BayesianNetwork:
    """Bits with tables, some of them in a chain, and functions of all bits."""
    bits = [bit(f"U{i}") for i in range(draw(st.integers(1, max_roots)))]
    nodes: list[ConditionalDistribution] = []
    for place, each in enumerate(bits):
        parents = bits[place - 1 : place] if place and draw(st.booleans()) else []
        nodes.append(Cpt(each, parents, draw(columns(2 ** len(parents)))))
    children = [bit(f"X{number}") for number in range(draw(st.integers(1, max_children)))]
    return BayesianNetwork([*nodes, *(draw(functions(c, bits, only_step=only_step)) for c in children)])


@st.composite
def findings(draw: st.DrawFn, network: BayesianNetwork) -> dict[str, str]:
    """Evidence on some of the variables; it may be impossible."""
    chosen = draw(st.sets(st.sampled_from(network.names)))
    return {name: draw(st.sampled_from(["0", "1"])) for name in sorted(chosen)}
