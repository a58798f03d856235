"""What a classifier decides about and observes where the person does not say.

The file's roles come first: somebody marked there what is a disease and what is a test. Without roles the
shape of the network speaks: where every other variable is a child of one variable (naive Bayes, TAN), that
one is decided about and all others may be observed. Else the leaves may be observed, and the person names
the target. A single leaf is not all there is to observe: then all others may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unswayed.core.errors import QueryError
from unswayed.core.names import listing
from unswayed.inference.posteriors import joint_table
from unswayed.model import roles
from unswayed.model.network import BayesianNetwork

_MARKED = ("variable that the file marks as an observation", "variables that the file marks as observations")


@dataclass(frozen=True, slots=True)
class FeatureChoice:
    """The features taken where none were named."""

    names: tuple[str, ...]
    """What may be observed, in the network's order."""
    reason: str
    """Which they are, to follow "features:", such as `the 3 leaves`."""


def choose_features(network: BayesianNetwork, target: str) -> FeatureChoice:
    """What may be observed to decide about `target`.

    >>> from unswayed.model.zoo import review
    >>> choose_features(review(), "D")
    FeatureChoice(names=('R1', 'R2', 'AC'), reason='the 3 others, since one alone is a leaf')
    """
    position = network.index(target)
    others = tuple(name for i, name in enumerate(network.names) if i != position)
    marked = set(roles.observations(network)).intersection(others)
    if marked:
        names = tuple(name for name in others if name in marked)
        return FeatureChoice(names, _counted(names, *_MARKED))
    if others and len(network.children[position]) == len(others):
        return FeatureChoice(others, _counted(others, "other variable", "others, all children of the target"))
    leaves = leaves_other_than(network, target)
    if len(leaves) == 1 and len(others) > 1:
        return FeatureChoice(others, f"the {len(others)} others, since one alone is a leaf")
    return FeatureChoice(leaves, _counted(leaves, "leaf", "leaves"))


def leaves_other_than(network: BayesianNetwork, target: str) -> tuple[str, ...]:
    """Names of the variables without children, the target left out."""
    names = zip(network.names, network.children, strict=True)
    return tuple(name for name, children in names if not children and name != target)


def choose_target(
    network: BayesianNetwork, evidence: Mapping[int, int] | None = None
) -> tuple[str, str | None]:
    """What to decide about, and its positive state or None.

    Of several targets that the file marks, the one whose fault is now the most probable: what a diagnosis
    pursues first. Raises `QueryError` when neither roles nor shape single a variable out.
    """
    marked = [name for name in roles.targets(network) if network.index(name) not in (evidence or {})]
    if not marked:
        return _centre(network), None
    ranked = [choose_positive(network, name, evidence) for name in marked]
    best = max(range(len(marked)), key=lambda i: (ranked[i][1], -i))
    return marked[best], ranked[best][0]


def choose_positive(
    network: BayesianNetwork, target: str, evidence: Mapping[int, int] | None = None
) -> tuple[str | None, float]:
    """The most probable fault of `target` and its probability; None and 0 where the file marks no fault."""
    variable = network.variable(target)
    faults = [variable.index(state) for state in variable.about.fault_states]
    if not faults:
        return None, 0.0
    table = joint_table(network, [network.index(target)], evidence or {})
    best = max(faults, key=lambda state: (table[state], -state))
    return variable.states[best], float(table[best])


def _centre(network: BayesianNetwork) -> str:
    """The variable that all others are children of."""
    for name, children in zip(network.names, network.children, strict=True):
        if len(network) > 1 and len(children) == len(network) - 1:
            return name
    raise QueryError(
        f"name what is decided about: the network marks no target, and it has {listing(network.names)}"
    )


def _counted(names: tuple[str, ...], one: str, several: str) -> str:
    """Which the names are, with their number."""
    if not names:
        return f"none, since there is no {one}"
    return f"the only {one}" if len(names) == 1 else f"the {len(names)} {several}"
