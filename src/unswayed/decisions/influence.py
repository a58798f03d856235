"""A classifier from an influence diagram: what to do, given what is observed [chen2014, Appendix A.2].

The diagram's decision changes no probability, so its best action depends on the posterior of the variables
that the utilities depend on. One such variable is the target; of several, the target is a variable that
stands for all of them together, and the classifier's network has it as their child.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from unswayed.core.errors import QueryError
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import UtilityRule
from unswayed.model.cpt import Cpt
from unswayed.model.influence import Influence
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

MOST_STATES = 1000
"""Most states of a target that stands for several variables."""


def classifier_of_diagram(network: BayesianNetwork) -> Classifier:
    """The classifier that decides as the influence diagram `network` was read from.

    Its features are what the diagram says is known when deciding, else what `choose_features` finds. Raises
    `QueryError` for a network that is no part of a diagram.
    """
    diagram = network.influence
    if diagram is None:
        raise QueryError(
            "this network has no decision and utilities: it was not read from an influence diagram"
        )
    names = [parent for table in diagram.utilities for parent in table.parents]
    relevant = [network.variable(name) for name in dict.fromkeys(names) if name != diagram.decision.name]
    if not relevant:
        raise QueryError(
            "the utilities of the diagram depend on no chance variable; nothing is to be found out"
        )
    target = relevant[0] if len(relevant) == 1 else _joint_variable(network, relevant)
    if len(relevant) > 1:
        identity = np.eye(len(target))
        network = BayesianNetwork([*network.cpts, Cpt(target, relevant, identity)], network.name)
    rule = UtilityRule(_worths(diagram, relevant, target))
    features = [name for name in diagram.observed if name != target.name]
    return Classifier(network, target.name, features or None, rule)


def _joint_variable(network: BayesianNetwork, variables: Sequence[Variable]) -> Variable:
    """A variable whose states are the combinations of the states of several."""
    if math.prod(map(len, variables)) > MOST_STATES:
        raise QueryError(
            f"the utilities depend on {listing([v.name for v in variables])} together, which have more than "
            f"{MOST_STATES} combinations of states"
        )
    name = ", ".join(variable.name for variable in variables)
    while name in network.names:
        name += "'"
    return Variable(name, [", ".join(states) for states in product(*(v.states for v in variables))])


def _worths(
    diagram: Influence, relevant: Sequence[Variable], target: Variable
) -> dict[str, dict[str, float]]:
    """What each action is worth in each state of the target: the sum of all utilities."""
    axes = {variable.name: i for i, variable in enumerate([diagram.decision, *relevant])}
    sizes = [len(diagram.decision), *map(len, relevant)]
    total = np.zeros(sizes)
    for table in diagram.utilities:
        own = table.values.reshape([sizes[axes[parent]] for parent in table.parents])
        order = np.argsort([axes[parent] for parent in table.parents])
        shape = [sizes[i] if i in {axes[p] for p in table.parents} else 1 for i in range(len(sizes))]
        total += own.transpose(order).reshape(shape)
    rows = total.reshape(len(diagram.decision), -1).tolist()
    return {
        action: dict(zip(target.states, row, strict=True))
        for action, row in zip(diagram.decision.states, rows, strict=True)
    }
