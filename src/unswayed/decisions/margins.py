"""Rules as linear tests of class masses, and what they say of a decision before anything else is looked up.

Whatever the rule, the masses m on which the classifier takes an action are those with a . m >= 0 for a few
vectors a. Masses of fewer findings are sums of masses of more, so these tests bound the SDP by the
posterior.
"""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.oracle import Interval
from unswayed.decisions.rules import TIE, MostProbable, ThresholdRule, UtilityRule

ROUNDING = 1e-9
"""What rounding may add to a bound; ties move it as much."""


def keeping_tests(classifier: Classifier, action: int) -> Floats:  # (tests, classes)
    """Linear tests of class masses: the classifier takes `action` while none of them is below 0.

    Ties count as in `decisions/rules.py`; where the tie rule decides for another action, a test is 0.
    """
    rule, target = classifier.rule, classifier.network.variable(classifier.target)
    if isinstance(rule, ThresholdRule):
        odds = rule.threshold / (1.0 - rule.threshold) * np.exp(-TIE)
        test = np.full((1, len(target)), -odds)
        test[0, target.index(rule.positive)] = 1.0
        return test if action == 0 else -test
    if isinstance(rule, MostProbable):
        worth, near = np.eye(len(target)), np.exp(-TIE)
        tests = [
            worth[action] - near * worth[c] if action < c else near * worth[action] - worth[c]
            for c in range(len(target))
            if c != action
        ]
        return np.array(tests).reshape(-1, len(target))
    if isinstance(rule, UtilityRule):
        worth = rule.matrix(target)
        # Relative to what is added up; where nothing is, the first action still wins the tie.
        slack = np.maximum(TIE * (np.abs(worth) + np.abs(worth[action])), 1e-300)
        tests = [
            worth[action] - worth[a] + (slack[a] if action < a else -slack[a])
            for a in range(len(worth))
            if a != action
        ]
        return np.array(tests).reshape(-1, len(target))
    raise QueryError(f"the intervals of parameters are for rules that compare masses, not {rule!r}")


def posterior_bounds(tests: Floats, posterior: Floats) -> Interval:
    """Bounds on how often all features decide so, from the posterior alone.

    The posterior is the mean of the posteriors on all features, and a test that fails there by much must fail
    often: with mean value v of a test, at least v / min of the cases fail it when v < 0 (Markov's
    inequality), and at most 1 - v / max when v > 0, since passing cases count up to max.

    >>> posterior_bounds(np.array([[1.0, -1.0]]), np.array([0.3, 0.7])).high    # SDP <= Pr / T = 0.3 / 0.5
    0.6000000010000001
    """
    means = tests @ posterior
    # A class that is impossible already counts for neither end.
    possible = tests[:, posterior > 0]
    fewest = np.zeros(len(tests))
    most = np.ones(len(tests))
    below, above = means < 0, means > 0
    fewest[below] = means[below] / possible[below].min(axis=1, initial=0.0)
    most[above] = 1.0 - means[above] / possible[above].max(axis=1, initial=0.0)
    low = 1.0 - float(most.sum()) - ROUNDING
    high = 1.0 - float(fewest.max(initial=0.0)) + ROUNDING
    return Interval(min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0), Certainty.BOUND)
