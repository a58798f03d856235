"""Decisions of naive Bayes classifiers, by enumeration in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from unswayed import BayesianNetwork, Cpt, Variable

Masses = tuple[Fraction, ...]
Decide = Callable[[Masses], int]


@dataclass(frozen=True)
class RationalNaiveBayes:
    """Features that are independent given the class."""

    prior: Masses
    tables: tuple[tuple[Masses, ...], ...]
    """Pr(state | class) by feature, class and state."""

    def network(self) -> BayesianNetwork:
        """The same classifier in floating point; the target is C, the features F0, F1 and so on."""
        target = Variable("C", [f"c{k}" for k in range(len(self.prior))])
        cpts = [Cpt(target, [], [float(p) for p in self.prior])]
        for i, rows in enumerate(self.tables):
            states = ["yes", "no", *(f"s{k}" for k in range(2, len(rows[0])))]
            table = [[float(p) for p in row] for row in rows]
            cpts.append(Cpt(Variable(f"F{i}", states), [target], table))
        return BayesianNetwork(cpts)

    def instantiations(self) -> Iterator[tuple[int, ...]]:
        """States of all features."""
        return product(*(range(len(rows[0])) for rows in self.tables))

    def masses(self, seen: Sequence[int | None]) -> Masses:
        """Pr(class, what is seen) for each class; None for a feature that is not."""
        return tuple(
            p
            * math.prod(
                rows[c][state] for rows, state in zip(self.tables, seen, strict=True) if state is not None
            )
            for c, p in enumerate(self.prior)
        )

    def agreement(self, kept: frozenset[int], decide: Decide) -> Fraction:
        """How often deciding on the kept features is deciding on all."""
        total = Fraction(0)
        for seen in self.instantiations():
            masses = self.masses(seen)
            if any(masses):
                partly = self.masses([state if i in kept else None for i, state in enumerate(seen)])
                total += sum(masses) if decide(masses) == decide(partly) else 0
        return total

    def potential(self, kept: frozenset[int], decide: Decide) -> Fraction:
        """How often the best decision for each instantiation of the kept features is deciding on all."""
        decided: dict[tuple[int, ...], dict[int, Fraction]] = {}
        for seen in self.instantiations():
            masses = self.masses(seen)
            row = decided.setdefault(tuple(seen[i] for i in sorted(kept)), {})
            action = decide(masses)
            row[action] = row.get(action, Fraction(0)) + sum(masses)
        return sum((max(row.values()) for row in decided.values()), Fraction(0))


def in_thousandths(prior: Sequence[int], shares: Sequence[Sequence[int]]) -> RationalNaiveBayes:
    """Two-state features; `shares[i][c]` thousandths of class c have feature i in its first state."""
    tables = tuple(tuple((Fraction(s, 1000), Fraction(1000 - s, 1000)) for s in rows) for rows in shares)
    return RationalNaiveBayes(tuple(Fraction(p, 1000) for p in prior), tables)


def by_threshold(threshold: float) -> Decide:
    """Class 0 from this probability on, the number taken as it is stored."""
    return lambda masses: 0 if masses[0] >= Fraction(threshold) * sum(masses) else 1


def by_probability(masses: Masses) -> int:
    """The most probable class, of equally probable ones the first."""
    return masses.index(max(masses))


def by_utility(utilities: Sequence[Sequence[Fraction]]) -> Decide:
    """The action of highest expected utility, of equally good ones the first."""

    def decide(masses: Masses) -> int:
        worth = [sum((u * p for u, p in zip(row, masses, strict=True)), Fraction(0)) for row in utilities]
        return worth.index(max(worth))

    return decide
