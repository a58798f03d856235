"""Certain bounds on sums of open terms: how probable it is that their log-odds reach a cut.

The moments of all terms multiply. Those with imaginary exponents are the transform of the sum's
distribution, which bounds every tail (`engines/sums/sweeps.py`); those with real ones bound what lies
outside a window, so that the sum can be laid on a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.engines.sums.pairs import MARGIN, STEEPEST
from unswayed.engines.sums.sweeps import enclosing_coefficients, rounding_bound
from unswayed.engines.sums.unions import Bounds
from unswayed.spaces.decisions.terms import Numbers, OpenTerm, Pair

_TILTS = 2.0 ** np.arange(-8.0, 7.0)
"""Real exponents tried for the window; neighbours differ so little that none between them helps."""


@dataclass(frozen=True, slots=True, eq=False)
class TermSum:
    """The log-odds of two classes that some open terms add, and the window that holds nearly all of them."""

    terms: tuple[OpenTerm, ...]
    """What is added up."""
    pair: Pair
    """The classes a and b of the log-odds."""
    stray: float
    """What may lie outside the window, on each side, in every class."""
    start: float = field(init=False)
    """Where the window begins."""
    length: float = field(init=False)
    """How long it is."""
    finite: Floats = field(init=False)  # (classes,)
    """Probability that both classes allow the values."""

    def __post_init__(self) -> None:
        finite = moments(self.terms, self.pair, np.zeros(1))[:, 0]
        object.__setattr__(self, "finite", finite)
        low, high = _window(self.terms, self.pair, self.stray)
        if not high - low < np.inf:
            raise LimitError("the log-odds of these attributes have no bounded window; observe the numbers")
        margin = MARGIN * (high - low) + 1e-9
        object.__setattr__(self, "start", low - margin)
        object.__setattr__(self, "length", high - low + 2 * margin)

    def transform(self, degree: int) -> Numbers:  # (classes, degree + 1)
        """E_c[exp(2 pi i n x)], x the place of the sum on the circle, for n = 0 to `degree`."""
        turns = 2j * np.pi * np.arange(degree + 1) / self.length
        answer: Numbers = moments(self.terms, self.pair, turns) * np.exp(-turns * self.start)
        return answer

    def tails(self, cuts: Sequence[float] | Floats, transform: Numbers) -> Bounds:
        """Bounds on Pr_c(sum >= cut), (cuts, classes) each; sums that exclude a class are infinite."""
        degree = transform.shape[1] - 1
        low, high = np.empty((2, len(cuts), len(self.finite)))
        slack = 2 * self.stray + self._rounding(degree)
        for i, cut in enumerate(np.asarray(cuts, dtype=np.float64).tolist()):
            place = (cut - self.start) / self.length
            if 0.0 < place < 1.0:
                below, above = enclosing_coefficients(place, degree)
                low[i], high[i] = (transform @ below).real - slack, (transform @ above).real + slack
            else:
                low[i] = high[i] = self.finite if place <= 0 else 0.0
                low[i], high[i] = low[i] - slack, high[i] + slack
        sure, open_mass = self._infinite()
        low, high = np.clip(low, 0, self.finite) + sure, np.clip(high, 0, self.finite) + sure + open_mass
        return low, np.minimum(high, 1.0)

    def _infinite(self) -> tuple[Floats, Floats]:
        """Probability of values that surely b alone excludes, and of others that one of both excludes."""
        sure, open_mass = np.zeros_like(self.finite), np.maximum(1.0 - self.finite, 0.0)
        for k, mass in ((self.pair[0], open_mass[self.pair[0]]), (self.pair[1], 0.0)):
            sure[k], open_mass[k] = mass, 0.0
        return sure, open_mass

    def _rounding(self, degree: int) -> float:
        depth = sum(term.depth for term in self.terms)
        ends = [term.extremes(self.pair) for term in self.terms]
        reach = sum(max(abs(low), abs(high)) for low, high in ends if np.isfinite(low) and np.isfinite(high))
        return rounding_bound(degree, depth, (reach + abs(self.start)) / self.length + 1.0)


def moments(terms: Sequence[OpenTerm], pair: Pair, exponents: Numbers) -> Numbers:  # (classes, exponents)
    """The product of the terms' moments."""
    answer: Numbers = terms[0].moments(pair, exponents)
    for term in terms[1:]:
        answer = answer * term.moments(pair, exponents)
    return answer


def probability_allowing(terms: Sequence[OpenTerm], one: int) -> Floats:  # (classes,)
    """How probable it is under each class that the values do not exclude class `one`."""
    return np.minimum(moments(terms, (one, one), np.zeros(1))[:, 0], 1.0)


def _window(terms: Sequence[OpenTerm], pair: Pair, stray: float) -> tuple[float, float]:
    """Ends beyond which each class has at most `stray` of its mass: the extremes, or Chernoff's bound.

    Pr(sum >= h) <= exp(-s h) E exp(s sum) for every s > 0.
    """
    ends = [term.extremes(pair) for term in terms]
    least, most = (float(sum(each)) for each in zip(*ends, strict=True))
    reach = max((abs(end) for each in ends for end in each if np.isfinite(end)), default=1.0)
    tilts = _TILTS[_TILTS * max(reach * len(terms), 1.0) < STEEPEST]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        up = np.log(moments(terms, pair, tilts)) - np.log(stray)  # (classes, tilts)
        down = np.log(moments(terms, pair, -tilts)) - np.log(stray)
    highest = np.nan_to_num(up / tilts, nan=np.inf).min(axis=1).max()
    lowest = -np.nan_to_num(down / tilts, nan=np.inf).min(axis=1).max()
    low, high = max(least, float(lowest)), min(most, float(highest))
    if low < high:
        return low, high
    place = least if np.isfinite(least) else 0.0  # one sum alone, or no value that both classes allow
    return place, place + 1e-6
