"""Probabilities from a compiled network: any evidence, no elimination."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unswayed.circuits.formulas.encode import weights_under
from unswayed.circuits.networks.compiled import CompiledNetwork
from unswayed.circuits.networks.values import NodeValues, literal_shares, log_node_values, node_values
from unswayed.circuits.sdd.free_variables import Gaps, gaps_of
from unswayed.core.arrays import Floats
from unswayed.core.errors import ImpossibleEvidence
from unswayed.inference.problem import SAFE, impossible


def probability(compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None) -> float:
    """Pr(evidence): the weight of the models that agree with it [choi2017, section 3.1].

    Cost: one pass over the circuit.

    >>> from unswayed.circuits.networks.compiled import compile_network
    >>> from unswayed.model.zoo import review
    >>> round(probability(compile_network(review()), {"R1": "+", "R2": "+"}), 3)
    0.1
    """
    try:
        return math.exp(log_probability(compiled, evidence))
    except ImpossibleEvidence:
        return 0.0


def log_probability(compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None) -> float:
    """Natural logarithm of Pr(evidence); raises `ImpossibleEvidence` where it is zero."""
    found, _, logarithmic = _values(compiled, compiled.network.evidence(evidence))
    return found.log_total if logarithmic else math.log(float(found.total[0]))


def all_marginals(
    compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None
) -> dict[str, dict[str, float]]:
    """Pr(variable = state | evidence) for every variable and state, by one pass up and one down."""
    values, weights, logarithmic = _values(compiled, compiled.network.evidence(evidence))
    shares = literal_shares(values, weights, logarithmic=logarithmic)
    found = {}
    for variable, literals in zip(compiled.encoding.variables, compiled.encoding.indicators, strict=True):
        masses = [float(shares[abs(x) - 1, int(x > 0)]) for x in _in_vtree(compiled, literals)]
        total = math.fsum(masses)
        found[variable.name] = {s: m / total for s, m in zip(variable.states, masses, strict=True)}
    return found


def _values(compiled: CompiledNetwork, observed: Mapping[int, int]) -> tuple[NodeValues, Floats, bool]:
    """Values and weights under evidence, as logarithms where plain numbers may have underflowed."""
    weights = weight_columns(compiled, [observed])
    found = node_values(compiled.sdd, weights, circuit_gaps(compiled))
    if found.total[0] > SAFE:
        return found, weights, False
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    found = log_node_values(compiled.sdd, log_weights, circuit_gaps(compiled))
    if found.log_total == -math.inf:
        raise impossible(compiled.network, observed)
    return found, log_weights, True


def weight_columns(compiled: CompiledNetwork, cases: Sequence[Mapping[int, int]]) -> Floats:
    """The weights under several pieces of evidence, (variables, 2, cases), in the order of the vtree."""
    encoding, names = compiled.encoding, compiled.sdd.names
    columns = np.stack([weights_under(encoding, case) for case in cases], axis=2)
    if names == encoding.cnf.names:
        return columns
    position = {name: place for place, name in enumerate(encoding.cnf.names)}
    return np.ascontiguousarray(columns[[position[name] for name in names]])


def circuit_gaps(compiled: CompiledNetwork) -> Gaps:
    """The gaps of the circuit, found once."""
    if "gaps" not in compiled._memo:
        compiled._memo["gaps"] = gaps_of(compiled.sdd)
    gaps = compiled._memo["gaps"]
    assert isinstance(gaps, Gaps)
    return gaps


def _in_vtree(compiled: CompiledNetwork, literals: Sequence[int]) -> list[int]:
    """Literals of the encoding as literals of the vtree, which may number its variables in another order."""
    names, own = compiled.encoding.cnf.names, compiled.sdd.names
    if names == own:
        return list(literals)
    return [(1 + own.index(names[abs(x) - 1])) * (1 if x > 0 else -1) for x in literals]
