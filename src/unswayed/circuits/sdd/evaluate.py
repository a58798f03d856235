"""Counting, weighing and evaluating: one pass over a circuit, children before parents.

The primes of a node exclude each other, and a prime and its sub share no variable. So the number of models
of a node is the sum over its elements of the products of their numbers, and the same holds with weights on
the literals [darwiche2011]. Variables that a trimmed circuit leaves out are free: see `normalize.py`.

Every node has a value under some weights, and a flow. Upward, a node's value is the weight of its models over
the variables below its vtree node. Downward, the flow through a node is the weight of the models of the whole
circuit that pass through it: the root's value divided among its elements, each of which passes its share to
its prime and its sub alike. The flow into a literal is the weight of all models that have the literal: so one
pass up and one down give all marginals [darwiche2003].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unswayed.circuits.sdd.normalize import Gaps, gap_products, gaps_of
from unswayed.circuits.sdd.sdd import DECISION, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Bools, Floats, Ints, expect_numbers
from unswayed.core.errors import QueryError, expect
from unswayed.core.names import listing, unknown_name
from unswayed.kernels.circuits.circuit_passes import (
    Elements,
    any_of_both,
    fastest,
    log_sum_products,
    sum_products,
)


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


_CELLS_AT_ONCE = 2**22
_WORD = 64


def model_count(sdd: Sdd) -> int:
    """How many assignments of all variables of the vtree make the function hold, exactly.

    Cost: one multiplication of whole numbers of any size for each element.

    >>> from unswayed.circuits.formulas.cnf import Cnf
    >>> from unswayed.circuits.formulas.compile import compile_cnf
    >>> model_count(compile_cnf(Cnf([f"x{i}" for i in range(100)], [(1, 2)]))) == 3 * 2**98
    True
    """
    gaps = gaps_of(sdd)
    sizes = gaps.sizes()
    counts: list[int] = [int(kind in (TRUE, LITERAL)) for kind in sdd.kind.tolist()]
    for node in np.flatnonzero((sdd.kind == TRUE) & (sdd.vtree_node != NOTHING)).tolist():
        counts[node] = 2  # a leaf left free in a normalised circuit
    starts, primes, subs = sdd.starts.tolist(), sdd.primes.tolist(), sdd.subs.tolist()
    free = (sizes[gaps.primes] + sizes[gaps.subs]).tolist()
    for node in np.flatnonzero(sdd.kind == DECISION).tolist():
        counts[node] = sum(
            counts[primes[e]] * counts[subs[e]] << free[e] for e in range(starts[node], starts[node + 1])
        )
    return counts[sdd.root] << int(sizes[gaps.root])


Weights = npt.ArrayLike | Mapping[str, Sequence[float]]
"""Weights of literals: a pair for each variable, for false and true; by name, or in the order of `names`."""


def weighted_model_count(sdd: Sdd, weights: Weights, *, gaps: Gaps | None = None) -> Floats:
    """Sum over the models of the product of the weights of their literals.

    `weights[name]` is the pair of weights of a variable, where it does not hold and where it does. In an
    array, `weights[..., v, :]` is the pair of the variable `sdd.names[v]`, in the formula's order; leading
    axes are many weightings at once, and come back as the axes of the answer. Weights may be negative. Where
    products leave the range of floating point, use `log_weighted_model_count`. Who asks often for one circuit
    passes `gaps_of(sdd)`.

    Cost: O(elements) for each weighting.

    >>> from unswayed.circuits.formulas.cnf import Cnf
    >>> from unswayed.circuits.formulas.compile import compile_cnf
    >>> either = compile_cnf(Cnf("AB", [(1, 2)]))
    >>> print(weighted_model_count(either, {"A": (0.9, 0.1), "B": (0.5, 0.5)}))
    0.55
    """
    return _weigh(sdd, weights, gaps, is_log=False)


def log_weighted_model_count(sdd: Sdd, log_weights: Weights, *, gaps: Gaps | None = None) -> Floats:
    """As `weighted_model_count`, with natural logarithms of weights and answer; minus infinity is zero."""
    return _weigh(sdd, log_weights, gaps, is_log=True)


def evaluate(sdd: Sdd, rows: npt.ArrayLike) -> Bools:
    """Whether the function holds in each row of truth values, (..., variables).

    Cost: O(elements) for 64 rows, which share one word.
    """
    table = np.asarray(rows)
    if table.ndim < 1 or table.shape[-1] != len(sdd.names):
        raise QueryError(
            f"rows of shape {table.shape} for {len(sdd.names)} variables; give one column for each"
        )
    if table.dtype != np.bool_ and not np.isin(table, (0, 1)).all():
        raise QueryError("rows hold truth values, False and True or 0 and 1")
    flat = table.reshape(-1, table.shape[-1]).astype(np.bool_)
    holds = np.empty(len(flat), dtype=np.bool_)
    for part in _parts(sdd.n_nodes, len(flat), columns_in_cell=_WORD):
        holds[part] = _bit_pass(sdd, flat[part])
    answer: Bools = holds.reshape(table.shape[:-1])[()]
    return answer


def _weigh(sdd: Sdd, weights: Weights, gaps: Gaps | None, *, is_log: bool) -> Floats:
    """Run over as many columns at once as fit in memory well."""
    table = _in_order(sdd, weights)
    wanted = (len(sdd.names), 2)
    if table.shape[-2:] != wanted:
        raise QueryError(f"weights of shape {table.shape}; give (..., {wanted[0]}, 2), for false and true")
    if np.isnan(table).any() or (table == np.inf).any():
        raise QueryError("weights hold nan or infinity; give plain numbers")
    columns = np.moveaxis(table.reshape(-1, *wanted), 0, 2)
    gaps = gaps_of(sdd) if gaps is None else gaps
    totals = np.empty(columns.shape[2])
    for part in _parts(sdd.n_nodes, columns.shape[2]):
        some = np.ascontiguousarray(columns[:, :, part])
        totals[part] = node_values(sdd, some, gaps, is_log=is_log).total
    answer: Floats = totals.reshape(table.shape[:-2])[()]
    return answer


def _in_order(sdd: Sdd, weights: Weights) -> Floats:
    """The weights as an array, in the order of the circuit's variables."""
    expect(sdd, Sdd, "the circuit")
    if not isinstance(weights, Mapping):
        return expect_numbers(weights, "weights of literals")
    for name in weights:
        if name not in sdd.names:
            raise QueryError(unknown_name("variable", name, sdd.names))
    missing = [name for name in sdd.names if name not in weights]
    if missing:
        raise QueryError(f"no weights for {listing(missing)}; give each variable a pair, for false and true")
    return expect_numbers([weights[name] for name in sdd.names], "weights of literals")


