"""Who plays which part in a diagnosis, as the file says it.

Every function answers from the annotations of a network's variables and is empty where there are none. How a
classifier uses them where a person names no target or features is in `decisions/defaults.py`.
"""

from __future__ import annotations

from unswayed.model.annotation import Role
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


def targets(network: BayesianNetwork) -> tuple[str, ...]:
    """Names of what the file marks as targets; those it ranks, where it ranks any."""
    found = _with_role(network, Role.TARGET)
    ranked = [variable for variable in found if variable.about.ranked]
    return tuple(variable.name for variable in ranked or found)


def observations(network: BayesianNetwork) -> tuple[str, ...]:
    """Names of what the file marks as observations."""
    return tuple(variable.name for variable in _with_role(network, Role.OBSERVATION))


def mandatory_observations(network: BayesianNetwork) -> tuple[str, ...]:
    """Names of the observations that a diagnosis must make first."""
    return tuple(v.name for v in _with_role(network, Role.OBSERVATION) if v.about.mandatory)


def fault_states(network: BayesianNetwork, target: str) -> tuple[str, ...]:
    """States of `target` that the file marks as faults."""
    return network.variable(target).about.fault_states


def observation_costs(network: BayesianNetwork) -> dict[str, float]:
    """What observing costs, by name, where the file says it."""
    return {v.name: v.about.cost for v in network.variables if v.about.cost is not None}


def _with_role(network: BayesianNetwork, role: Role) -> list[Variable]:
    return [variable for variable in network.variables if variable.about.role is role]
