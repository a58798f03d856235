"""The same-decision probability of every subset of the findings, from one table.

The table over all features and findings holds, for each instantiation, its mass under each class and what
the full classifier decides on it. Sum out the features that were not observed. Then fold the axis of each
finding to two numbers: the sum (the finding is forgotten) and the observed state's own (it is known). What
is left has an entry for each of the 2^k subsets of the k findings. Cost: a few passes over the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, bytes_allowed, units_left
from unswayed.core.arrays import Bools, Floats
from unswayed.decisions.oracle import Interval
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Cost, Question
from unswayed.reasons.case import LEVEL_SLACK, ExplainedDecision, FoundReasons, SufficientSet, kept_share

MOST_FINDINGS = 24
"""Findings whose subsets are listed."""
MORE_TIES = 256
"""Reasons beyond those asked for that are put in order, so that names decide among equals."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetTable:
    """Masses of all subsets of the findings; the first finding is the highest bit of a subset's number."""

    explained: ExplainedDecision
    class_mass: Floats = field(repr=False)  # (classes, subsets)
    """Pr(class, the subset's findings)."""
    turned_mass: Floats = field(repr=False)  # (subsets,)
    """Pr(the subset's findings, and the full classifier decides otherwise)."""

    @property
    def sdp(self) -> Floats:  # (subsets,)
        """SDP of each subset."""
        kept: Floats = 1.0 - self.turned_mass / self.class_mass.sum(axis=0)
        return kept

    def reaching(self, level: float) -> Bools:  # (subsets,)
        """Which subsets are reasons; at level 1 those where nothing at all can turn the decision."""
        if level >= 1.0:
            certain: Bools = self.turned_mass == 0.0
            return certain
        reached: Bools = self.sdp >= level - LEVEL_SLACK
        return reached

    def members(self, number: int) -> tuple[int, ...]:
        """The findings in a subset."""
        findings = self.explained.findings
        return tuple(v for i, v in enumerate(findings) if number >> (len(findings) - 1 - i) & 1)

    def sdp_of(self, subset: frozenset[int]) -> float:
        """SDP of one subset."""
        number = 0
        for finding in self.explained.findings:
            number = 2 * number + (finding in subset)
        return kept_share(float(self.turned_mass[number] / self.class_mass[:, number].sum()))


def table_fits(explained: ExplainedDecision, *, most_seconds: float) -> bool:
    """Whether the table over all features is within the limits, and predicted to take no longer than that."""
    if len(explained.findings) > MOST_FINDINGS:
        return False
    price = DenseEngine().cost(explained.whole, Question(frozenset()))
    seconds = min(most_seconds, units_left() / UNITS_PER_SECOND)
    return isinstance(price, Cost) and price.n_bytes <= bytes_allowed() and price.seconds <= seconds


def make_subset_table(explained: ExplainedDecision) -> SubsetTable:
    """Sum out what was not observed, and fold each finding."""
    whole = explained.whole
    masses = DenseEngine().prepare(whole).masses
    n_classes, sizes = len(whole.prior), whole.sizes(explained.findings)
    observed = masses.reshape(len(masses), -1, math.prod(sizes)).sum(axis=1)
    turned = np.delete(observed[n_classes:], explained.action, axis=0).sum(axis=0, keepdims=True)
    columns = np.concatenate([observed[:n_classes], turned])
    folded = fold_findings(columns, sizes, explained.states)
    return SubsetTable(explained, folded[:n_classes], folded[n_classes])


def fold_findings(masses: Floats, sizes: Sequence[int], states: Sequence[int]) -> Floats:
    """From (columns, instantiations) to (columns, subsets): each axis to its sum and its observed state."""
    columns = before = len(masses)
    for size, state in zip(sizes, states, strict=True):
        axis = masses.reshape(before, size, -1)
        masses = np.stack([axis.sum(axis=1), axis[:, state]], axis=1)
        before *= 2
    return masses.reshape(columns, -1)


def reasons_in_table(table: SubsetTable, costs: dict[int, float], level: float, most: int) -> FoundReasons:
    """The cheapest reasons, all of them proven; ties by higher SDP, then by names."""
    reaching, sdp, cost = table.reaching(level), table.sdp, _subset_costs(table, costs)

    def entry(number: int) -> SufficientSet:
        return SufficientSet(table.members(number), Interval.point(float(sdp[number])), float(cost[number]))

    if not reaching.any():
        closest = entry(int(np.argmax(sdp >= sdp.max() - LEVEL_SLACK)))
        return FoundReasons(
            (),
            math.inf,
            True,
            in_every=frozenset(),
            closest=closest,
            closest_bound=closest.sdp.high,
            evaluations=len(sdp),
        )
    lowest = float(cost[reaching].min())
    cheapest = np.flatnonzero(reaching & (cost <= lowest * (1 + 1e-12)))
    # The best by SDP come first; the names decide among equals, of which a few more are looked up.
    first = cheapest[np.argsort(-np.round(sdp[cheapest], 12), kind="stable")][: most + MORE_TIES]
    entries = sorted(map(entry, map(int, first)), key=lambda one: _rank(table.explained, one))
    return FoundReasons(
        tuple(entries[:most]),
        lowest,
        True,
        cut=len(cheapest) > most,
        in_every=_in_every(table, reaching),
        evaluations=len(sdp),
    )


def _in_every(table: SubsetTable, reaching: Bools) -> frozenset[int]:
    findings = table.explained.findings
    by_finding = reaching.reshape([2] * len(findings))
    return frozenset(v for i, v in enumerate(findings) if not by_finding.take(0, axis=i).any())


def _subset_costs(table: SubsetTable, costs: dict[int, float]) -> Floats:  # (subsets,)
    total: Floats = np.zeros(1)
    for finding in table.explained.findings:
        total = np.add.outer(total, [0.0, costs[finding]]).reshape(-1)
    return total


def _rank(explained: ExplainedDecision, one: SufficientSet) -> tuple[float, list[str]]:
    variables = explained.network.variables
    return -round(one.sdp.low, 12), sorted(variables[v].name for v in one.findings)
