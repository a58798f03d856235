"""Pr(some variables | evidence) and Pr(evidence), exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats
from unswayed.core.names import listing
from unswayed.inference.predictors import is_large_model
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of, tables_for
from unswayed.model.network import BayesianNetwork


def joint_table(network: BayesianNetwork, variables: Sequence[int], evidence: Mapping[int, int]) -> Floats:
    """Pr(variables | evidence), flat, the last variable fastest.

    An observed variable among them has all its mass on the observed state.

    Cost: time and memory grow with the largest table on the way; both are predicted first.
    Raises `LimitError` when over the limits, `ImpossibleEvidence` when Pr(evidence) = 0.
    """
    sizes = [len(network.variables[v]) for v in variables]
    names = [network.variables[v].name for v in variables]
    check_bytes(16.0 * math.prod(map(float, sizes)), f"a table over {listing(names)}")
    free = [v for v in variables if v not in evidence]
    model = next((v for v in free if is_large_model(network, v, evidence)), None)
    if model is not None:
        from unswayed.inference.expected import expect_joint  # which needs this file

        values = expect_joint(network, model, free, evidence)
        return (
            values.reshape(-1)
            if len(free) == len(variables)
            else _with_observed(values, variables, evidence, sizes)
        )
    problem = contraction(network, tables_for(network, free, evidence, evidence), evidence, free)
    check_bytes(problem.plan.peak_bytes, f"exact inference of {listing(names)}")
    values, _ = problem.answer()
    scope = problem.plan.scopes[problem.plan.root]
    values = values.transpose([scope.index(v) for v in free])
    if len(free) == len(variables):
        return np.ascontiguousarray(values).reshape(-1)
    return _with_observed(values, variables, evidence, sizes)


def log_probability(network: BayesianNetwork, evidence: Mapping[int, int]) -> float:
    """Natural logarithm of Pr(evidence); raises `ImpossibleEvidence` where it is zero."""
    problem = contraction(network, ancestors_of(network, evidence), evidence)
    check_bytes(problem.plan.peak_bytes, "the probability of this evidence")
    return problem.answer()[1]


def _with_observed(
    values: Floats, variables: Sequence[int], evidence: Mapping[int, int], sizes: list[int]
) -> Floats:
    """Put the observed variables' axes back, all mass on what was observed."""
    table = np.zeros(sizes)
    table[tuple(evidence.get(v, slice(None)) for v in variables)] = values
    return table.reshape(-1)
