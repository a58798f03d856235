"""How a question finds its engine and its answer becomes a measurement."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from unswayed.core.errors import LimitError, QueryError, expect, expect_number
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.measurement import Bid, Certainty, Measurement
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import AgreementOracle, Interval, Oracle
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.choice import DEFAULT_TOLERANCE, PATIENCE, choose, engine_called, line
from unswayed.engines.protocol import Engine, Question, Refusal

UNCOUNTED = 0.1
"""Share of a limit on time up to which prices are not counted: the same limits find what is kept for them."""


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
    limits: Limits
    started: float

    def oracle(self) -> Oracle | AgreementOracle:
        """The engine's oracle for this problem, made once and kept with the problem."""
        key = f"oracle {self.engine!r} {self.limits!r}"
        if key not in self.problem._memo:
            self.problem._memo[key] = self.engine.prepare(self.problem, self.limits)
        oracle: Oracle | AgreementOracle = self.problem._memo[key]
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
    """Find the engine for a question about this problem."""
    started = time.perf_counter()
    check_options(options, Options)
    limits = options.get("limits", DEFAULT_LIMITS)
    tolerance = options.get("tolerance")
    expect_number(0.0 if tolerance is None else tolerance, "the tolerance")
    if tolerance is not None and not tolerance >= 0:
        raise QueryError(f"the tolerance must be at least 0, not {tolerance!r}")
    question = replace(question, tolerance=tolerance or 0.0)
    engine = find_engine(options.get("engine"))
    if engine is None:
        asked = _route(problem, question, options, limits, started)
    else:
        question = _for(engine, problem, question, options)
        asked = RoutedQuestion(problem, question, engine, (), _left_of(limits, started), started)
    if options.get("explain"):
        print(explanation(asked))
    return asked


def _route(
    problem: Problem, question: Question, options: Options, limits: Limits, started: float
) -> RoutedQuestion:
    """The cheapest engine that can prepare the problem: what fails within the limits leaves the auction."""
    failed: dict[str, str] = {}
    while True:
        chosen = choose(
            problem,
            question,
            limits=limits,
            allow_estimates=options.get("allow_estimates", False),
            failed=failed,
            all_bids=options.get("all_bids", False) or options.get("explain", False),
        )
        within = _left_of(limits, started)
        if chosen.engine.certainty is Certainty.ESTIMATE and limits.max_seconds is None:
            # Samples of a large network may take hours; the interval of those decided by then is as reliable.
            within = replace(limits, max_seconds=PATIENCE)
        asked = RoutedQuestion(problem, chosen.question, chosen.engine, chosen.bids, within, started)
        try:
            asked.oracle()
        except LimitError as error:
            failed[chosen.engine.name] = str(error)
        else:
            return asked


def _left_of(limits: Limits, started: float) -> Limits:
    """The limits less the time that prices and failed attempts took, where that is worth counting."""
    spent = time.perf_counter() - started
    if limits.max_seconds is None or spent < UNCOUNTED * limits.max_seconds:
        return limits
    return replace(limits, max_seconds=max(limits.max_seconds - spent, UNCOUNTED * limits.max_seconds))


def explanation(asked: RoutedQuestion) -> str:
    """Which engines bid what, and which was taken."""
    lines = [f"{'->' if bid.engine == asked.engine.name else '  '} {line(bid)}" for bid in asked.bids]
    return "\n".join(lines) or f"-> {asked.engine.name}: chosen by name"


def problem_of(classifier: Classifier, evidence: Mapping[str, str] | None, options: Options) -> Problem:
    """The classifier at this evidence."""
    check_options(options, Options)
    return make_problem(classifier, evidence, limits=options.get("limits", DEFAULT_LIMITS))


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
    limits = options.get("limits", DEFAULT_LIMITS)
    limits.check_bytes(price.n_bytes, f"engine {engine.name!r}")
    if engine.certainty is Certainty.EXACT:  # others make do with the time there is
        limits.check_seconds(price.seconds, f"engine {engine.name!r}")
    return question
