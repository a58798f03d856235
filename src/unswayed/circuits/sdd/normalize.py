"""Circuits normalised for their vtree: nothing skipped, nothing left out.

In a normalised circuit every prime and sub of a node at vtree node v belongs to the left and the right
child of v [darwiche2011], so every node says something about all variables below its vtree node.
A trimmed node used higher up is lifted one vtree node at a time: f on the right becomes {(true, f)}, and f
on the left {(f, true), (not f, false)}, which is where negations enter.

A variable is *free* where a trimmed circuit leaves it out between a node and the place where it is used. An
element of a node at vtree node v has a prime about the variables left of v and a sub about those right
of v. A trimmed prime may belong to a node further down, at u; the variables left of v but not below u are
free, and each multiplies what is counted by the sum of its two weights. Numbered in order, they are two
runs of leaves, one on each side of u: a *gap*. Circuits have many elements but few different gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd, compact, sdd_from_lists
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats, Ints, read_only


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a circuit; the first is empty."""

    primes: Ints = field(repr=False)  # (elements,)
    """The gap above the prime of each element."""
    subs: Ints = field(repr=False)  # (elements,)
    """The gap above the sub of each element."""
    root: int
    """The gap above the root."""
    runs: Ints = field(repr=False)  # (gaps, 2, 2)
    """For each gap two runs of leaves: the first leaf and the one after the last, counted from the left."""

    def __post_init__(self) -> None:
        for name in ("primes", "subs", "runs"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def sizes(self) -> Ints:
        """How many variables each gap leaves out."""
        sizes: Ints = (self.runs[:, :, 1] - self.runs[:, :, 0]).sum(axis=1)
        return sizes


def gaps_of(sdd: Sdd) -> Gaps:
    """The gaps of a circuit. Cost: O(elements log elements)."""
    vtree = sdd.vtree
    owner = np.repeat(sdd.vtree_node, np.diff(sdd.starts))
    above = np.concatenate([vtree.left[owner], vtree.right[owner], [vtree.root]])
    child = np.concatenate([sdd.primes, sdd.subs, [sdd.root]])
    below = sdd.vtree_node[child]
    # What is false counts for nothing, however many variables are free.
    is_empty = (above == below) | (sdd.kind[child] == FALSE)
    code = np.where(is_empty, -1, above * (len(vtree) + 1) + below + 1)
    codes, gap = np.unique(np.append(code, -1), return_inverse=True)
    n_elements = sdd.n_elements
    runs = _runs(vtree, codes // (len(vtree) + 1), codes % (len(vtree) + 1) - 1)
    runs[0] = 0
    return Gaps(gap[:n_elements], gap[n_elements : 2 * n_elements], int(gap[2 * n_elements]), runs)


def _runs(vtree: Vtree, above: Ints, below: Ints) -> Ints:
    first, last = vtree.first // 2, vtree.last // 2
    start, end = first[above], last[above] + 1
    is_constant = below == NOTHING
    middle = np.where(is_constant, end, first[below])
    after = np.where(is_constant, end, last[below] + 1)
    return np.stack([np.stack([start, middle], axis=1), np.stack([after, end], axis=1)], axis=1)


def gap_products(gaps: Gaps, leaf_sums: Floats, combine: np.ufunc = np.multiply) -> Floats:
    """Product over the leaves of each gap, (gaps, columns), of numbers given as (leaves, columns).

    Of logarithms, `combine` is `np.add`. Without division, since sums may be zero: a table holds the
    products of runs of 1, 2, 4, ... leaves, and any run is put together from as many of them as its length
    has binary digits.
    """
    factors = np.full((len(gaps.runs), leaf_sums.shape[1]), float(combine.identity))
    place = gaps.runs[:, :, 0].copy()
    left = gaps.runs[:, :, 1] - place
    power, products = 1, leaf_sums
    while left.any():
        for side in (0, 1):
            using = np.flatnonzero(left[:, side] & power)
            factors[using] = combine(factors[using], products[place[using, side]])
            place[using, side] += power
            left[using, side] -= power
        products = combine(products[:-power], products[power:])
        power *= 2
    return factors


Lifted = tuple[int, bool, int]
"""A node of the circuit, whether it is negated, and the vtree node from which it is seen."""

Elements = tuple[tuple[int, int], ...]

_NEVER: Lifted = (FALSE, False, NOTHING)
_NODES_BETWEEN_LOOKS = 256
_BYTES_PER_ELEMENT = 320
"""Measured: keys, pairs and the entries of two dictionaries."""


def normalize(sdd: Sdd) -> Sdd:
    """The same function, normalised for its vtree.

    Every prime and sub belongs to the child of its node's vtree node; a free variable is a node `TRUE` at
    its leaf; false subs are node 0; false primes are left out. The root belongs to the vtree's root, unless
    the function is false. Equal nodes are shared.

    Cost: O(elements + lifted nodes), the latter at most the depth of the vtree for each node. `LimitError`
    when that is more than the limits allow.
    """
    work = _Normalization(sdd)
    return compact(work.finish(work.make(work.key_of(sdd.root, False, sdd.vtree.root))))


class _Normalization:
    """The nodes made so far."""

    def __init__(self, sdd: Sdd) -> None:
        self.sdd = sdd
        vtree = sdd.vtree
        self.left, self.right = vtree.left.tolist(), vtree.right.tolist()
        self.kind, self.place = sdd.kind.tolist(), sdd.vtree_node.tolist()
        self.starts = sdd.starts.tolist()
        self.pairs = list(zip(sdd.primes.tolist(), sdd.subs.tolist(), strict=True))
        self.nodes: list[tuple[int, int, int, Elements]] = [(FALSE, NOTHING, 0, ()), (TRUE, NOTHING, 0, ())]
        self.number_by_node: dict[tuple[int, int, int, Elements], int] = {}
        self.number_by_lifted: dict[Lifted, int] = {_NEVER: FALSE}
        self.n_elements = 0

    def key_of(self, node: int, is_negated: bool, place: int) -> Lifted:
        """The key of a node; constants have one each."""
        if self.kind[node] > TRUE:
            return node, is_negated, place
        return (TRUE, False, place) if (self.kind[node] == TRUE) != is_negated else _NEVER

    def make(self, wanted: Lifted) -> int:
        """The number of a node in the new circuit; without recursion, since vtrees may be deep."""
        waiting = [wanted]
        while waiting:
            key = waiting[-1]
            if key in self.number_by_lifted:
                waiting.pop()
                continue
            parts = self._parts(key)
            missing = [child for pair in parts for child in pair if child not in self.number_by_lifted]
            if missing:
                waiting += missing
            else:
                self.number_by_lifted[waiting.pop()] = self._number(key, parts)
                if len(self.number_by_lifted) % _NODES_BETWEEN_LOOKS == 0:
                    self._check_limits()
        return self.number_by_lifted[wanted]

    def _check_limits(self) -> None:
        what = f"a normalised circuit of {self.n_elements:,} elements or more"
        check_bytes(self.n_elements * _BYTES_PER_ELEMENT, what)
        tick(what="normalising a circuit")

    def _parts(self, key: Lifted) -> list[tuple[Lifted, Lifted]]:
        """The elements of a lifted node; none at leaves."""
        node, is_negated, place = key
        left, right = self.left[place], self.right[place]
        if left == NOTHING:
            return []
        below = self.place[node]
        if node == TRUE:
            return [((TRUE, False, left), (TRUE, False, right))]
        if below == place:
            pairs = self.pairs[self.starts[node] : self.starts[node + 1]]
            return [(self.key_of(p, False, left), self.key_of(s, is_negated, right)) for p, s in pairs]
        if below > place:
            return [((TRUE, False, left), (node, is_negated, right))]
        here, opposite = (node, is_negated, left), (node, not is_negated, left)
        return [(here, (TRUE, False, right)), (opposite, _NEVER)]

    def _number(self, key: Lifted, parts: list[tuple[Lifted, Lifted]]) -> int:
        node, is_negated, place = key
        number = self.number_by_lifted
        if self.left[place] == NOTHING:
            sign = -1 if is_negated else 1
            literal = sign * int(self.sdd.literal[node])
            return self._share((LITERAL if literal else TRUE, place, literal, ()))
        elements = tuple((number[p], number[s]) for p, s in parts if number[p] != FALSE)
        if all(sub == FALSE for _, sub in elements):
            return FALSE
        return self._share((DECISION, place, 0, elements))

    def _share(self, node: tuple[int, int, int, Elements]) -> int:
        if node not in self.number_by_node:
            self.number_by_node[node] = len(self.nodes)
            self.nodes.append(node)
            self.n_elements += len(node[3])
        return self.number_by_node[node]

    def finish(self, root: int) -> Sdd:
        """The new circuit as arrays."""
        _, places, literals, elements = zip(*self.nodes, strict=True)
        return sdd_from_lists(self.sdd.vtree, places, literals, elements, root)
