"""What inference asks of a person's own model that stands as a leaf below its inputs.

    Pr(D = c | x) = M_c(x),        so that  Pr(D | e) = E[M(x) | e]

is the expected prediction. Its table over dozens of inputs cannot be written. What helps in its place is the
kind of the model: a sum of one term an input, a sum of trees, or a function that can only be evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.inference.factors import TABLE_CELLS
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

MOST_COMPLETIONS = 10**5
"""Completions of the missing inputs up to which all of them are listed."""


@runtime_checkable
class Predictor(Protocol):
    """A model: probabilities of classes that grow with scores."""

    @property
    def parents(self) -> tuple[Variable, ...]:
        """Its inputs."""

    @property
    def link(self) -> str:
        """How scores become probabilities: "logit", "softmax", "identity" or "step"."""

    def probabilities(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, classes)
        """Pr(D | inputs) for each row of states."""

    def scores(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, scores)
        """One score for two classes, growing with the second, else one a class."""


@runtime_checkable
class AdditivePredictor(Predictor, Protocol):
    """A sum of one term an input."""

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:  # (boxes, all states) -> (boxes, scores)
        """Least and greatest scores over boxes of the inputs' states, side by side."""

    @property
    def terms(self) -> Sequence[Floats]:  # each (states, scores)
        """What each state of each input adds."""

    @property
    def bias(self) -> Floats:  # (scores,)
        """The scores without any term."""


class LeafBoxes(Protocol):
    """The leaves of all trees, tree after tree."""

    @property
    def nodes(self) -> Ints:  # (leaves,)
        """Where the value of each leaf stands."""

    @property
    def starts(self) -> Ints:  # (trees,)
        """Where the leaves of each tree begin."""

    @property
    def boxes(self) -> Bools:  # (leaves, all states)
        """The states of each input from which a leaf can be reached, the inputs side by side."""


@runtime_checkable
class TreesPredictor(Predictor, Protocol):
    """A sum of trees: the leaves of a tree are boxes that share the states among them."""

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:  # (boxes, all states) -> (boxes, scores)
        """Least and greatest scores over boxes of the inputs' states, side by side."""

    @property
    def leaves(self) -> LeafBoxes:
        """All leaves."""

    @property
    def value(self) -> Floats:  # (nodes, scores)
        """What a leaf adds to each score."""

    @property
    def bias(self) -> Floats:  # (scores,)
        """The scores without any tree."""


def find_predictor(network: BayesianNetwork, target: int) -> Predictor | None:
    """The model that is the target's node, where nothing hangs below it; None where it is anything else."""
    cpt = network.cpts[target]
    return cpt if isinstance(cpt, Predictor) and not network.children[target] else None


def is_large_model(network: BayesianNetwork, target: int, evidence: Mapping[int, int]) -> bool:
    """Whether the target's node is a model whose table at the evidence is better not written."""
    cpt = network.cpts[target]
    if isinstance(cpt, Cpt) or find_predictor(network, target) is None:
        return False
    free = [float(len(network.variables[v])) for v in network.parents[target] if v not in evidence]
    return not free or math.prod(free) * len(cpt.child) > TABLE_CELLS


def is_unlisted_model(network: BayesianNetwork, target: int, evidence: Mapping[int, int]) -> bool:
    """Whether the target's node is a model with more completions at the evidence than are listed."""
    if not is_large_model(network, target, evidence):
        return False
    sizes = [float(len(network.variables[v])) for v in network.parents[target] if v not in evidence]
    return math.prod(sizes) > MOST_COMPLETIONS


def fill_rows(
    inputs: Sequence[int], evidence: Mapping[int, int], free: Sequence[int], states: Ints
) -> Ints:  # (rows, free variables) -> (rows, inputs)
    """Rows of all inputs: the observed ones as they are, the free ones by column."""
    rows = np.empty((len(states), len(inputs)), dtype=np.int64)
    for place, parent in enumerate(inputs):
        rows[:, place] = evidence[parent] if parent in evidence else states[:, free.index(parent)]
    return rows
