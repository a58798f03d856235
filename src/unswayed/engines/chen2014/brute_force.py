"""The brute-force engine: every instantiation of the free features is decided, one chunk after another.

The baseline of [chen2014, sections 3 and 6], with the weights of evidence at hand and numpy for the loop;
2^n instantiations of n two-state features all the same. Compare other engines with it, do not use it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.chen2014.nothing_kept import DecidedOracle, refuse_kept
from unswayed.engines.chen2014.outcomes import chunk_size, chunks, n_instantiations
from unswayed.engines.protocol import Cost, Question, Refusal

SECONDS_PER_INSTANTIATION = 2e-8
"""Measured, with chunks that fit the cache."""
BYTES_PER_INSTANTIATION = 120.0
"""Of a chunk, while it is decided."""


@dataclass(frozen=True, slots=True)
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

    def prepare(self, problem: Problem, limits: Limits) -> DecidedOracle:
        """List them; `LimitError` when that takes longer than `limits` allow."""
        decider = problem.decider
        assert isinstance(decider, LogOddsIntervals)
        n_actions, n_listed = len(decider.actions), 0
        decision_mass = np.zeros(n_actions)
        # A sum for each chunk, then a sum of sums: pairwise enough for rounding not to show.
        for chunk in chunks(problem, limits):
            decisions = decider.decide_log_odds(chunk.log_odds)
            decision_mass += np.bincount(decisions, chunk.upper + chunk.lower, minlength=n_actions)
            n_listed += len(chunk)
        return DecidedOracle(problem, decision_mass, n_listed)
