"""Circuits that follow their vtree: a variable's leaf is moved, and the function stays.

The function is conditioned on the variable both ways. Neither half mentions it, so no node of theirs belongs
to the leaf or its parent, and both are circuits over the new vtree as they are, but for numbers. There they
are joined again: f = (x and f|x) or (not x and f|not x). Beside the root this is one node with two elements.
"""

from __future__ import annotations

from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.sdd.sdd import LITERAL, Sdd
from unswayed.circuits.vtree_moves import Relinked, Side, relink_leaf
from unswayed.core.limits import DEFAULT_LIMITS, Limits


def move_leaf(
    sdd: Sdd, name: str, beside: int, side: Side = Side.LEFT, *, limits: Limits = DEFAULT_LIMITS
) -> Sdd:
    """The circuit of the same function over the vtree with a leaf moved beside a node (`moved_leaf`).

    Cost: that of conditioning twice and of joining once; the join is short beside a node of the right-most
    path.

    >>> from unswayed.circuits.sdd.algebra import literal
    >>> from unswayed.circuits.vtree import balanced, to_nested
    >>> sdd = literal(balanced("ABC"), "C")
    >>> to_nested(move_leaf(sdd, "C", sdd.vtree.root).vtree)
    ('C', ('A', 'B'))
    """
    relinked = relink_leaf(sdd.vtree, name, beside, side)
    literal = sdd.names.index(name) + 1
    before = SddBuilder(sdd.vtree)
    whole = before.load(sdd)
    halves = before.build(
        [before.condition(whole, [literal]), before.condition(whole, [-literal])], limits=limits
    )
    after = SddBuilder(relinked.vtree)
    positive, negative = (after.load(_relabelled(half, relinked)) for half in halves)
    joined = after.disjoin(
        [
            after.conjoin([after.literal(literal), positive]),
            after.conjoin([after.literal(-literal), negative]),
        ]
    )
    return after.build([joined], limits=limits)[0]


def _relabelled(sdd: Sdd, relinked: Relinked) -> Sdd:
    """The same nodes over the new vtree; left stays left, and right stays right."""
    place = sdd.vtree_node.copy()
    placed = sdd.kind >= LITERAL
    place[placed] = relinked.node_by_old[place[placed]]
    return Sdd(relinked.vtree, sdd.kind, place, sdd.literal, sdd.starts, sdd.primes, sdd.subs, sdd.root)
