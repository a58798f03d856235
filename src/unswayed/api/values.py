"""What observations are worth: the value of information by any criterion."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options
from unswayed.api.structured import agreement_in, value_in
from unswayed.core.arrays import Floats
from unswayed.core.measurement import POSTERIORS, Bid, Certainty, Measurement
from unswayed.core.memo import Topic
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import row_numbers
from unswayed.decisions.problem import Problem, remember_structure
from unswayed.decisions.rewards import ExpectedUtility, Margin, NegativeEntropy, Reward, expected_reward
from unswayed.decisions.rounding import find_doubtful
from unswayed.decisions.rules import UtilityRule
from unswayed.inference.expected import CONFIDENCE, N_BATCHES, expect_rows, find_case, sample_batches
from unswayed.inference.posteriors import joint_table
from unswayed.inference.predictors import is_large_model
from unswayed.inference.relevance import linked_to
from unswayed.inference.sampling import sample_states

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredCase


@dataclass(frozen=True, slots=True)
class SameDecisionGain:
    """The criterion of [chen2014]: by how much observing raises the same-decision probability."""

    name: str = "sdp"


Criterion = Reward | SameDecisionGain
"""What an observation is valued by."""
BATCH_QUANTILE = 3.25
"""Student's t of nine degrees of freedom at 99%."""
NO_VALUE = 1e-12
"""Values up to this are rounding."""
MOST_LISTED = 2**12
"""Numbers of a table of posteriors that is made to see whether any of them turns the decision."""
N_DRAWN = 10_000
"""Samples of a network whose posteriors take too long."""
LINKED: Topic[set[int]] = Topic("variables that tell something about targets")


def value_at(problem: Problem, kept: frozenset[int], reward: Criterion, options: Options) -> Measurement:
    """The value of observing features, for a problem as it stands."""
    if is_cut_off(problem, kept):
        return no_gain()
    if isinstance(reward, SameDecisionGain):
        if is_listed(problem, kept) and not can_turn(problem, class_mass_of(problem, kept)):
            return no_gain()
        now = agreement_of(problem, frozenset(), problem.decider, options)
        return gain_between(now, agreement_of(problem, kept, problem.decider, options))
    started = time.perf_counter()
    return reward_gain(problem, class_mass_of(problem, kept), reward, started)


@dataclass(frozen=True, slots=True, eq=False)
class KeptMass:
    """Pr(target, kept | evidence), a row for each instantiation of the kept features."""

    mass: Floats  # (rows, classes)
    batches: tuple[Floats, ...] = ()
    """The same from parts of the samples it was estimated from; none where it is exact."""


def is_cut_off(problem: Problem, kept: frozenset[int]) -> bool:
    """Whether the graph alone says that features tell nothing about the target, given the evidence."""
    network, target, evidence = problem.network, problem.target, problem.evidence
    linked = remember_structure(problem, LINKED, lambda: linked_to(network, target, evidence))
    return kept.isdisjoint(linked)


def is_listed(problem: Problem, kept: frozenset[int]) -> bool:
    """Whether features have so few instantiations that each may be looked at."""
    return math.prod(map(float, problem.sizes(kept))) * len(problem.prior) <= MOST_LISTED


def can_turn(problem: Problem, found: KeptMass) -> bool:
    """Whether any finding on the kept features may lead to another decision than the one now.

    Where none does, they repeat the full decision as often as nothing does, and gain nothing at all. What an
    estimate or a tie leaves in doubt may.
    """
    rows = np.vstack([problem.prior, found.mass[found.mass.sum(axis=1) > 0.0]])
    if found.batches or len(find_doubtful(problem.decider, rows, problem.rounding, problem.lost_share)):
        return True
    actions = problem.decider.decide(rows)
    return bool((actions != actions[0]).any())


def no_gain(bids: tuple[Bid, ...] = ()) -> Measurement:
    """What an observation gains that cannot matter; `bids` are those for the questions beside it."""
    return Measurement(0.0, 0.0, 0.0, Certainty.EXACT, POSTERIORS, bids=bids)


