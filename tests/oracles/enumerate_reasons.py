"""Reasons, flips and weights by their definitions: everything written out, nothing clever."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np

from oracles.enumerate_profile import decide


def joint_of(network):
    """Pr(x) with one axis for each variable, as a plain product of the tables."""
    sizes = [len(v) for v in network.variables]
    joint = np.ones(sizes)
    for child, cpt in enumerate(network.cpts):
        scope = [*network.parents[child], child]
        table = cpt.table.reshape([sizes[v] for v in scope])
        order = sorted(scope)
        table = table.transpose([scope.index(v) for v in order])
        joint = joint * table.reshape([sizes[v] if v in scope else 1 for v in range(len(sizes))])
    return joint


class WrittenOut:
    """A classifier and its findings with every instantiation of everything listed."""

    def __init__(self, classifier, evidence):
        network = self.network = classifier.network
        self.rule, self.target = classifier.rule, network.variable(classifier.target)
        self.evidence = {network.index(name): network.variable(name).index(s) for name, s in evidence.items()}
        self.findings = list(self.evidence)
        features = [network.index(name) for name in classifier.features]
        self.free = [v for v in features if v not in self.evidence]
        self.all = [*self.free, *self.findings]
        joint, place = joint_of(network), network.index(classifier.target)
        self.table = np.einsum(joint, list(range(joint.ndim)), [*self.all, place])
        self.action = self.decision(self.evidence)
        self.rows = [
            (states, float(self.table[states].sum()), self.decided(self.table[states]))
            for states in product(*map(range, self.table.shape[:-1]))
            if self.table[states].sum() > 0
        ]

    def masses(self, evidence):
        """Pr(class, evidence), by summing."""
        cut = self.table[tuple(evidence.get(v, slice(None)) for v in self.all)]
        return cut.sum(axis=tuple(range(cut.ndim - 1)))

    def decided(self, masses):
        """What is decided on class masses."""
        return decide(self.rule, self.target, (masses / masses.sum()).tolist())

    def decision(self, evidence):
        """What is decided on this evidence."""
        return self.decided(self.masses(evidence))

    def turned_and_all(self, subset):
        """Mass of the full instantiations that agree with the subset: decided otherwise, and all."""
        turned = total = 0.0
        for states, mass, action in self.rows:
            if all(states[self.all.index(v)] == self.evidence[v] for v in subset):
                total += mass
                turned += mass if action != self.action else 0.0
        return turned, total

    def sdp(self, subset):
        """Probability that the full classifier decides as on all findings, given the subset alone."""
        turned, total = self.turned_and_all(subset)
        return 1.0 - turned / total

    def is_reason(self, subset, level):
        turned, total = self.turned_and_all(subset)
        return turned == 0.0 if level >= 1 else 1.0 - turned / total >= level - 1e-12

    def subsets(self, variables):
        for size in range(len(variables) + 1):
            yield from combinations(variables, size)

    def reasons(self, level):
        """All reasons, as sets of positions."""
        return [frozenset(s) for s in self.subsets(self.findings) if self.is_reason(s, level)]

    def changes(self, movable):
        """All states of movable findings, each changed, that turn the decision."""
        found = []
        for chosen in self.subsets(movable):
            options = [
                [s for s in range(len(self.network.variables[v])) if s != self.evidence[v]] for v in chosen
            ]
            for states in product(*options) if chosen else ():
                changed = {**self.evidence, **dict(zip(chosen, states, strict=True))}
                if self.masses(changed).sum() > 0 and self.decision(changed) != self.action:
                    found.append(dict(zip(chosen, states, strict=True)))
        return found

    def observations(self):
        """All states of features not observed that turn the decision."""
        found = []
        for chosen in self.subsets(self.free):
            for states in product(*(range(len(self.network.variables[v])) for v in chosen)) if chosen else ():
                seen = dict(zip(chosen, states, strict=True))
                mass = self.masses({**self.evidence, **seen})
                if mass.sum() > 0 and self.decided(mass) != self.action:
                    found.append((seen, float(mass.sum() / self.masses(self.evidence).sum())))
        return found

    def shapley(self, value):
        """The mean gain of each finding over all orders in which the findings may come."""
        gains = {v: [] for v in self.findings}
        for order in permutations(self.findings):
            for i, finding in enumerate(order):
                before = self.masses({v: self.evidence[v] for v in order[:i]})
                after = self.masses({v: self.evidence[v] for v in order[: i + 1]})
                gains[finding].append(value(after) - value(before))
        return [math.fsum(gains[v]) / len(gains[v]) for v in self.findings]


def masses_of(network, target, evidence):
    """Pr(class, evidence), by summing the whole joint."""
    joint, place = joint_of(network), network.index(target)
    observed = network.evidence(evidence)
    cut = joint[
        tuple(
            slice(observed[v], observed[v] + 1) if v in observed else slice(None) for v in range(joint.ndim)
        )
    ]
    return cut.sum(axis=tuple(v for v in range(joint.ndim) if v != place))
