"""The expected same-decision probability from a circuit [choi2017, Algorithm 1].

The circuit decides on the kept features Y first, then on the others X, and each of its nodes has registers:

    vr1(node)     weight of the evidence e in what is left at the node
    vr2(node, d)  weight of the evidence and the class d

A node after Y stands for some y, and one after Y and X for some xy (`levels.py`), so both
decisions can be read off the registers: Pr(d | xye) = vr2 / vr1. The expected SDP is the weight of the xy
whose decision is that of their y.

The paper speaks of *the* node after Y above one after XY. A circuit shares nodes, and one node after XY may
lie below several after Y that decide differently; so each gets the weight of the paths that lead to it,
divided by the decision taken after Y, and counts the part that agrees with its own.

A search moves one feature after another and asks for the expected SDP each time [choi2017, Algorithm 2].
Moving a feature changes only the levels it passes: above them the same functions are decided on in the same
order, below them nothing happens. So the registers of all other levels are kept, and what a node after all
features decides is found out once. The third register of the paper, the weight that agrees with the
decision on the kept features, is kept for every action, since a node may be reached with different
decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.networks.levels import FeatureLevels
from unswayed.circuits.networks.rearrange import move_feature
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats, Ints

Decide = Callable[[Floats], Ints]
"""The decision for each row of class weights."""
BLOCK = 4096
"""Nodes decided between two looks at the bound."""


def expected_agreement(
    levels: FeatureLevels,
    n_kept: int,
    class_mass: Floats,  # (bottom nodes, classes)
    decide: Decide,
    *,
    n_actions: int,
    best: float = 0.0,
) -> float:
    """How often the decision on the first `n_kept` features repeats that on all (E-SDP).

    Nodes without the kept decision lower a bound that starts at 1; the search ends when it falls below the
    `best` value known, and what comes back is then only known to be below it [choi2017, section 5].

    Cost: O(edges * classes).
    """
    mass = class_mass.sum(axis=1)
    after_kept = registers(levels, n_kept, class_mass)
    reached = paths(levels, 0, n_kept, np.full((1, 1), levels.start_weight))
    total = float(reached[:, 0] @ after_kept.sum(axis=1))
    arriving = paths(levels, n_kept, len(levels.features), reached * _take(after_kept, decide, n_actions))
    bound = 1.0
    for start in range(0, len(mass), BLOCK):
        part = slice(start, start + BLOCK)
        agreeing = _take(class_mass[part], decide, n_actions)
        lost = (arriving[part] * (1.0 - agreeing)).sum(axis=1) @ mass[part]
        bound -= float(lost) / total
        if bound < best:
            break
    return min(max(bound, 0.0), 1.0)


def _take(class_mass: Floats, decide: Decide, n_actions: int) -> Floats:  # (nodes, actions)
    """One where a node decides for an action, else zero; nodes without weight decide nothing."""
    taken = np.zeros((len(class_mass), n_actions))
    rows = np.flatnonzero(class_mass.sum(axis=1) > 0)
    taken[rows, decide(class_mass[rows])] = 1.0
    return taken


def decided_mass(class_mass: Floats, decide: Decide, n_actions: int) -> Floats:  # (nodes, actions)
    """The weight of each node under the action it decides for."""
    taken: Floats = _take(class_mass, decide, n_actions) * class_mass.sum(axis=1, keepdims=True)
    return taken


def registers(levels: FeatureLevels, depth: int, bottom: Floats) -> Floats:  # (nodes, columns)
    """Registers of the nodes of a level from those of the bottom nodes: sums over the states below."""
    found = bottom
    for level in reversed(range(depth, len(levels.features))):
        found = one_up(levels, level, found)
    return found


def one_up(levels: FeatureLevels, level: int, below: Floats) -> Floats:  # (nodes, columns)
    """Registers of the nodes of a level from those of the next."""
    children, weights = levels.children[level], levels.weights[level]
    padded = np.vstack([below, np.zeros((1, below.shape[1]))])  # impossible states weigh nothing
    found = padded[children[:, 0]] * weights[:, 0, np.newaxis]
    for state in range(1, children.shape[1]):
        found += padded[children[:, state]] * weights[:, state, np.newaxis]
    return found


def paths(levels: FeatureLevels, start: int, end: int, weights: Floats) -> Floats:  # (nodes, columns)
    """Weight of the paths that lead to each node of a level, from weights at the nodes of an earlier one."""
    for level in range(start, end):
        children, edges = levels.children[level], levels.weights[level]
        width = int(children.max(initial=NOTHING)) + 1
        arriving = np.zeros((width, weights.shape[1]))
        for state in range(children.shape[1]):
            possible = np.flatnonzero(children[:, state] != NOTHING)
            passed = weights[possible] * edges[possible, state, np.newaxis]
            for column in range(weights.shape[1]):
                arriving[:, column] += np.bincount(children[possible, state], passed[:, column], width)
        weights = arriving
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class Registers:
    """A diagram with the registers of all its nodes."""

    levels: FeatureLevels
    """The diagram."""
    n_classes: int
    """How many of the columns are classes; the others are actions."""
    filled: tuple[Floats, ...] = field(repr=False)  # each (nodes, classes + actions)
    """For each level, the bottom included, the weight of each class and of each full decision."""

    @property
    def total(self) -> float:
        """Weight of the evidence."""
        return float(self.filled[0][0, : self.n_classes].sum())

    def expected_agreement(self, n_kept: int, decide: Decide) -> float:
        """How often the decision on the first features repeats that on all."""
        here = self.filled[n_kept]
        reached = paths(self.levels, 0, n_kept, np.ones((1, 1)))[:, 0]
        rows = np.flatnonzero(here[:, : self.n_classes].sum(axis=1) > 0)
        decisions = decide(here[rows, : self.n_classes])
        agreeing = float(reached[rows] @ here[rows, self.n_classes + decisions])
        return min(max(agreeing / self.total, 0.0), 1.0)

    def move(self, feature: int, place: int) -> Registers:
        """The registers of the diagram with a feature moved up to a place."""
        now = self.levels.features.index(feature)
        levels = move_feature(self.levels, feature, place)
        filled = list(self.filled)
        for level in reversed(range(place + 1, now + 1)):
            filled[level] = one_up(levels, level, filled[level + 1])
        return Registers(levels, self.n_classes, tuple(filled))


def registers_of(levels: FeatureLevels, class_mass: Floats, decide: Decide, n_actions: int) -> Registers:
    """The registers of all nodes from the class weights of the bottom nodes."""
    filled = [np.hstack([class_mass, decided_mass(class_mass, decide, n_actions)])]
    for level in reversed(range(len(levels.features))):
        filled.append(one_up(levels, level, filled[-1]))
    return Registers(levels, class_mass.shape[1], tuple(reversed(filled)))
