"""How robust is a decision that rests on objects, and what should be observed next?

Every answer is exact where the outcomes of the open attributes can be listed (engine `outcomes`), and between
certain bounds otherwise (engine `sums`).

How often the decision on some attributes is that of all is what everything here rests on. Where every outcome
of the open attributes can be listed, the decision profile is exact, and every measure of
`decisions/measures.py` is the same as for networks.

Elsewhere the outcomes of the observed attributes are rows, as kept features are for a network; `TermSum`
bounds how much of a row reaches a cut, and the engine `sums` makes bounds on decisions of that, for every
rule. With one cut, and too many outcomes observed for rows, let x be the log-odds they add and f(x) the
probability that all attributes together reach the cut. f grows with x, so on each side of the cut the
agreement is a sum over steps of f, each weighed with a tail of x.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unswayed.core.anytime import check_bytes, reserve, settle
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.core.names import unknown_name
from unswayed.decisions import measures
from unswayed.decisions.oracle import Interval
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rewards import Reward, expected_reward
from unswayed.decisions.rules import TIE, LogOddsIntervals, TestedDecider
from unswayed.engines.sums.decisions import Cut, bound_actions, decide_rows, needed_cuts
from unswayed.engines.sums.profile_bounds import ProfileBounds, Span, bound_agreement
from unswayed.engines.sums.unions import Bounds
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.decisions.classifier import StructuredCase, structured_case, structured_classifier
from unswayed.spaces.decisions.sums import TermSum, probability_allowing
from unswayed.spaces.decisions.terms import MOST_OUTCOMES, Numbers, Pair, combine, merge_ratios

MOST_PAIRS = 2**24
"""Most pairs of an outcome kept and an outcome of the rest that are looked through one by one."""
_PAIRS_AT_ONCE = 2**18
FIRST_DEGREE, LAST_DEGREE = 256, 2**16
"""Frequencies of the first round and at most."""
_STRAY_SHARE = 1 / 64
"""Share of the tolerance that may lie outside the windows."""
_STEPS = 1024
"""Steps of f on each side of the cut, and outcomes that are summed over one by one."""
_GROWTH = 8.0
"""How many times more frequencies the next round takes at most; a round that is cut says nothing."""
_STALLED = 0.8
"""A round that leaves more than this share of the interval is the last."""


def listed_profile(case: StructuredCase, kept: Iterable[str]) -> DecisionProfile | None:
    """The profile of these open attributes; None when there are too many outcomes to list."""
    chosen = _check_names(case, kept)
    seen = _list_together(case, chosen)
    rest = _list_together(case, [name for name in case.open_terms if name not in chosen])
    if seen is None or rest is None or len(seen) * len(rest) > MOST_PAIRS:
        return None
    n_bytes = 8.0 * 4 * seen.shape[1] * (_PAIRS_AT_ONCE + len(seen) + len(rest))
    check_bytes(n_bytes, "a list of outcomes")
    start = case.log_posterior + seen
    masses = np.exp(start)
    n_actions = len(case.classifier.decider.actions)
    decisions = np.zeros((len(seen), n_actions))
    size = max(1, _PAIRS_AT_ONCE // len(rest))
    for begin in range(0, len(seen), size):
        some = slice(begin, begin + size)
        decisions[some] = _decision_mass(case, start[some], rest, n_actions)
    total = masses.sum()
    return profile_from_masses(masses / total, decisions / decisions.sum())


def _decision_mass(case: StructuredCase, start: Floats, rest: Floats, n_actions: int) -> Floats:
    """Mass of each decision of the full classifier, for every row of what is kept."""
    logs = combine(start, rest) if len(start) > 1 else start + rest
    highest = logs.max(axis=1, keepdims=True)
    # Classes that a row excludes together leave no mass; such a row decides nothing.
    possible = highest[:, 0] > -np.inf
    actions = np.zeros(len(logs), dtype=np.int64)
    actions[possible] = case.classifier.decider.decide(np.exp(logs[possible] - highest[possible]))
    row = np.repeat(np.arange(len(start)), len(logs) // len(start))
    mass = np.exp(logs).sum(axis=1)
    found = np.bincount(row * n_actions + actions, mass, len(start) * n_actions)
    return found.reshape(len(start), n_actions).astype(np.float64)


def _list_together(case: StructuredCase, names: Iterable[str]) -> Floats | None:  # (outcomes, classes)
    """The outcomes of some attributes together, those with equal ratios once; None when too many."""
    rows: Floats = np.zeros((1, len(case.log_posterior)))
    for name in names:
        more = case.open_terms[name].outcomes()
        if more is None or len(rows) * len(more) > 8 * MOST_OUTCOMES:
            return None
        rows = merge_ratios(combine(rows, more))
    return rows


def _check_names(case: StructuredCase, names: Iterable[str]) -> list[str]:
    """Attributes that are not observed whole; `QueryError` for others."""
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in case.classifier.features:
            raise QueryError(unknown_name("attribute", name, case.classifier.features))
        if name not in case.open_terms:
            raise QueryError(f"{name!r} is observed already; ask about one that is not")
    return list(dict.fromkeys(chosen))


def certified_agreement(case: StructuredCase, kept: Iterable[str], *, tolerance: float) -> Interval:
    """Bounds on the probability that the decision after observing `kept` is that of all attributes."""
    chosen = _check_names(case, kept)
    if len(chosen) == len(case.open_terms) or np.isfinite(case.log_posterior).sum() == 1:
        return Interval.point(1.0)
    with reserve():
        bound = _agreement_bound(case, chosen, _STRAY_SHARE * tolerance)
    return refine(bound, tolerance=tolerance)


def refine(bound: Callable[[int], Span], *, tolerance: float) -> Interval:
    """Bounds with more and more frequencies, until they are close enough or no more may be spent."""
    found = settle(_narrow(bound, tolerance), enough=lambda each: each.high - each.low <= tolerance)
    return found.last


def _narrow(bound: Callable[[int], Span], tolerance: float) -> Iterator[Interval]:
    low, high, degree = 0.0, 1.0, FIRST_DEGREE
    with reserve():  # the first round is the least that makes an answer
        found = bound(degree)
    while True:
        before = high - low
        low, high = max(low, found[0]), min(high, found[1])
        yield Interval(min(low, high), high, Certainty.BOUND)
        # What pairs of classes or steps leave open does not shrink with more frequencies.
        if degree >= LAST_DEGREE or high - low > _STALLED * before:
            return
        degree = int(min(degree * min(max(2.0, 1.2 * (high - low) / tolerance), _GROWTH), LAST_DEGREE))
        found = bound(degree)


def _agreement_bound(case: StructuredCase, kept: list[str], stray: float) -> Callable[[int], Span]:
    """What bounds the agreement with so many frequencies: by rows observed, by rows left, or by steps."""
    decider, others = case.classifier.decider, [name for name in case.open_terms if name not in kept]
    observed = _list_together(case, kept)
    if observed is not None and len(observed) <= _STEPS:
        if not isinstance(decider, LogOddsIntervals | TestedDecider):
            raise LimitError("there are too many outcomes to list, and this rule compares no two classes")
        return _bound_rows(case, observed, others, stray)
    if not isinstance(decider, LogOddsIntervals) or len(decider.cuts) != 1:
        raise LimitError(
            "there are too many outcomes to list; what observing so much leads to is bounded for two classes "
            "and one threshold only: observe less, or take a rule with one threshold"
        )
    pair = (decider.upper, 1 - decider.upper)
    cut = float(decider.cuts[0]) - float(case.log_posterior[pair[0]] - case.log_posterior[pair[1]])
    posterior = np.exp(case.log_posterior)
    seen = TermSum(tuple(case.open_terms[name] for name in kept), pair, stray)
    left = _list_together(case, others)
    if left is not None and len(left) <= _STEPS:
        return partial(_bound_by_rows_left, left, cut, seen, posterior)
    return _bound_by_steps(
        seen, TermSum(tuple(case.open_terms[name] for name in others), pair, stray), cut, posterior
    )


@dataclass(frozen=True, slots=True, eq=False)
class _RowBounds:
    """How much of each class and row reaches a cut (`PairBounds` of the engine), for one degree."""

    logs: Floats  # (rows, classes)
    """Log-probability of each class together with each row."""
    sums: Mapping[Pair, TermSum]
    """What the rest adds to the log-odds of each pair that is compared."""
    allowing: Mapping[int, Floats]
    """For each class, how probable it is under every class that the rest allows it."""
    transforms: Mapping[Pair, Numbers]

    def reached(self, cut: Cut) -> Bounds:  # (classes, rows) each
        """Mass of outcomes that allow the class and, unless they exclude the other, reach the cut."""
        one, other, odds = cut
        low, high = np.zeros((2, *self.logs.shape))
        either, both = self.logs[:, one] > -np.inf, (self.logs[:, [one, other]] > -np.inf).all(axis=1)
        # Where the row excludes the other class, all that is asked is that the rest does not exclude the one.
        low[either & ~both] = high[either & ~both] = self.allowing[one]
        offsets = self.logs[both, one] - self.logs[both, other]
        low[both], high[both] = self.sums[one, other].tails(odds - offsets, self.transforms[one, other])
        mass = np.exp(self.logs)
        return (mass * low).T, (mass * high).T

    def corner(self, cut: Cut, other: Cut) -> None:
        """Two pairs are never swept together here."""


def _bound_rows(
    case: StructuredCase, observed: Floats, others: list[str], stray: float
) -> Callable[[int], Span]:
    """Few outcomes are observed: of each, how much of the rest confirms what it decides."""
    decider = case.classifier.decider
    logs = case.log_posterior + observed
    mass = np.exp(logs)
    actions = np.unique(decide_rows(decider, mass)).tolist()
    terms = tuple(case.open_terms[name] for name in others)
    pairs = list(dict.fromkeys(cut[:2] for cut in needed_cuts(decider, actions)))
    sums = {pair: TermSum(terms, pair, stray / len(pairs)) for pair in pairs}
    allowing = {one: probability_allowing(terms, one) for one, _ in pairs}

    def bound(degree: int) -> Span:
        transforms = {pair: total.transform(degree) for pair, total in sums.items()}
        rows = _RowBounds(logs, sums, allowing, transforms)
        low, high = np.zeros((2, len(mass), len(decider.actions)))
        for action, (least, most) in bound_actions(decider, actions, rows, mass.T).items():
            low[:, action], high[:, action] = least.sum(axis=0), most.sum(axis=0)
        return bound_agreement(ProfileBounds(mass, low, high, 0.0), decider, TIE)

    return bound


def _bound_by_rows_left(values: Floats, cut: float, seen: TermSum, posterior: Floats, degree: int) -> Span:
    """Few outcomes are left: each overturns what was observed in one interval of its log-odds."""
    # Beyond every cut where the outcome excludes a class.
    one, other = np.maximum(values[:, list(seen.pair)].T, -1e300)
    edges = np.concatenate([[cut], cut - (one - other)])
    low, high = seen.tails(edges, seen.transform(degree))
    mass = np.exp(values)
    is_up = (edges[1:] <= cut)[:, None]  # the outcome raises the odds: overturned from the edge to the cut
    most = np.where(is_up, high[1:] - low[0], high[0] - low[1:])
    least = np.where(is_up, low[1:] - high[0], low[0] - high[1:])
    kept, lost = (
        posterior @ (mass * (1.0 - np.clip(overturned, 0, 1))).sum(axis=0) for overturned in (most, least)
    )
    return float(kept), float(lost)


def _bound_by_steps(seen: TermSum, rest: TermSum, cut: float, posterior: Floats) -> Callable[[int], Span]:
    """Many outcomes on both sides: steps of the probability that the rest reaches the cut."""
    up = np.linspace(cut, max(seen.start + seen.length, cut + 1e-9), _STEPS)
    down = np.linspace(cut, min(seen.start, cut - 1e-9), _STEPS)

    def bound(degree: int) -> Span:
        degree = min(degree, 2 * _STEPS)  # finer bounds at the edges do not narrow the steps between them
        of_seen, of_rest = seen.transform(degree), rest.transform(degree)
        positive = _stepwise(rest.tails(cut - up, of_rest), seen.tails(up, of_seen))
        negative = _stepwise(_beneath(rest.tails(cut - down, of_rest)), _beneath(seen.tails(down, of_seen)))
        low, high = (
            float(posterior @ (each + other)) for each, other in zip(positive, negative, strict=True)
        )
        return low, min(high, 1.0)

    return bound


def _beneath(tails: Bounds) -> Bounds:
    """Bounds on staying below, from bounds on reaching."""
    return 1 - tails[1], 1 - tails[0]


def _stepwise(rising: Bounds, beyond: Bounds) -> Bounds:
    """Bounds on E[f(x); x beyond the first edge] for f that grows from edge to edge, outward.

    `rising` encloses f at the edges, `beyond` the probability of x beyond each edge. Between two edges f is
    at least its value at the nearer one and at most its value at the farther one.
    """
    low = np.maximum.accumulate(np.maximum(rising[0], 0.0), axis=0)
    high = np.minimum(np.minimum.accumulate(rising[1][::-1], axis=0)[::-1], 1.0)
    farther = np.concatenate([high[1:], np.ones_like(high[:1])])
    rises = np.diff(low, axis=0, prepend=0.0), np.diff(farther, axis=0, prepend=0.0)
    return (rises[0] * beyond[0]).sum(axis=0), (rises[1] * beyond[1]).sum(axis=0)


DEFAULT_TOLERANCE = 1e-3
"""Width of a certain interval that is good enough."""


def agreement_after(
    case: StructuredCase, kept: Iterable[str] = (), *, tolerance: float | None = None
) -> Measurement:
    """Probability that the decision after observing `kept` is the one that all attributes lead to.

    With nothing kept this is the same-decision probability (SDP), otherwise its expectation (E-SDP).
    """
    started, chosen = time.perf_counter(), list(kept)
    profile = listed_profile(case, chosen)
    if profile is not None:
        value = measures.expected_agreement(profile, case.classifier.decider)
        return Measurement.exact(min(value, 1.0), engine="outcomes", seconds=time.perf_counter() - started)
    found = certified_agreement(case, chosen, tolerance=tolerance or DEFAULT_TOLERANCE)
    value, seconds = 0.5 * (found.low + found.high), time.perf_counter() - started
    if found.low == found.high:
        return Measurement.exact(value, engine="sums", seconds=seconds)
    return Measurement(value, found.low, found.high, Certainty.BOUND, "sums", seconds)


def profile_after(case: StructuredCase, kept: Iterable[str]) -> DecisionProfile:
    """The decision profile of some open attributes; `LimitError` where outcomes are too many to list."""
    profile = listed_profile(case, kept)
    if profile is None:
        raise LimitError(
            "this question needs every outcome, and there are too many to list; observe more, take a smaller "
            "space, or ask for the same-decision probability, which is bounded without a list"
        )
    return profile


def value_after(case: StructuredCase, kept: Iterable[str], reward: Reward) -> Measurement:
    """Expected reward after observing `kept`, less the reward now."""
    started = time.perf_counter()
    target = case.classifier.target
    after = expected_reward(profile_after(case, kept).class_mass, reward, target)
    now = expected_reward(np.exp(case.log_posterior)[None, :], reward, target)
    return Measurement.exact(after - now, engine="outcomes", seconds=time.perf_counter() - started)


def normal_share(
    detector: StructuredAnomalyDetector, item: Any, *, tolerance: float | None = None
) -> Measurement:
    """Share of the normal objects that score no higher than this one: small for an odd object.

    The score of an object says how it compares with chance; this says how it compares with what is
    normal, as a p-value does. Ties count as no higher.
    """
    started = time.perf_counter()
    case = structured_case(structured_classifier(detector))
    observed = structured_case(case.classifier, {case.classifier.features[0]: item})
    if observed.open_terms:
        raise QueryError("the object was seen in part; ask for the same-decision probability instead")
    score = float(observed.log_posterior[0] - observed.log_posterior[1]) + TIE
    profile = listed_profile(case, case.classifier.features)
    if profile is not None:
        with np.errstate(divide="ignore"):
            odds = np.log(profile.class_mass[:, 0]) - np.log(profile.class_mass[:, 1])
        normal = profile.class_mass[:, 0]
        value = float(normal[odds < score].sum() / normal.sum())
        return Measurement.exact(value, engine="outcomes", seconds=time.perf_counter() - started)
    good_enough = tolerance or DEFAULT_TOLERANCE
    total = TermSum(tuple(case.open_terms.values()), (0, 1), good_enough / 64)

    def bound(degree: int) -> tuple[float, float]:
        low, high = total.tails([score], total.transform(degree))
        return 1.0 - float(high[0, 0]), 1.0 - float(low[0, 0])

    found = refine(bound, tolerance=good_enough)
    value = 0.5 * (found.low + found.high)
    return Measurement(value, found.low, found.high, Certainty.BOUND, "sums", time.perf_counter() - started)
