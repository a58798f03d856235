"""The sampling engine: estimates for whatever is beyond the others, only when allowed.

Instantiations of the features are drawn from their exact distribution given the evidence, each is decided
with its exact posterior, and the share of agreement gets an exact binomial (Clopper-Pearson) confidence
interval. So the only error is that of sampling, and it is stated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.engines.protocol import Cost, Needs, Question, Refusal, price_one_by_one
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.sampling import sample_states

SECONDS_PER_SAMPLE = 2e-5
"""Measured for one posterior in a small network,"""
SECONDS_PER_VARIABLE = 1e-6
"""and what each variable adds to it."""


@dataclass(frozen=True, slots=True)
class SamplingEngine:
    """Estimates of agreements with a stated confidence."""

    name: str = "sampling"
    certainty: Certainty = Certainty.ESTIMATE
    least_seconds: float = 0.01
    n_samples: int = 2000
    """Instantiations drawn; the interval's width shrinks with their square root."""
    confidence: float = 0.99
    """Probability that the interval holds the true value."""
    rng: np.random.Generator | None = None
    """Source of randomness; without one, the same samples are drawn every time."""

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """Proportional to the number of samples, whatever the number of features."""
        if question.needs is Needs.SINGLES:
            return price_one_by_one(self, problem, question)
        if question.needs is not Needs.AGREEMENT:
            return Refusal("estimates how often decisions agree, nothing else")
        kept = 2 if question.kept else 1
        each = SECONDS_PER_SAMPLE + SECONDS_PER_VARIABLE * len(problem.network)
        return Cost(kept * self.n_samples * each, 100.0 * self.n_samples * len(problem.network))

    def prepare(self, problem: Problem, limits: Limits) -> SamplingOracle:
        """Draw the samples."""
        rng = np.random.default_rng(0) if self.rng is None else self.rng
        states = sample_states(problem.network, self.n_samples, problem.evidence, rng, limits=limits)
        return SamplingOracle(problem, states[:, list(problem.free)], self.confidence, limits)


@dataclass(frozen=True, slots=True, eq=False)
class SamplingOracle:
    """Samples of the free features, decided when first needed."""

    problem: Problem
    samples: Ints = field(repr=False)  # (samples, free features)
    confidence: float
    limits: Limits = field(repr=False)
    _full: list[Ints] = field(default_factory=list, repr=False)

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """The share of samples on which `decider` on the kept features repeats the full decision."""
        if not self._full:
            self._full.append(self._decisions(tuple(self.problem.free), self.problem.decider))
        full = self._full[0]
        chosen = tuple(feature for feature in self.problem.free if feature in kept)
        agreeing = int((self._decisions(chosen, decider) == full).sum())
        low, high = clopper_pearson(agreeing, len(full), self.confidence)
        return Interval(low, high, Certainty.ESTIMATE, self.confidence, middle=agreeing / len(full))

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Samples cannot tell: rows seen once look unanimous."""
        raise LimitError("potential agreement cannot be estimated from samples without bias")

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """Samples cannot tell this either."""
        raise LimitError("achievable agreement cannot be estimated from samples without bias")

    def posteriors(self, features: tuple[int, ...]) -> Floats:  # (samples, classes)
        """The exact posterior of the target for each sample when only `features` are seen."""
        columns = [self.problem.free.index(feature) for feature in features]
        rows, which = np.unique(self.samples[:, columns], axis=0, return_inverse=True)
        problem = self.problem
        found = batch_posteriors(
            problem.network, problem.target, features, rows, problem.evidence, limits=self.limits
        )
        return found[which.reshape(-1)]

    def _decisions(self, features: tuple[int, ...], decider: Decider) -> Ints:
        """The decision for each sample when only `features` are seen."""
        return decider.decide(self.posteriors(features))


def clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """The exact two-sided confidence interval for a share.

    >>> tuple(round(end, 4) for end in clopper_pearson(8, 10, 0.95))
    (0.4439, 0.9748)
    """
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return low, high
