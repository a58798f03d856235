"""The sampling engine: estimates for whatever is beyond the others, only when allowed.

Instantiations of the features are drawn from their exact distribution given the evidence, each is decided
with its exact posterior, and the share of agreement gets an exact binomial (Clopper-Pearson) confidence
interval. So the only error is that of sampling, and it is stated. When time runs out, the samples decided by
then are what counts: the interval is wider, and as reliable.

The best that a threshold achieves would look too good on the samples that it was chosen by. So every other
sample chooses it, and the rest measure what it achieves, which no more than the best can be; what the best is
at most, all samples tell for all thresholds at once [massart1990].
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from statistics import NormalDist

import numpy as np

from unswayed.core.anytime import bytes_allowed, deadline, grace, moment_at, seconds_left, until
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.oracle import Interval
from unswayed.decisions.prediction import row_numbers
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, ThresholdRule
from unswayed.engines.protocol import Cost, Needs, Question, Refusal, price_one_by_one
from unswayed.inference.batches import batch_posteriors, price_case
from unswayed.inference.posteriors import joint_table
from unswayed.inference.sampling import sample_states

SECONDS_PER_SAMPLE = 2e-5
"""Measured for one posterior in a small network,"""
SECONDS_PER_VARIABLE = 1e-6
"""and what each variable adds to it."""
BYTES_PER_STATE = 100.0
"""What a state of a variable in a sample takes, with what is made of it."""
FIRST_PORTION = 2
"""Samples decided before the clock is read."""
SECONDS_PER_STATE, DRAWING_SHARE = 2e-7, 0.1
"""Measured for drawing one variable of a sample, and the share of the time left that drawing may take."""
DECIDING_SHARE = 0.3
"""Share of the time left in which samples are decided before anything else is done with them."""
FEWEST_DRAWN = 1000
"""Samples that are drawn however little time there is; less memory than these take is too little."""
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
        if question.needs not in (Needs.AGREEMENT, Needs.ACHIEVABLE):
            return Refusal("estimates how often decisions agree, nothing else")
        kept = 2 if question.kept else 1
        each = SECONDS_PER_SAMPLE + SECONDS_PER_VARIABLE * len(problem.network)
        # Without a tolerance, as many as the memory holds will do.
        asked = samples_for(question.tolerance, self.confidence)
        n_samples = max(min(self.n_samples, _fitting(problem)), asked)
        return Cost(kept * n_samples * each, BYTES_PER_STATE * n_samples * len(problem.network))

    def prepare(self, problem: Problem) -> SamplingOracle:
        """Draw the samples."""
        import_module("scipy.special")  # takes a while, so that it must not come after the last sample
        rng = np.random.default_rng(0) if self.rng is None else self.rng
        oracle = SamplingOracle(problem, self.confidence, rng, deadline())
        with until(oracle.deadline), grace():
            oracle.draw(self.n_samples)
        return oracle


@dataclass(frozen=True, slots=True, eq=False)
class SamplingOracle:
    """Samples of the free features, decided when first needed."""

    problem: Problem
    confidence: float
    rng: np.random.Generator
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to make do with the samples decided by then."""
    _drawn: list[Ints] = field(default_factory=list, repr=False)
    _full: dict[tuple[int, int], Ints] = field(default_factory=dict, repr=False)
    """Full decisions of the portions decided so far, by their ends."""
    _tables: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)
    _decided: dict[int, Floats] = field(default_factory=dict, repr=False)
    """Posteriors with all features seen, by the number of samples there were."""

    @property
    def samples(self) -> Ints:  # (samples, free features)
        """What was drawn so far."""
        if len(self._drawn) > 1:
            self._drawn[:] = [np.concatenate(self._drawn)]
        return self._drawn[0]

    def draw(self, n_samples: int) -> None:
        """Draw until there are `n_samples`, or as many as there is time for."""
        network, evidence = self.problem.network, self.problem.evidence
        in_time = DRAWING_SHARE * max(seconds_left(), 0.0) / (SECONDS_PER_STATE * len(network))
        n_drawn = sum(map(len, self._drawn))
        missing = int(min(n_samples, max(in_time, FEWEST_DRAWN), _fitting(self.problem))) - n_drawn
        if missing > 0:
            states = sample_states(network, missing, evidence, self.rng)
            self._drawn.append(states[:, list(self.problem.free)])

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """The share of samples on which `decider` on the kept features repeats the full decision.

        How many are drawn depends on the tolerance, never on what they show.
        """
        agreeing = n_decided = 0
        for portion in self._portions(tolerance, kept):
            agreeing += int((decider.decide(portion.posteriors[0]) == portion.full).sum())
            n_decided += len(portion.full)
        return self._interval(agreeing, n_decided)

    def single_agreements(self, decider: Decider, tolerance: float) -> Mapping[int, Interval]:
        """For every free feature, the share of samples on which `decider` on it alone repeats the decision.

        All features share the samples, so that all are as well known when the time is over.
        """
        free = self.problem.free
        agreeing, n_decided = np.zeros(len(free), dtype=np.int64), 0
        for portion in self._portions(tolerance, *(frozenset({feature}) for feature in free)):
            agreeing += [int((decider.decide(p) == portion.full).sum()) for p in portion.posteriors]
            n_decided += len(portion.full)
        return {
            feature: self._interval(count, n_decided)
            for feature, count in zip(free, agreeing.tolist(), strict=True)
        }

    def _interval(self, agreeing: int, n_decided: int) -> Interval:
        low, high = clopper_pearson(agreeing, n_decided, self.confidence)
        return Interval(low, high, Certainty.ESTIMATE, self.confidence, middle=agreeing / n_decided)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The best threshold by every other sample, and how often it agrees on the rest."""
        portions = list(self._portions(tolerance, kept))
        posteriors = np.concatenate([portion.posteriors[0] for portion in portions])
        full = np.concatenate([portion.full for portion in portions])
        best = _best_threshold(self.problem, posteriors[::2], full[::2], positive)
        state = self.problem.network.variables[self.problem.target].states[positive]
        decider = ThresholdRule(state, best.threshold).bind(
            self.problem.network.variables[self.problem.target]
        )
        agrees = decider.decide(posteriors[1::2]) == full[1::2]
        measured = self._interval(int(agrees.sum()), len(agrees))
        highest = _best_threshold(self.problem, posteriors, full, positive).value
        high = min(highest + uniform_error(len(full), self.confidence), 1.0)
        return replace(measured, high=max(high, measured.high)), replace(best, value=measured.low)

    def _portions(self, tolerance: float, *kept: frozenset[int]) -> Iterator[DecidedPortion]:
        """The samples in portions, as long as there is time; at once where there is no hurry.

        One portion is decided in any case, and each is at most as large as all before it. When to stop
        depends on the clock, never on what was drawn.
        """
        features = [tuple(feature for feature in self.problem.free if feature in each) for each in kept]
        ends = min(self.deadline, deadline())
        with until(ends), grace():
            self.draw(samples_for(tolerance, self.confidence))
        n_samples, began = len(self.samples), time.monotonic()
        start, end = 0, n_samples if math.isinf(ends) else FIRST_PORTION
        while start < n_samples:
            try:
                portion = self._decide(slice(start, min(end, n_samples)), features, ends)
            except LimitError:
                if start == 0:
                    raise
                return
            yield portion
            now = time.monotonic()
            if now > ends:
                return
            in_time = end * (ends - now) / max(now - began, 1e-9)
            start, end = end, end + int(min(max(in_time, FIRST_PORTION), end))

    def _decide(self, portion: slice, features: Sequence[tuple[int, ...]], ends_at: float) -> DecidedPortion:
        """Decide a portion of the samples; `LimitError` when it takes too long."""
        ends = portion.start, portion.stop
        with until(ends_at), grace() if portion.start == 0 else nullcontext():
            known = {each: self._posteriors(each, self.samples[portion]) for each in features}
            free = self.problem.free
            if ends not in self._full:
                posteriors = known.get(free)
                if posteriors is None:
                    posteriors = self._posteriors(free, self.samples[portion])
                self._full[ends] = self.problem.decider.decide(posteriors)
        return DecidedPortion(self._full[ends], [known[each] for each in features])

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Samples cannot tell: rows seen once look unanimous."""
        raise LimitError("potential agreement cannot be estimated from samples without bias")

    def posteriors(self, features: tuple[int, ...]) -> Floats:  # (samples, classes)
        """The exact posterior of the target for each sample when only `features` are seen.

        Asked for all features first, and with too little time, samples that are not decided in a share of it
        are dropped. Those that are left stay: others were made of them.
        """
        if features != self.problem.free:
            return self._posteriors(features, self.samples)
        if len(self.samples) not in self._decided:
            found = self._decide_in_time()
            self._drawn[:] = [self.samples[: len(found)]]
            self._decided[len(found)] = found
        return self._decided[len(self.samples)]

    def price(self, features: tuple[int, ...]) -> float:
        """Seconds that the posterior of one sample takes, about, the same on every machine."""
        return price_case(self.problem.network, self.problem.target, features, self.problem.evidence)

    def _decide_in_time(self) -> Floats:  # (samples, classes)
        """The posteriors of all samples, or of as many as a share of the time allows."""
        if math.isinf(deadline()):
            return self._posteriors(self.problem.free, self.samples)
        with until(moment_at(DECIDING_SHARE)):
            free = frozenset(self.problem.free)
            return np.concatenate([portion.posteriors[0] for portion in self._portions(0.0, free)])

    def _posteriors(self, features: tuple[int, ...], samples: Ints) -> Floats:
        columns = [self.problem.free.index(feature) for feature in features]
        if len(features) <= 1:
            numbers = row_numbers(samples[:, columns], self.problem.sizes(features))
            return self._table(features)[numbers]
        rows, which = np.unique(samples[:, columns], axis=0, return_inverse=True)
        problem = self.problem
        found = batch_posteriors(problem.network, problem.target, features, rows, problem.evidence)
        return found[which.reshape(-1)]

    def _table(self, features: tuple[int, ...]) -> Floats:  # (instantiations, classes)
        """The posterior of the target for each state of a feature, or for none."""
        if features not in self._tables:
            problem = self.problem
            joint = joint_table(problem.network, [*features, problem.target], problem.evidence).reshape(
                -1, len(problem.prior)
            )
            mass = joint.sum(axis=1, keepdims=True)
            self._tables[features] = joint / np.where(mass > 0, mass, 1.0)  # none is drawn that has no mass
        return self._tables[features]


