"""Decision profiles by the definitions: every instantiation of every feature, one after another."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from oracles.enumerate_joint import joint_table
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule

TIE = 1e-12


def decide(rule, target, posterior) -> int:
    """The action for one posterior, by the words of the rule, ties as the documentation says."""
    if isinstance(rule, ThresholdRule):
        positive = target.states.index(rule.positive)
        p, rest = posterior[positive], math.fsum(q for i, q in enumerate(posterior) if i != positive)
        if p <= 0 or rest <= 0:
            return 0 if rest <= 0 else 1
        odds = math.log(p) - math.log(rest)
        return 0 if odds >= math.log(rule.threshold / (1 - rule.threshold)) - TIE else 1
    if isinstance(rule, MostProbable):
        return next(i for i, p in enumerate(posterior) if p > 0 and p >= max(posterior) * math.exp(-TIE))
    assert isinstance(rule, UtilityRule)
    terms = [
        [p * row[s] for p, s in zip(posterior, target.states, strict=True)] for row in rule.utilities.values()
    ]
    worth, size = [math.fsum(row) for row in terms], [math.fsum(map(abs, row)) for row in terms]
    best = worth.index(max(worth))
    return next(i for i, w in enumerate(worth) if w >= worth[best] - TIE * (size[i] + size[best]))


def feature_table(problem: Problem):
    """Pr(features, target | evidence) as {feature states: [mass of each class]}, by enumeration."""
    joint = joint_table(problem.network)
    axes = [*problem.free, problem.target]
    cut = joint[tuple(problem.evidence.get(v, slice(None)) for v in range(joint.ndim))]
    left = [v for v in range(joint.ndim) if v not in problem.evidence]
    table = np.einsum(cut, [left.index(v) for v in left], [left.index(v) for v in axes])
    table = table / table.sum()
    shape = table.shape[:-1]
    return {states: table[states] for states in product(*map(range, shape))}


def enumerate_profile(problem: Problem, kept: frozenset[int]) -> DecisionProfile:
    """The profile with one row for each instantiation of the kept features."""
    target = problem.network.variables[problem.target]
    classes, actions = len(target), len(problem.decider.actions)
    places = [i for i, feature in enumerate(problem.free) if feature in kept]
    class_mass, decision_mass = {}, {}
    for states, masses in feature_table(problem).items():
        row = tuple(states[i] for i in places)
        class_mass.setdefault(row, np.zeros(classes))
        decision_mass.setdefault(row, np.zeros(actions))
        total = float(masses.sum())
        if total > 0:
            class_mass[row] += masses
            action = decide(problem.classifier.rule, target, (masses / total).tolist())
            decision_mass[row][action] += total
    rows = [row for row in class_mass if class_mass[row].sum() > 0]
    return DecisionProfile(
        np.array([class_mass[row] for row in rows]), np.array([decision_mass[row] for row in rows])
    )
