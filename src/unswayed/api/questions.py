"""How a question finds its engine and its answer becomes a measurement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypedDict, TypeVar

from unswayed.core.anytime import (
    UNITS_PER_SECOND,
    check_bytes,
    check_seconds,
    portion,
    reserve,
    settle,
    tick,
    units_left,
)
from unswayed.core.arguments import check_named
from unswayed.core.errors import LimitError, QueryError, expect, expect_number
from unswayed.core.limits import Limits
from unswayed.core.measurement import Bid, Certainty, Measurement
from unswayed.core.memo import Topic
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import ORACLES, AgreementOracle, Interval, Oracle
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.choice import DEFAULT_TOLERANCE, ENGINES, choose, engine_called, line
from unswayed.engines.protocol import Engine, Needs, Question, Refusal

Answer = TypeVar("Answer")

ESTIMATES: Topic[Oracle | AgreementOracle] = Topic("oracles that drew samples")
"""Where a problem keeps the oracles whose samples are as many as there was time for."""
CAN_BE_ESTIMATED = frozenset({Needs.AGREEMENT, Needs.SINGLES, Needs.ACHIEVABLE})
"""What samples can tell."""
EXACT_ENGINES = tuple(each for each in ENGINES if each.certainty is Certainty.EXACT)
CERTAIN_ENGINES = tuple(each.name for each in ENGINES if each.certainty is not Certainty.ESTIMATE)
PRICING = 2e3
"""Work for the prices of engines: 1 to 5 ms for forty features."""
ASKED_AGAIN = 0.1
"""Share of its price that a prepared engine takes to answer: measured for tables, a third for small sums."""
FOR_QUICK = 2.5 * UNITS_PER_SECOND
"""Work for an interval where neither a tolerance nor the exact value was asked for."""
FOR_ESTIMATE = 1e5
"""Work without which an estimate is made on the reserve."""
FOR_CERTAINTY = 0.5
"""Share of what is left in which something certain must be found where an estimate may take its place."""


class Options(TypedDict, total=False):
    """What every verb about decisions takes by keyword."""

    engine: Engine | str | None
    """The engine to use, or its name; chosen by predicted cost when None."""
    tolerance: float | None
    """Width of a certified interval that is good enough; None takes what about a second gives."""
    exact: bool
    """Ask for the exact value, however long it takes; `LimitError` where no engine can give it."""
    limits: Limits
    """Bounds on memory and time."""
    allow_estimates: bool
    """Whether sampling may answer where nothing certain can."""
    explain: bool
    """Print what every engine bid for the question."""
    all_bids: bool
    """Price every engine, also those that cannot be the cheapest."""


def check_options(options: Mapping[str, Any], known: type) -> None:
    """`TypeError` for a keyword that the verb does not take, `QueryError` for no engine or limits."""
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(unknown_name("keyword argument", name, list(known.__annotations__)))
    check_named(options)
    if "limits" in options:
        expect(options["limits"], Limits, "limits")
    find_engine(options.get("engine"))


@dataclass(frozen=True, slots=True)
class RoutedQuestion:
    """A question with the engine that answers it."""

    problem: Problem
    question: Question
    engine: Engine
    bids: tuple[Bid, ...]
    started: float

    def oracle(self) -> Oracle | AgreementOracle:
        """The engine's oracle for this problem, made once and kept with the problem."""
        topic, key = ORACLES, repr(self.engine)
        if self.engine.certainty is Certainty.ESTIMATE:
            topic = ESTIMATES
        if self.engine.certainty is Certainty.EXACT:  # others count their work as they go
            self._spend(1.0 if key not in self.problem.memo.all(topic) else ASKED_AGAIN)
        return self.problem.memo.get(topic, key, lambda: self.engine.prepare(self.problem))

    def _spend(self, share: float) -> None:
        """Count a share of what the engine bid: parts bounded by work end on every machine alike."""
        seconds = share * sum(bid.seconds or 0.0 for bid in self.bids if bid.engine == self.engine.name)
        if seconds * UNITS_PER_SECOND > units_left():
            raise LimitError(f"engine {self.engine.name!r} takes about {seconds:.2g} s, more than is left")
        tick(seconds * UNITS_PER_SECOND, f"engine {self.engine.name!r}")

    def measurement(self, interval: Interval, *, best: AchievableAgreement | None = None) -> Measurement:
        """The answer, with what it took."""
        low, high = float(interval.low), float(interval.high)
        value = 0.5 * (low + high) if interval.middle is None else interval.middle
        return Measurement(
            value=min(max(value, low), high),
            low=low,
            high=high,
            certainty=interval.certainty,
            engine=self.engine.name,
            seconds=time.perf_counter() - self.started,
            confidence=interval.confidence,
            bids=self.bids,
            thresholds=None if best is None else (best.threshold_low, best.threshold_high),
            other_thresholds=() if best is None else best.others,
        )


def ask(problem: Problem, question: Question, options: Options) -> RoutedQuestion:
    """Find the engine for a question about this problem, and prepare it unless it was named."""
    return answer(problem, question, options, lambda asked: asked)


def answer(
    problem: Problem, question: Question, options: Options, solve: Callable[[RoutedQuestion], Answer]
) -> Answer:
    """What `solve` makes of the engine for a question; prices, preparation and answer share the budget."""
    started = time.perf_counter()
    check_options(options, Options)
    question = replace(question, tolerance=_tolerance_in(options) or 0.0)
    engine = find_engine(options.get("engine"))
    if engine is None:
        return _Routing(problem, question, options, started).settle(solve)
    if options.get("exact") and engine.certainty is not Certainty.EXACT:
        raise QueryError(f"engine {engine.name!r} has no exact values; leave out exact=True or the engine")
    question = _for(engine, problem, question, options)
    asked = RoutedQuestion(problem, question, engine, (), started)
    if options.get("explain"):
        print(explanation(asked))
    return solve(asked)


