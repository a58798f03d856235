"""The engines there are, and the choice among them by predicted cost.

Exact engines come first: the cheapest one within the limits. A certified interval is taken where its
tolerance was asked for and it is cheaper, or where nothing exact is within the limits. Estimates are
taken only when allowed. Where nothing is left, the error lists what every engine would have needed and
the ways out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, Limits, readable_bytes
from unswayed.core.measurement import Bid, Certainty
from unswayed.decisions.problem import Problem
from unswayed.engines.bounds import BoundsEngine
from unswayed.engines.chen2014.brute_force import BruteForceEngine
from unswayed.engines.chen2014.depth_first import DepthFirstEngine
from unswayed.engines.circuit import CircuitEngine
from unswayed.engines.contexts import ContextsEngine
from unswayed.engines.dense import DenseEngine
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.engines.protocol import Cost, Engine, Question, Refusal
from unswayed.engines.sampling import SamplingEngine
from unswayed.engines.sums.engine import SumsEngine

ENGINES: tuple[Engine, ...] = (
    DenseEngine(),
    LogOddsEngine(),
    BoundsEngine(),
    SumsEngine(),
    CircuitEngine(),
    ContextsEngine(),
    SamplingEngine(),
)
"""What the choice is among."""
BASELINES: tuple[Engine, ...] = (DepthFirstEngine(), BruteForceEngine())
"""The methods of [chen2014], to compare with: used when named, never chosen."""
DEFAULT_TOLERANCE = 1e-3
"""Width of a certified interval that is good enough when nothing exact is in reach."""
PATIENCE = 60.0
"""Predicted seconds that an engine may take when no limit was given."""


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
    limits: Limits = DEFAULT_LIMITS,
    allow_estimates: bool = False,
    engines: Sequence[Engine] = ENGINES,
) -> Choice:
    """The engine to answer with; `LimitError` lists the bids when there is none."""
    relaxed = question if question.tolerance > 0 else replace(question, tolerance=DEFAULT_TOLERANCE)
    prices = {
        engine: engine.cost(problem, question if engine.certainty is Certainty.EXACT else relaxed)
        for engine in engines
    }
    bids = tuple(_bid(engine, price, limits) for engine, price in prices.items())
    feasible = {e: p for e, p in prices.items() if isinstance(p, Cost) and _fits(p, limits)}
    for kinds in _preference(question, allow_estimates):
        candidates = [engine for engine in feasible if engine.certainty in kinds]
        if candidates:
            best = min(candidates, key=lambda engine: feasible[engine].seconds)
            return Choice(best, question if best.certainty is Certainty.EXACT else relaxed, bids)
    raise LimitError(
        "no engine can answer this exactly within the limits:\n"
        + "\n".join(f"  {line(bid)}" for bid in bids)
        + "\nways out: observe or keep fewer features, pass a tolerance for a certified interval, raise the "
        "limits (max_seconds, max_bytes), or allow estimates (allow_estimates=True)"
    )


def line(bid: Bid) -> str:
    """One bid as a line of text.

    >>> line(Bid("dense", 0.01, 2e6))
    'dense: about 0.01 s and 2 MB'
    """
    if bid.seconds is None or bid.n_bytes is None:
        return f"{bid.engine}: {bid.note}"
    price = f"{bid.engine}: about {bid.seconds:.2g} s and {readable_bytes(bid.n_bytes)}"
    return f"{price} ({bid.note})" if bid.note else price


def _preference(question: Question, allow_estimates: bool) -> list[set[Certainty]]:
    order = [{Certainty.EXACT}, {Certainty.BOUND}]
    if question.tolerance > 0:
        order = [{Certainty.EXACT, Certainty.BOUND}]
    return [*order, {Certainty.ESTIMATE}] if allow_estimates else order


def _fits(price: Cost, limits: Limits) -> bool:
    return price.n_bytes <= limits.max_bytes and price.seconds <= (limits.max_seconds or PATIENCE)


def _bid(engine: Engine, price: Cost | Refusal, limits: Limits) -> Bid:
    if isinstance(price, Refusal):
        return Bid(engine.name, None, None, price.reason)
    note = "" if _fits(price, limits) else "over the limits"
    return Bid(engine.name, price.seconds, price.n_bytes, note)
