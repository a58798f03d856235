"""A table in which every function of a vtree's variables has exactly one number.

Nodes are compressed (the subs of a node differ) and trimmed (no node {(true, f)} or {(f, true), (not f,
false)}, which are f itself). For one vtree such a circuit is canonical [darwiche2011]: two
functions are equal when their numbers are. `apply.py` has the operations, `algebra.py` what users call.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

import numpy as np

from unswayed.circuits.sdd.sdd import FALSE, TRUE, Sdd, sdd_from_lists
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
