"""Decisions of naive Bayes classifiers with three-decimal tables, by enumeration in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from unswayed import BayesianNetwork, Cpt, Variable

Masses = tuple[Fraction, ...]
Decide = Callable[[Masses], int]


@dataclass(frozen=True)
class RationalNaiveBayes:
    """Two-state features; `shares[i][c]` thousandths of class c have feature i in its first state."""

    prior: tuple[int, ...]
    shares: tuple[tuple[int, ...], ...]

    def network(self) -> BayesianNetwork:
        """The same classifier in floating point; the target is C, the features F0, F1 and so on."""
        target = Variable("C", [f"c{k}" for k in range(len(self.prior))])
        cpts = [Cpt(target, [], [p / 1000 for p in self.prior])]
        for i, rows in enumerate(self.shares):
            table = [[share / 1000, 1 - share / 1000] for share in rows]
            cpts.append(Cpt(Variable(f"F{i}", ["yes", "no"]), [target], table))
        return BayesianNetwork(cpts)

    def masses(self, seen: Sequence[int | None]) -> Masses:
        """Pr(class, what is seen) for each class; None for a feature that is not."""
        return tuple(
            Fraction(p, 1000)
            * math.prod(
                Fraction(rows[c] if state == 0 else 1000 - rows[c], 1000)
                for rows, state in zip(self.shares, seen, strict=True)
                if state is not None
            )
            for c, p in enumerate(self.prior)
        )

    def agreement(self, kept: frozenset[int], decide: Decide) -> Fraction:
        """How often deciding on the kept features is deciding on all."""
        total = Fraction(0)
        for seen in product((0, 1), repeat=len(self.shares)):
            masses = self.masses(seen)
            partly = self.masses([state if i in kept else None for i, state in enumerate(seen)])
            total += sum(masses) if decide(masses) == decide(partly) else 0
        return total

    def potential(self, kept: frozenset[int], decide: Decide) -> Fraction:
        """How often the best decision for each instantiation of the kept features is deciding on all."""
        decided: dict[tuple[int, ...], dict[int, Fraction]] = {}
        for seen in product((0, 1), repeat=len(self.shares)):
            masses = self.masses(seen)
            row = decided.setdefault(tuple(seen[i] for i in sorted(kept)), {})
            action = decide(masses)
            row[action] = row.get(action, Fraction(0)) + sum(masses)
        return sum((max(row.values()) for row in decided.values()), Fraction(0))


def by_threshold(threshold: float) -> Decide:
    """Class 0 from this probability on, the number taken as it is stored."""
    return lambda masses: 0 if masses[0] >= Fraction(threshold) * sum(masses) else 1


def by_probability(masses: Masses) -> int:
    """The most probable class, of equally probable ones the first."""
    return masses.index(max(masses))
