"""The uniform distribution over a structured space, and the size of the space.

Each choice gets the share of its node's models that it holds: the parameters that give every object of the
space the same probability, one over the number of objects.
"""

from __future__ import annotations

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.core.arrays import Floats, read_only
from unswayed.kernels.psdd_passes import Flow, compiled


def log_model_count(structure: PsddStructure) -> float:
    """Natural logarithm of the number of objects."""
    return float(_log_counts(structure)[structure.root])


def uniform_psdd(structure: PsddStructure) -> Psdd:
    """The distribution under which all objects are equally probable."""
    return Psdd(structure, uniform_parameters(structure))


def uniform_parameters(structure: PsddStructure) -> Floats:  # (choices,)
    """Logarithms of the shares of a node's models that its choices hold."""
    counts = _log_counts(structure)
    shares: Floats = counts[structure.lefts] + counts[structure.rights] - counts[structure.owner]
    # Of one choice or many, rounding must not make the sum exceed 1 by more than rounding does.
    return np.minimum(shares, 0.0)


def uniform_uses(structure: PsddStructure) -> Floats:  # (choices,)
    """Probability that an object drawn uniformly uses each choice."""
    values = _log_counts(structure)[:, None].copy()
    uses = np.zeros(structure.n_choices)
    flow = Flow(np.zeros_like(values), np.ones(1), uses)
    compiled().downward(structure.circuit, np.zeros(structure.n_choices), values, flow)
    return uses


def _log_counts(structure: PsddStructure) -> Floats:  # (nodes,)
    if "log_counts" not in structure.prepared:
        unknown = np.full((1, structure.n_variables), -1, dtype=np.int8)
        values = np.empty((structure.n_nodes, 1))
        compiled().upward(structure.circuit, np.zeros(structure.n_choices), unknown, values)
        structure.prepared["log_counts"] = read_only(values[:, 0])
    counts: Floats = structure.prepared["log_counts"]
    return counts
