"""The value of every node of a circuit under some weights, and how much flows through each.

Upward, a node's value is the weight of its models over the variables below its vtree node. Downward, the
flow through a node is the weight of the models of the whole circuit that pass through it: the root's value
divided among its elements, each of which passes its share to its prime and its sub alike. The flow into a
literal is the weight of all models that have the literal: so one pass up and one down give all marginals
[darwiche2003].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.sdd.free_variables import Gaps, gap_products, gaps_of
from unswayed.circuits.sdd.sdd import LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Floats, Ints
from unswayed.kernels.circuits.circuit_passes import Elements, fastest, log_sum_products, sum_products


@dataclass(frozen=True, slots=True, eq=False)
class NodeValues:
    """Values of all nodes, a column for each weighting."""

    sdd: Sdd
    gaps: Gaps = field(repr=False)
    values: Floats = field(repr=False)  # (nodes, columns)
    """Weight of each node's models over the variables below its vtree node."""
    factors: Floats = field(repr=False)  # (gaps, columns)
    """What the variables of each gap multiply."""

    is_log: bool = False
    """Whether all numbers are natural logarithms."""

    @property
    def total(self) -> Floats:  # (columns,)
        """Weight of the models of the circuit, or its logarithm."""
        root, gap = self.values[self.sdd.root], self.factors[self.gaps.root]
        total: Floats = root + gap if self.is_log else root * gap
        return total


def node_values(sdd: Sdd, weights: Floats, gaps: Gaps | None = None, *, is_log: bool = False) -> NodeValues:
    """All values under weights of shape (variables, 2, columns); see `weighted_model_count`.

    With `is_log`, weights and values are natural logarithms.
    """
    gaps = gaps_of(sdd) if gaps is None else gaps
    sums = np.logaddexp(weights[:, 0], weights[:, 1]) if is_log else weights.sum(axis=1)
    values = np.full((sdd.n_nodes, weights.shape[2]), -np.inf if is_log else 0.0)
    values[TRUE] = 0.0 if is_log else 1.0
    _set_leaves(sdd, values, weights, sums)
    factors = gap_products(gaps, sums[sdd.vtree.variable[::2]], np.add if is_log else np.multiply)
    loop = fastest(log_sum_products if is_log else sum_products, sdd.n_elements * values.shape[1])
    loop(Elements(sdd.starts, sdd.primes, sdd.subs), gaps.primes, gaps.subs, factors, values)
    return NodeValues(sdd, gaps, values, factors, is_log)


def _set_leaves(sdd: Sdd, values: Floats, weights: Floats, sums: Floats) -> None:
    """Values of literals, and of leaves left free in a normalised circuit."""
    literals = np.flatnonzero(sdd.kind == LITERAL)
    signed = sdd.literal[literals]
    values[literals] = weights[np.abs(signed) - 1, (signed > 0).astype(np.int64)]
    free = np.flatnonzero((sdd.kind == TRUE) & (sdd.vtree_node != NOTHING))
    values[free] = sums[sdd.vtree.variable[sdd.vtree_node[free]]]


def literal_shares(found: NodeValues, weights: Floats) -> Floats:  # (variables, 2)
    """The share of the models' weight that has each literal, for the first weighting.

    What a gap leaves open gets the gap's flow: it is noted at the two ends of the run of leaves, and added
    up in the end. Cost: O(elements), a step for each level of the vtree.
    """
    sdd = found.sdd
    owner = np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts))
    share = _element_shares(found, owner)
    flow = np.zeros(sdd.n_nodes)
    flow[sdd.root] = 1.0
    depth = _depths(sdd)[sdd.vtree_node[owner]]
    order = np.argsort(depth, kind="stable")
    # All flow into the nodes of one level comes from levels above.
    for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        passed = flow[owner[level]] * share[level]
        np.add.at(flow, sdd.primes[level], passed)
        np.add.at(flow, sdd.subs[level], passed)
    plain = np.exp(weights[:, :, 0]) if found.is_log else weights[:, :, 0]
    return _literal_flow(found, flow, share * flow[owner], plain)


def _element_shares(found: NodeValues, owner: Ints) -> Floats:
    """Which share of its node's value each element has."""
    sdd, gaps = found.sdd, found.gaps
    values, factors = found.values[:, 0], found.factors[:, 0]
    parts = (values[sdd.primes], values[sdd.subs], factors[gaps.primes], factors[gaps.subs])
    share = np.zeros(len(owner))
    if found.is_log:
        logs = parts[0] + parts[1] + parts[2] + parts[3]
        possible = np.isfinite(logs)
        share[possible] = np.exp(logs[possible] - values[owner[possible]])
        return share
    products = parts[0] * parts[1] * parts[2] * parts[3]
    return np.divide(products, values[owner], out=share, where=values[owner] > 0)


def _depths(sdd: Sdd) -> Ints:
    """How far below the root each vtree node is."""
    depths = np.zeros(len(sdd.vtree), dtype=np.int64)
    for node in reversed(list(sdd.vtree.postorder())):
        if node != sdd.vtree.root:
            depths[node] = depths[sdd.vtree.parent[node]] + 1
    return depths


def _literal_flow(found: NodeValues, flow: Floats, passed: Floats, weights: Floats) -> Floats:
    """Flow into literals, and into the variables that gaps and free leaves leave open."""
    sdd, gaps = found.sdd, found.gaps
    shares = np.zeros((len(sdd.names), 2))
    literals = np.flatnonzero(sdd.kind == LITERAL)
    signed = sdd.literal[literals]
    np.add.at(shares, (np.abs(signed) - 1, (signed > 0).astype(np.int64)), flow[literals])
    through = np.bincount(gaps.primes, passed, len(gaps.runs)) + np.bincount(
        gaps.subs, passed, len(gaps.runs)
    )
    through[gaps.root] += 1.0
    ends = np.zeros(len(sdd.names) + 1)
    for side in (0, 1):
        np.add.at(ends, gaps.runs[:, side, 0], through)
        np.subtract.at(ends, gaps.runs[:, side, 1], through)
    open_flow = np.zeros(len(sdd.names))
    open_flow[sdd.vtree.variable[::2]] = np.cumsum(ends[:-1])
    free = np.flatnonzero((sdd.kind == TRUE) & (sdd.vtree_node != NOTHING))
    np.add.at(open_flow, sdd.vtree.variable[sdd.vtree_node[free]], flow[free])
    sums = weights.sum(axis=1, keepdims=True)
    shares += open_flow[:, np.newaxis] * np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return shares
