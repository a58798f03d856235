"""The same-decision probability of subsets of the findings: from one table if it fits, else from engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider
from unswayed.reasons.case import ExplainedDecision, FoundReasons, decider_of, fails, reaches
from unswayed.reasons.margins import keeping_tests, posterior_bounds
from unswayed.reasons.search import Effort, search_reasons
from unswayed.reasons.tables import SubsetTable, make_subset_table, reasons_in_table, table_fits

AskEngine = Callable[[Problem, Decider, float], Measurement]
"""From a problem, a decider and a tolerance to how often all features decide as the decider does."""
TOLERANCES = (0.0, 1e-4, 1e-5)
"""Widths asked for in turn while an interval holds the level; 0 leaves the first to the engine."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetOracle:
    """Knows SDP(S) for subsets S of the findings."""

    explained: ExplainedDecision
    ask: AskEngine
    limits: Limits
    table: SubsetTable | None = field(repr=False)
    tests: Floats = field(repr=False)
    _known: dict[frozenset[int], Measurement] = field(default_factory=dict, repr=False)

    def measure(self, subset: Iterable[int], level: float | None = None) -> Measurement:
        """SDP of a subset; an interval that holds `level` is narrowed."""
        chosen = frozenset(subset)
        if self.table is not None:
            value = min(max(self.table.sdp_of(chosen), 0.0), 1.0)
            return Measurement.exact(value, engine="table")
        if chosen not in self._known:
            self._known[chosen] = self._asked(self.explained.at(chosen, self.limits), level)
        return self._known[chosen]

    def screen(self, subset: frozenset[int], level: float) -> Interval:
        """SDP of a subset, or bounds on it that already fail the level."""
        problem = self.explained.at(subset, self.limits)
        bounds = posterior_bounds(self.tests, problem.prior)
        if fails(bounds, level):
            return bounds
        if subset not in self._known:
            self._known[subset] = self._asked(problem, level)
        return interval_of(self._known[subset])

    def _asked(self, problem: Problem, level: float | None) -> Measurement:
        decider = decider_of(self.explained)
        for tolerance in TOLERANCES:
            found = self.ask(problem, decider, tolerance)
            if level is None or found.certainty is not Certainty.BOUND:
                break
            if reaches(interval_of(found), level) or fails(interval_of(found), level):
                break
        return found


def make_subset_oracle(explained: ExplainedDecision, ask: AskEngine, limits: Limits) -> SubsetOracle:
    """An oracle with a table where it is within the limits."""
    table = make_subset_table(explained, limits) if table_fits(explained, limits) else None
    tests = keeping_tests(explained.problem.classifier, explained.action)
    return SubsetOracle(explained, ask, limits, table, tests)


def find_reasons(
    oracle: SubsetOracle,
    costs: dict[int, float],
    level: float,
    most: int,
    *,
    weights: list[float],
    effort: Effort,
) -> FoundReasons:
    """The cheapest reasons at a level."""
    if oracle.table is not None:
        return reasons_in_table(oracle.table, costs, level, most)
    return search_reasons(
        oracle.explained,
        lambda subset: oracle.screen(subset, level),
        costs,
        level,
        most,
        weights=np.nan_to_num(weights).tolist(),
        effort=effort,
    )


def interval_of(measured: Measurement) -> Interval:
    """The interval of a measurement."""
    return Interval(measured.low, measured.high, measured.certainty, measured.confidence, measured.value)
