"""The nodes that compiling a network makes: decide on a variable, conjoin what shares no variable.

Both come out canonical without any search. A network variable of two states is one Boolean. With more
states it is a block of Booleans exactly one of which holds; the primes of its decisions are sets of states,
that is of patterns in which just one Boolean holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.sdd import FALSE, TRUE
from unswayed.circuits.sdd.table import FunctionTable
from unswayed.circuits.vtree import NOTHING


def conjoin_apart(table: FunctionTable, place: int, one: int, other: int) -> int:
    """The conjunction of a function of the variables left of a vtree node and one of those right of it."""
    if FALSE in (one, other):
        return FALSE
    if TRUE in (one, other):
        return max(one, other)  # the constants have the lowest numbers
    return table.decision(place, {other: one, FALSE: apply.negate(table, one)})


def term(table: FunctionTable, place: int, literals: Sequence[int]) -> int:
    """The conjunction of literals of variables below a vtree node."""
    if not literals:
        return TRUE
    if len(literals) == 1:
        return table.literal(literals[0])
    before = [x for x in literals if table.leaf(abs(x) - 1) < place]
    after = [x for x in literals if table.leaf(abs(x) - 1) > place]
    left, right = int(table.vtree.left[place]), int(table.vtree.right[place])
    return conjoin_apart(table, place, term(table, left, before), term(table, right, after))


class Decisions:
    """Decisions on network variables; sets of states are made once."""

    def __init__(self, table: FunctionTable) -> None:
        self.table = table
        vtree = table.vtree
        self._left, self._right = vtree.left.tolist(), vtree.right.tolist()
        self._variable, self._last = vtree.variable.tolist(), vtree.last.tolist()
        self._sets: dict[tuple[int, frozenset[int], bool], int] = {}

    def decide(self, place: int, literals: Sequence[int], subs: Sequence[int]) -> int:
        """The function that is `subs[i]` where the i-th state's literal holds, and false where none does.

        `place` is the vtree node with the variable's Booleans on its left; where nothing stands on their
        right, it is their own, and subs are constants.
        """
        states: dict[int, list[int]] = {}
        for literal, sub in zip(literals, subs, strict=True):
            states.setdefault(sub, []).append(literal)
        if len(literals) == 2 and literals[0] == -literals[1]:
            primes = {sub: self._one_of_two(each) for sub, each in states.items()}
            return self.table.decision(place, primes)
        states.pop(FALSE, None)
        block = place if set(states) <= {TRUE} and self._spans(place, literals) else self._left[place]
        primes = {sub: self._state_set(block, each) for sub, each in states.items()}
        possible = self._state_set(block, [literal for each in states.values() for literal in each])
        return self.table.decision(place, {**primes, FALSE: apply.negate(self.table, possible)})

    def _one_of_two(self, literals: Sequence[int]) -> int:
        return TRUE if len(literals) == 2 else self.table.literal(literals[0])

    def _spans(self, place: int, literals: Sequence[int]) -> bool:
        return int(self._last[place] - self.table.vtree.first[place]) // 2 + 1 == len(literals)

    def _state_set(self, block: int, literals: Sequence[int]) -> int:
        return self._pattern(block, frozenset(literal - 1 for literal in literals), False)

    def _pattern(self, block: int, allowed: frozenset[int], none: bool) -> int:
        """The function of a block that holds when just one Boolean does, an allowed one, or `none` does."""
        if not allowed and not none:
            return FALSE
        key = (block, allowed, none)
        if key not in self._sets:
            self._sets[key] = self._new_pattern(block, allowed, none)
        return self._sets[key]

    def _new_pattern(self, block: int, allowed: frozenset[int], none: bool) -> int:
        """An allowed one holds on the left, and none on the right; or none on the left: the right decides."""
        left, right = self._left[block], self._right[block]
        if left == NOTHING:
            literal = 1 + self._variable[block]
            return TRUE if allowed and none else self.table.literal(literal if allowed else -literal)
        on_left = frozenset(v for v in allowed if self.table.leaf(v) < block)
        nothing, after = (
            self._pattern(right, frozenset(), True),
            self._pattern(right, allowed - on_left, none),
        )
        primes = {nothing: self._pattern(left, on_left, False), after: self._pattern(left, frozenset(), True)}
        if nothing == after:
            primes[after] = self._pattern(left, on_left, True)
        covered = self._pattern(left, on_left, after != FALSE)
        primes[FALSE] = apply.negate(self.table, covered)
        return self.table.decision(block, {sub: prime for sub, prime in primes.items() if prime != FALSE})
