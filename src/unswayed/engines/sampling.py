"""The sampling engine: estimates for whatever is beyond the others, only when allowed.

Instantiations of the features are drawn from their exact distribution given the evidence, each is decided
with its exact posterior, and the share of agreement gets an exact binomial (Clopper-Pearson) confidence
interval. So the only error is that of sampling, and it is stated. Samples are decided in portions: when no
more may be spent, those decided by then are what counts. The interval is wider, and as reliable.

The best that a threshold achieves would look too good on the samples that it was chosen by. So every other
sample chooses it, and the rest measure what it achieves, which no more than the best can be; what the best is
at most, all samples tell for all thresholds at once [massart1990].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from statistics import NormalDist

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, reserve, settle, tick, units_left
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.oracle import Interval, SingleFeature
from unswayed.decisions.prediction import row_numbers
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, ThresholdRule
from unswayed.engines.protocol import Cost, Needs, Question, Refusal
from unswayed.engines.singles import price_one_by_one
from unswayed.inference.batches import batch_posteriors, price_case
from unswayed.inference.expected import expect_rows, find_case
from unswayed.inference.posteriors import joint_table
from unswayed.inference.predictors import find_predictor, is_large_model
from unswayed.inference.sampling import sample_states

SECONDS_PER_SAMPLE = 2e-5
"""Measured for one posterior in a small network,"""
SECONDS_PER_VARIABLE = 1e-6
"""and what each variable adds to it."""
BYTES_PER_STATE = 100.0
"""What a state of a variable in a sample takes, with what is made of it."""
MOST_UNITS = 60.0 * UNITS_PER_SECOND
"""Work that a question may take where no limit was given."""
FIRST_PORTION, PORTION_UNITS = 2, 0.1 * UNITS_PER_SECOND
"""Samples decided in any case, and the work after which a portion is no larger than the one before."""
SECONDS_PER_STATE, DRAWING_SHARE = 2e-7, 0.1
"""Measured for drawing one variable of a sample, and the share of what is left that drawing may take."""
DECIDING_SHARE = 0.3
"""Share of what is left for deciding samples before anything else is done with them."""
FEWEST_DRAWN = 1000
"""Samples that are drawn however little is left; less memory than these take is too little."""
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
        oracle = SamplingOracle(problem, self.confidence, rng)
        oracle.draw(self.n_samples)
        return oracle


@dataclass(frozen=True, slots=True, eq=False)
class SamplingOracle:
    """Samples of the free features, decided when first needed."""

    problem: Problem
    confidence: float
    rng: np.random.Generator
    _drawn: list[Ints] = field(default_factory=list, repr=False)
    _full: list[Floats] = field(default_factory=list, repr=False)
    """Posteriors with all features seen, of the first samples."""
    _tables: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False)

    @property
    def samples(self) -> Ints:  # (samples, free features)
        """What was drawn so far."""
        if len(self._drawn) > 1:
            self._drawn[:] = [np.concatenate(self._drawn)]
        return self._drawn[0]

    def draw(self, n_samples: int) -> None:
        """Draw until there are `n_samples`, or as many as little of what is left suffices for."""
        network, evidence = self.problem.network, self.problem.evidence
        units = DRAWING_SHARE * min(units_left(), MOST_UNITS)
        affordable = units / (SECONDS_PER_STATE * UNITS_PER_SECOND * len(network))
        n_drawn = sum(map(len, self._drawn))
        missing = int(min(n_samples, max(affordable, FEWEST_DRAWN), _fitting(self.problem))) - n_drawn
        if missing > 0:
            with reserve():
                leaf = self.problem.target if find_predictor(network, self.problem.target) else None
                states = sample_states(network, missing, evidence, self.rng, without=leaf)
            self._drawn.append(states[:, list(self.problem.free)])

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """The share of samples on which `decider` on the kept features repeats the full decision.

        How many are drawn depends on the tolerance, never on what they show.
        """
        decided = self._decide(tolerance, [kept])
        return self._interval(int(decided.agrees(decider)[0].sum()), decided.n_samples)

    def singles(self, decider: Decider, tolerance: float) -> Mapping[int, SingleFeature]:
        """For every free feature, the share of samples on which `decider` on it alone repeats the decision.

        All features share the samples, so that all are as well known however many there are. What a feature
        gains shows on those few samples alone on which it decides otherwise than nothing seen.
        """
        free = self.problem.free
        decided = self._decide(tolerance, [frozenset(), *(frozenset({feature}) for feature in free)])
        now, *shares = decided.agrees(decider)
        nothing = np.zeros(0)
        return {
            feature: SingleFeature(
                self._interval(int(each.sum()), decided.n_samples),
                nothing,
                nothing,
                nothing,
                self._difference(int((each & ~now).sum()), int((now & ~each).sum()), decided.n_samples),
            )
            for feature, each in zip(free, shares, strict=True)
        }

    def _difference(self, more: int, less: int, n_decided: int) -> Interval:
        """How much larger a share is than another: on so many samples one alone, on so many the other."""
        each = (1.0 + self.confidence) / 2.0  # half the doubt for either
        most, least = (clopper_pearson(count, n_decided, each) for count in (more, less))
        middle = (more - less) / n_decided
        return Interval(
            most[0] - least[1], most[1] - least[0], Certainty.ESTIMATE, self.confidence, middle=middle
        )

    def _interval(self, agreeing: int, n_decided: int) -> Interval:
        low, high = clopper_pearson(agreeing, n_decided, self.confidence)
        return Interval(low, high, Certainty.ESTIMATE, self.confidence, middle=agreeing / n_decided)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The best threshold by every other sample, and how often it agrees on the rest."""
        decided = self._decide(tolerance, [kept])
        (posteriors,), full = decided.posteriors, decided.full
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

    def _decide(self, tolerance: float, kept: Sequence[frozenset[int]], share: float = 1.0) -> DecidedSamples:
        """As many samples as the tolerance asks for, decided as far as a share of what is left allows."""
        self.draw(samples_for(tolerance, self.confidence))
        features = [tuple(feature for feature in self.problem.free if feature in each) for each in kept]
        found = settle(self._portions(features), share=share, units=MOST_UNITS).last
        full = self._full_posteriors(found.n_samples)
        posteriors = [full if each == self.problem.free else found.of(each) for each in features]
        return DecidedSamples(self.problem.decider.decide(full), posteriors)

    def _portions(self, features: Sequence[tuple[int, ...]]) -> Iterator[_Portions]:
        """What was decided so far, portion by portion; the first of them in any case.

        When to stop depends on what is left, never on what was drawn.
        """
        n_samples, free = len(self.samples), self.problem.free
        others = {each for each in features if each != free}
        start, end = 0, min(FIRST_PORTION, n_samples)
        with reserve():
            found = _Portions(end, [self._decide_portion(start, end, others)])
        yield found
        priced = {free, *(each for each in others if len(each) > 1)}  # single features are looked up
        each = UNITS_PER_SECOND * sum(map(self.price, priced))
        largest = max(int(PORTION_UNITS / each), FIRST_PORTION)
        while end < n_samples:
            start, end = end, min(end + min(end, largest), n_samples)
            tick(each * (end - start), "the decision of some samples")
            found = _Portions(end, [*found.portions, self._decide_portion(start, end, others)])
            yield found

    def _decide_portion(
        self, start: int, end: int, features: Iterable[tuple[int, ...]]
    ) -> dict[tuple[int, ...], Floats]:
        """The posteriors of some samples for each of some sets of features; those of all features stay."""
        portion = {each: self._posteriors(each, self.samples[start:end]) for each in features}
        n_decided = sum(map(len, self._full))
        if n_decided < end:
            self._full.append(self._posteriors(self.problem.free, self.samples[n_decided:end]))
        return portion

    def _full_posteriors(self, n_samples: int) -> Floats:  # (samples, classes)
        """The posteriors of the first samples with all features seen."""
        if len(self._full) > 1:
            self._full[:] = [np.concatenate(self._full)]
        return self._full[0][:n_samples]

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """Samples cannot tell: rows seen once look unanimous."""
        raise LimitError("potential agreement cannot be estimated from samples without bias")

    def posteriors(self, features: tuple[int, ...]) -> Floats:  # (samples, classes)
        """The exact posterior of the target for each sample when only `features` are seen.

        Asked for all features first, and with too little left, samples that are not decided with a share of
        it are dropped. Those that are left stay: others were made of them.
        """
        if features != self.problem.free:
            return self._posteriors(features, self.samples)
        if sum(map(len, self._full)) < len(self.samples):
            n_decided = self._decide(0.0, [], DECIDING_SHARE).n_samples
            self._drawn[:] = [self.samples[:n_decided]]
        return self._full_posteriors(len(self.samples))

    def price(self, features: tuple[int, ...]) -> float:
        """Seconds that the posterior of one sample takes, about, the same on every machine."""
        return price_case(self.problem.network, self.problem.target, features, self.problem.evidence)

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
            joint = self._joint(features)
            mass = joint.sum(axis=1, keepdims=True)
            self._tables[features] = joint / np.where(mass > 0, mass, 1.0)  # none is drawn that has no mass
        return self._tables[features]

    def _joint(self, features: tuple[int, ...]) -> Floats:  # (instantiations, classes)
        """Pr(features, target | evidence); of a person's own model an estimate where there is no more."""
        network, target, evidence = self.problem.network, self.problem.target, self.problem.evidence
        if is_large_model(network, target, evidence):
            if not features:
                return self.problem.prior[np.newaxis]
            case = find_case(network, target, evidence, features)
            assert case is not None
            return expect_rows(case, features).mass
        joint = joint_table(network, [*features, target], evidence)
        return joint.reshape(-1, len(self.problem.prior))


@dataclass(frozen=True, slots=True, eq=False)
class DecidedSamples:
    """Some samples: what all features decide on them, and the posteriors of the features asked about."""

    full: Ints
    posteriors: list[Floats]

    @property
    def n_samples(self) -> int:
        """How many there are."""
        return len(self.full)

    def agrees(self, decider: Decider) -> list[Bools]:
        """For each set of features, the samples on which `decider` on it repeats the full decision."""
        return [decider.decide(each) == self.full for each in self.posteriors]


@dataclass(frozen=True, slots=True, eq=False)
class _Portions:
    """What the samples decided so far say, by sets of features."""

    n_samples: int = 0
    portions: list[dict[tuple[int, ...], Floats]] = field(default_factory=list)

    def of(self, features: tuple[int, ...]) -> Floats:  # (samples, classes)
        """The posteriors by one of the sets."""
        return np.concatenate([portion[features] for portion in self.portions])


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