def _parts(n_nodes: int, n_columns: int, *, columns_in_cell: int = 1) -> Iterator[slice]:
    step = max(1, _CELLS_AT_ONCE // n_nodes) * columns_in_cell
    for start in range(0, n_columns, step):
        yield slice(start, start + step)


def _bit_pass(sdd: Sdd, rows: Bools) -> Bools:
    n_words = -(-len(rows) // _WORD)
    padded = np.zeros((rows.shape[1], n_words * _WORD), dtype=np.bool_)
    padded[:, : len(rows)] = rows.T
    packed = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    bits = np.zeros((sdd.n_nodes, n_words), dtype=np.uint64)
    bits[sdd.kind == TRUE] = ~np.uint64(0)
    literals = np.flatnonzero(sdd.kind == LITERAL)
    signed = sdd.literal[literals]
    bits[literals] = packed[np.abs(signed) - 1] ^ np.where(signed > 0, np.uint64(0), ~np.uint64(0))[:, None]
    loop = fastest(any_of_both, sdd.n_elements * n_words)
    loop(Elements(sdd.starts, sdd.primes, sdd.subs), bits)
    unpacked = np.unpackbits(bits[sdd.root].view(np.uint8), bitorder="little")
    return unpacked[: len(rows)].astype(np.bool_)
