"""From any circuit of a network to the diagram of some features: condition on them, one after another.

Moving a variable to the top of a circuit takes three steps [choi2017, section 5]: condition on it both
ways, take its leaf out, join the two halves on top. Joining on top is one node. So moving all features up,
one behind the other, is conditioning each node of a level on each state of the next feature; what is left
after the last one is the bottom. All of it happens in one table of functions, where equal results are one
node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unswayed.circuits.networks.compiled import CompiledNetwork
from unswayed.circuits.networks.levels import FeatureLevels
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.loading import load
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.table import FunctionTable
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Ints
from unswayed.core.limits import DEFAULT_LIMITS, Limits


def levels_by_conditioning(
    compiled: CompiledNetwork, features: Sequence[int], *, limits: Limits = DEFAULT_LIMITS
) -> tuple[CompiledNetwork, FeatureLevels]:
    """The diagram of features that a circuit need not be constrained to, and the circuits below it.

    The circuits below mention no feature any more; they are nodes of one circuit over the vtree as it was.

    Cost: that of conditioning the circuits of each level, which grow as the features are moved up.
    """
    table = FunctionTable(compiled.sdd.vtree, limits=limits)
    nodes = [load(table, compiled.sdd)]
    children = []
    for feature in features:
        after = np.array([_conditioned(table, nodes, state) for state in _states(compiled, feature)]).T
        child = np.full(after.shape, NOTHING, dtype=np.int64)
        distinct, child[after != FALSE] = np.unique(after[after != FALSE], return_inverse=True)
        children.append(child)
        nodes = distinct.tolist()
    below, bottom = _exported(table, nodes)
    weights = tuple(np.ones(each.shape) for each in children)
    levels = FeatureLevels(tuple(features), tuple(children), weights, bottom, 1.0, below.vtree.root)
    return replace(compiled, sdd=below, spine=(), _memo={}), levels


def _states(compiled: CompiledNetwork, feature: int) -> list[list[int]]:
    """For each state of a feature the literals that hold in it, in the numbers of the vtree."""
    encoding, own = compiled.encoding, compiled.sdd.names
    literals = encoding.indicators[feature]
    place = {b: 1 + own.index(encoding.cnf.names[b]) for b in encoding.block(feature)}
    if len(place) < len(literals):
        return [[place[abs(x) - 1] * (1 if x > 0 else -1)] for x in literals]
    return [[place[b] * (1 if b == x - 1 else -1) for b in place] for x in literals]


def _conditioned(table: FunctionTable, nodes: Sequence[int], literals: Sequence[int]) -> list[int]:
    """What is left of nodes where literals hold."""
    left = list(nodes)
    for literal in literals:
        done: dict[int, int] = {}
        left = [apply.condition(table, node, literal, done) for node in left]
    return left


def _exported(table: FunctionTable, nodes: Sequence[int]) -> tuple[Sdd, Ints]:
    """One circuit that holds all of some nodes, and their places in it; its root is the last of them."""
    wanted = _below(table, nodes)
    number = {node: place for place, node in enumerate(wanted)}
    pairs = [(number[p], number[s]) for node in wanted for p, s in table.elements[node]]
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    literal = np.array([table.literals[node] for node in wanted])
    kind = np.where(literal != 0, LITERAL, DECISION)
    kind[:2] = FALSE, TRUE
    sdd = Sdd(
        table.vtree,
        kind=kind,
        vtree_node=np.array([table.place[node] for node in wanted]),
        literal=literal,
        starts=np.concatenate([[0], np.cumsum([len(table.elements[node]) for node in wanted])]),
        primes=flat[:, 0],
        subs=flat[:, 1],
        root=len(wanted) - 1,
    )
    return sdd, np.array([number[node] for node in nodes], dtype=np.int64)


def _below(table: FunctionTable, nodes: Sequence[int]) -> list[int]:
    """The constants, some nodes and all below them, children first."""
    seen = {FALSE, TRUE, *nodes}
    waiting = list(nodes)
    while waiting:
        for pair in table.elements[waiting.pop()]:
            fresh = [child for child in pair if child not in seen]
            seen.update(fresh)
            waiting += fresh
    return sorted(seen)
