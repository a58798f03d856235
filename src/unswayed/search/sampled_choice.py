"""Features within a budget that agree well on samples: candidates by several orders, then swaps.

Each sample has the exact posterior of any features on it, so that a choice is valued by how often it decides
as all features do. Nothing is proven. Fresh samples, which took no part in choosing, estimate how often the
choice agrees; `certified.py` bounds it where sums over the network can.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import uuid4

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.numerics import spendable
from unswayed.core.workers import Team, Workers
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, ThresholdRule
from unswayed.engines.sampling import SamplingEngine, SamplingOracle
from unswayed.search.baselines import information_by_feature
from unswayed.search.options import Report
from unswayed.search.sampled import (
    BETTER,
    SampledTask,
    Samples,
    Score,
    additive_selection,
    forward_selection,
)
from unswayed.search.task import Terms

FEWEST_SAMPLES, DECIDED_SHARE = 64, 0.2
"""Samples that are decided in any case, and the share of the time for deciding more."""
SECONDS_PER_ROW = 1.2e-7
"""Measured for a sample where a subset is tried without posteriors of its own."""
FEWEST_VALUED = 16
"""Choices that are valued however long each takes, where no limit on time was given."""
N_SAMPLES = 4000
"""Samples to choose by, and as many to measure by."""
CHOICE_SECONDS, CHOICE_SHARE = 3.0, 0.35
"""Seconds to choose, at most, and the share of a limit on time."""
ALONE_SECONDS = 0.5
"""How long this process chooses before others join."""
BATCH = 32
"""Choices that a worker values at a time: some hundredths of a second."""
WARM_UP = -1
"""The tag of calls that value nothing, by which workers get ready."""
WAIT_SECONDS = 0.1
"""How long to wait for a batch before the clock is read."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledGround:
    """Samples of all features, and orders in which to take them; searches with other budgets share it."""

    problem: Problem
    positive: int | None
    """The state whose threshold adapts; None where the rule is kept."""
    drawn: SamplingOracle = field(repr=False)
    """The samples to choose by,"""
    fresh: SamplingOracle = field(repr=False)
    """and those to measure by."""
    decisions: Ints = field(repr=False)
    """What all features decide on the samples to choose by."""
    orders: tuple[tuple[int, ...], ...]
    """Orders of the features, the most useful first."""
    tried: int
    """Subsets valued to find the orders."""


@dataclass(frozen=True, slots=True)
class KeptChoice:
    """Features chosen on samples."""

    kept: frozenset[int]
    tried: int
    """Subsets valued."""
    interrupted: bool
    """Whether Ctrl-C ended the search."""


def draw_ground(
    problem: Problem,
    terms: Terms,
    *,
    adapts_threshold: bool,
    is_timed: bool,
    seconds: float,
    report: Report | None = None,
) -> SampledGround:
    """Samples, and the orders in which several heuristics take the features for their costs.

    Unless a person gave the limit on time, its seconds are counted by prices and no clock is looked at.
    """
    n_samples = _affordable(problem, seconds, is_timed=is_timed)
    engine = SamplingEngine(n_samples=n_samples, rng=np.random.default_rng(0))
    drawn = engine.prepare(problem)  # as many as there is time for
    fresh = engine.prepare(problem)
    full = drawn.posteriors(problem.free)
    ends = time.monotonic() + choice_seconds(seconds) if is_timed else math.inf
    positive = _positive(problem) if adapts_threshold else None
    decisions = problem.decider.decide(full)
    useful = [i for i, size in enumerate(problem.sizes(problem.free)) if size > 1]
    costs = {i: max(terms.costs[problem.free[i]], 1e-9) for i in useful}
    task = SampledTask(
        Samples(drawn.samples, tuple(problem.sizes(problem.free)), full, decisions),
        _score(problem, positive),
        costs,
        float("inf"),
        {i: problem.network.variables[problem.free[i]].name for i in useful},
        ends,
        math.inf if is_timed else choice_seconds(seconds) / (SECONDS_PER_ROW * len(full)),
        report,
    )
    gains = information_by_feature(problem)
    by_gain = sorted(useful, key=lambda i: (-gains[problem.free[i]] / costs[i], task.names[i]))
    found = [additive_selection(task), forward_selection(task)]
    orders = [_completed(problem, order, by_gain) for order in (*(each[0] for each in found), ())]
    tried = sum(n for _, n in found)
    return SampledGround(problem, positive, drawn, fresh, decisions, tuple(orders), tried)