def _tolerance_in(options: Options) -> float | None:
    """The tolerance that was asked for; None where it was not, or the value is to be exact."""
    tolerance = options.get("tolerance")
    expect_number(0.0 if tolerance is None else tolerance, "the tolerance")
    if tolerance is not None and not tolerance >= 0:
        raise QueryError(f"the tolerance must be at least 0, not {tolerance!r}")
    if options.get("exact") and tolerance:
        raise QueryError(f"exact=True and a tolerance of {tolerance!r} ask for different things; give one")
    return tolerance


@dataclass(frozen=True, slots=True)
class _Routing:
    """One question that engines bid for; what fails within its own limits leaves the auction."""

    problem: Problem
    question: Question
    options: Options
    started: float
    failed: dict[str, str] = field(default_factory=dict)
    """Why engines have left, by their names."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing but the exact value is wanted."""
        return self.options.get("exact", False)

    @property
    def is_quick(self) -> bool:
        """Whether nobody said how narrow the answer must be."""
        return not self.is_exact and self.options.get("tolerance") is None

    @property
    def takes_estimates(self) -> bool:
        """Whether samples may answer."""
        return self.options.get("allow_estimates", False) and not self.is_exact

    def settle(self, solve: Callable[[RoutedQuestion], Answer]) -> Answer:
        """The answer of the cheapest engine that has one.

        Where samples can answer they do in any case, on the reserve if nothing else is left.
        """
        if not (self.takes_estimates and self.question.needs in CAN_BE_ESTIMATED):
            return next(self._answers(solve, 1.0))
        nothing: list[Answer | None] = [None]
        try:
            settled = settle(chain(nothing, self._answers(solve, FOR_CERTAINTY)))
            found, refusal = settled.last, settled.cut
        except LimitError as error:
            found, refusal = None, str(error)
        if found is not None:
            return found
        self.failed.update(dict.fromkeys(CERTAIN_ENGINES, "no time was left for it") | self.failed)
        try:
            with nullcontext() if units_left() > FOR_ESTIMATE else reserve():
                return next(self._answers(solve, 1.0))
        except LimitError:
            raise LimitError(refusal) from None

    def _answers(self, solve: Callable[[RoutedQuestion], Answer], share: float) -> Iterator[Answer]:
        """The answer, once an engine has it; what is certain must be found in a share of what is left."""
        while True:
            with portion(share):
                asked = self._choose()
            certainty = asked.engine.certainty
            try:
                with portion(1.0 if certainty is Certainty.ESTIMATE else share):
                    asked.oracle()
                    found = solve(asked) if certainty is Certainty.EXACT else None
                # What is exact is there or not; bounds and estimates get narrower with all that may be spent.
                if found is None:
                    is_short = self.is_quick and certainty is Certainty.BOUND
                    with portion(units=FOR_QUICK) if is_short else nullcontext():
                        found = solve(asked)
            except LimitError as error:
                self.failed[asked.engine.name] = str(error)
                continue
            if self.options.get("explain"):
                print(explanation(asked))
            yield found
            return

    def _choose(self) -> RoutedQuestion:
        chosen = choose(
            self.problem,
            self.question,
            quick=self.is_quick,
            allow_estimates=self.takes_estimates,
            engines=EXACT_ENGINES if self.is_exact else ENGINES,
            failed=self.failed,
            all_bids=self.options.get("all_bids", False) or self.options.get("explain", False),
        )
        tick(PRICING, "the answer")  # after the prices: where none is within the time, their list says so
        return RoutedQuestion(self.problem, chosen.question, chosen.engine, chosen.bids, self.started)


def start_anew(problem: Problem) -> None:
    """Let estimates of a problem that lives on draw again: a new question may have more time."""
    problem.memo.forget(ESTIMATES)


def explanation(asked: RoutedQuestion) -> str:
    """Which engines bid what, and which was taken."""
    lines = [f"{'->' if bid.engine == asked.engine.name else '  '} {line(bid)}" for bid in asked.bids]
    return "\n".join(lines) or f"-> {asked.engine.name}: chosen by name"


def problem_of(classifier: Classifier, evidence: Mapping[str, str] | None, options: Options) -> Problem:
    """The classifier at this evidence."""
    check_options(options, Options)
    # The decision itself is the least that there is to say, however little time there is.
    with reserve():
        return make_problem(classifier, evidence)


def find_engine(given: Engine | str | None) -> Engine | None:
    """The engine that was given, by itself or by name."""
    if isinstance(given, str):
        return engine_called(given)
    if given is not None and not hasattr(given, "prepare"):
        raise QueryError(f"an engine is given by its name, such as 'dense', or as an object, not {given!r}")
    return given


def _for(engine: Engine, problem: Problem, question: Question, options: Options) -> Question:
    """The question as a named engine takes it; `LimitError` says why it cannot."""
    if engine.certainty is Certainty.ESTIMATE and not options.get("allow_estimates", False):
        raise QueryError(f"engine {engine.name!r} gives estimates; allow them with allow_estimates=True")
    if engine.certainty is Certainty.BOUND and question.tolerance == 0:
        question = replace(question, tolerance=DEFAULT_TOLERANCE)
    price = engine.cost(problem, question)
    if isinstance(price, Refusal):
        raise LimitError(f"engine {engine.name!r} cannot answer this: {price.reason}")
    check_bytes(price.n_bytes, f"engine {engine.name!r}")
    if engine.certainty is Certainty.EXACT:  # others make do with the time there is
        check_seconds(price.seconds, f"engine {engine.name!r}")
    return question
