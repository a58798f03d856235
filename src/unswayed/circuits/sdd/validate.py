"""Whether a circuit is what it claims: each law of sentential decision diagrams, checked node by node.

    respects its vtree      primes are about the left child's variables, subs about the right child's
    deterministic           no two primes of a node hold together
    exhaustive              whatever the variables are, one prime of a node holds
    compressed              the subs of a node differ
    trimmed                 no node is {(true, f)} or {(f, true), (not f, false)}
    normalised              every prime and sub belongs to the child itself, not to a node further down

The first three make an SDD, and are what counting, weighing and sampling stand on; with the next two it is
canonical for its vtree. Checks raise `ModelError` and name the node.
"""

from __future__ import annotations

import numpy as np

from unswayed.circuits.sdd.apply import Elements, FunctionTable, conjoin, disjoin, elements_of, load
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING
from unswayed.core.arrays import Bools, Ints
from unswayed.core.errors import ModelError


def check_circuit(sdd: Sdd) -> None:
    """Raise `ModelError` unless the circuit respects its vtree and every node's primes are a partition.

    Cost: that of disjoining all primes of every node.
    """
    check_vtree(sdd)
    check_partitions(sdd)


def check_vtree(sdd: Sdd) -> None:
    """Raise `ModelError` unless every prime is left of its node in the vtree, and every sub right of it."""
    owner, vtree = _owners(sdd), sdd.vtree
    place = sdd.vtree_node[owner]
    for word, children, tops in (("prime", sdd.primes, vtree.left), ("sub", sdd.subs, vtree.right)):
        top = tops[place]
        below = sdd.vtree_node[children]
        outside = (below != NOTHING) & ((below < vtree.first[top]) | (below > vtree.last[top]))
        if outside.any():
            element = int(np.argmax(outside))
            raise ModelError(
                f"node {int(owner[element])} at vtree node {int(place[element])} has the {word} "
                f"{int(children[element])}, which belongs to vtree node {int(below[element])} and not to "
                f"the subtree of {int(top[element])}"
            )


def check_partitions(sdd: Sdd) -> None:
    """Raise `ModelError` unless, whatever the variables are, exactly one prime of every node holds."""
    table = FunctionTable(sdd.vtree)
    load(table, sdd, lambda node, pairs: _check_partition(table, node, pairs))


def _check_partition(table: FunctionTable, node: int, pairs: Elements) -> None:
    """One prime after another: none may meet those before it, and together they must be everything."""
    so_far = FALSE
    for prime, _ in pairs:
        if conjoin(table, so_far, prime) != FALSE:
            raise ModelError(f"node {node} is not deterministic: two of its primes hold together")
        so_far = disjoin(table, so_far, prime)
    if so_far != TRUE:
        raise ModelError(f"node {node} is not exhaustive: for some assignments none of its primes holds")


def is_compressed(sdd: Sdd) -> bool:
    """Whether the subs of every node are different nodes."""
    keys = _owners(sdd) * sdd.n_nodes + sdd.subs
    return len(np.unique(keys)) == len(keys)


def is_trimmed(sdd: Sdd) -> bool:
    """Whether no decision node can be replaced by one of its children as it stands."""
    counts = np.diff(sdd.starts)
    if (counts == 1).any():
        return False
    firsts = sdd.starts[:-1][counts == 2]
    kinds = np.sort(np.stack([sdd.kind[sdd.subs[firsts]], sdd.kind[sdd.subs[firsts + 1]]]), axis=0)
    return not ((kinds[0] == FALSE) & (kinds[1] == TRUE)).any()


def is_canonical(sdd: Sdd) -> bool:
    """Whether the circuit is compressed and trimmed, with one node for each function.

    By induction from the leaves, different nodes of such a circuit are different functions, so what is
    seen on the page is enough: no two nodes at one place with the same elements, no constant for a prime.
    """
    has_places = bool((sdd.vtree_node[sdd.kind <= TRUE] != NOTHING).any())
    if has_places or (sdd.kind[sdd.primes] <= TRUE).any() or np.count_nonzero(sdd.kind <= TRUE) > 2:
        return False
    if not (is_compressed(sdd) and is_trimmed(sdd)):
        return False
    literals = sdd.literal[sdd.kind == LITERAL]
    if len(np.unique(literals)) < len(literals):
        return False
    decisions = [tuple(sorted(elements)) for elements in elements_of(sdd) if elements]
    return len(set(zip(sdd.vtree_node[sdd.kind == DECISION].tolist(), decisions, strict=True))) == len(
        decisions
    )


def is_normalized(sdd: Sdd) -> bool:
    """Whether every prime and sub, but for false subs, belongs to the child of its node's vtree node."""
    place = sdd.vtree_node[_owners(sdd)]
    primes: Bools = sdd.vtree_node[sdd.primes] == sdd.vtree.left[place]
    subs: Bools = (sdd.vtree_node[sdd.subs] == sdd.vtree.right[place]) | (sdd.subs == FALSE)
    at_top = sdd.root == FALSE or int(sdd.vtree_node[sdd.root]) == sdd.vtree.root
    return bool(primes.all() and subs.all() and at_top)


def _owners(sdd: Sdd) -> Ints:
    """The node that each element belongs to."""
    owners: Ints = np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts))
    return owners
