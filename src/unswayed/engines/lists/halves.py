"""A separator that splits the features evenly, and the list of outcomes of either half.

    Pr(c, f, e)  =  left_c(l, s) right_c(r, s)          f = (l, r, s)

where s are states of the separator, l and r of the two halves. Every factor lies in one half and the
separator. For each s the full decision depends on a pair of vectors over the classes, one from either list:
as many as the square root of all instantiations, where the halves are even.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.problem import Problem
from unswayed.engines.sums.factors import Factor, factor_scopes

MOST_SEPARATING = 8
"""Features of a separator beside those that are kept."""
Features = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Features by where they are listed; all ascending."""

    outer: Features
    """Kept features and the separator: both lists are made for each of their states."""
    left: Features
    right: Features

    def n_outer(self, problem: Problem) -> float:
        """How many times the two lists are made."""
        return _n_states(problem, self.outer)

    def n_listed(self, problem: Problem) -> float:
        """Outcomes of both lists, in all states of the outer features."""
        return self.n_outer(problem) * (_n_states(problem, self.left) + _n_states(problem, self.right))


def find_split(problem: Problem, kept: frozenset[int]) -> Split:
    """The kept features, and more as long as lists become shorter, separate two halves; remembered."""
    splits: dict[frozenset[int], Split] = problem._memo.setdefault("list splits", {})
    if kept not in splits:
        neighbours = _neighbours(problem)
        outer, best = kept, _halve(problem, neighbours, kept)
        for _ in range(MOST_SEPARATING):
            largest = max(_pieces(neighbours, outer), key=lambda piece: _n_states(problem, piece), default=())
            tried = ((outer | {v}, _halve(problem, neighbours, outer | {v})) for v in largest)
            more, split = min(tried, key=lambda each: each[1].n_listed(problem), default=(outer, best))
            if split.n_listed(problem) >= best.n_listed(problem):
                break
            outer, best = more, split
        splits[kept] = best
    return splits[kept]


def multiply(
    problem: Problem, factors: Sequence[Factor], outer: Features, half: Features
) -> Floats:  # (classes, states of the outer features, states of the half)
    """The product of some factors over the outer features and a half.

    Features come in one after another, each as a slower axis than those before: so long rows are multiplied.
    """
    order = (*outer, *reversed(half))
    place = {v: i for i, v in enumerate(order)}
    table = np.ones((len(problem.prior), *[1] * len(order)))
    for factor in sorted(factors, key=lambda factor: -min((place[v] for v in factor.scope), default=0)):
        by_axis = sorted(range(len(factor.scope)), key=lambda i: place[factor.scope[i]])
        mass = factor.mass.transpose(0, *(i + 1 for i in by_axis))
        sizes = dict(zip(factor.scope, factor.mass.shape[1:], strict=True))
        table = table * mass.reshape(len(mass), *(sizes.get(v, 1) for v in order))
    full = np.broadcast_to(table, (len(table), *problem.sizes(order)))
    return full.reshape(len(table), int(_n_states(problem, outer)), -1)


def _neighbours(problem: Problem) -> dict[int, set[int]]:
    """Which features share a factor with each."""
    found: dict[int, set[int]] = {v: set() for v in problem.free}
    for scope in factor_scopes(problem):
        for v in scope:
            found[v].update(scope)
    return found


def _pieces(neighbours: dict[int, set[int]], removed: frozenset[int]) -> list[Features]:
    """Connected pieces of the features without some."""
    waiting, pieces = {v for v in neighbours if v not in removed}, []
    while waiting:
        piece, edge = set(), [waiting.pop()]
        while edge:
            v = edge.pop()
            piece.add(v)
            reached = neighbours[v] & waiting
            waiting -= reached
            edge += reached
        pieces.append(tuple(sorted(piece)))
    return sorted(pieces)


def _halve(problem: Problem, neighbours: dict[int, set[int]], outer: frozenset[int]) -> Split:
    """The pieces beside the outer features in two halves, as even as the largest first makes them."""
    halves: list[list[int]] = [[], []]
    for piece in sorted(_pieces(neighbours, outer), key=lambda piece: -_n_states(problem, piece)):
        min(halves, key=lambda half: _n_states(problem, half)).extend(piece)
    left, right = (tuple(sorted(half)) for half in halves)
    return Split(tuple(sorted(outer)), left, right)


def _n_states(problem: Problem, features: Iterable[int]) -> float:
    return math.prod(map(float, problem.sizes(features)))
