"""Registers of all nodes of a diagram, kept while features are moved in it.

A search moves one feature after another and asks for the expected SDP each time [choi2017, Algorithm 2].
Moving a feature changes only the levels it passes: above them the same functions are decided on in the same
order, below them nothing happens. So the registers of all other levels are kept, and what a node after all
features decides is found out once. The third register of the paper, the weight that agrees with the
decision on the kept features, is kept for every action, since a node may be reached with different
decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.networks.expected_sdp import Decide, decided_mass, one_up, paths
from unswayed.circuits.networks.levels import FeatureLevels
from unswayed.circuits.networks.rearrange import move_feature
from unswayed.core.arrays import Floats


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

    def moved(self, feature: int, place: int) -> Registers:
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