def _affordable(problem: Problem, seconds: float, *, is_timed: bool) -> int:
    """How many samples can be decided in a share of the time: by the time that a few take, or by prices."""
    if math.isinf(seconds):
        return N_SAMPLES
    few = SamplingEngine(n_samples=FEWEST_SAMPLES).prepare(problem)
    if is_timed:
        began = time.monotonic()
        n_decided = len(few.posteriors(problem.free))
        each = (time.monotonic() - began) / max(n_decided, 1)
    else:
        each = few.price(problem.free)
    return min(max(int(DECIDED_SHARE * seconds / max(each, 1e-9)), FEWEST_SAMPLES), N_SAMPLES)


def choice_seconds(seconds: float) -> float:
    """How long to choose."""
    return min(CHOICE_SECONDS, CHOICE_SHARE * seconds)


def choose_kept(
    ground: SampledGround,
    terms: Terms,
    report: Report | None = None,
    team: Team | None = None,
    *,
    is_timed: bool,
    seconds: float,
) -> KeptChoice:
    """The features within the budget that agree best on the samples, as far as the time allows.

    Unless a person gave the limit, it allows as many choices as can be valued in it by their prices. A team
    values the choices next in line; what is taken, and in which order, is the same as without.
    """
    began = time.monotonic()
    problem = replace(ground.problem, _memo={})
    drawn = replace(ground.drawn, problem=problem)
    sent = replace(ground, problem=problem, drawn=drawn, fresh=drawn)
    with Workers[int](team or Team(), value_choices, uuid4().hex, sent) as workers:
        ends = began + choice_seconds(seconds) if is_timed else math.inf
        search = _Search(ground, terms, (began, ends), report, workers)
        if not is_timed:
            search.most_asked = _count_affordable(ground, terms, seconds)
        try:
            for order in ground.orders:
                search.offer(take_affordable(order, terms))
            if terms.catalogue is None:
                search.swap()
        except KeyboardInterrupt:
            search.interrupted = True
    return KeptChoice(search.kept, ground.tried + len(search.values), search.interrupted)


def _count_affordable(ground: SampledGround, terms: Terms, seconds: float) -> int:
    """How many choices can be valued in the time, by the price of the first."""
    first = tuple(sorted(take_affordable(ground.orders[0], terms)))
    each = max(len(ground.drawn.samples) * ground.drawn.price(first), 1e-3)
    return max(int(choice_seconds(seconds) / each), FEWEST_VALUED)


def value_choices(ground: SampledGround, choices: Iterable[frozenset[int]]) -> list[float]:
    """How often each of some choices agrees on the samples."""
    score = _score(ground.problem, ground.positive)
    return [score(ground.drawn.posteriors(tuple(sorted(kept))), ground.decisions) for kept in choices]


