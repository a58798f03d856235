"""An order of variables for a trellis: few nodes open at a time, children as soon as parents are known.

A node is open from its first parent to its child. The states of a level are combinations of what the open
nodes have seen so far, so their number grows with the number of open nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

Families = Sequence[Sequence[int]]


def trellis_order(families: Families) -> list[int]:
    """Positions of all variables, parents before children; `families[v]` are the parents of v that matter.

    The order of the network and a greedy one are compared, and the one with fewer open nodes is taken.

    >>> trellis_order([[], [], [], [0, 1], [1, 2]])
    [0, 1, 3, 2, 4]
    """
    given = _Placement(families).filled(greedy=False)
    greedy = _Placement(families).filled(greedy=True)
    return min((given, greedy), key=lambda order: _cost(families, order))


class _Placement:
    """An order while it is made: roots one by one, every other variable as soon as its parents are placed."""

    def __init__(self, families: Families) -> None:
        self.families = families
        self.order: list[int] = []
        self.missing = [len(parents) for parents in families]
        self.children: list[list[int]] = [[] for _ in families]
        for child, parents in enumerate(families):
            for parent in parents:
                self.children[parent].append(child)

    def filled(self, *, greedy: bool) -> list[int]:
        left = [v for v, parents in enumerate(self.families) if not parents]
        while left:
            chosen = min(left, key=self._price) if greedy else left[0]
            left.remove(chosen)
            self._place(chosen)
        return self.order

    def _place(self, variable: int) -> None:
        waiting = [variable]
        while waiting:
            placed = waiting.pop(0)
            self.order.append(placed)
            for child in self.children[placed]:
                self.missing[child] -= 1
                if not self.missing[child]:
                    waiting.append(child)

    def _price(self, variable: int) -> tuple[int, int, int]:
        """Nodes that the variable opens less those it closes, then parents still missing; fewer is better."""
        change, missing = 0, 0
        for child in self.children[variable]:
            is_new = self.missing[child] == len(self.families[child])
            is_last = self.missing[child] == 1
            change += is_new - is_last
            missing += self.missing[child]
        return change, missing, variable


def _cost(families: Families, order: list[int]) -> float:
    """Sum over the levels of 2 to the number of open nodes."""
    level = {v: i for i, v in enumerate(order)}
    change = [0] * (len(order) + 1)
    for child, parents in enumerate(families):
        if parents:
            change[min(level[p] for p in parents)] += 1
            change[level[child]] -= 1
    total, n_open = 0.0, 0
    for each in change:
        n_open += each
        total += 2.0**n_open
    return total