def reward_gain(problem: Problem, found: KeptMass, reward: Reward, started: float) -> Measurement:
    """Expected reward once features are known, less the reward now."""
    target = problem.network.variables[problem.target]

    def gain(mass: Floats, now: Floats) -> float:
        return expected_reward(mass, reward, target) - expected_reward(now[None], reward, target)

    value = gain(found.mass, problem.prior if not found.batches else found.mass.sum(axis=0))
    seconds = time.perf_counter() - started
    if not found.batches:
        return Measurement.exact(value, engine=POSTERIORS, seconds=seconds)
    parts = np.array([gain(each, each.sum(axis=0)) for each in found.batches])
    # Parts have less to go by, so that their gains are too large on average: that bias widens the interval.
    wide = max(
        abs(float(parts.mean()) - value), BATCH_QUANTILE * float(parts.std(ddof=1)) / len(parts) ** 0.5
    )
    return Measurement(value, value - wide, value + wide, Certainty.ESTIMATE, "sampling", seconds, CONFIDENCE)


def value_of_objects(
    case: StructuredCase, kept: Iterable[str], reward: Criterion, options: Options
) -> Measurement:
    """The value of observing attributes of a structured case."""
    if isinstance(reward, SameDecisionGain):
        return gain_between(agreement_in(case, (), options), agreement_in(case, kept, options))
    return value_in(case, kept, reward)


def gain_between(now: Measurement, after: Measurement) -> Measurement:
    """The expected same-decision probability after observing, less the one now."""
    certainties = {after.certainty, now.certainty}
    certainty = next(c for c in reversed(Certainty) if c in certainties)
    return Measurement(
        value=after.value - now.value,
        low=after.low - now.high,
        high=after.high - now.low,
        certainty=certainty,
        engine=after.engine,
        seconds=after.seconds + now.seconds,
        confidence=max(0.0, after.confidence + now.confidence - 1.0),
        bids=after.bids,
    )


def class_mass_of(problem: Problem, kept: frozenset[int]) -> KeptMass:
    """The masses of the classes for each instantiation of the kept features."""
    network, order = problem.network, tuple(sorted(kept))
    if is_large_model(network, problem.target, problem.evidence):
        case = find_case(network, problem.target, problem.evidence, order)
        assert case is not None
        found = expect_rows(case, order)
        if found.is_sampled:
            return KeptMass(found.mass, tuple(sample_batches(case, order)))
        return KeptMass(found.mass)
    table = joint_table(network, [*order, problem.target], problem.evidence)
    return KeptMass(table.reshape(-1, len(problem.prior)))


def draw_masses(problem: Problem, tests: Iterable[frozenset[int]]) -> dict[frozenset[int], KeptMass]:
    """The masses of the classes for each of some sets of features, all from one sample of the network.

    Drawing takes a look at each variable a sample; `LimitError` where even that is too much, given evidence.
    """
    network, n_classes, each = problem.network, len(problem.prior), N_DRAWN // N_BATCHES
    states = sample_states(network, N_DRAWN, problem.evidence, np.random.default_rng(0))
    found = {}
    for kept in tests:
        order = sorted(kept)
        sizes = problem.sizes(order)
        cells = row_numbers(states[:, order], sizes) * n_classes + states[:, problem.target]
        n_cells = math.prod(sizes) * n_classes
        parts = [
            np.bincount(cells[start : start + each], minlength=n_cells).reshape(-1, n_classes) / each
            for start in range(0, N_DRAWN, each)
        ]
        found[kept] = KeptMass(np.mean(parts, axis=0), tuple(parts))
    return found


def default_criteria(classifier: Classifier) -> tuple[Criterion, ...]:
    """All criteria that fit the classifier's rule."""
    criteria: list[Criterion] = [SameDecisionGain(), NegativeEntropy(), Margin()]
    if isinstance(classifier.rule, UtilityRule):
        criteria.append(ExpectedUtility(classifier.rule))
    return tuple(criteria)
