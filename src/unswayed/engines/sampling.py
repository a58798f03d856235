"""The sampling engine: estimates for whatever is beyond the others, only when allowed.

Instantiations of the features are drawn from their exact distribution given the evidence, each is decided
with its exact posterior, and the share of agreement gets an exact binomial (Clopper-Pearson) confidence
interval. So the only error is that of sampling, and it is stated. When time runs out, the samples decided by
then are what counts: the interval is wider, and as reliable.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
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
BYTES_PER_STATE = 100.0
"""What a state of a variable in a sample takes, with what is made of it."""
FIRST_PORTION = 64
"""Samples decided before the clock is read."""
MOST_SAMPLES = 1_000_000
"""Drawn for a tolerance, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingEngine:
    """Estimates of agreements with a stated confidence."""

    name: str = "sampling"
    certainty: Certainty = Certainty.ESTIMATE
    least_seconds: float = 0.01
    n_samples: int = 10_000
    """Instantiations drawn where no tolerance asks for more; the interval's width shrinks with their square
    root."""
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
        n_samples = max(self.n_samples, samples_for(question.tolerance, self.confidence))
        return Cost(kept * n_samples * each, BYTES_PER_STATE * n_samples * len(problem.network))

    def prepare(self, problem: Problem, limits: Limits) -> SamplingOracle:
        """Draw the samples."""
        rng = np.random.default_rng(0) if self.rng is None else self.rng
        deadline = limits.deadline()
        oracle = SamplingOracle(problem, self.confidence, rng, limits, deadline)
        oracle.draw(self.n_samples)
        return oracle


@dataclass(frozen=True, slots=True, eq=False)
class SamplingOracle:
    """Samples of the free features, decided when first needed."""

    problem: Problem
    confidence: float
    rng: np.random.Generator
    limits: Limits = field(repr=False)
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to make do with the samples decided by then."""
    _drawn: list[Ints] = field(default_factory=list, repr=False)
    _full: dict[tuple[int, int], Ints] = field(default_factory=dict, repr=False)
    """Full decisions of the portions decided so far, by their ends."""

    @property
    def samples(self) -> Ints:  # (samples, free features)
        """What was drawn so far."""
        if len(self._drawn) > 1:
            self._drawn[:] = [np.concatenate(self._drawn)]
        return self._drawn[0]

    def draw(self, n_samples: int) -> None:
        """Draw until there are `n_samples`."""
        missing = n_samples - sum(map(len, self._drawn))
        if missing > 0:
            network, evidence = self.problem.network, self.problem.evidence
            states = sample_states(network, missing, evidence, self.rng, limits=self.limits)
            self._drawn.append(states[:, list(self.problem.free)])

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """The share of samples on which `decider` on the kept features repeats the full decision.

        How many are drawn depends on the tolerance, never on what they show.
        """
        problem = self.problem
        self.draw(samples_for(tolerance, self.confidence))
        chosen = tuple(feature for feature in problem.free if feature in kept)
        agreeing = n_decided = 0
        for portion in self._portions():
            ends = portion.start, portion.stop
            if ends not in self._full:
                self._full[ends] = self._decisions(tuple(problem.free), problem.decider, portion)
            full = self._full[ends]
            agreeing += int((self._decisions(chosen, decider, portion) == full).sum())
            n_decided += len(full)
        low, high = clopper_pearson(agreeing, n_decided, self.confidence)
        return Interval(low, high, Certainty.ESTIMATE, self.confidence, middle=agreeing / n_decided)

    def _portions(self) -> Iterator[slice]:
        """The samples in portions, as long as there is time; at once where there is no hurry.

        One portion is decided in any case, and each is at most as large as all before it. When to stop
        depends on the clock, never on what was drawn.
        """
        n_samples, began = len(self.samples), time.monotonic()
        start, end = 0, n_samples if math.isinf(self.deadline) else FIRST_PORTION
        while start < n_samples:
            yield slice(start, min(end, n_samples))
            now = time.monotonic()
            if now > self.deadline:
                break
            in_time = end * (self.deadline - now) / max(now - began, 1e-9)
            start, end = end, end + int(min(max(in_time, FIRST_PORTION), end))

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
        return self._posteriors(features, self.samples, self.limits)

    def _posteriors(self, features: tuple[int, ...], samples: Ints, limits: Limits) -> Floats:
        columns = [self.problem.free.index(feature) for feature in features]
        rows, which = np.unique(samples[:, columns], axis=0, return_inverse=True)
        problem = self.problem
        found = batch_posteriors(
            problem.network, problem.target, features, rows, problem.evidence, limits=limits
        )
        return found[which.reshape(-1)]

    def _decisions(self, features: tuple[int, ...], decider: Decider, portion: slice) -> Ints:
        """The decision for each sample of a portion when only `features` are seen."""
        on_memory = Limits(max_bytes=self.limits.max_bytes)
        return decider.decide(self._posteriors(features, self.samples[portion], on_memory))


def samples_for(tolerance: float, confidence: float) -> int:
    """How many samples give an interval about as wide as the tolerance, whatever the share.

    >>> samples_for(0.01, 0.99)  # within 0.005 of the truth
    66349
    """
    from scipy.special import ndtri

    if tolerance <= 0.0:
        return 0
    deviations = float(ndtri((1.0 + confidence) / 2.0))
    return math.ceil(min((deviations / tolerance) ** 2, MOST_SAMPLES))


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
