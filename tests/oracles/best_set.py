"""Every set of tests that a purchase allows, what it costs and what it is worth, by plain enumeration."""

from __future__ import annotations

import itertools
import math
from functools import cached_property

import numpy as np

from oracles.enumerate_profile import decide
from oracles.plan_by_definition import Case
from unswayed.decisions.measures import maximum_achievable_agreement
from unswayed.decisions.profile import DecisionProfile


class Sets:
    """The sets of tests of a problem; features by position, costs in the cheapest order that is allowed."""

    def __init__(self, problem, purchase):
        self.case, self.problem = Case(problem, purchase, 1.0), problem
        self.cost_by_tests = self._costs()

    def _costs(self):
        """What each set costs: its last test after all others, whichever test that is; infinite if never."""
        case, costs = self.case, {frozenset(): 0.0}
        for size in range(1, len(case.tests) + 1):
            for tests in map(frozenset, itertools.combinations(case.tests, size)):
                ways = []
                for last in tests:
                    seen = {name: 0 for test in tests - {last} for name in case.tests[test]}
                    price = case.price(last, seen)
                    ways.append(math.inf if price is None else costs[tests - {last}] + price)
                costs[tests] = min(ways)
        return costs

    @cached_property
    def costs(self):
        """The sets that may be chosen, by their features, with what they cost."""
        case, index = self.case, self.problem.network.index
        return {
            frozenset(index(name) for test in tests for name in case.tests[test]): cost
            for tests, cost in self.cost_by_tests.items()
            if case.required() <= tests and math.isfinite(cost)
        }

    def values(self, worth):
        """What each set is worth."""
        return {kept: worth(self, self._profile(kept)) for kept in self.costs}

    def _profile(self, kept):
        places = [i for i, feature in enumerate(self.problem.free) if feature in kept]
        class_mass, decision_mass = {}, {}
        for states, masses in self.case.rows.items():
            row = tuple(states[i] for i in places)
            class_mass[row] = class_mass.get(row, 0.0) + masses
            shares = decision_mass.setdefault(row, np.zeros(len(self.problem.decider.actions)))
            shares[self.case.full[states]] += float(masses.sum())
        return DecisionProfile(np.array(list(class_mass.values())), np.array(list(decision_mass.values())))


def same_decision(sets, profile):
    """How often the rule decides on these features as on all."""
    rule, target = sets.problem.classifier.rule, sets.case.target
    posteriors = profile.class_mass / profile.class_mass.sum(axis=1, keepdims=True)
    actions = [decide(rule, target, posterior.tolist()) for posterior in posteriors]
    return math.fsum(row[action] for row, action in zip(profile.decision_mass, actions, strict=True))


def potential(sets, profile):
    """How often the best table of decisions does."""
    return math.fsum(profile.decision_mass.max(axis=1))


def achievable(sets, profile):
    """How often the best threshold does."""
    positive = sets.case.target.index(sets.problem.classifier.rule.positive)
    return maximum_achievable_agreement(profile, positive).value


def certainty(sets, profile):
    """Minus the expected entropy of the target in bits, and the entropy without any test."""

    def entropy(masses):
        shares = masses[masses > 0] / masses.sum()
        return -masses.sum() * float(shares @ np.log2(shares))

    return entropy(profile.class_mass.sum(axis=0)) - math.fsum(map(entropy, profile.class_mass))
