"""The engines there are, and the choice among them by predicted cost.

An answer is there at once where it can be: exact where that takes about a second, else certified, as
narrow as a second allows (`QUICK_TOLERANCES`). Who asks for the exact value gets the cheapest exact engine
within the limits, and who names a tolerance the cheapest that keeps to it. Engines are priced in the order of
the least they ever ask, until none that is left can be cheaper. Estimates are taken only when allowed. Where
nothing is left, the error lists what every engine would have needed and the ways out.

What decides whether an engine is asked at all (its name, its certainty and the least it ever costs) stands
here, and the engine is imported when it is first asked for a price: a small question does not import
circuits, grids and samplers to find out that it needs none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module

from unswayed.core.anytime import bytes_allowed, seconds_affordable, seconds_given
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import GIBIBYTE, readable_bytes
from unswayed.core.measurement import Bid, Certainty
from unswayed.core.names import unknown_name
from unswayed.decisions.oracle import AgreementOracle, Oracle
from unswayed.decisions.problem import Problem
from unswayed.engines.protocol import Cost, Engine, Question, Refusal

DEFAULT_TOLERANCE = 1e-3
"""Width of a certified interval that is good enough where no exact engine fits the limits."""
QUICK_TOLERANCES = 1e-6, 1e-5, 1e-4
"""Narrower intervals, taken in place of that where they are quick."""
QUICK = 1.0
"""Predicted seconds up to which an answer is quick."""
PATIENCE = 60.0
"""Predicted seconds that an engine may take when no limit was given."""
WIDER = 0.002, 0.005, 0.01, 0.05, 0.2
"""Tolerances that are tried before one of them is advised."""
PARTS = 4.0
"""Times its price that an engine needs: verbs of several parts leave each a third, and prices err."""
LONGEST, LARGEST = 3600.0, 64 * GIBIBYTE
"""Seconds and bytes up to which it is advised to raise the limits."""


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """An engine and where it lives; itself an engine that imports the other on first use."""

    name: str
    certainty: Certainty
    least_seconds: float
    module: str
    """Below `unswayed`."""
    class_name: str

    def load(self) -> Engine:
        """The engine itself."""
        return _load(self.module, self.class_name)

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The engine's price."""
        return self.load().cost(problem, question)

    def prepare(self, problem: Problem) -> Oracle | AgreementOracle:
        """The engine's oracle."""
        return self.load().prepare(problem)


@cache
def _load(module: str, class_name: str) -> Engine:
    engine: Engine = getattr(import_module(f"unswayed.{module}"), class_name)()
    return engine


ENGINES: tuple[ListedEngine, ...] = (
    ListedEngine("dense", Certainty.EXACT, 0.0001, "engines.dense", "DenseEngine"),
    ListedEngine("weights", Certainty.EXACT, 0.0002, "engines.weights.engine", "WeightsEngine"),
    ListedEngine("sums", Certainty.BOUND, 0.002, "engines.sums.engine", "SumsEngine"),
    ListedEngine("boxes", Certainty.BOUND, 0.002, "engines.boxes.engine", "BoxesEngine"),
    ListedEngine("circuit", Certainty.EXACT, 0.025, "engines.circuit", "CircuitEngine"),
    ListedEngine("sampling", Certainty.ESTIMATE, 0.01, "engines.sampling", "SamplingEngine"),
)
"""What the choice is among."""
BASELINES: tuple[ListedEngine, ...] = (
    ListedEngine("depth_first", Certainty.EXACT, 0.001, "papers.chen2014.depth_first", "DepthFirstEngine"),
    ListedEngine("brute_force", Certainty.EXACT, 0.001, "papers.chen2014.brute_force", "BruteForceEngine"),
)
"""The methods of [chen2014], to compare with: used when named, never chosen."""

RENAMED = {"log_odds": "weights", "lists": "weights", "bounds": "sums", "contexts": "circuit"}
"""Which engine does what one of another name did before."""


