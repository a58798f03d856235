"""The joint distribution of a small network written out in full, and what follows from it by summing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model import BayesianNetwork
from unswayed.model.cpt import row_of


def joint_table(network: BayesianNetwork) -> Floats:
    """Pr(x) for every instantiation x, one axis for each variable in the network's order."""
    sizes = [len(variable) for variable in network.variables]
    joint = np.empty(sizes)
    for states in product(*map(range, sizes)):
        probability = 1.0
        for i, cpt in enumerate(network.cpts):
            parents = network.parents[i]
            row = row_of([states[p] for p in parents], [sizes[p] for p in parents])
            probability *= cpt.table[row, states[i]]
        joint[states] = probability
    return joint


def mass_by_enumeration(network: BayesianNetwork, evidence: Mapping[str, str]) -> float:
    """Pr(evidence), by summing the joint."""
    return float(_restricted(network, evidence).sum())


def posterior_by_enumeration(network: BayesianNetwork, name: str, evidence: Mapping[str, str]) -> Floats:
    """Pr(name | evidence), one number for each state; `nan` where the evidence is impossible."""
    position = network.index(name)
    axes = tuple(i for i in range(len(network)) if i != position)
    mass: Floats = _restricted(network, evidence).sum(axis=axes)
    with np.errstate(invalid="ignore"):
        return mass / mass.sum()


def _restricted(network: BayesianNetwork, evidence: Mapping[str, str]) -> Floats:
    """The joint with everything that contradicts the evidence set to zero."""
    joint = joint_table(network)
    for name, state in evidence.items():
        position = network.index(name)
        for other in range(len(network.variables[position])):
            if other != network.variables[position].index(state):
                joint[(slice(None),) * position + (other,)] = 0.0
    return joint
