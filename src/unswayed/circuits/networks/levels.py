"""The top of a constrained circuit: a diagram that decides on one feature after another.

Let a circuit decide on the features F1, F2, .. first. A node that it reaches after the first k of them is
what is left of the network after some of their states; all states that lead to one node leave the same
function, hence the same posterior of everything below [choi2017, Lemma 1]. So the top of the circuit is a
diagram with one level for each feature, whose edges are the feature's states, and whose *bottom* nodes
stand for all instantiations of the features that nothing below can tell apart.

    level 0          level 1           bottom
    root --F1=a--> node --F2=x--> what is left after (a, x)

Between two features a spine may hold variables that are not free: they are observed, they are functions of
the features before, or they are parameters of tables over the features alone. In each node they have one
possible continuation; what it weighs is put on the edge before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.networks.compiled import CompiledNetwork
from unswayed.circuits.networks.queries import circuit_gaps, weight_columns
from unswayed.circuits.networks.spine import SpineReading, spine_steps
from unswayed.circuits.networks.values import log_node_values, node_values
from unswayed.circuits.sdd.free_variables import Gaps, gap_products
from unswayed.circuits.sdd.sdd import FALSE, Sdd
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats, Ints
from unswayed.inference.problem import SAFE, impossible


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLevels:
    """The diagram of the free features; node 0 of the first level is where it begins."""

    features: tuple[int, ...]
    """The features in the order they are decided."""
    children: tuple[Ints, ...] = field(repr=False)  # each (nodes of the level, states)
    """For each feature the node of the next level that each state leads to; `NOTHING` where impossible."""
    weights: tuple[Floats, ...] = field(repr=False)  # as children
    """What is multiplied on each edge."""
    bottom: Ints = field(repr=False)  # (bottom nodes,)
    """The circuit's node that each bottom node is."""
    start_weight: float
    """What is multiplied before the first feature."""
    place: int
    """The vtree node below all levels; `NOTHING` where nothing is below."""

    @property
    def n_edges(self) -> int:
        """Size of the diagram."""
        return sum(each.size for each in self.children)


def feature_levels(
    compiled: CompiledNetwork, features: Sequence[int], evidence: Mapping[int, int]
) -> FeatureLevels:
    """The diagram of the free features among those that the circuit is constrained to.

    All other variables of the spine must be observed or determined by what comes before.
    """
    reading = SpineReading(compiled, evidence)
    steps, place = spine_steps(compiled)
    nodes = np.array([compiled.sdd.root], dtype=np.int64)
    start_weight = 1.0
    decided, children, weights = [], list[Ints](), list[Floats]()
    for step in steps:
        if step.variable in features:
            nodes, child = _numbered(reading.after_states(step, nodes))
            decided.append(step.variable)
            children.append(child)
            weights.append(np.ones(child.shape))
            continue
        after, factor = reading.after_certain(step, nodes)
        nodes, following = _numbered(np.where(factor > 0, after, FALSE))
        if children:
            _redirect(children[-1], weights[-1], following, factor)
        else:
            start_weight *= float(factor[0])
    return FeatureLevels(tuple(decided), tuple(children), tuple(weights), nodes, start_weight, place)


def _numbered(nodes: Ints) -> tuple[Ints, Ints]:
    """The different nodes but false, and the place of each among them; `NOTHING` for false."""
    places = np.full(nodes.shape, NOTHING, dtype=np.int64)
    possible = nodes != FALSE
    found, places[possible] = np.unique(nodes[possible], return_inverse=True)
    return found, places


def _redirect(child: Ints, weight: Floats, following: Ints, factor: Floats) -> None:
    """Let the edges of a level lead to what follows, and carry its weight."""
    possible = child != NOTHING
    weight[possible] *= factor[child[possible]]
    child[possible] = following[child[possible]]


def bottom_masses(
    compiled: CompiledNetwork, levels: FeatureLevels, target: int, evidence: Mapping[int, int]
) -> Floats:  # (bottom nodes, classes)
    """Weight of each class of the target together with the evidence at each bottom node, up to one factor.

    These are the registers vr1 (their sum) and vr2 of [choi2017, Algorithm 1] after all features.
    """
    n_classes = len(compiled.network.variables[target])
    cases = [{**evidence, target: state} for state in range(n_classes)]
    weights = weight_columns(compiled, cases)
    found = node_values(compiled.sdd, weights, circuit_gaps(compiled))
    masses = found.values[levels.bottom]
    if found.total.sum() > SAFE:
        return masses * _open_products(compiled.sdd, levels, weights.sum(axis=1))
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    found = log_node_values(compiled.sdd, logs, circuit_gaps(compiled))
    open_sums = np.logaddexp(logs[:, 0], logs[:, 1])
    log_masses = found.values[levels.bottom] + _open_products(compiled.sdd, levels, open_sums, np.add)
    highest = log_masses.max(initial=-np.inf)
    if highest == -np.inf:
        raise impossible(compiled.network, evidence)
    scaled: Floats = np.exp(log_masses - highest)
    return scaled


def _open_products(
    sdd: Sdd, levels: FeatureLevels, sums: Floats, combine: np.ufunc = np.multiply
) -> Floats:  # (bottom nodes, columns)
    """What the variables that each bottom node leaves open multiply."""
    vtree = sdd.vtree
    n_bottom = len(levels.bottom)
    if levels.place == NOTHING:
        return np.full((n_bottom, sums.shape[1]), float(combine.identity))
    start, end = int(vtree.first[levels.place]) // 2, int(vtree.last[levels.place]) // 2 + 1
    own = sdd.vtree_node[levels.bottom]
    first = np.where(own == NOTHING, end, vtree.first[own] // 2)
    after = np.where(own == NOTHING, end, vtree.last[own] // 2 + 1)
    runs = np.stack(
        [
            np.stack([np.full(n_bottom, start), first], axis=1),
            np.stack([after, np.full(n_bottom, end)], axis=1),
        ],
        axis=1,
    )
    none = np.zeros(0, dtype=np.int64)
    return gap_products(Gaps(none, none, 0, runs), sums[vtree.variable[::2]], combine)