def engine_called(name: str) -> Engine:
    """The engine of this name; `QueryError` suggests the nearest."""
    engines = (*ENGINES, *BASELINES)
    for engine in engines:
        if engine.name == name:
            return engine
    if name in RENAMED:
        raise QueryError(f"unknown engine {name!r}; did you mean {RENAMED[name]!r}?")
    raise QueryError(unknown_name("engine", name, [engine.name for engine in engines]))


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine chosen, for which question, and what all of them bid."""

    engine: Engine
    question: Question
    bids: tuple[Bid, ...]


def choose(
    problem: Problem,
    question: Question,
    *,
    quick: bool = False,
    allow_estimates: bool = False,
    engines: Sequence[Engine] = ENGINES,
    failed: Mapping[str, str] | None = None,
    all_bids: bool = False,
) -> Choice:
    """The engine to answer with; `LimitError` lists the bids when there is none.

    With `quick`, an interval is preferred to a value that is exact later. An engine that cannot undercut the
    best bid so far is not priced, unless `all_bids` are wanted. `failed` names engines that were tried and
    could not prepare, with the reasons.
    """
    auction = _Auction(problem, question, dict(failed or {}))
    for wish in _wishes(question, quick=quick, allow_estimates=allow_estimates):
        best = auction.cheapest(engines, wish)
        if best is not None:
            bids = auction.bids(engines, price_all=all_bids)
            return Choice(best, auction.question_for(best, wish.tolerance), bids)
    raise LimitError(
        "no engine can answer this exactly within the limits:\n"
        + "\n".join(f"  {line(bid)}" for bid in auction.bids(engines, price_all=True))
        + f"\nways out: {'; or '.join(_list_ways_out(auction, engines, allow_estimates=allow_estimates))}"
    )


@dataclass(frozen=True, slots=True)
class _Wish:
    """What would be taken if it were offered."""

    certainties: frozenset[Certainty]
    tolerance: float
    """Width of the interval, where it is one."""
    seconds: float = math.inf
    """Predicted time, at most."""
    is_narrow: bool = False
    """Whether the engine must be able to reach that width."""


def _wishes(question: Question, *, quick: bool, allow_estimates: bool) -> Iterator[_Wish]:
    """What is wanted most, and what would do instead."""
    exact, bound = frozenset({Certainty.EXACT}), frozenset({Certainty.BOUND})
    if question.tolerance > 0:
        yield _Wish(exact | bound, question.tolerance)
    else:
        if quick:
            yield _Wish(exact, 0.0, QUICK)
            for tolerance in QUICK_TOLERANCES:
                yield _Wish(bound, tolerance, QUICK, is_narrow=True)
            yield _Wish(exact | bound, DEFAULT_TOLERANCE, is_narrow=True)
        yield _Wish(exact, 0.0)
        yield _Wish(bound, DEFAULT_TOLERANCE)
    if allow_estimates:
        yield _Wish(frozenset({Certainty.ESTIMATE}), question.tolerance)


@dataclass(slots=True)
class _Auction:
    """Bids for one question, each made when first needed."""

    problem: Problem
    question: Question
    failed: dict[str, str]
    prices: dict[tuple[str, float], Cost | Refusal] = field(default_factory=dict)
    """By the name of the engine and the tolerance that it was asked for."""

    def question_for(self, engine: Engine, tolerance: float = DEFAULT_TOLERANCE) -> Question:
        """The question as the engine takes it: engines that give bounds need a tolerance."""
        if engine.certainty is not Certainty.BOUND or self.question.tolerance > 0:
            return self.question
        return replace(self.question, tolerance=tolerance)

    def price(self, engine: Engine, tolerance: float = DEFAULT_TOLERANCE) -> Cost | Refusal:
        """What the engine bids. What it may not even price is refused."""
        if engine.name in self.failed:
            return Refusal(self.failed[engine.name])
        question = self.question_for(engine, tolerance)
        key = engine.name, question.tolerance
        if key not in self.prices:
            try:
                self.prices[key] = engine.cost(self.problem, question)
            except LimitError as error:
                self.prices[key] = Refusal(str(error))
        return self.prices[key]

    def cheapest(self, engines: Sequence[Engine], wish: _Wish) -> Engine | None:
        """The cheapest engine that grants a wish; one whose least price is above the best bid is left out."""
        best, seconds = None, wish.seconds
        wanted = [engine for engine in engines if engine.certainty in wish.certainties]
        for engine in sorted(wanted, key=lambda engine: engine.least_seconds):
            if engine.least_seconds >= seconds:
                break
            price = self.price(engine, wish.tolerance)
            if isinstance(price, Refusal) or not _fits(engine, price) or price.seconds >= seconds:
                continue
            if not wish.is_narrow or price.width <= wish.tolerance:
                best, seconds = engine, price.seconds
        return best

    def bids(self, engines: Sequence[Engine], *, price_all: bool) -> tuple[Bid, ...]:
        """What every engine bid, or why it was not asked; for an interval of several widths, the widest."""
        made = []
        for engine in engines:
            asked = [tolerance for name, tolerance in self.prices if name == engine.name]
            if price_all or asked or engine.name in self.failed:
                made.append(_bid(engine, self.price(engine, max(asked, default=DEFAULT_TOLERANCE))))
            else:
                made.append(Bid(engine.name, None, None, "not asked: it cannot be cheaper"))
        return tuple(made)


def _list_ways_out(auction: _Auction, engines: Sequence[Engine], *, allow_estimates: bool) -> Iterator[str]:
    """What would lead to an answer here, each tried on the prices: a wider interval, more time, samples."""
    yield "observe or keep fewer features"
    usable = [e for e in engines if allow_estimates or e.certainty is not Certainty.ESTIMATE]
    for tolerance in (t for t in WIDER if t > max(auction.question.tolerance, DEFAULT_TOLERANCE)):
        wider = replace(auction, question=replace(auction.question, tolerance=tolerance), prices={})
        if wider.cheapest(usable, _Wish(frozenset({Certainty.BOUND, Certainty.ESTIMATE}), tolerance)):
            yield f"accept a wider interval (tolerance={tolerance:g})"
            break
    prices = [auction.price(e) for e in usable]
    priced = [p for p in prices if isinstance(p, Cost) and p.seconds <= LONGEST and p.n_bytes <= LARGEST]
    if priced:
        yield from _raise_text(min(priced, key=lambda price: price.seconds))
    estimate = _Wish(frozenset({Certainty.ESTIMATE}), auction.question.tolerance)
    if not allow_estimates and auction.cheapest(engines, estimate) is not None:
        yield "allow estimates (allow_estimates=True)"


def _raise_text(price: Cost) -> Iterator[str]:
    """The limits that a price needs raised, and to what; nothing where none of them is in the way."""
    needed = []
    if price.seconds > seconds_affordable(PATIENCE):
        given = seconds_given()
        enough = max(PARTS * price.seconds, 2.0 * given if given < math.inf else 0.0)
        needed.append(f"that on time (max_seconds) to {math.ceil(enough)} s")
    if price.n_bytes > bytes_allowed():
        needed.append(f"that on memory (max_bytes) to {readable_bytes(1.1 * price.n_bytes)}")
    if needed:
        yield f"raise the limits: {' and '.join(needed)}"


def line(bid: Bid) -> str:
    """One bid as a line of text.

    >>> line(Bid("dense", 0.01, 2e6))
    'dense: about 0.01 s and 2 MB'
    """
    if bid.seconds is None or bid.n_bytes is None:
        return f"{bid.engine}: {bid.note}"
    price = f"{bid.engine}: about {bid.seconds:.2g} s and {readable_bytes(bid.n_bytes)}"
    return f"{price} ({bid.note})" if bid.note else price


def _fits(engine: Engine, price: Cost) -> bool:
    """Whether a price is within the limits and what is left of the time; an estimate makes do with that."""
    in_time = price.seconds <= seconds_affordable(PATIENCE) or engine.certainty is Certainty.ESTIMATE
    return price.n_bytes <= bytes_allowed() and in_time


def _bid(engine: Engine, price: Cost | Refusal) -> Bid:
    if isinstance(price, Refusal):
        return Bid(engine.name, None, None, price.reason)
    note = "" if _fits(engine, price) else "over the limits"
    return Bid(engine.name, price.seconds, price.n_bytes, note)
