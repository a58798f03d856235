"""Operations on the nodes of a table: not, and, or, condition, forget [darwiche2011].

To join two nodes, both are written over the lowest vtree node above them, and their elements are
multiplied: primes are conjoined, subs joined, elements with a false prime dropped, and primes that end
with the same sub disjoined. Each function here that begins with an underscore is a task: it yields the
tasks whose results it needs to `FunctionTable.run`, which takes the place of recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.table import Elements, FunctionTable, Task, elements_of
from unswayed.circuits.vtree import NOTHING


def negate(table: FunctionTable, node: int) -> int:
    """Not a node."""
    known = table.negation.get(node)
    return table.run(_negate(table, node)) if known is None else known


def conjoin(table: FunctionTable, a: int, b: int) -> int:
    """Both of two nodes."""
    known = _known(table, a, b, FALSE)
    return table.run(_join(table, a, b, FALSE)) if known is None else known


def disjoin(table: FunctionTable, a: int, b: int) -> int:
    """One of two nodes, or both."""
    known = _known(table, a, b, TRUE)
    return table.run(_join(table, a, b, TRUE)) if known is None else known


def condition(table: FunctionTable, node: int, literal: int, done: dict[int, int] | None = None) -> int:
    """What is left of a node where a literal holds; it does not mention the variable any more.

    Who conditions many nodes on one literal passes `done`, in which what they share is kept.
    """
    return table.run(_condition(table, node, literal, {} if done is None else done))


def forget(table: FunctionTable, node: int, variable: int) -> int:
    """A node for some value of a variable."""
    return disjoin(table, condition(table, node, variable + 1), condition(table, node, -variable - 1))


def _known(table: FunctionTable, a: int, b: int, absorbing: int) -> int | None:
    """The conjunction (absorbing FALSE) or disjunction (absorbing TRUE) of two nodes if it takes no work."""
    neutral = TRUE - absorbing
    if b == absorbing or a in (b, neutral):
        return b
    if a == absorbing or b == neutral:
        return a
    if table.negation.get(a) == b:
        return absorbing
    cache = table.disjunctions if absorbing == TRUE else table.conjunctions
    return cache.get((a, b) if a < b else (b, a))


def _join(table: FunctionTable, a: int, b: int, absorbing: int) -> Task:
    """As `_known`, with work."""
    place = table.meeting(table.place[a], table.place[b])
    first = yield from _over(table, a, place)
    second = yield from _over(table, b, place)
    pairs: list[tuple[int, int]] = []
    for prime, s, t in (yield from _products(table, first, second)):
        sub = _known(table, s, t, absorbing)
        if sub is None:
            sub = yield _join(table, s, t, absorbing)
        pairs.append((prime, sub))
    result = yield from compress(table, place, pairs)
    cache = table.disjunctions if absorbing == TRUE else table.conjunctions
    cache[(a, b) if a < b else (b, a)] = result
    return result


def _products(
    table: FunctionTable, first: Elements, second: Elements
) -> Generator[Any, int, list[tuple[int, int, int]]]:
    """The primes of two partitions that hold together, each with both subs.

    Primes exclude each other. So a prime that both have meets no other one, and a product that equals one of
    its factors has used that factor up; most products are never computed.
    """
    found: list[tuple[int, int, int]] = []
    sub_by_prime = dict(second)
    shared = {p for p, _ in first if p in sub_by_prime}
    open_second = [(q, t) for q, t in second if q not in shared]
    for p, s in first:
        if p in shared:
            found.append((p, s, sub_by_prime[p]))
            continue
        for q, t in list(open_second):
            prime = _known(table, p, q, FALSE)
            if prime is None:
                prime = yield _join(table, p, q, FALSE)
            if prime != FALSE:
                found.append((prime, s, t))
            if prime == q:
                open_second.remove((q, t))
            if prime == p:
                break
    return found


def _over(table: FunctionTable, node: int, place: int) -> Generator[Any, int, Elements]:
    """The elements of a node written over a vtree node above it."""
    here = table.place[node]
    if here == place:
        return table.elements[node]
    if here > place:
        return ((TRUE, node),)
    negation = table.negation.get(node)
    if negation is None:
        negation = yield _negate(table, node)
    return ((node, TRUE), (negation, FALSE))


def compress(table: FunctionTable, place: int, pairs: Sequence[tuple[int, int]]) -> Task:
    """The node of elements whose primes are a partition; those with the same sub become one."""
    if len({sub for prime, sub in pairs if prime != FALSE}) == 1:
        return next(sub for prime, sub in pairs if prime != FALSE)
    prime_by_sub: dict[int, int] = {}
    for prime, sub in pairs:
        if prime == FALSE:
            continue
        before = prime_by_sub.get(sub, FALSE)
        joined = _known(table, before, prime, TRUE)
        if joined is None:
            joined = yield _join(table, before, prime, TRUE)
        prime_by_sub[sub] = joined
    return table.decision(place, prime_by_sub)


def _negate(table: FunctionTable, node: int) -> Task:
    """Not a decision node: the same primes with negated subs, which stay different from each other."""
    prime_by_sub: dict[int, int] = {}
    for prime, sub in table.elements[node]:
        negation = table.negation.get(sub)
        if negation is None:
            negation = yield _negate(table, sub)
        prime_by_sub[negation] = prime
    result = table.decision(table.place[node], prime_by_sub)
    table.negation[node], table.negation[result] = result, node
    return result


def _condition(table: FunctionTable, node: int, literal: int, done: dict[int, int]) -> Task:
    """What is left of a node; `done` holds the nodes conditioned on this literal before."""
    if node in done:
        return done[node]
    place, leaf = table.place[node], table.leaf(abs(literal) - 1)
    if place == NOTHING or not table.is_below(leaf, place):
        return node
    if place == leaf:
        return TRUE if table.literal(literal) == node else FALSE
    pairs: list[tuple[int, int]] = []
    for prime, sub in table.elements[node]:
        if leaf < place:
            prime = yield _condition(table, prime, literal, done)
        else:
            sub = yield _condition(table, sub, literal, done)
        pairs.append((prime, sub))
    done[node] = yield from compress(table, place, pairs)
    return done[node]


Visit = Callable[[int, Elements], None]
"""Sees a decision node and its elements, in the numbers of the table, before the node itself has one."""


def load(table: FunctionTable, sdd: Sdd, visit: Visit | None = None) -> int:
    """The number of a circuit's function. The vtrees have to be equal; the circuit need not be canonical."""
    places, kinds = sdd.vtree_node.tolist(), sdd.kind.tolist()
    variables, literals = table.vtree.variable.tolist(), sdd.literal.tolist()
    numbers = [FALSE, TRUE]
    for node, elements in enumerate(elements_of(sdd)[2:], start=2):
        if kinds[node] == LITERAL:
            # By its leaf, since equal vtrees may number their variables differently.
            variable = variables[places[node]] + 1
            numbers.append(table.literal(variable if literals[node] > 0 else -variable))
        elif kinds[node] == DECISION:
            pairs = tuple((numbers[p], numbers[s]) for p, s in elements)
            if visit is not None:
                visit(node, pairs)
            numbers.append(table.run(compress(table, places[node], pairs)))
        else:
            numbers.append(kinds[node])
    return numbers[sdd.root]


def canonical(sdd: Sdd) -> Sdd:
    """The compressed and trimmed circuit of the same function over the same vtree; there is only one."""
    table = FunctionTable(sdd.vtree)
    return table.export(load(table, sdd))
