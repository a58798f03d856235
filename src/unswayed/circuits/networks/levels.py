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

From a diagram of all features, `kept_rows` reads the rows of some of them: what can be told apart by
observing these alone. It walks down the levels. A *row* is a set of instantiations of the kept features
seen so far, with the weight that leads from it to each node of the current level. At a kept feature a row
splits into one row for each state; at a hidden one the states' weights add up. Rows that lead to the same
nodes in the same proportions are one row from there on: nothing below can tell them apart. So the number
of rows is bounded by what can be told apart, not by the number of instantiations, and where the kept
features come first it is the number of nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.circuits.networks.compiled import CompiledNetwork, circuit_gaps, weight_columns
from unswayed.circuits.networks.spine import SpineReading, spine_steps
from unswayed.circuits.sdd.evaluate import node_values
from unswayed.circuits.sdd.normalize import Gaps, gap_products
from unswayed.circuits.sdd.sdd import FALSE, Sdd
from unswayed.circuits.vtree import NOTHING
from unswayed.core.anytime import check_bytes, tick
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
            nodes, child = _number_nodes(reading.after_states(step, nodes))
            decided.append(step.variable)
            children.append(child)
            weights.append(np.ones(child.shape))
            continue
        after, factor = reading.after_certain(step, nodes)
        nodes, following = _number_nodes(np.where(factor > 0, after, FALSE))
        if children:
            _redirect(children[-1], weights[-1], following, factor)
        else:
            start_weight *= float(factor[0])
    return FeatureLevels(tuple(decided), tuple(children), tuple(weights), nodes, start_weight, place)


def _number_nodes(nodes: Ints) -> tuple[Ints, Ints]:
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
    found = node_values(compiled.sdd, logs, circuit_gaps(compiled), is_log=True)
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


ALIKE = 1e-13
"""Proportions closer than this are equal: they come from different sums of the same numbers."""
_BYTES_PER_ENTRY = 64.0


def kept_rows(levels: FeatureLevels, kept: Collection[int], masses: Floats) -> Floats:
    """The masses of each row of kept features: (rows, columns) from masses of (bottom nodes, columns).

    Raises `LimitError` when there are more rows than memory allows, or when time is over.
    """
    from scipy import sparse

    rows = sparse.csr_array(np.full((1, 1), levels.start_weight))
    for feature, children, weights in zip(levels.features, levels.children, levels.weights, strict=True):
        width = int(children.max(initial=NOTHING)) + 1
        moves = [_move(children[:, s], weights[:, s], width) for s in range(children.shape[1])]
        if feature in kept:
            check_bytes(_BYTES_PER_ENTRY * rows.nnz * len(moves), "the rows of the kept features")
            rows = merge_rows(sparse.vstack([rows @ move for move in moves], format="csr"))
        else:
            rows = rows @ sum(moves[1:], start=moves[0])
        tick(what="the list of rows of the kept features")
    found: Floats = merge_rows(rows) @ masses
    return found


def single_masses(levels: FeatureLevels, masses: Floats) -> dict[int, Floats]:  # each (columns, states)
    """The masses of each state of every feature alone: what leads to an edge times what it leads to."""
    reached = [np.array([levels.start_weight])]
    widths = [*map(len, levels.children), len(masses)][1:]
    for children, weights, width in zip(levels.children, levels.weights, widths, strict=True):
        tick(what="the masses of single features")
        flow, possible = reached[-1][:, np.newaxis] * weights, children != NOTHING
        reached.append(np.bincount(children[possible], flow[possible], width))
    found, below = {}, masses
    for at in reversed(range(len(levels.features))):
        children, weights = levels.children[at], levels.weights[at]
        kept = np.where(children == NOTHING, 0.0, weights)
        ahead = below[np.where(children == NOTHING, 0, children)] * kept[:, :, np.newaxis]
        found[levels.features[at]] = np.einsum("i,isc->cs", reached[at], ahead)
        below = ahead.sum(axis=1)
    return found


def _move(children: Any, weights: Floats, width: int) -> Any:
    """The matrix that leads the nodes of one level to those of the next by one state."""
    from scipy import sparse

    possible = np.flatnonzero((children != NOTHING) & (weights > 0))
    places = (possible, children[possible])
    return sparse.csr_array((weights[possible], places), shape=(len(children), width))


def merge_rows(rows: Any) -> Any:
    """The rows with those of equal proportions added up, and those without weight left out.

    Two fixed random projections tell rows apart: they agree for different proportions by a chance too small
    to matter, and finding them takes one product and one sort.
    """
    from scipy import sparse

    totals = np.asarray(rows.sum(axis=1)).reshape(-1)
    rows, totals = rows[totals > 0], totals[totals > 0]
    if rows.shape[0] < 2:
        return rows
    probes = np.random.default_rng(0).normal(size=(rows.shape[1], 2))
    marks = (rows @ probes) / totals[:, np.newaxis]
    order = np.argsort(marks[:, 0], kind="stable")
    differ = (np.abs(np.diff(marks[order], axis=0)) > ALIKE * (1 + np.abs(marks[order][1:]))).any(axis=1)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(differ)])
    n_groups = int(group.max()) + 1
    if n_groups == len(group):
        return rows
    return (
        sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(n_groups, len(group)))
        @ rows
    )
