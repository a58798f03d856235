"""Every single feature in one pass: a table over many features, summed down to each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from unswayed.core.arrays import Floats
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.engines.protocol import Cost, Engine, Needs, Question, Refusal


def sum_to_each(table: Floats, sizes: Sequence[int]) -> Iterator[Floats]:  # each (columns, states)
    """A table (columns, instantiations) summed down to each feature, in their order.

    Summing to either half of the features reads the table twice; what is left is no larger than its square
    root, so all features together cost little more than those two sums.
    """
    if len(sizes) < 2:
        yield from (table,) * len(sizes)
        return
    middle = len(sizes) // 2
    halves = table.reshape(len(table), math.prod(sizes[:middle]), math.prod(sizes[middle:]))
    yield from sum_to_each(halves.sum(axis=2), sizes[:middle])
    yield from sum_to_each(halves.sum(axis=1), sizes[middle:])


def profile_singles(
    problem: Problem, masses: Mapping[int, Floats], *, rounding: float
) -> dict[int, DecisionProfile]:
    """A profile for each feature from its masses (classes, actions, and what ties decide, by states)."""
    n_classes, n_decided = len(problem.prior), len(problem.prior) + len(problem.decider.actions)
    return {
        feature: profile_from_masses(
            mass[:n_classes].T,
            mass[n_classes:n_decided].T,
            doubt=float(mass[n_decided:].sum()),
            rounding=rounding,
        )
        for feature, mass in masses.items()
    }


def price_one_by_one(engine: Engine, problem: Problem, question: Question) -> Cost | Refusal:
    """The price of all single features for an engine that answers them one after another."""
    if not problem.free:
        return engine.cost(problem, replace(question, needs=Needs.AGREEMENT))
    largest = max(problem.free, key=lambda v: len(problem.network.variables[v]))
    one = replace(question, kept=frozenset({largest}), needs=Needs.AGREEMENT)
    price = engine.cost(problem, one)
    if isinstance(price, Refusal):
        return price
    return replace(price, seconds=price.seconds * len(problem.free))
