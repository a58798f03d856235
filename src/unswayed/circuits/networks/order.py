"""In which order to decide on features, and how many branches a compilation will have: asked beforehand.

After some features are decided, what is left depends on those of them that share a table with something
undecided: the *frontier*. Where a hidden variable is a function of decided ones (its table is
deterministic), it is decided with them, and stands for them in the frontier: after forty parts have been
looked at, only their number of defects may matter, not which they are. So hidden variables *follow*
features into the spine as soon as they are determined, and the next feature is always the one that leaves
the smallest frontier.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.networks.contexts import drawn_bits
from unswayed.circuits.networks.elimination_vtree import EliminationTree, scopes_of
from unswayed.model.network import BayesianNetwork

GOOD_BITS = 12.0
"""A widest level of this many bits is not worth ordering features for."""
MOST_ORDERED = 64
"""Features beyond which looking for an order takes too long."""


def is_deterministic(network: BayesianNetwork, variable: int) -> bool:
    """Whether the parents of a variable determine its state."""
    return bool((np.count_nonzero(network.cpts[variable].table, axis=1) == 1).all())


@dataclass(frozen=True, slots=True)
class Spine:
    """Variables to decide on first, and how many states they may leave to be told apart."""

    variables: tuple[int, ...]
    """The features and the hidden variables that follow them, in the order to decide on them."""
    bits: float
    """Logarithm to base 2 of the number of nodes on the widest level, at most."""


def spine_of(network: BayesianNetwork, features: Collection[int], target: int) -> Spine:
    """An order for features with small frontiers; the target never follows.

    The order of the network is taken where it is good enough; else, for up to `MOST_ORDERED` features, always
    the one that leaves the smallest frontier.
    """
    simple = _in_order(network, sorted(features), target)
    if simple.bits <= GOOD_BITS or len(features) > MOST_ORDERED:
        return simple
    return min(simple, _greedily(network, features, target), key=lambda spine: spine.bits)


def _in_order(network: BayesianNetwork, order: Sequence[int], target: int) -> Spine:
    frontier = DecisionFrontier(network, target)
    for feature in order:
        if feature not in frontier.decided:
            frontier.decide(feature)
    return frontier.spine()


def _greedily(network: BayesianNetwork, features: Collection[int], target: int) -> Spine:
    frontier = DecisionFrontier(network, target)
    left = sorted(features)
    while left:
        best = min(left, key=lambda feature: (frontier.bits_after(feature), feature))
        frontier.decide(best)
        left = [feature for feature in left if feature not in frontier.decided]
    return frontier.spine()


class DecisionFrontier:
    """Which variables are decided, and which of them still matter."""

    def __init__(self, network: BayesianNetwork, target: int) -> None:
        self.network, self.target = network, target
        self.scopes = scopes_of(network.parents)
        self.bits = [math.log2(len(v)) for v in network.variables]
        self.deterministic = [is_deterministic(network, v) for v in range(len(network))]
        self.decided: dict[int, None] = {}
        self.n_open = [len(scope) for scope in self.scopes]
        self.now = self.widest = 0.0

    def spine(self) -> Spine:
        """What has been decided."""
        return Spine(tuple(self.decided), min(self.widest, drawn_bits(self.network, self.decided)))

    def tables_of(self, variable: int) -> tuple[int, ...]:
        """The tables that mention a variable: its own and its children's."""
        return (variable, *self.network.children[variable])

    def followers(self, feature: int) -> list[int]:
        """The feature and what it determines together with what is decided, parents first."""
        known = {feature}
        found = [feature]
        for variable in found:
            for child in self.network.children[variable]:
                parents = self.network.parents[child]
                if child in known or child in self.decided or child == self.target:
                    continue
                if self.deterministic[child] and all(p in known or p in self.decided for p in parents):
                    known.add(child)
                    found.append(child)
        return found

    def decide(self, feature: int) -> None:
        """Decide on a feature and on all that it determines."""
        self.now += self.bits_after(feature)
        self.widest = max(self.widest, self.now)
        for variable in self.followers(feature):
            self.decided[variable] = None
            for table in self.tables_of(variable):
                self.n_open[table] -= 1

    def bits_after(self, feature: int) -> float:
        """By how many bits the frontier grows when a feature is decided."""
        new = self.followers(feature)
        closing: dict[int, int] = {}
        for variable in new:
            for table in self.tables_of(variable):
                closing[table] = closing.get(table, 0) + 1
        touched = {v for table in closing for v in self.scopes[table] if v in self.decided}
        lost = sum(self.bits[v] for v in touched if self._matters(v, {}) and not self._matters(v, closing))
        return sum(self.bits[v] for v in new if self._matters(v, closing)) - lost

    def _matters(self, variable: int, closing: dict[int, int]) -> bool:
        """Whether a decided variable shares a table with an undecided one."""
        return any(self.n_open[table] > closing.get(table, 0) for table in self.tables_of(variable))


def predicted_branches(network: BayesianNetwork, tree: EliminationTree) -> float:
    """How many branches compiling over an elimination tree follows at most.

    A context has no more states than its variables together, nor than what they are drawn from: certain
    tables draw nothing.
    """
    bits = [math.log2(len(v)) for v in network.variables]
    total = 0.0
    for variable in tree.order:
        scope = [*tree.contexts[variable], *([] if variable == tree.bottom else [variable])]
        together = min(sum(bits[v] for v in scope), drawn_bits(network, scope))
        total += 2.0 ** min(together, 1000.0)
    return total
