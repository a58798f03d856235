"""All marginals at once: one pass up the plan for Pr(evidence), one down for its derivatives.

The derivative of Pr(e) by a table's entry, times the entry, is the probability of that entry's states
together with e [darwiche2003]. So after one run of the plan and one run backwards, every table, and every
table made on the way, gives the joint distribution of its variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats
from unswayed.inference.contraction import Arithmetic, derivatives
from unswayed.inference.plan import Plan
from unswayed.inference.problem import contraction
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork


def all_marginals(network: BayesianNetwork, evidence: Mapping[int, int]) -> list[Floats]:
    """Pr(variable | evidence) for every variable, in the network's order.

    Cost: about three times that of Pr(evidence), whatever the number of variables.
    """
    problem = contraction(network, range(len(network)), evidence)
    plan = problem.plan
    check_bytes(2 * plan.total_bytes, "all marginals of this network")
    buffers, arithmetic = problem.buffers()
    source = _smallest_holding(plan)
    wanted = set(source.values())
    slopes = derivatives(plan, buffers, arithmetic, [b in wanted for b in range(len(buffers))])
    found = []
    for variable in range(len(network)):
        if variable in evidence:
            found.append(np.eye(len(network.variables[variable]))[evidence[variable]])
            continue
        buffer = source[variable]
        mass = _mass(buffers[buffer], slopes[buffer], arithmetic)
        others = tuple(a for a, v in enumerate(plan.scopes[buffer]) if v != variable)
        found.append(_scaled(mass.sum(axis=others)))
    return found


def family_marginals(network: BayesianNetwork, evidence: Mapping[int, int]) -> dict[int, Floats]:
    """Pr(parents, variable | evidence) by position for every variable with a table, shaped as the table."""
    problem = contraction(network, range(len(network)), evidence)
    plan = problem.plan
    check_bytes(2 * plan.total_bytes, "all family marginals of this network")
    buffers, arithmetic = problem.buffers()
    slopes = derivatives(plan, buffers, arithmetic, [b < plan.n_leaves for b in range(len(buffers))])
    found = {}
    for position, cpt in enumerate(network.cpts):
        if not isinstance(cpt, Cpt):
            continue
        scope = (*network.parents[position], position)
        family = np.zeros([len(network.variables[v]) for v in scope])
        leaf = problem.factors.starts[position]
        mass = _scaled(_mass(buffers[leaf], slopes[leaf], arithmetic))
        family[tuple(evidence.get(v, slice(None)) for v in scope)] = mass
        found[position] = family.reshape(cpt.table.shape)
    return found


def _smallest_holding(plan: Plan) -> dict[int, int]:
    """For each variable the smallest buffer that mentions it: the cheapest to sum it out of."""
    by_size = sorted(range(len(plan.scopes)), key=lambda b: (math.prod(plan.shape(b)), b))
    found: dict[int, int] = {}
    for buffer in by_size:
        for variable in plan.scopes[buffer]:
            found.setdefault(variable, buffer)
    return found


def _mass(values: Floats, slope: Floats | None, arithmetic: Arithmetic) -> Floats:
    """Probability of each entry together with the evidence, up to one factor."""
    assert slope is not None
    if arithmetic.one == 1.0:
        return values * slope
    logs = values + slope
    mass: Floats = np.exp(logs - logs.max())
    return mass


def _scaled(mass: Floats) -> Floats:
    scaled: Floats = mass / mass.sum()
    return scaled
