"""Diagrams with features in another place: condition, move, join again.

To decide on F earlier, every node between its new place and its old one is conditioned on each state of F,
which leaves diagrams without F; then F is put in its new place, its states leading to them [choi2017,
section 5]. All nodes of a level are conditioned at once, and equal results become one node, so the diagram
stays canonical. What is below all features is not touched, which is why this is cheap where moving a leaf
of any circuit is not.

From a circuit that is not constrained to the features, moving all of them up, one behind the other, is
conditioning each node of a level on each state of the next feature; what is left after the last one is the
bottom. All of it happens in one table of functions, where equal results are one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unswayed.circuits.networks.compiled import CompiledNetwork
from unswayed.circuits.networks.levels import FeatureLevels
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.apply import FunctionTable, load
from unswayed.circuits.sdd.sdd import FALSE
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError


def move_feature(levels: FeatureLevels, feature: int, place: int) -> FeatureLevels:
    """The diagram of the same function that decides on a feature at another place in the order.

    Moving it back gives the diagram one started from. Edges must weigh nothing: the circuit has to hold
    all parameters below its features, as a constrained one does.

    Cost: O(edges between the two places), sorted.
    """
    now = levels.features.index(feature)
    if now < place:
        for step in range(now, place):  # moving F down one place is moving the next one up
            levels = move_feature(levels, levels.features[step + 1], step)
        return levels
    if any((weights != 1.0).any() for weights in levels.weights[place : now + 1]):
        raise QueryError("only diagrams of strictly constrained circuits can be rearranged")
    between: list[Ints] = []
    moved = levels.children[now]  # (nodes, states of F) to the level after
    for level in reversed(range(place, now)):
        nodes, where = _distinct(_condition_rows(levels.children[level], moved))
        between.append(nodes)
        moved = where.reshape(len(levels.children[level]), -1)
    changed = [moved, *reversed(between)]
    before, after = slice(None, place), slice(now + 1, None)
    order = [f for f in levels.features if f != feature]
    return replace(
        levels,
        features=(*order[:place], feature, *order[place:]),
        children=(*levels.children[before], *changed, *levels.children[after]),
        weights=(*levels.weights[before], *(np.ones(each.shape) for each in changed), *levels.weights[after]),
    )


def _condition_rows(children: Ints, below: Ints) -> Ints:  # (nodes * states of F, states)
    """The rows of a level for each node and state of F; `below` tells where their children lead with it."""
    padded = np.vstack([below, np.full((1, below.shape[1]), NOTHING)])
    rows: Ints = np.moveaxis(padded[children], 2, 1)
    return rows.reshape(-1, children.shape[1])


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows but those that are impossible, and the place of each row among them."""
    width = int(rows.max(initial=0)) + 2
    where = np.full(len(rows), NOTHING, dtype=np.int64)
    possible = np.flatnonzero((rows != NOTHING).any(axis=1))
    rows = rows[possible]
    if float(width) ** rows.shape[1] < 2.0**62:
        codes = rows[:, 0] + 1
        for column in range(1, rows.shape[1]):
            codes = codes * width + rows[:, column] + 1
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        found = rows[first]
    else:
        found, place = np.unique(rows, axis=0, return_inverse=True)
    where[possible] = place.reshape(-1)
    return found, where


def levels_by_conditioning(
    compiled: CompiledNetwork, features: Sequence[int]
) -> tuple[CompiledNetwork, FeatureLevels]:
    """The diagram of features that a circuit need not be constrained to, and the circuits below it.

    The circuits below mention no feature any more; they are nodes of one circuit over the vtree as it was.

    Cost: that of conditioning the circuits of each level, which grow as the features are moved up.
    """
    table = FunctionTable(compiled.sdd.vtree)
    nodes = [load(table, compiled.sdd)]
    children = []
    for feature in features:
        after = np.array([_condition_nodes(table, nodes, state) for state in _states(compiled, feature)]).T
        child = np.full(after.shape, NOTHING, dtype=np.int64)
        distinct, child[after != FALSE] = np.unique(after[after != FALSE], return_inverse=True)
        children.append(child)
        nodes = distinct.tolist()
    below, bottom = table.export_all(nodes)
    weights = tuple(np.ones(each.shape) for each in children)
    levels = FeatureLevels(tuple(features), tuple(children), weights, bottom, 1.0, below.vtree.root)
    return replace(compiled, sdd=below, spine=()), levels


def _states(compiled: CompiledNetwork, feature: int) -> list[list[int]]:
    """For each state of a feature the literals that hold in it, in the numbers of the vtree."""
    encoding, own = compiled.encoding, compiled.sdd.names
    literals = encoding.indicators[feature]
    place = {b: 1 + own.index(encoding.cnf.names[b]) for b in encoding.block(feature)}
    if len(place) < len(literals):
        return [[place[abs(x) - 1] * (1 if x > 0 else -1)] for x in literals]
    return [[place[b] * (1 if b == x - 1 else -1) for b in place] for x in literals]


def _condition_nodes(table: FunctionTable, nodes: Sequence[int], literals: Sequence[int]) -> list[int]:
    """What is left of nodes where literals hold."""
    left = list(nodes)
    for literal in literals:
        done: dict[int, int] = {}
        left = [apply.condition(table, node, literal, done) for node in left]
    return left
