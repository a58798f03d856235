"""Vtrees from elimination orders: small circuits wherever elimination makes small tables.

Eliminating variables one by one links each to the next eliminated among those it meets in a table. The
links form a tree in which all variables of a table lie on one path up from its first eliminated one, its
*home*. The vtree copies this tree: a variable decides on the left, and on the right follow the parameters
of the tables at home there and the variables below. So a circuit needs, at each variable, one node for each
state of its *context*, the variables above that something below depends on, as elimination needs one
number.

A *constrained* vtree has given variables on its right-most path above everything else [choi2017, Def. 4]:

    (F1, (F2, (F3, rest)))

These variables are the *spine*. A circuit for it decides on F1, then F2, then F3; all paths that meet in
one node leave the same function of the rest (`levels.py`). Between spine and rest, and as the root
where there is no spine, stands one variable more, the *bottom*: it has no states to decide on and joins the
rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.encode import Encoding
from unswayed.circuits.vtree import NOTHING, Nested, Vtree, join_balanced, join_right, vtree_from_nested
from unswayed.core.errors import LimitError
from unswayed.inference.ordering import elimination_order

Scopes = Sequence[Sequence[int]]
"""The variables of each table: its parents and its child."""


@dataclass(frozen=True, slots=True)
class EliminationTree:
    """Who meets whom when variables are eliminated in some order."""

    order: tuple[int, ...]
    """All variables and the bottom, first eliminated first; so children come before their parents."""
    spine: tuple[int, ...]
    """Those decided first, in that order: the reversed end of the order."""
    parent: dict[int, int]
    """The variable above each one; `NOTHING` at the top."""
    home: tuple[int, ...]
    """For each table the variable that completes it on the way down."""
    contexts: dict[int, tuple[int, ...]]
    """What each variable and all below depend on among the variables above, ascending."""

    @property
    def bottom(self) -> int:
        """The variable without states that joins what is below the spine: one past the last."""
        return len(self.order) - 1

    def children(self) -> dict[int, list[int]]:
        """The variables right below each one, in the order they are joined: largest subtree last."""
        size = dict.fromkeys(self.order, 1)
        found: dict[int, list[int]] = {variable: [] for variable in self.order}
        for variable in self.order:
            found[variable].sort(key=lambda child: (size[child], child))
            if self.parent[variable] != NOTHING:
                found[self.parent[variable]].append(variable)
                size[self.parent[variable]] += size[variable]
        return found


def network_tree(
    scopes: Scopes, sizes: Sequence[int], spine: Sequence[int] = (), *, strict: bool = True
) -> EliminationTree:
    """The tree of a cheap elimination order below a spine.

    `strict` keeps the parameters of all tables below the spine, as a constrained vtree has it; otherwise
    those of tables that lie within the spine stand in it, each as soon as its table is complete.
    """
    return tree_of(scopes, _cheap_order(scopes, sizes, frozenset(spine)), spine, strict=strict)


def features_last(scopes: Scopes, sizes: Sequence[int], features: Sequence[int]) -> EliminationTree:
    """The tree of a cheap elimination order that has features last, so near its top, but not as a spine."""
    rest = _cheap_order(scopes, sizes, frozenset(features))
    return tree_of(scopes, [*rest, *reversed(features)])


def _cheap_order(scopes: Scopes, sizes: Sequence[int], spine: frozenset[int]) -> tuple[int, ...]:
    """An elimination order of what is below the spine."""
    try:
        return elimination_order(scopes, sizes, spine).variables
    except LimitError:
        # Tables over all of a long spine are hopeless, but few of its states may be possible: an order that
        # looks at the rest alone may still do.
        left = [[v for v in scope if v not in spine] for scope in scopes]
        return elimination_order([scope for scope in left if scope], sizes).variables


def tree_of(
    scopes: Scopes, rest: Sequence[int], spine: Sequence[int] = (), *, strict: bool = True
) -> EliminationTree:
    """The tree that eliminates `rest` in the order given, then the bottom, then the spine backwards.

    >>> tree_of([(0,), (0, 1), (1, 2)], rest=[0, 2, 1]).parent
    {0: 1, 2: 1, 1: 3, 3: -1}
    """
    bottom = len(rest) + len(spine)
    order = (*rest, bottom, *reversed(spine))
    rank = {variable: place for place, variable in enumerate(order)}
    above = {**dict(zip(spine[1:], spine, strict=False)), bottom: spine[-1] if spine else NOTHING}
    home = []
    waiting: dict[int, set[int]] = {variable: set() for variable in order}
    for scope in scopes:
        first = min(scope, key=rank.__getitem__)
        home.append(bottom if strict and rank[first] > rank[bottom] else first)
        waiting[home[-1]].update(scope)
    parent, contexts = {}, {}
    for variable in order:
        context = waiting.pop(variable) - {variable}
        contexts[variable] = tuple(sorted(context))
        met = [v for v in context if rank[variable] < rank[v] < rank[bottom]]
        parent[variable] = above.get(variable, NOTHING)
        if rank[variable] < rank[bottom]:
            parent[variable] = min(met, key=rank.__getitem__, default=bottom)
        if parent[variable] != NOTHING:
            waiting[parent[variable]] |= context
    return EliminationTree(order, tuple(spine), parent, tuple(home), contexts)


def network_vtree(encoding: Encoding, tree: EliminationTree) -> Vtree:
    """The vtree of an elimination tree over the Boolean variables of an encoding.

    >>> from unswayed.circuits.formulas.encode import row_encoding
    >>> from unswayed.circuits.vtree import to_nested
    >>> from unswayed.model.zoo import sprinkler
    >>> network = sprinkler()
    >>> scopes = [(*parents, child) for child, parents in enumerate(network.parents)]
    >>> vtree = network_vtree(row_encoding(network).encoding, tree_of(scopes, [1, 2, 0], spine=[3]))
    >>> to_nested(vtree)[0]
    'WetGrass=yes'
    """
    names = encoding.cnf.names
    blocks = [join_balanced([names[b] for b in encoding.block(v)]) for v in range(tree.bottom)]
    return _vtree_of(tree, blocks, _parameter_parts(encoding, tree), names)


def formula_vtree(cnf: Cnf) -> Vtree:
    """A vtree for any formula, from a cheap order of eliminating its variables clause by clause.

    >>> from unswayed.circuits.vtree import to_nested
    >>> to_nested(formula_vtree(Cnf("ABC", [(1, 2), (2, 3)])))
    ('C', ('B', 'A'))
    """
    single = [(variable,) for variable in range(len(cnf.names))]
    scopes = [*single, *(sorted({abs(x) - 1 for x in clause}) for clause in cnf.clauses if clause)]
    tree = tree_of(scopes, elimination_order(scopes, [2] * len(single)).variables)
    return _vtree_of(tree, cnf.names, {}, cnf.names)


def _vtree_of(
    tree: EliminationTree,
    blocks: Sequence[Nested],
    parts: Mapping[int, list[Nested]],
    names: Sequence[str],
) -> Vtree:
    """The vtree that has each variable's block on the left, and on the right its parts and what is below.

    A circuit holds what is on the left also negated; so the largest part stands last.
    """
    children = tree.children()
    made: dict[int, Nested | None] = {}
    for variable in tree.order:
        below = [*parts.get(variable, ()), *(made.pop(child) for child in children[variable])]
        some = [part for part in below if part is not None]
        rest = join_right(some) if some else None
        if variable == tree.bottom:
            made[variable] = rest
        else:
            made[variable] = blocks[variable] if rest is None else (blocks[variable], rest)
    (nested,) = made.values()
    assert nested is not None
    return vtree_from_nested(nested, names)


def _parameter_parts(encoding: Encoding, tree: EliminationTree) -> dict[int, list[Nested]]:
    """For each variable the vtrees of the parameters of the tables at home there."""
    parts: dict[int, list[Nested]] = {variable: [] for variable in tree.order}
    for table, parameters in enumerate(encoding.parameters()):
        if parameters:
            parts[tree.home[table]].append(join_balanced([encoding.cnf.names[b] for b in parameters]))
    return parts


def scopes_of(parents: Sequence[Collection[int]]) -> list[tuple[int, ...]]:
    """The variables of each table of a network: parents and child."""
    return [(*each, child) for child, each in enumerate(parents)]
