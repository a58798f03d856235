"""Several ways to one engine's answers: each question is answered by the cheapest that can.

A way is itself an engine, with its own price and its own oracle; together they are one engine, whose oracle
asks the cheapest way anew for every question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from unswayed.core.anytime import bytes_allowed
from unswayed.core.errors import LimitError
from unswayed.core.memo import Topic
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import (
    AgreementOracle,
    Interval,
    Oracle,
    SingleFeature,
    find_achievable,
    find_agreement,
    find_potential,
    find_singles,
)
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import Decider
from unswayed.engines.protocol import Cost, Engine, Needs, Question, Refusal

RANKED_WAYS: Topic[tuple[object, list[PricedWay] | Refusal]] = Topic("ranked ways")


@dataclass(frozen=True, slots=True)
class PricedWay:
    """A way that can answer, and what it takes."""

    way: Engine
    cost: Cost

    @property
    def fits(self) -> bool:
        """Whether it keeps to the memory allowed."""
        return self.cost.n_bytes <= bytes_allowed()


def price_ways(ways: Sequence[Engine], problem: Problem, question: Question) -> Cost | Refusal:
    """The price of the cheapest way, or why there is none."""
    found = rank_ways(ways, problem, question)
    return found if isinstance(found, Refusal) else found[0].cost


def rank_ways(ways: Sequence[Engine], problem: Problem, question: Question) -> list[PricedWay] | Refusal:
    """The ways that can answer, the cheapest first; one that cannot be cheaper than another is left out.

    The last ranking stays with the problem: who chose by a price asks the same thing again to prepare it, and
    again to answer.
    """
    known = problem.memo.all(RANKED_WAYS)
    key = question.kept, question.needs, bytes_allowed()
    if known.get(tuple(ways), (None,))[0] != key:
        known[tuple(ways)] = key, _rank_ways(ways, problem, question)
    return known[tuple(ways)][1]


def _rank_ways(ways: Sequence[Engine], problem: Problem, question: Question) -> list[PricedWay] | Refusal:
    priced: list[PricedWay] = []
    reasons: list[str] = []
    for way in sorted(ways, key=lambda way: way.least_seconds):
        if any(other.fits and other.cost.seconds <= way.least_seconds for other in priced):
            break
        try:
            price = way.cost(problem, question)
        except LimitError as error:  # of this way; the others may need less
            price = Refusal(str(error))
        if isinstance(price, Refusal):
            reasons.append(price.reason)
        else:
            priced.append(PricedWay(way, price))
    if not priced:
        return Refusal("; ".join(dict.fromkeys(reasons)))
    return sorted(priced, key=lambda each: (not each.fits, each.cost.seconds))


def prepare_ways(ways: Sequence[Engine], problem: Problem) -> WaysOracle:
    """An oracle whose way for nothing kept is prepared; `LimitError` where none can be."""
    oracle = WaysOracle(problem, tuple(ways))
    oracle.ask(Question(frozenset()))
    return oracle


@dataclass(frozen=True, slots=True, eq=False)
class WaysOracle:
    """Oracles of several ways, each made when first needed."""

    problem: Problem
    ways: tuple[Engine, ...]
    _prepared: dict[str, Oracle | AgreementOracle] = field(default_factory=dict, repr=False)

    def ask(self, question: Question) -> Oracle | AgreementOracle:
        """The oracle of the cheapest way to a question; of the next where that cannot be prepared."""
        found = rank_ways(self.ways, self.problem, question)
        if isinstance(found, Refusal):
            raise LimitError(f"{found.reason}; use another engine")
        failed: LimitError | None = None
        for way in (each.way for each in found):
            key = type(way).__name__
            try:
                if key not in self._prepared:
                    self._prepared[key] = way.prepare(self.problem)
            except LimitError as error:
                failed = failed or error
                continue
            return self._prepared[key]
        assert failed is not None
        raise failed

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The decision profile of the kept features."""
        return cast(Oracle, self.ask(Question(kept, Needs.ROWS))).profile(kept)

    def agreement(self, kept: frozenset[int], decider: Decider, tolerance: float) -> Interval:
        """How often `decider` on the kept features repeats the full decision."""
        return find_agreement(self.ask(Question(kept)), kept, decider, tolerance)

    def potential(self, kept: frozenset[int], tolerance: float) -> Interval:
        """The maximum potential agreement of the kept features."""
        return find_potential(self.ask(Question(kept, Needs.POTENTIAL)), kept, tolerance)

    def achievable(
        self, kept: frozenset[int], positive: int, tolerance: float
    ) -> tuple[Interval, AchievableAgreement]:
        """The maximum achievable agreement, and thresholds that achieve its lower end."""
        return find_achievable(self.ask(Question(kept, Needs.ACHIEVABLE)), kept, positive, tolerance)

    def singles(self, decider: Decider, tolerance: float) -> Mapping[int, SingleFeature]:
        """For every free feature, how often `decider` on it alone repeats the full decision."""
        oracle = self.ask(Question(frozenset(), Needs.SINGLES))
        return find_singles(oracle, self.problem.free, decider, tolerance)