@dataclass(slots=True)
class _Search:
    """The best choice so far, and the value of every one tried."""

    ground: SampledGround
    terms: Terms
    span: tuple[float, float]
    """When it began, and when it must end."""
    report: Report | None
    workers: Workers[int]
    kept: frozenset[int] = frozenset()
    best: float = -1.0
    interrupted: bool = False
    most_asked: float = math.inf
    """Choices that may be asked for, where no clock ends the search,"""
    n_asked: int = 0
    """and how many were, in the order that is the same whoever values them."""
    values: dict[frozenset[int], float] = field(default_factory=dict)

    @property
    def is_late(self) -> bool:
        """Whether the time is over, by the clock or by what was asked for."""
        return self.n_asked >= self.most_asked or time.monotonic() > self.span[1]

    def value(self, kept: frozenset[int]) -> float:
        """How often a choice agrees on the samples."""
        if kept not in self.values:
            (self.values[kept],) = value_choices(self.ground, [kept])
            if self.report is not None:
                self.report(max(self.best, self.values[kept]), 1.0, self.ground.tried + len(self.values))
        return self.values[kept]

    def offer(self, kept: frozenset[int]) -> bool:
        """Take a choice that is better than the one held."""
        self.n_asked += 1
        is_better = self.value(kept) > self.best + BETTER
        if is_better:
            self.kept, self.best = kept, self.value(kept)
        return is_better

    def swap(self) -> None:
        """Exchange one feature for another while that helps and there is time."""
        while not self.is_late and any(map(self.offer, self._valued(self._neighbours()))):
            pass

    def _neighbours(self) -> Iterator[frozenset[int]]:
        """Choices that differ in one feature, those first that lack the feature least needed."""
        useful = self.ground.orders[0]
        without = {}
        for feature in sorted(self.kept):
            if self.is_late:
                return
            self.n_asked += 1
            without[feature] = self.value(self.kept - {feature})
        for out in sorted(without, key=lambda f: (-without[f], f)):
            for into in useful:
                if self.is_late:
                    return
                changed = self.kept - {out} | {into}
                if into not in self.kept and self.terms.cost(changed) <= spendable(self.terms.budget):
                    yield changed

    def _valued(self, choices: Iterator[frozenset[int]]) -> Iterator[frozenset[int]]:
        """The same choices, valued before they come where others help."""
        while True:
            n_choices = BATCH * self.workers.size if self._is_helped() else 1
            batch = list(islice(choices, n_choices))
            if n_choices > 1:
                self._value_elsewhere([kept for kept in batch if kept not in self.values])
            if not batch:
                return
            for kept in batch:
                if self.is_late:
                    return
                yield kept

    def _is_helped(self) -> bool:
        """Whether workers are ready; they are started here, and get the samples, when it takes long."""
        workers = self.workers
        is_long = time.monotonic() - self.span[0] > ALONE_SECONDS
        if is_long and not workers.team.is_alone and not workers.has_answered:
            for _ in range(workers.n_free):
                workers.submit(WARM_UP, ((),))
            workers.collect(0.0)
        return workers.has_answered

    def _value_elsewhere(self, choices: list[frozenset[int]]) -> None:
        """Have choices valued, until the time is over."""
        for start in range(0, len(choices), BATCH):
            self.workers.submit(start, (choices[start : start + BATCH],))
        while any(tag != WARM_UP for tag in self.workers.tags) and not self.is_late:
            for start, values in self.workers.collect(WAIT_SECONDS):
                if start != WARM_UP:
                    self.values.update(zip(choices[start : start + BATCH], values, strict=True))


def take_affordable(order: Sequence[int], terms: Terms) -> frozenset[int]:
    """Features in their order, each taken that the rest of the budget affords, with what it comes with."""
    kept = terms.bundle(())
    if terms.cost(kept) > spendable(terms.budget):
        raise QueryError("the mandatory tests alone exceed the budget; raise it")
    for feature in order:
        larger = terms.bundle((*kept, feature))
        if feature in larger and terms.cost(larger) <= spendable(terms.budget):
            kept = larger
    return kept


def sampled_threshold(ground: SampledGround, kept: frozenset[int]) -> AchievableAgreement:
    """The best threshold on the kept features, by the samples they were chosen by."""
    assert ground.positive is not None
    posteriors = ground.drawn.posteriors(tuple(sorted(kept)))
    shares = _shares(ground.problem, ground.decisions)
    return best_threshold(posteriors / len(posteriors), shares, ground.positive)


def estimate_agreement(ground: SampledGround, kept: frozenset[int], decider: Decider) -> Interval:
    """How often `decider` on the kept features decides as all do, on fresh samples."""
    return ground.fresh.agreement(kept, decider, 0.0)


def _positive(problem: Problem) -> int:
    rule = problem.classifier.rule
    assert isinstance(rule, ThresholdRule)
    return problem.network.variables[problem.target].index(rule.positive)


def _score(problem: Problem, positive: int | None) -> Score:
    """How often posteriors lead to the decisions: by the rule, or by the best threshold."""

    def score(posteriors: Floats, decisions: Ints) -> float:
        if positive is None:
            return float((problem.decider.decide(posteriors) == decisions).mean())
        return best_threshold(posteriors / len(posteriors), _shares(problem, decisions), positive).value

    return score


def _shares(problem: Problem, decisions: Ints) -> Floats:
    shares: Floats = np.eye(len(problem.decider.actions))[decisions] / len(decisions)
    return shares


def _completed(problem: Problem, order: Sequence[int], rest: Sequence[int]) -> tuple[int, ...]:
    """An order of columns as positions of features, those left out at the end."""
    return tuple(problem.free[i] for i in (*order, *(i for i in rest if i not in order)))
