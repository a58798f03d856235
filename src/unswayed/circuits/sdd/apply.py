"""Operations on the nodes of a table: not, and, or, condition, forget [darwiche2011].

To join two nodes, both are written over the lowest vtree node above them, and their elements are
multiplied: primes are conjoined, subs joined, elements with a false prime dropped, and primes that end
with the same sub disjoined. Each function here that begins with an underscore is a task: it yields the
tasks whose results it needs to `FunctionTable.run`, which takes the place of recursion.

In a `FunctionTable` every function of a vtree's variables has exactly one number. Nodes are compressed (the
subs of a node differ) and trimmed (no node {(true, f)} or {(f, true), (not f, false)}, which are f itself).
For one vtree such a circuit is canonical [darwiche2011]: two functions are equal when their numbers are.
`algebra.py` has what users call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import numpy as np

from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd, sdd_from_lists
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Ints

Elements: TypeAlias = "tuple[tuple[int, int], ...]"
Task: TypeAlias = Generator[Any, int, int]
"""Work that yields other work whose result it needs, and returns the number of a node."""

_STEPS_BETWEEN_LOOKS = 2048
_BYTES_PER_ELEMENT = 300  # tuples, and the entries of three dictionaries


class StepsError(Exception):
    """The work is more than the steps allowed; for callers that then go another way."""


class FunctionTable:
    """The nodes made so far over one vtree; a builder, not shared between threads."""

    def __init__(self, vtree: Vtree, *, max_steps: float = math.inf) -> None:
        self.vtree = vtree
        self.max_steps = max_steps
        self.steps = 0
        self.n_elements = 0
        self.place: list[int] = [NOTHING, NOTHING]
        self.elements: list[Elements] = [(), ()]
        self.literals: list[int] = [0, 0]
        self.negation: dict[int, int] = {FALSE: TRUE, TRUE: FALSE}
        self.conjunctions: dict[tuple[int, int], int] = {}
        self.disjunctions: dict[tuple[int, int], int] = {}
        self._number_by_content: dict[tuple[int, Elements], int] = {}
        self._leaf = (2 * np.argsort(vtree.variable[::2])).tolist()
        self._literal_base = self._make_literals()
        self._first, self._last = vtree.first.tolist(), vtree.last.tolist()
        self._parent = vtree.parent.tolist()
        self._meeting: dict[tuple[int, int], int] = {}

    def _make_literals(self) -> int:
        base = len(self.place)
        for variable, leaf in enumerate(self._leaf):
            positive = len(self.place)
            self.place += [leaf, leaf]
            self.elements += [(), ()]
            self.literals += [variable + 1, -variable - 1]
            self.negation.update({positive: positive + 1, positive + 1: positive})
        return base

    def literal(self, literal: int) -> int:
        """The number of a literal: 1 + variable, negative where it must not hold."""
        return self._literal_base + 2 * (abs(literal) - 1) + (literal < 0)

    def leaf(self, variable: int) -> int:
        """The leaf of a variable."""
        leaf: int = self._leaf[variable]
        return leaf

    def meeting(self, a: int, b: int) -> int:
        """The lowest vtree node above two, which may be one of them."""
        found = self._meeting.get((a, b))
        if found is None:
            found = a
            while not self._first[found] <= b <= self._last[found]:
                found = self._parent[found]
            self._meeting[a, b] = found
        return found

    def is_below(self, node: int, above: int) -> bool:
        """Whether a vtree node is in the subtree of another."""
        return bool(self._first[above] <= node <= self._last[above])

    def decision(self, place: int, prime_by_sub: dict[int, int]) -> int:
        """The number of a compressed node: itself if it exists, less if it can be trimmed, else a new one."""
        if len(prime_by_sub) == 1:
            (sub,) = prime_by_sub
            return sub
        if len(prime_by_sub) == 2 and FALSE in prime_by_sub and TRUE in prime_by_sub:
            return prime_by_sub[TRUE]
        elements = tuple(sorted((prime, sub) for sub, prime in prime_by_sub.items()))
        number = self._number_by_content.get((place, elements))
        if number is None:
            number = len(self.place)
            self._number_by_content[place, elements] = number
            self.place.append(place)
            self.elements.append(elements)
            self.literals.append(0)
            self.n_elements += len(elements)
        return number

    def run(self, task: Task) -> int:
        """The result of a task and of all it asks for; a stack of our own, since vtrees may be deep."""
        stack = [task]
        value: Any = None
        while stack:
            self.steps += 1
            if self.steps % _STEPS_BETWEEN_LOOKS == 0 or self.steps > self.max_steps:
                self._look()
            try:
                child = stack[-1].send(value)
            except StopIteration as end:
                value = end.value
                stack.pop()
            else:
                stack.append(child)
                value = None
        return int(value)

    def _look(self) -> None:
        """Whether there is time and memory to go on."""
        if self.steps > self.max_steps:
            raise StepsError
        tick(what="combining circuits")
        check_bytes(
            self.n_elements * _BYTES_PER_ELEMENT, f"a circuit of {self.n_elements:,} elements or more"
        )

    def export(self, root: int) -> Sdd:
        """The circuit below a node."""
        return self.export_all([root])[0]

    def export_all(self, roots: Sequence[int]) -> tuple[Sdd, Ints]:
        """One circuit that holds all of some nodes, and their places in it; its root is the last place."""
        wanted = self._below(roots)
        number = {node: position for position, node in enumerate(wanted)}
        sdd = sdd_from_lists(
            self.vtree,
            [self.place[node] for node in wanted],
            [self.literals[node] for node in wanted],
            [[(number[p], number[s]) for p, s in self.elements[node]] for node in wanted],
            root=max(number[root] for root in roots) if roots else TRUE,
        )
        return sdd, np.array([number[root] for root in roots], dtype=np.int64)

    def _below(self, roots: Sequence[int]) -> list[int]:
        """The constants, some nodes and all below them, in their order, which has children first."""
        seen = {FALSE, TRUE, *roots}
        waiting = list(roots)
        while waiting:
            for pair in self.elements[waiting.pop()]:
                fresh = [child for child in pair if child not in seen]
                seen.update(fresh)
                waiting += fresh
        return sorted(seen)


def elements_of(sdd: Sdd) -> Sequence[Elements]:
    """The elements of every node as tuples."""
    pairs = list(zip(sdd.primes.tolist(), sdd.subs.tolist(), strict=True))
    starts = sdd.starts.tolist()
    return [tuple(pairs[starts[i] : starts[i + 1]]) for i in range(sdd.n_nodes)]


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
