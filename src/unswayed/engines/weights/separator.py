"""Exact profiles by meeting in the middle at a separator: some features that split the others in two.

For features that depend on each other, and for three classes. Where enumeration takes 2^n steps, two lists
take about 2^(n/2) for each state of the separator: 40 two-state features of a tree-augmented classifier with
two classes, or 36 of a naive Bayes classifier with three, take seconds.

**Halves.** A separator that splits the features evenly, and the list of outcomes of either half.

    Pr(c, f, e)  =  left_c(l, s) right_c(r, s)          f = (l, r, s)

where s are states of the separator, l and r of the two halves. Every factor lies in one half and the
separator. For each s the full decision depends on a pair of vectors over the classes, one from either list:
as many as the square root of all instantiations, where the halves are even.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.problem import MOST_STRUCTURES, Problem, remember_structure
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.singles import price_one_by_one, profile_singles, sum_to_each
from unswayed.engines.sums.factors import Factor, factor_scopes, find_pieces, make_factors, refuse_pieces
from unswayed.engines.weights.counting import count_actions, count_by_outcome, find_cuts

SECONDS_PER_OUTCOME = 3e-7
"""Measured for one outcome of two classes: listed, sorted and searched,"""
SECONDS_PER_POINT = 5e-7
"""and for one of three classes, for each action but one."""
SECONDS_PER_SINGLE = 6e-7
"""Measured for one outcome of two classes where every single feature is asked about at once."""
SECONDS_PER_STATE = 1e-4
"""Measured for each state of the separator, however short the lists."""
BYTES_PER_OUTCOME = 100.0
MOST_SECONDS = 2.0
"""Predicted seconds beyond which lists give way to certified intervals, which take less."""
MOST_BITS = 60.0
"""Logarithm to base 2 of the instantiations beyond which no separator is looked for."""


@dataclass(frozen=True, slots=True)
class SeparatorWay:
    """Exact profiles from pairs of outcomes of two halves of the features."""

    name: str = "weights"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.002

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the outcomes listed, for each state of separator and kept features."""
        is_at_once = question.needs is Needs.SINGLES and isinstance(problem.decider, LogOddsIntervals)
        if question.needs is Needs.SINGLES and not is_at_once:
            price = price_one_by_one(self, problem, question)
            return _refuse_long(price) if isinstance(price, Cost) else price
        refusal = _refuse(problem)
        if refusal:
            return refusal
        split = find_split(problem, question.kept)
        listed, is_plane = split.n_listed(problem), len(problem.prior) > 2
        each = SECONDS_PER_POINT * (len(problem.decider.actions) - 1) if is_plane else SECONDS_PER_OUTCOME
        each = SECONDS_PER_SINGLE if is_at_once else each
        seconds = 2e-3 + SECONDS_PER_STATE * split.n_outer(problem) + each * listed
        return _refuse_long(Cost(seconds, BYTES_PER_OUTCOME * listed))

    def prepare(self, problem: Problem) -> SeparatorOracle:
        """Sum out the hidden variables."""
        return SeparatorOracle(problem, make_factors(problem))


def _refuse(problem: Problem) -> Refusal | None:
    if not isinstance(problem.decider, LogOddsIntervals):
        if len(problem.prior) > 3:
            return Refusal(f"counts pairs of up to three classes; this target has {len(problem.prior)}")
        if find_cuts(problem.decider) is None:
            return Refusal("counts pairs for rules that compare classes two by two")
    bits = float(np.log2([float(size) for size in problem.sizes(problem.free)]).sum())
    if bits > MOST_BITS:
        return Refusal(
            f"the features have 2^{bits:.0f} instantiations, over the fixed cap of 2^{MOST_BITS:.0f}"
        )
    return refuse_pieces(problem, find_pieces(problem))


def _refuse_long(price: Cost) -> Cost | Refusal:
    if price.seconds > MOST_SECONDS:
        return Refusal(f"no separator splits the features evenly enough: about {price.seconds:.2g} s")
    return price


@dataclass(frozen=True, slots=True, eq=False)
class SeparatorOracle:
    """The factors; lists are made for each question."""

    problem: Problem
    factors: tuple[Factor, ...] = field(repr=False)

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The rows of the kept features, each with its exact share of every decision."""
        problem, split = self.problem, find_split(self.problem, kept)
        check_bytes(BYTES_PER_OUTCOME * split.n_listed(problem), "lists of outcomes")
        n_classes = len(problem.prior)
        left, right = self._list_halves(split)
        rounding = problem.rounding + LISTING
        masses, doubt = np.empty((left.shape[1], n_classes + len(problem.decider.actions))), 0.0
        for state, row in enumerate(masses):
            tick(what="two lists")
            row[:n_classes] = left[:, state].sum(axis=1) * right[:, state].sum(axis=1)
            halves = left[:, state], right[:, state]
            row[n_classes:], more = count_actions(problem.decider, *halves, rounding)
            doubt += more
        masses = self._sum_separator(masses, split, kept)
        return profile_from_masses(
            masses[:, :n_classes], masses[:, n_classes:], doubt=doubt, rounding=rounding
        )

    def single_profiles(self) -> dict[int, DecisionProfile]:
        """The profile of every free feature alone: for two classes from the lists of nothing kept."""
        problem = self.problem
        if not isinstance(problem.decider, LogOddsIntervals):
            return {feature: self.profile(frozenset({feature})) for feature in problem.free}
        split = find_split(problem, frozenset())
        check_bytes(BYTES_PER_OUTCOME * split.n_listed(problem), "lists of outcomes")
        left, right = self._list_halves(split)
        rounding = problem.rounding + LISTING
        outer, sides = [], [np.zeros((len(left) + len(problem.decider.actions) + 1, 1)) for _ in range(2)]
        for state in range(left.shape[1]):
            tick(what="two lists")
            halves = left[:, state], right[:, state]
            counted = count_by_outcome(problem.decider, *halves, rounding)
            masses = [
                np.vstack([ours * theirs.sum(axis=1, keepdims=True), each])
                for ours, theirs, each in zip(halves, halves[::-1], counted, strict=True)
            ]
            outer.append(masses[0].sum(axis=1))
            sides = [before + more for before, more in zip(sides, masses, strict=True)]
        # A half is listed with its last feature as the slowest axis.
        tables = (
            (split.outer, np.stack(outer, axis=1)),
            (split.left[::-1], sides[0]),
            (split.right[::-1], sides[1]),
        )
        found = {
            feature: mass
            for features, table in tables
            for feature, mass in zip(features, sum_to_each(table, problem.sizes(features)), strict=True)
        }
        return profile_singles(problem, {f: found[f] for f in problem.free}, rounding=rounding)

    def _list_halves(self, split: Split) -> tuple[Floats, Floats]:
        in_right = [factor for factor in self.factors if set(factor.scope) & set(split.right)]
        in_left = [factor for factor in self.factors if factor not in in_right]
        left = multiply(self.problem, in_left, split.outer, split.left)
        return left, multiply(self.problem, in_right, split.outer, split.right)

    def _sum_separator(self, masses: Floats, split: Split, kept: frozenset[int]) -> Floats:
        """Add up the rows that differ in the separator alone."""
        sizes = self.problem.sizes(split.outer)
        summed = tuple(i for i, v in enumerate(split.outer) if v not in kept)
        rows: Floats = masses.reshape(*sizes, -1).sum(axis=summed)
        return rows.reshape(-1, masses.shape[1])


SPLITS: Topic[Split] = Topic("list splits", most=MOST_STRUCTURES)
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
    return remember_structure(problem, SPLITS, partial(_find_split, problem, kept), kept)


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
