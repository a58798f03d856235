"""Examples drawn from a PSDD, given what is known about them or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.query import condition
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.kernels.psdd_passes import Draws, compiled

ROWS_AT_ONCE = 4096


def sample(psdd: Psdd, n_samples: int, rng: np.random.Generator, *, given: Any = None) -> Bools:
    """Rows drawn independently, (samples, variables); `given` is a row with what is known about all of them.

    Cost: O(choices used) for each sample.
    """
    if n_samples < 0:
        raise QueryError(f"cannot draw {n_samples} samples")
    if given is not None:
        psdd = condition(psdd, given)
    structure = psdd.structure
    parameters = np.exp(psdd.log_parameters)
    last = _last_possible(structure, parameters)
    rows = np.zeros((n_samples, structure.n_variables), dtype=np.uint8)
    for start in range(0, n_samples, ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        uniforms = rng.random((len(part), len(structure.vtree)))
        draws = Draws(structure.vtree_node, parameters, last, uniforms)
        compiled().sample(structure.circuit, draws, part)
    return rows.view(np.bool_)


def _last_possible(structure: PsddStructure, parameters: Floats) -> Ints:  # (nodes,)
    """The last choice of each node that is not impossible."""
    last = np.zeros(structure.n_nodes, dtype=np.int64)
    possible = np.flatnonzero(parameters > 0)
    last[structure.owner[possible]] = possible  # of several for one node, the last one stays
    return last
