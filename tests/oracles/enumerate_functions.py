"""A functional network written out in full: every instantiation with its probability."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.model.network import BayesianNetwork


def enumerate_rows(network: BayesianNetwork, evidence: Mapping[str, str]) -> tuple[Ints, Floats]:
    """All instantiations that agree with the evidence, and their probabilities."""
    known = network.evidence(evidence)
    choices = [
        [known[v]] if v in known else range(len(variable)) for v, variable in enumerate(network.variables)
    ]
    rows = np.array(list(product(*choices)), dtype=np.int64)
    mass = np.ones(len(rows))
    for v, node in enumerate(network.cpts):
        shares = node.probabilities(rows[:, list(network.parents[v])])
        mass *= shares[np.arange(len(rows)), rows[:, v]]
    return rows, mass
