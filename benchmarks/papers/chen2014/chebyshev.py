"""A lower bound on the same-decision probability from a mean and a variance [choi2012].

Seen from now, the posterior Q(h) = Pr(d | h, e) after observing h is a random variable. Its mean is the
posterior now, Pr(d | e), and the one-sided Chebyshev (Cantelli) inequality bounds how much of its mass
lies beyond the threshold T:

    SDP  >=  1 - var / (var + (mean - T)^2)

whichever side of T the mean is on. [chen2014, section 6] compares with it under the name of the
approximate algorithm.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.errors import QueryError
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.parts import probability_of, refuse_groups
from unswayed.papers.chen2014.brute_force import chunks


def posterior_variance(problem: Problem) -> float:
    """Variance of the posterior that observing all free features will lead to.

        var = sum_h (Pr(d | h, e) - Pr(d | e))^2 Pr(h | e)

    [choi2012] computes it by elimination in an order that leaves the free features for last. The square of
    a posterior does not factorise over features, so where the target is their common parent the last
    table ranges over all of them: exponential in their number, out of memory in [chen2014] for the largest
    networks. Here the same instantiations are listed in chunks: exponential in time only.

    Cost: as that of the brute-force engine. Raises `LimitError` when the time is over before.
    """
    assert isinstance(problem.decider, LogOddsIntervals)
    mean = float(problem.prior[problem.decider.upper])
    total = 0.0
    for chunk in chunks(problem):
        mass = chunk.upper + chunk.lower
        posterior = np.divide(chunk.upper, mass, out=np.full(len(mass), mean), where=mass > 0)
        total += float(mass @ (posterior - mean) ** 2)
    return total


def chebyshev_bound(problem: Problem) -> Interval:
    """An interval from the one-sided Chebyshev bound up to 1 that holds the same-decision probability.

    Needs a target of two states, a rule with one threshold, and no group of dependent features too large
    for a table; raises `QueryError` otherwise. As expensive as the exact value by enumeration, and often
    weak: it is here to compare with.
    """
    decider, refusal = problem.decider, refuse_groups(problem)
    if refusal:
        raise QueryError(f"no Chebyshev bound: {refusal.reason}")
    assert isinstance(decider, LogOddsIntervals)
    if len(decider.cuts) != 1:
        raise QueryError(
            "no Chebyshev bound: needs a rule with one threshold, not several intervals of log-odds"
        )
    variance = posterior_variance(problem)
    distance = float(problem.prior[decider.upper]) - probability_of(float(decider.cuts[0]))
    if variance == 0.0:
        return Interval(1.0, 1.0, Certainty.BOUND)
    return Interval(distance**2 / (variance + distance**2), 1.0, Certainty.BOUND)
