"""Several targets at once: which of these faults is it?

A classifier decides about one variable. `join_targets` makes one of several: a new variable whose states are
the combinations of theirs. `fault_classifier` decides which single fault is the most probable, or that there
is none: an action for each fault, worth 1 where the fault is present, so that its expected utility is the
fault's posterior. Every question then has its answer: SDP, value of information, plans.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np

from unswayed.core.errors import QueryError, expect
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, UtilityRule
from unswayed.model import roles
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

MOST_STATES = 1024
"""Combinations of states beyond which the joined variable is too large."""
NO_FAULT = "none"
"""The action for the case that no fault is the most probable answer."""


def join_targets(network: BayesianNetwork, targets: Sequence[str], name: str = "targets") -> BayesianNetwork:
    """The network with one more variable, whose states are the combinations of states of `targets`.

    >>> from unswayed.model.zoo import review
    >>> join_targets(review(), ["R1", "R2"], "votes").variable("votes").states
    ('R1=+, R2=+', 'R1=+, R2=-', 'R1=-, R2=+', 'R1=-, R2=-')
    """
    parents = _variables(network, targets)
    count = math.prod(map(len, parents))
    if count > MOST_STATES:
        raise QueryError(
            f"{len(parents)} targets have {count:,} combinations of states, over {MOST_STATES:,}; name fewer"
        )
    if name in network.names:
        raise QueryError(f"a variable {name!r} exists already; give the joined target another name")
    joined = Variable(name, [_label(parents, states) for states in product(*(v.states for v in parents))])
    return BayesianNetwork([*network.cpts, Cpt(joined, parents, np.eye(count))], network.name)


def joint_classifier(
    network: BayesianNetwork, targets: Sequence[str], features: Iterable[str] | None = None
) -> Classifier:
    """Decides for the most probable combination of states of several targets."""
    joined = join_targets(network, targets)
    return Classifier(joined, "targets", _features(network, targets, features), MostProbable())


def fault_classifier(
    network: BayesianNetwork, faults: Mapping[str, str] | None = None, features: Iterable[str] | None = None
) -> Classifier:
    """Decides which of several faults is the most probable one, or that none is at hand.

    `faults` maps targets to the state that is the fault; without it, every target that the file marks, in
    its first fault state. The answer "none" is as probable as that all faults are absent.

    >>> from unswayed.model.zoo import review
    >>> votes = fault_classifier(review(), {"R1": "-", "R2": "-"}, ["AC"])
    >>> votes.actions
    ('R1=-', 'R2=-', 'none')
    """
    expect(network, BayesianNetwork, "the network")
    chosen = dict(faults) if faults else _marked_faults(network)
    targets = [network.variable(name).name for name in chosen]
    present = [network.variable(name).index(state) for name, state in chosen.items()]
    joined = join_targets(network, targets, "fault")
    states = list(product(*(range(len(network.variable(name))) for name in targets)))
    faulty = np.array(states) == present  # (combinations, targets)
    labels = joined.variable("fault").states
    columns = [*faulty.T, ~faulty.any(axis=1)]
    actions = [*(f"{name}={state}" for name, state in chosen.items()), NO_FAULT]
    worth = {
        action: dict(zip(labels, column.astype(float).tolist(), strict=True))
        for action, column in zip(actions, columns, strict=True)
    }
    return Classifier(joined, "fault", _features(network, targets, features), UtilityRule(worth))


def _marked_faults(network: BayesianNetwork) -> dict[str, str]:
    """The targets that the file marks, each with its first fault state."""
    found = {name: roles.fault_states(network, name) for name in roles.targets(network)}
    marked = {name: states[0] for name, states in found.items() if states}
    if not marked:
        raise QueryError("the network marks no faults; name them, as in {'Fuse': 'blown', 'Pump': 'stuck'}")
    return marked


def _features(
    network: BayesianNetwork, targets: Sequence[str], features: Iterable[str] | None
) -> tuple[str, ...]:
    """What may be observed: the file's observations, else the leaves, the targets left out."""
    if features is not None:
        return tuple(features)
    marked = roles.observations(network)
    leaves = tuple(n for n, children in zip(network.names, network.children, strict=True) if not children)
    return tuple(name for name in marked or leaves if name not in targets)


def _variables(network: BayesianNetwork, targets: Sequence[str]) -> list[Variable]:
    expect(network, BayesianNetwork, "the network")
    found = [network.variable(name) for name in targets]
    if len({each.name for each in found}) < max(len(found), 1):
        raise QueryError(f"name each target once, and at least one; got {listing(list(targets))}")
    return found


def _label(parents: Sequence[Variable], states: Sequence[str]) -> str:
    return ", ".join(f"{parent.name}={state}" for parent, state in zip(parents, states, strict=True))
