"""Algorithm 1 of [chen2014] as it is printed: recursive, over lists of (weight, upper, lower)."""

from __future__ import annotations

import math


def by_algorithm_one(attributes, cut):
    """Probability of the leaves that reach the cut, and the number of calls of DFS-SDP.

    The first attribute is the evidence, of one value; its call is the root of the paper's tree.
    """
    found, calls = [], 0

    def add(one, other):
        return one if math.isinf(one) else one + other

    def visit(depth, weight, upper, lower):
        nonlocal calls
        calls += 1
        rest = attributes[depth:]
        if add(weight, sum(max(w for w, _, _ in values) for values in rest)) < cut:
            return
        if add(weight, sum(min(w for w, _, _ in values) for values in rest)) >= cut:
            found.append(upper + lower)
            return
        for w, u, v in attributes[depth]:
            if math.isinf(weight) and math.isinf(w) and weight != w:
                calls += 1
            else:
                visit(depth + 1, add(weight, w) if math.isinf(weight) else weight + w, upper * u, lower * v)

    (weight, upper, lower), *_ = attributes[0]
    visit(1, weight, upper, lower)
    return math.fsum(found), calls
