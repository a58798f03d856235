"""Features within a budget that agree well on samples: candidates by several orders, then swaps.

Each sample has the exact posterior of any features on it, so that a choice is valued by how often it decides
as all features do. Nothing is proven. Fresh samples, which took no part in choosing, estimate how often the
choice agrees; `trim.py` bounds it where sums over the network can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import uuid4

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, settle, tick, units_left
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.numerics import spendable
from unswayed.core.parallel import Team, Workers
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem, forget_answers
from unswayed.decisions.rules import Decider, ThresholdRule
from unswayed.engines.sampling import SamplingEngine, SamplingOracle
from unswayed.search.greedy import information_by_feature
from unswayed.search.sampled import (
    BETTER,
    SampledTask,
    Samples,
    Score,
    additive_selection,
    forward_selection,
)
from unswayed.search.task import Terms

SAMPLES_UNITS = 3e7
"""What choosing on samples and certifying the choice takes at most when no limit was given."""
FEWEST_SAMPLES, DECIDED_SHARE = 64, 0.2
"""Samples that are decided in any case, and the share of what is left for deciding more."""
FEWEST_VALUED = 16
"""Choices that are valued however long each takes, where no limit on time was given."""
N_SAMPLES = 4000
"""Samples to choose by, and as many to measure by."""
CHOICE_UNITS, CHOICE_SHARE = 3e6, 0.35
"""What choosing takes, at most, and the share of what is left."""
ALONE_UNITS = 5e5
"""How long this process chooses before others join."""
LEAST_VALUED = 1e3
"""What valuing a choice takes, at least."""
BATCH = 32
"""Choices that a worker values at a time: some hundredths of a second."""
WARM_UP = -1
"""The tag of calls that value nothing, by which workers get ready."""
WAIT_SECONDS = 0.1
"""How long to wait for a batch before the budget is asked."""


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
    """The best features so far, chosen on samples."""

    kept: frozenset[int]
    agreement: float
    """How often they agree on the samples; 0 before that is known."""
    tried: int
    """Subsets valued."""


def draw_ground(problem: Problem, terms: Terms, *, adapts_threshold: bool) -> SampledGround:
    """Samples, and the orders in which several heuristics take the features for their costs."""
    few = SamplingEngine(n_samples=FEWEST_SAMPLES).prepare(problem)
    each = max(UNITS_PER_SECOND * few.price(problem.free), 1e-3)
    n_affordable = int(DECIDED_SHARE * min(units_left(), SAMPLES_UNITS) / each)
    n_samples = min(max(n_affordable, FEWEST_SAMPLES), N_SAMPLES)
    engine = SamplingEngine(n_samples=n_samples, rng=np.random.default_rng(0))
    drawn = engine.prepare(problem)  # as many as there is time for
    fresh = engine.prepare(problem)
    full = drawn.posteriors(problem.free)
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
    )
    gains = information_by_feature(problem)
    by_gain = sorted(useful, key=lambda i: (-gains[problem.free[i]] / costs[i], task.names[i]))
    found = [
        settle(order, share=choice_share(), units=CHOICE_UNITS).last
        for order in (additive_selection(task), forward_selection(task))
    ]
    orders = [_completed(problem, order, by_gain) for order in (*(each.taken for each in found), ())]
    tried = sum(each.tried for each in found)
    return SampledGround(problem, positive, drawn, fresh, decisions, tuple(orders), tried)


def choice_share() -> float:
    """The share of what is left in which to choose."""
    return min(CHOICE_SHARE, CHOICE_UNITS / max(min(units_left(), SAMPLES_UNITS), 1.0))


def units_of_choices(ground: SampledGround, terms: Terms) -> float:
    """What choosing takes at most when no limit was given: enough for some choices, whatever each takes."""
    return max(CHOICE_UNITS, FEWEST_VALUED * _units_of_choice(ground, terms))


def _units_of_choice(ground: SampledGround, terms: Terms) -> float:
    """What valuing one choice takes, by the price of the first."""
    first = tuple(sorted(take_affordable(ground.orders[0], terms)))
    return max(UNITS_PER_SECOND * len(ground.drawn.samples) * ground.drawn.price(first), LEAST_VALUED)


def choose_kept(ground: SampledGround, terms: Terms, team: Team) -> Iterator[KeptChoice]:
    """Better and better features within the budget, by how often they agree on the samples.

    A team values the choices next in line; what is taken, and in which order, is the same as without.
    """
    first = take_affordable(ground.orders[0], terms)
    yield KeptChoice(first, 0.0, ground.tried)
    problem = forget_answers(ground.problem)
    drawn = replace(ground.drawn, problem=problem)
    sent = replace(ground, problem=problem, drawn=drawn, fresh=drawn)
    with Workers[int](team, value_choices, uuid4().hex, sent) as workers:
        search = _Search(ground, terms, _units_of_choice(ground, terms), workers, first)
        for order in ground.orders:
            search.offer(take_affordable(order, terms))
            yield search.choice
        if terms.catalogue is None:
            yield from search.swap()


def value_choices(ground: SampledGround, choices: Iterable[frozenset[int]]) -> list[float]:
    """How often each of some choices agrees on the samples."""
    score = _score(ground.problem, ground.positive)
    return [score(ground.drawn.posteriors(tuple(sorted(kept))), ground.decisions) for kept in choices]


@dataclass(slots=True)
class _Search:
    """The best choice so far, and the value of every one tried."""

    ground: SampledGround
    terms: Terms
    units: float
    """What valuing a choice takes."""
    workers: Workers[int]
    kept: frozenset[int]
    best: float = -1.0
    n_asked: int = 0
    """Choices asked for, in the order that is the same whoever values them."""
    values: dict[frozenset[int], float] = field(default_factory=dict)

    @property
    def choice(self) -> KeptChoice:
        """The best so far."""
        return KeptChoice(self.kept, max(self.best, 0.0), self.ground.tried + len(self.values))

    def value(self, kept: frozenset[int]) -> float:
        """How often a choice agrees on the samples."""
        tick(self.units, "the choice on samples")
        self.n_asked += 1
        if kept not in self.values:
            (self.values[kept],) = value_choices(self.ground, [kept])
        return self.values[kept]

    def offer(self, kept: frozenset[int]) -> bool:
        """Take a choice that is better than the one held."""
        value = self.value(kept)
        is_better = value > self.best + BETTER
        if is_better:
            self.kept, self.best = kept, value
        return is_better

    def swap(self) -> Iterator[KeptChoice]:
        """Exchange one feature for another while that helps."""
        is_better = True
        while is_better:
            is_better = False
            for kept in self._valued(self._neighbours()):
                is_better = self.offer(kept)
                yield self.choice
                if is_better:
                    break

    def _neighbours(self) -> Iterator[frozenset[int]]:
        """Choices that differ in one feature, those first that lack the feature least needed."""
        useful = self.ground.orders[0]
        without = {feature: self.value(self.kept - {feature}) for feature in sorted(self.kept)}
        for out in sorted(without, key=lambda f: (-without[f], f)):
            for into in useful:
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
            yield from batch

    def _is_helped(self) -> bool:
        """Whether workers are ready; they are started here, and get the samples, when it takes long."""
        workers = self.workers
        is_long = self.n_asked * self.units > ALONE_UNITS
        if is_long and not workers.team.is_serial and not workers.has_answered:
            for _ in range(workers.n_free):
                workers.submit(WARM_UP, ((),))
            workers.collect(0.0)
        return workers.has_answered

    def _value_elsewhere(self, choices: list[frozenset[int]]) -> None:
        """Have choices valued."""
        for start in range(0, len(choices), BATCH):
            self.workers.submit(start, (choices[start : start + BATCH],))
        while any(tag != WARM_UP for tag in self.workers.tags):
            tick(what="the choice on samples")
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
