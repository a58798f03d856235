"""What the search kernel asks of single terms: activations, links, contexts, and how bounds fall.

Small functions of numbers, plain Python, which `interval_search.py` compiles together with the search.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STEP, IDENTITY, LOGISTIC, TANH, RELU = range(5)
CONTEXTS, LOG_ODDS, LOG_ABSENCE = range(3)
NEVER = -5e5
"""A logarithm of absence below this stands for a certain effect: minus infinity, kept finite for sums."""


def difference(after: float, before: float) -> float:
    """By how much a bound falls; once it is minus infinity it stays so."""
    if after == -np.inf:
        return 0.0 if before == -np.inf else -np.inf
    return after - before


def activated(value: float, kind: int) -> float:
    """What a neuron makes of its sum; monotone for every kind."""
    if kind == STEP:
        return 1.0 if value >= 0 else 0.0
    if kind == LOGISTIC:
        return 0.5 * (1.0 + math.tanh(0.5 * value))
    if kind == TANH:
        return math.tanh(value)
    if kind == RELU:
        return max(value, 0.0)
    return value


def rises(kind: int, state: int) -> bool:
    """Whether the worth of a child's state rises with the score."""
    return (state == 1) == (kind == LOG_ODDS)


def link(kind: int, score: float, state: int) -> float:
    """log Pr(child = state) from a score."""
    if kind == LOG_ODDS:
        signed = score if state == 1 else -score
        return min(signed, 0.0) - math.log1p(math.exp(-abs(signed)))
    if state == 0:
        return -np.inf if score < NEVER else min(score, 0.0)
    if score >= 0.0:
        return -np.inf
    return math.log1p(-math.exp(score)) if score < -0.7 else math.log(-math.expm1(score))


def contexts_of(cuts: Floats, places: tuple[int, int], scores: tuple[float, float]) -> tuple[int, int]:
    """Contexts of the two scores: of the cuts at these places, how many lie below each."""
    first = last = 0
    for place in range(places[0], places[1]):
        if scores[0] > cuts[place]:
            first += 1
        if scores[1] > cuts[place]:
            last += 1
    return first, last


def best_context(worth: Floats, table: tuple[int, int], contexts: tuple[int, int], known: int) -> float:
    """The worth of the best of a range of contexts; the table begins somewhere and has so many states."""
    start, n_states = table
    best = -np.inf
    for context in range(contexts[0], contexts[1] + 1):
        for state in range(n_states):
            if known < 0 or known == state:
                best = max(best, worth[start + context * n_states + state])
    return best


def best_link(kind: int, scores: tuple[float, float], known: int) -> float:
    """The largest log Pr(child) that scores of an interval allow, the child's state known or -1."""
    if known >= 0:
        return link(kind, scores[1] if rises(kind, known) else scores[0], known)
    first = max(link(kind, scores[0], 0), link(kind, scores[1], 0))
    return max(first, link(kind, scores[0], 1), link(kind, scores[1], 1))
