"""Sufficient reasons of naive Bayes with two classes as published: sort the gains, take from the largest
down.

[marquessilva2020]: with v_i the weight of the observed state and m_i the smallest weight of the feature, a
set S is sufficient when base + sum over S of v_i + sum over the others of m_i still passes the cut. Taking
features by v_i - m_i, the largest first, gives a sufficient set from which nothing can be left out, and none
is smaller.
"""

from __future__ import annotations

import math


def smallest_reason(network, target, evidence, cut, upper):
    """Names of the features of one smallest sufficient reason; None when all together do not suffice."""
    prior = network.cpts[network.index(target)].table[0]
    slack = math.log(prior[upper] / prior[1 - upper]) - cut
    gains = []
    for name in (n for n in network.names if n != target):
        table = network.cpts[network.index(name)].table
        weights = [math.log(a / b) for a, b in zip(table[upper], table[1 - upper], strict=True)]
        slack += min(weights)
        if name in evidence:
            state = network.variable(name).index(evidence[name])
            gains.append((weights[state] - min(weights), name))
    chosen = []
    for gain, name in sorted(gains, reverse=True):
        if slack >= 0:
            break
        slack += gain
        chosen.append(name)
    return chosen if slack >= 0 else None
