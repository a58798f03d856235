"""The law of a sum of terms given the evidence: exact on a lattice, certified otherwise.

Terms that are whole multiples of a unit make a sum of few values, and its law is the inverse transform of as
many frequencies, each a column of one elimination over the background. Other sums are swept as the log-odds
of naive Bayes are (`engines/sums/sweeps.py`): nothing is rounded, and the bounds narrow with the frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.core.numerics import logit
from unswayed.decisions.rules import Decider, LogOddsIntervals
from unswayed.engines.boxes.scores import ROUNDING
from unswayed.engines.sums.pairs import Pair, find_window
from unswayed.engines.sums.passes import KeptRows, PassLayout, SingleRows
from unswayed.engines.sums.sweeps import SweptCut, price_columns, start_tails, sweep
from unswayed.inference.expected import ModelCase, find_terms
from unswayed.inference.predictors import AdditivePredictor
from unswayed.model.nodes.predictor import apply_link

MOST_VALUES = 2**16
"""Values of a sum up to which its law is found exactly."""
LATTICE = 1e-11
"""How far, in units, a term may be from a whole multiple: what adding decimal fractions leaves."""
FIRST_DEGREE, LAST_DEGREE, GROWTH, SPARE = 256, 2**19, 2, 1.15
"""Frequencies of the first sweep and of the last, how many times more the next one takes at least, and what
is added to the number that a proportion asks for."""
STRAY_SHARE = 1 / 64
"""Share of the tolerance that mass outside the window may take."""


@dataclass(frozen=True, slots=True, eq=False)
class SumLaw:
    """The exact law of a sum in each row."""

    values: Floats  # (values,)
    mass: Floats  # (rows, values)


def find_lattice(case: ModelCase, kept: tuple[int, ...]) -> SumLaw | None:
    """The law of the score where its terms lie on a lattice of few values; None where they do not."""
    assert isinstance(case.predictor, AdditivePredictor)
    base, terms = find_terms(case, case.predictor)
    lowest = float(base[0]) + sum(float(term.min()) for term in terms)
    rises = [term[:, 0] - term.min() for term in terms]
    unit = _find_unit(rises, is_strict=case.predictor.link == "step")
    if unit is None or (case.predictor.link == "step" and lowest % 1.0):
        return None
    steps = [np.rint(rise / unit) for rise in rises]
    n_values = int(sum(step.max() for step in steps)) + 1
    if n_values > MOST_VALUES:
        return None
    # A real law has a symmetric transform: half of the frequencies tell the rest.
    turns = np.arange(n_values // 2 + 1)
    phases = [
        np.exp(-2j * np.pi * np.remainder(np.outer(step, turns), n_values) / n_values) for step in steps
    ]
    transform = case.law.sum_columns(phases, kept) if phases else np.ones((1, len(turns)))
    mass = np.maximum(np.fft.irfft(transform, n_values, axis=1), 0.0)
    return SumLaw(lowest + unit * np.arange(n_values, dtype=np.float64), mass)


def _find_unit(rises: Sequence[Floats], *, is_strict: bool) -> float | None:
    """The unit of which all terms are multiples; where ties are strict, only whole numbers count."""
    every = np.concatenate([np.zeros(1), *rises])
    smallest = float(every[every > 0].min(initial=math.inf))
    if smallest == math.inf:
        return 1.0
    for parts in (1,) if is_strict else (1, 2, 3, 4, 5, 6, 10):
        for unit in (1.0,) if is_strict else (smallest / parts, 1.0 / parts):
            multiples = every / unit
            if multiples.sum() < MOST_VALUES and (np.abs(multiples - np.rint(multiples)) <= LATTICE).all():
                return unit
    return None


def decide_lattice(case: ModelCase, law: SumLaw, decider: Decider) -> tuple[Floats, Floats]:
    """Exact masses of classes (rows, classes) and of decisions (rows, actions)."""
    shares = apply_link(case.predictor.link, law.values[:, np.newaxis])
    chosen = np.eye(len(decider.actions))[decider.decide(shares)]
    return law.mass @ shares, law.mass @ chosen


def kept_rows(case: ModelCase, kept: tuple[int, ...]) -> KeptRows:
    """A row for each instantiation of the kept inputs."""
    return KeptRows(case.law.plan(kept, by_variable=False), kept)


def single_rows(case: ModelCase, features: tuple[int, ...]) -> SingleRows:
    """Rows for every state of every input alone."""
    return SingleRows(case.law.plan(by_variable=False), features)


def sweep_sums(
    case: ModelCase, layout: PassLayout, decider: LogOddsIntervals, tolerance: float
) -> Iterator[tuple[Floats, Floats, float]]:
    """Narrower and narrower bounds on the mass of each action (rows, actions), and the mass that strays.

    That stray mass is of rows that cover everything once.
    """
    pair, cuts, regions = _pair_of(case, decider)
    # The mass, two passes for the window, one for tails: what comes before any frequency.
    tick(4.0 * price_columns(layout, 1, 8.0), "a sum over the inputs")
    mass = layout.run([each[..., np.newaxis] for each in pair.masses])[:, :, 0].real
    if not cuts:
        yield *_by_action(mass, [], regions, len(decider.actions)), 0.0
        return
    window = find_window(layout, pair, STRAY_SHARE * tolerance)
    tails = start_tails(layout, pair, cuts, mass)
    rows, everything = (
        np.arange(mass.shape[1]),
        np.ix_(np.arange(len(cuts)), np.arange(1), np.arange(mass.shape[1])),
    )
    degree = FIRST_DEGREE
    while True:
        reached = [(tails.low[i, 0], tails.high[i, 0]) for i in range(len(cuts))]
        yield *_by_action(mass, reached, regions, len(decider.actions)), tails.stray
        if degree > LAST_DEGREE:
            return
        tails = tails.tighten(sweep(layout, pair, window, cuts, mass, rows, degree), everything)
        # The width falls with the number of frequencies: one coarse sweep tells how many a fine one needs.
        widths = np.bincount(layout.set_of_row(), (tails.high - tails.low).sum(axis=(0, 1)))
        wanted = SPARE * float(widths.max()) / tolerance
        degree = int(degree * min(max(wanted, GROWTH), LAST_DEGREE))


def _pair_of(case: ModelCase, decider: LogOddsIntervals) -> tuple[Pair, list[SweptCut], tuple[int, ...]]:
    """The terms as weights, where the sum is cut, and the action between any two cuts."""
    assert isinstance(case.predictor, AdditivePredictor)
    link, sign = case.predictor.link, 1.0 if decider.upper == 1 else -1.0
    base, terms = find_terms(case, case.predictor)
    middles = [0.5 * float(term.min() + term.max()) for term in terms]
    weights = [np.zeros(table.shape) for table in case.law.tables]
    masses = [table[np.newaxis] for table in case.law.tables]
    smallest = sorted(range(len(weights)), key=lambda i: weights[i].size)
    for variable, term, middle in zip(case.law.variables, terms, middles, strict=True):
        # A term joins the smallest table that mentions its variable: a plan of half the steps.
        home = next(i for i in smallest if variable in case.law.scopes[i])
        axis = case.law.scopes[home].index(variable)
        shape = [-1 if i == axis else 1 for i in range(weights[home].ndim)]
        weights[home] = weights[home] + sign * (term[:, 0] - middle).reshape(shape)
    reach = sum(0.5 * float(np.ptp(term)) for term in terms)
    size = float(np.abs(base).sum() + sum(np.abs(term).max(initial=0.0) for term in terms))
    blur = ROUNDING * (size + 1.0) * (len(terms) + 2)
    offset = sign * (float(base[0]) + sum(middles))
    pair = Pair(decider.upper, 1 - decider.upper, tuple(weights), tuple(masses), offset, reach, blur)
    cuts, regions = _find_cuts(link, decider)
    return pair, [SweptCut(cut) for cut in cuts], regions


def _find_cuts(link: str, decider: LogOddsIntervals) -> tuple[list[float], tuple[int, ...]]:
    """Where the signed score is cut, ascending, and the action in each interval."""
    if link == "logit":
        return decider.cuts.tolist(), decider.regions
    if link == "identity":
        # A probability in place of log-odds: of the upper class, or minus that of the other.
        shift = 0.0 if decider.upper == 1 else -1.0
        return [_expit(cut) + shift for cut in decider.cuts.tolist()], decider.regions
    # A decision at 0: the second class above it. Its signed score has the upper class's action above.
    actions = decider.decide(np.eye(2))
    return [0.0], (int(actions[1 - decider.upper]), int(actions[decider.upper]))


def _expit(cut: float) -> float:
    found = 1.0 / (1.0 + math.exp(-min(max(cut, -700.0), 700.0)))
    assert not 0.0 < found < 1.0 or abs(logit(found) - cut) < 1e-6 * (1.0 + abs(cut)) or abs(cut) > 30.0
    return found


def _by_action(
    mass: Floats, reached: Sequence[tuple[Floats, Floats]], regions: Sequence[int], n_actions: int
) -> tuple[Floats, Floats]:  # (rows, actions) each
    """Bounds on each interval's mass, from bounds on what reaches its ends, added up by actions."""
    everything, nothing = (mass[0], mass[0]), (np.zeros_like(mass[0]), np.zeros_like(mass[0]))
    ends = [everything, *reached, nothing]
    low, high = np.zeros((mass.shape[1], n_actions)), np.zeros((mass.shape[1], n_actions))
    for interval, action in enumerate(regions):
        above, past = ends[interval], ends[interval + 1]
        low[:, action] += np.maximum(above[0] - past[1], 0.0)
        high[:, action] += np.maximum(above[1] - past[0], 0.0)
    # What is surely decided otherwise bounds an action too, and more tightly where it has several intervals.
    others = low.sum(axis=1, keepdims=True) - low
    return low, np.minimum(high, mass[0][:, np.newaxis] - others)
