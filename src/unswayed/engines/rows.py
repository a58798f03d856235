"""The rows of a profile from sums of weights: kept outcomes one by one, hidden ones met in the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import Group
from unswayed.engines.meet_in_the_middle import Ordered, balanced, less, ordered
from unswayed.engines.parts import Parts, base_log_odds
from unswayed.engines.weights.outcomes import WeightList, combined, log_ratio, without_nan


@dataclass(frozen=True, slots=True, eq=False)
class RowList:
    """Outcomes of some groups, each belonging to one row of the profile."""

    n_rows: int
    """How many rows there are."""
    row: Ints
    """Row of each outcome."""
    full: Floats
    """Weight of all its features."""
    upper: Floats
    """Probability under the upper class."""
    lower: Floats
    """Probability under the other class."""


def profile_rows(problem: Problem, parts: Parts, kept: frozenset[int], rounding: float) -> DecisionProfile:
    """The profile of the kept features; rows of equal weight are one row where nothing tells them apart."""
    decider = problem.decider
    assert isinstance(decider, LogOddsIntervals)
    far = balanced(parts.hidden, [*parts.kept, *parts.mixed]).sorted_side
    near = [weights for weights in parts.hidden if not any(weights is other for other in far)]
    rows = _one_row_each(combined(parts.kept))
    for group in parts.mixed_groups:
        rows = _joined(rows, _rows_of(problem, group, kept))
    outcomes = _joined(rows, _all_one_row(combined(near)))
    class_mass = _by_row(rows, rows.upper, rows.lower, problem)
    sorted_far = ordered(combined(far))
    decision_mass = _decisions(problem, decider, outcomes, sorted_far)
    doubt = _doubt(problem, decider.doubts(rounding), outcomes, sorted_far)
    return profile_from_masses(class_mass, decision_mass, doubt=doubt, rounding=rounding)


def _decisions(
    problem: Problem, decider: LogOddsIntervals, outcomes: RowList, far: Ordered
) -> Floats:  # (rows, actions)
    """How much of each row the full classifier decides for each action."""
    base = base_log_odds(problem)
    positions = [far.first_at_least(less(float(cut) - base, outcomes.full)) for cut in decider.cuts]
    none = np.zeros(len(outcomes.full), dtype=np.int64)
    edges = [none, *positions, none + len(far.full)]
    mass = np.zeros((outcomes.n_rows, len(decider.actions)))
    for region, action in enumerate(decider.regions):
        first, last = edges[region], np.maximum(edges[region], edges[region + 1])
        upper = outcomes.upper * (far.upper_tails[first] - far.upper_tails[last])
        lower = outcomes.lower * (far.lower_tails[first] - far.lower_tails[last])
        mass[:, action] += _by_row(outcomes, upper, lower, problem).sum(axis=1)
    return np.maximum(mass, 0.0)


def _doubt(problem: Problem, spans: Floats, outcomes: RowList, far: Ordered) -> float:
    """Mass of the outcomes whose log-odds lie in one of the spans."""
    base, doubt = base_log_odds(problem), 0.0
    for low, high in spans - base:
        first, last = far.span(less(float(low), outcomes.full), less(float(high), outcomes.full))
        if (first < last).any():
            upper = outcomes.upper * (far.upper_tails[first] - far.upper_tails[last])
            lower = outcomes.lower * (far.lower_tails[first] - far.lower_tails[last])
            doubt += float(_by_row(outcomes, upper, lower, problem).sum())
    return doubt


def _by_row(outcomes: RowList, upper: Floats, lower: Floats, problem: Problem) -> Floats:  # (rows, 2)
    """Masses under either class added up by row and weighted by the class, in the order of the classes."""
    assert isinstance(problem.decider, LogOddsIntervals)
    side = problem.decider.upper
    mass = np.empty((outcomes.n_rows, 2))
    for column, values in ((side, upper), (1 - side, lower)):
        mass[:, column] = problem.prior[column] * np.bincount(outcomes.row, values, outcomes.n_rows)
    return mass


def _one_row_each(weights: WeightList) -> RowList:
    return RowList(len(weights), np.arange(len(weights)), weights.full, weights.upper, weights.lower)


def _all_one_row(weights: WeightList) -> RowList:
    return RowList(1, np.zeros(len(weights), dtype=np.int64), weights.full, weights.upper, weights.lower)


def _rows_of(problem: Problem, group: Group, kept: frozenset[int]) -> RowList:
    """All outcomes of a partly kept group; each instantiation of its kept features is a row of its own."""
    assert isinstance(problem.decider, LogOddsIntervals)
    sizes = problem.sizes(group.features)
    seen = [feature in kept for feature in group.features]
    numbers = np.arange(int(np.prod([n for n, one in zip(sizes, seen, strict=True) if one], dtype=int)))
    shape = [n if one else 1 for n, one in zip(sizes, seen, strict=True)]
    row = np.broadcast_to(numbers.reshape(shape), sizes).reshape(-1)
    upper = group.likelihood[:, problem.decider.upper]
    lower = group.likelihood[:, 1 - problem.decider.upper]
    return RowList(len(numbers), row, log_ratio(upper, lower), upper, lower)


def _joined(one: RowList, other: RowList) -> RowList:
    with np.errstate(invalid="ignore"):
        full = np.add.outer(one.full, other.full).reshape(-1)
    return RowList(
        one.n_rows * other.n_rows,
        np.add.outer(one.row * other.n_rows, other.row).reshape(-1),
        without_nan(full),
        np.multiply.outer(one.upper, other.upper).reshape(-1),
        np.multiply.outer(one.lower, other.lower).reshape(-1),
    )