@dataclass(frozen=True, slots=True, eq=False)
class DecidedPortion:
    """Some samples: what all features decide on them, and the posteriors of the features asked about."""

    full: Ints
    posteriors: list[Floats]


def _fitting(problem: Problem) -> int:
    """How many samples the memory holds that the problem may take; some in any case."""
    each = max(BYTES_PER_STATE * len(problem.network), 1.0)
    return int(max(bytes_allowed() / each, FEWEST_DRAWN))


def _best_threshold(problem: Problem, posteriors: Floats, full: Ints, positive: int) -> AchievableAgreement:
    """The threshold that agrees with most of the samples."""
    shares: Floats = np.eye(len(problem.decider.actions))[full] / len(full)
    return best_threshold(posteriors / len(full), shares, positive)


def uniform_error(n_samples: int, confidence: float) -> float:
    """By how much some threshold's agreement may exceed its share of the samples, for all at once.

    Agreement is one minus a share of negatives at or above the threshold and one of positives below it, so
    it errs by two distribution functions, each by less than this half with half the chance left
    [massart1990]; the other half of the doubt is for the lower end.

    >>> round(uniform_error(10_000, 0.99), 4)
    0.0346
    """
    doubt = (1.0 - confidence) / 4.0
    return 2.0 * math.sqrt(-math.log(doubt) / (2.0 * n_samples))


def samples_for(tolerance: float, confidence: float) -> int:
    """How many samples give an interval about as wide as the tolerance, whatever the share.

    >>> samples_for(0.01, 0.99)  # within 0.005 of the truth
    66349
    """
    if tolerance <= 0.0:
        return 0
    deviations = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
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
