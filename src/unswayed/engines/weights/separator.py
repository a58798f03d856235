"""Exact profiles by meeting in the middle at a separator: some features that split the others in two.

For features that depend on each other, and for three classes. Where enumeration takes 2^n steps, two lists
take about 2^(n/2) for each state of the separator: 40 two-state features of a tree-augmented classifier with
two classes, or 36 of a naive Bayes classifier with three, take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.protocol import Cost, Needs, Question, Refusal, price_one_by_one
from unswayed.engines.sums.factors import Factor, find_pieces, make_factors, refuse_pieces
from unswayed.engines.weights.counting import count_actions, find_cuts
from unswayed.engines.weights.halves import Split, find_split, multiply

SECONDS_PER_OUTCOME = 3e-7
"""Measured for one outcome of two classes: listed, sorted and searched,"""
SECONDS_PER_POINT = 5e-7
"""and for one of three classes, for each action but one."""
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
        if question.needs is Needs.SINGLES:
            price = price_one_by_one(self, problem, question)
            return _refuse_long(price) if isinstance(price, Cost) else price
        refusal = _refuse(problem)
        if refusal:
            return refusal
        split = find_split(problem, question.kept)
        listed, is_plane = split.n_listed(problem), len(problem.prior) > 2
        each = SECONDS_PER_POINT * (len(problem.decider.actions) - 1) if is_plane else SECONDS_PER_OUTCOME
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
