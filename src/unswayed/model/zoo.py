"""Small networks for examples and tests: textbook cases written out, and random ones from a seed.

The written ones are small enough to check by hand; `random_*` make networks of a given shape, the same
for the same generator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

Rows = Sequence[Sequence[float]]


def review() -> BayesianNetwork:
    """Two reviewers and an area chair judge a paper D [choi2017, Figure 1].

    R1 and R2 are the reviewers, AC the chair, who sees only the reviewers' votes.
    """
    return binary_network(
        {
            "D": ((), [0.2]),
            "R1": (("D",), [0.7, 0.2]),
            "R2": (("D",), [0.6, 0.1]),
            "AC": (("R1", "R2"), [0.9, 0.2, 0.3, 0.0]),
        },
        name="review",
    )


def sprinkler() -> BayesianNetwork:
    """Is it the rain or the sprinkler that wets the grass? One loop, one deterministic row."""
    return binary_network(
        {
            "Cloudy": ((), [0.5]),
            "Sprinkler": (("Cloudy",), [0.1, 0.5]),
            "Rain": (("Cloudy",), [0.8, 0.2]),
            "WetGrass": (("Sprinkler", "Rain"), [0.99, 0.9, 0.9, 0.0]),
        },
        name="sprinkler",
        states=("yes", "no"),
    )


def printer() -> BayesianNetwork:
    """Why does nothing print? A troubleshooter with four causes and many-valued findings."""
    cause = Variable("Fault", ["none", "paper_jam", "no_toner", "no_network"])
    light = Variable("Light", ["green", "yellow", "red"])
    page = Variable("TestPage", ["good", "pale", "nothing"])
    ping = Variable("Ping", ["answers", "silent"])
    age = Variable("Age", ["new", "old"])
    return BayesianNetwork(
        [
            Cpt(age, [], [0.6, 0.4]),
            Cpt(cause, [age], [[0.85, 0.05, 0.05, 0.05], [0.5, 0.25, 0.2, 0.05]]),
            Cpt(light, [cause], [[0.95, 0.04, 0.01], [0.05, 0.25, 0.7], [0.1, 0.8, 0.1], [0.9, 0.08, 0.02]]),
            Cpt(page, [cause], [[0.97, 0.02, 0.01], [0.05, 0.05, 0.9], [0.1, 0.75, 0.15], [0.9, 0.05, 0.05]]),
            Cpt(ping, [cause], [[0.98, 0.02], [0.97, 0.03], [0.97, 0.03], [0.0, 1.0]]),
        ],
        name="printer",
    )


def disease_tests() -> BayesianNetwork:
    """A disease and five tests of growing quality: a naive Bayes classifier small enough to enumerate."""
    sensitivity = {"T1": 0.6, "T2": 0.7, "T3": 0.75, "T4": 0.85, "T5": 0.9}
    false_alarm = {"T1": 0.4, "T2": 0.3, "T3": 0.2, "T4": 0.15, "T5": 0.05}
    tests = {name: (("Disease",), [sensitivity[name], false_alarm[name]]) for name in sensitivity}
    return binary_network({"Disease": ((), [0.1]), **tests}, name="disease_tests", states=("+", "-"))


def binary_network(
    tables: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    name: str = "",
    states: tuple[str, str] = ("+", "-"),
) -> BayesianNetwork:
    """A network of two-state variables, each given by its parents and Pr(first state | parents).

    >>> binary_network({"A": ((), [0.3]), "B": (("A",), [0.9, 0.2])}).names
    ('A', 'B')
    """
    variable_by_name = {each: Variable(each, states) for each in tables}
    cpts = []
    for child, (parents, first) in tables.items():
        rows = [[p, 1.0 - p] for p in first]
        cpts.append(Cpt(variable_by_name[child], [variable_by_name[p] for p in parents], rows))
    return BayesianNetwork(cpts, name)


def random_naive_bayes(
    n_features: int, rng: np.random.Generator, *, n_classes: int = 2, max_states: int = 2
) -> BayesianNetwork:
    """A naive Bayes classifier with class C and features F1, F2, ..."""
    target = _variable("C", n_classes)
    cpts = [Cpt(target, [], _random_rows(rng, 1, n_classes))]
    for number in range(1, n_features + 1):
        feature = _variable(f"F{number}", int(rng.integers(2, max_states + 1)))
        cpts.append(Cpt(feature, [target], _random_rows(rng, n_classes, len(feature))))
    return BayesianNetwork(cpts, f"random_naive_bayes_{n_features}")


def random_polytree(
    n_variables: int, rng: np.random.Generator, *, max_states: int = 2, max_parents: int = 3
) -> BayesianNetwork:
    """A network whose links form a tree, their directions drawn at random."""
    parents: list[list[int]] = [[] for _ in range(n_variables)]
    for later in range(1, n_variables):
        earlier = int(rng.integers(later))
        child, parent = (later, earlier) if rng.random() < 0.5 else (earlier, later)
        if len(parents[child]) >= max_parents:
            child, parent = parent, child
        parents[child].append(parent)
    return _random_tables(parents, rng, max_states, name=f"random_polytree_{n_variables}")


def random_bounded_treewidth(
    n_variables: int, width: int, rng: np.random.Generator, *, max_states: int = 2, density: float = 0.7
) -> BayesianNetwork:
    """A network whose moral graph is part of a `width`-tree, so that elimination stays cheap.

    Each variable takes its parents from one clique of `width` earlier variables, each with probability
    `density`; a parent set within a clique of a k-tree keeps the moral graph inside it.
    """
    cliques: list[list[int]] = [[]]
    parents: list[list[int]] = []
    for variable in range(n_variables):
        clique = cliques[int(rng.integers(len(cliques)))]
        parents.append([v for v in clique if rng.random() < density])
        if len(clique) < width:
            cliques.append([*clique, variable])
        else:
            cliques.extend([*clique[:i], *clique[i + 1 :], variable] for i in range(width))
    return _random_tables(parents, rng, max_states, name=f"random_treewidth_{n_variables}")


def _random_tables(
    parents: Sequence[Sequence[int]], rng: np.random.Generator, max_states: int, *, name: str
) -> BayesianNetwork:
    variables = [_variable(f"X{i}", int(rng.integers(2, max_states + 1))) for i in range(len(parents))]
    cpts = []
    for variable, its_parents in zip(variables, parents, strict=True):
        given = [variables[p] for p in its_parents]
        n_rows = int(np.prod([len(p) for p in given], dtype=int))
        cpts.append(Cpt(variable, given, _random_rows(rng, n_rows, len(variable))))
    return BayesianNetwork(cpts, name)


def _variable(name: str, n_states: int) -> Variable:
    return Variable(name, [f"s{i}" for i in range(n_states)])


def _random_rows(rng: np.random.Generator, n_rows: int, n_states: int) -> Rows:
    rows: Rows = rng.dirichlet(np.ones(n_states), size=n_rows).tolist()
    return rows
