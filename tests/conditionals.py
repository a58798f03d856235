"""A network's tables as dictionaries, so that other orders of variables, parents or states compare equal."""

from __future__ import annotations

from collections.abc import Mapping

from unswayed.model.cpt import configuration_of
from unswayed.model.network import BayesianNetwork

Conditionals = dict[tuple[str, str, frozenset[tuple[str, str]]], float]


def conditionals(network: BayesianNetwork, new_name: Mapping[str, str] | None = None) -> Conditionals:
    """Pr(child = state | parents = states) for every table entry; `new_name` renames variables and states."""
    called = {**dict(zip(network.names, network.names, strict=True)), **(new_name or {})}
    found: Conditionals = {}
    for cpt in network.cpts:
        for row, probabilities in enumerate(cpt.table.tolist()):
            states = configuration_of(row, [len(parent) for parent in cpt.parents])
            given = frozenset(
                (called[parent.name], called.get(parent.states[state], parent.states[state]))
                for parent, state in zip(cpt.parents, states, strict=True)
            )
            for state, probability in zip(cpt.child.states, probabilities, strict=True):
                found[called[cpt.child.name], called.get(state, state), given] = probability
    return found


def n_parameters(network: BayesianNetwork) -> int:
    """Free parameters: one less than the states in every row."""
    return sum(len(cpt.table) * (len(cpt.child) - 1) for cpt in network.cpts)
