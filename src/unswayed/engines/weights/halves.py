"""A separator that splits the features evenly, and the list of outcomes of either half.

    Pr(c, f, e)  =  left_c(l, s) right_c(r, s)          f = (l, r, s)

where s are states of the separator, l and r of the two halves. Every factor lies in one half and the
separator. For each s the full decision depends on a pair of vectors over the classes, one from either list:
as many as the square root of all instantiations, where the halves are even.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.problem import Problem, remember_structure
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
    """The kept features, and more as long as lists become shorter, separate two halves."""
    return remember_structure(problem, "list splits", partial(_find_split, problem, kept), kept)


def _find_split(problem: Problem, kept: frozenset[int]) -> Split:
    graph = _Graph.of(problem)
    outer = sum(1 << graph.order.index(v) for v in kept)
    best = graph.halve(outer)
    for _ in range(MOST_SEPARATING):
        largest = max(graph.pieces(outer), key=graph.bits, default=0)
        tried = (graph.halve(outer | 1 << place) for place in _places(largest))
        more = min(tried, key=lambda halved: halved.listed, default=best)
        if more.listed >= best.listed:
            break
        outer, best = more.outer, more
    return Split(*(tuple(sorted(graph.named(each))) for each in (best.outer, best.left, best.right)))


class _Halved(NamedTuple):
    """Features on either side of the outer ones, as bits, and the logarithm of what is listed."""

    outer: int
    left: int
    right: int
    listed: float


@dataclass(frozen=True, slots=True)
class _Graph:
    """Which features share a factor; sets of features are the bits of a number."""

    order: tuple[int, ...]
    """The features by place; bit k stands for the one at place k."""
    log_sizes: tuple[float, ...]
    """Logarithms to base 2 of their numbers of states."""
    neighbours: tuple[int, ...]
    """Features that share a factor with each, itself included."""

    @staticmethod
    def of(problem: Problem) -> _Graph:
        order = problem.free
        place = {v: k for k, v in enumerate(order)}
        neighbours = [1 << k for k in range(len(order))]
        for scope in factor_scopes(problem):
            together = sum(1 << place[v] for v in scope)
            for v in scope:
                neighbours[place[v]] |= together
        return _Graph(order, tuple(map(math.log2, problem.sizes(order))), tuple(neighbours))

    def named(self, features: int) -> list[int]:
        return [self.order[place] for place in _places(features)]

    def bits(self, features: int) -> float:
        """Logarithm to base 2 of how many states the features have together."""
        return sum(self.log_sizes[place] for place in _places(features))

    def pieces(self, removed: int) -> list[int]:
        """Connected pieces of the features without some, the one of the first feature first."""
        waiting, found = ((1 << len(self.order)) - 1) & ~removed, []
        while waiting:
            piece, edge = 0, waiting & -waiting
            while edge:
                piece |= edge
                reached = 0
                for place in _places(edge):
                    reached |= self.neighbours[place]
                edge = reached & waiting & ~piece
            waiting &= ~piece
            found.append(piece)
        return found

    def halve(self, outer: int) -> _Halved:
        """The pieces beside the outer features in two halves, as even as the largest first makes them."""
        (left, right), bits = (0, 0), [0.0, 0.0]
        for size, piece in sorted(((self.bits(p), p) for p in self.pieces(outer)), key=lambda each: -each[0]):
            if bits[0] <= bits[1]:
                left, bits[0] = left | piece, bits[0] + size
            else:
                right, bits[1] = right | piece, bits[1] + size
        return _Halved(outer, left, right, self.bits(outer) + float(np.logaddexp2(bits[0], bits[1])))


def _places(features: int) -> Iterator[int]:
    while features:
        last = features & -features
        yield last.bit_length() - 1
        features ^= last


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


def _n_states(problem: Problem, features: Iterable[int]) -> float:
    return math.prod(map(float, problem.sizes(features)))
