"""How a question finds its engine and its answer becomes a measurement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar

from unswayed.core.anytime import check_bytes, check_seconds, grace, moment_at, one_clock, portion, until
from unswayed.core.arguments import check_named
from unswayed.core.errors import LimitError, QueryError, expect, expect_number
from unswayed.core.limits import Limits
from unswayed.core.measurement import Bid, Certainty, Measurement
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import AgreementOracle, Interval, Oracle
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.choice import DEFAULT_TOLERANCE, ENGINES, PATIENCE, choose, engine_called, line
from unswayed.engines.protocol import Engine, Needs, Question, Refusal

Answer = TypeVar("Answer")

ESTIMATES = "estimates"
"""Where a problem keeps the oracles whose time has an end."""
CAN_BE_ESTIMATED = frozenset({Needs.AGREEMENT, Needs.SINGLES, Needs.ACHIEVABLE})
"""What samples can tell."""
CERTAIN_ENGINES = tuple(each.name for each in ENGINES if each.certainty is not Certainty.ESTIMATE)
FOR_CERTAINTY = 0.5
"""Share of the time in which something certain must be found where an estimate may take its place."""


class Options(TypedDict, total=False):
    """What every verb about decisions takes by keyword."""

    engine: Engine | str | None
    """The engine to use, or its name; chosen by predicted cost when None."""
    tolerance: float | None
    """Width of a certified interval that is good enough; None asks for the exact value first."""
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
        key = f"oracle {self.engine!r}"
        known: dict[str, Any] = self.problem._memo
        if self.engine.certainty is Certainty.ESTIMATE:
            known = known.setdefault(ESTIMATES, {})
        if key not in known:
            known[key] = self.engine.prepare(self.problem)
        oracle: Oracle | AgreementOracle = known[key]
        return oracle

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
    """What `solve` makes of the engine for a question; prices, preparation and answer share the time."""
    started = time.perf_counter()
    check_options(options, Options)
    tolerance = options.get("tolerance")
    expect_number(0.0 if tolerance is None else tolerance, "the tolerance")
    if tolerance is not None and not tolerance >= 0:
        raise QueryError(f"the tolerance must be at least 0, not {tolerance!r}")
    question = replace(question, tolerance=tolerance or 0.0)
    engine = find_engine(options.get("engine"))
    with one_clock(options.get("limits")):
        if engine is None:
            return _route(problem, question, options, started, solve)
        question = _for(engine, problem, question, options)
        asked = RoutedQuestion(problem, question, engine, (), started)
        if options.get("explain"):
            print(explanation(asked))
        return solve(asked)


def _route(
    problem: Problem,
    question: Question,
    options: Options,
    started: float,
    solve: Callable[[RoutedQuestion], Answer],
) -> Answer:
    """The answer of the cheapest engine that has one: what fails within the limits leaves the auction.

    Where estimates are allowed, what is exact must be found in a share of the time: the rest is for samples.
    """
    failed: dict[str, str] = {}
    estimates = options.get("allow_estimates", False)
    can_wait = estimates and question.needs in CAN_BE_ESTIMATED
    certain_until = moment_at(FOR_CERTAINTY if can_wait else 1.0)
    while True:
        if can_wait and time.monotonic() > certain_until:
            failed = {**dict.fromkeys(CERTAIN_ENGINES, "no time was left for it"), **failed}
        with until(certain_until):
            chosen = choose(
                problem,
                question,
                allow_estimates=estimates,
                failed=failed,
                all_bids=options.get("all_bids", False) or options.get("explain", False),
            )
        certainty = chosen.engine.certainty
        asked = RoutedQuestion(problem, chosen.question, chosen.engine, chosen.bids, started)
        # Samples of a large network may take hours; the interval of those decided in time is as reliable.
        patience = PATIENCE if certainty is Certainty.ESTIMATE else math.inf
        try:
            with portion(seconds=patience):
                with until(math.inf if certainty is Certainty.ESTIMATE else certain_until):
                    asked.oracle()
                # Bounds get narrower with time; what is exact is there or not.
                with until(certain_until if certainty is Certainty.EXACT else math.inf):
                    found = solve(asked)
        except LimitError as error:
            failed[chosen.engine.name] = str(error)
            continue
        if options.get("explain"):
            print(explanation(asked))
        return found


def start_anew(problem: Problem) -> None:
    """Let estimates of a problem that lives on have their time again: a new question is asked."""
    problem._memo.pop(ESTIMATES, None)


def explanation(asked: RoutedQuestion) -> str:
    """Which engines bid what, and which was taken."""
    lines = [f"{'->' if bid.engine == asked.engine.name else '  '} {line(bid)}" for bid in asked.bids]
    return "\n".join(lines) or f"-> {asked.engine.name}: chosen by name"


def problem_of(classifier: Classifier, evidence: Mapping[str, str] | None, options: Options) -> Problem:
    """The classifier at this evidence."""
    check_options(options, Options)
    # The decision itself is the least that there is to say, however little time there is.
    with one_clock(options.get("limits")), grace():
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
