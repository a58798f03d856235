"""The brute-force engine: every instantiation of the free features is decided, one chunk after another.

The baseline of [chen2014, sections 3 and 6], with the weights of evidence at hand and numpy for the loop;
2^n instantiations of n two-state features all the same. Compare other engines with it, do not use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import group_tables, independent_groups
from unswayed.engines.protocol import Cost, Question, Refusal
from unswayed.engines.weights.outcomes import log_ratio
from unswayed.papers.chen2014.nothing_kept import DecidedOracle, refuse_kept

SECONDS_PER_INSTANTIATION = 2e-8
"""Measured, with chunks that fit the cache."""
BYTES_PER_INSTANTIATION = 120.0
"""Of a chunk, while it is decided."""
CHUNK = 2**15
"""Instantiations at a time, about: long enough for numpy, short enough for the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BruteForceEngine:
    """Lists all instantiations."""

    name: str = "brute_force"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.001

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the number of instantiations."""
        refusal = refuse_kept(problem, question)
        if refusal:
            return refusal
        seconds = 1e-3 + SECONDS_PER_INSTANTIATION * n_instantiations(problem)
        return Cost(seconds, BYTES_PER_INSTANTIATION * chunk_size(problem))

    def prepare(self, problem: Problem) -> DecidedOracle:
        """List them; `LimitError` when that takes longer than there is time."""
        decider = problem.decider
        assert isinstance(decider, LogOddsIntervals)
        n_actions, n_listed = len(decider.actions), 0
        decision_mass, doubt = np.zeros(n_actions), 0.0
        spans = decider.doubts(problem.rounding + LISTING)
        # A sum for each chunk, then a sum of sums: pairwise enough for rounding not to show.
        for chunk in chunks(problem):
            decisions = decider.decide_log_odds(chunk.log_odds)
            decision_mass += np.bincount(decisions, chunk.upper + chunk.lower, minlength=n_actions)
            for low, high in spans:
                doubtful = (chunk.log_odds >= low) & (chunk.log_odds < high)
                doubt += float((chunk.upper + chunk.lower)[doubtful].sum())
            n_listed += len(chunk)
        return DecidedOracle(problem, decision_mass, n_listed, doubt)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Some instantiations h of the free features, impossible ones included."""

    log_odds: Floats
    """log O(d | h, e); nan only where h is impossible."""
    upper: Floats
    """Pr(d, h | e), where d is the upper class."""
    lower: Floats
    """Pr(not d, h | e)."""

    def __len__(self) -> int:
        return len(self.log_odds)


def n_instantiations(problem: Problem) -> float:
    """How many instantiations the free features have."""
    return math.prod(map(float, problem.sizes(problem.free)))


def chunk_size(problem: Problem) -> float:
    """Instantiations in a chunk: those of the groups that fit, or of one group that does not."""
    sizes = [math.prod(problem.sizes(group)) for group in independent_groups(problem)]
    return float(math.prod(sizes[: _n_inner(sizes)]))


def chunks(problem: Problem) -> Iterator[Outcomes]:
    """All instantiations, the first groups' fastest; `LimitError` between two chunks when time is over."""
    assert isinstance(problem.decider, LogOddsIntervals)
    upper = problem.decider.upper
    tables = [problem.prior[np.newaxis], *(group.likelihood for group in group_tables(problem))]
    lists = [
        Outcomes(log_ratio(table[:, upper], table[:, 1 - upper]), table[:, upper], table[:, 1 - upper])
        for table in tables
    ]
    n_inner = 1 + _n_inner([len(each) for each in lists[1:]])
    inner = _joined(lists[:n_inner])
    for number, values in enumerate(product(*map(_singles, lists[n_inner:]))):
        tick(what=f"listing instantiation {number * len(inner):,} of {n_instantiations(problem):.3g}")
        yield _joined([_joined(values), inner]) if values else inner


def _n_inner(sizes: Sequence[int]) -> int:
    """How many of the first groups are listed together: as many as fit a chunk, at least one."""
    total, count = 1, 0
    for size in sizes:
        total *= size
        if total > CHUNK and count:
            break
        count += 1
    return count


def _singles(outcomes: Outcomes) -> list[Outcomes]:
    """Each of the outcomes in a list of its own."""
    columns = (outcomes.log_odds, outcomes.upper, outcomes.lower)
    return [Outcomes(*(column[i : i + 1] for column in columns)) for i in range(len(outcomes))]


def _joined(lists: Sequence[Outcomes]) -> Outcomes:
    """Outcomes of independent groups together: log-odds add, probabilities multiply."""
    log_odds, upper, lower = lists[0].log_odds, lists[0].upper, lists[0].lower
    # Opposite certainties give nan; such outcomes have no mass under either class.
    with np.errstate(invalid="ignore"):
        for other in lists[1:]:
            log_odds = np.add.outer(log_odds, other.log_odds).reshape(-1)
            upper = np.multiply.outer(upper, other.upper).reshape(-1)
            lower = np.multiply.outer(lower, other.lower).reshape(-1)
    return Outcomes(log_odds, upper, lower)
