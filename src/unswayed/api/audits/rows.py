"""A block of rows answered: decision, posterior and same-decision probability of each.

Rows that observe the same features share their work (`engines/patterns.py`); where no way fits a pattern,
its distinct rows are asked one by one as `same_decision_probability` asks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options
from unswayed.core.anytime import grace, moment_at, seconds_left, tick, until
from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import (
    decision_posteriors,
    is_plain_forest,
    row_log_posteriors,
    split_patterns,
)
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.patterns import PatternRows, PatternWay, SumsOfFeatures, sums_of_features, ways_for

THE_AUDIT = "the audit"
PORTION = 256
"""Rows that are answered together before the clock is read: a tenth of a second at most."""
ROW_SHARE, EXTRAS_SHARE = 0.1, 0.5
"""Share of the time left that one row may take where rows are asked one by one, and its test and reason."""
SLACK = 1e-12
"""An SDP below the level by less than this reaches it."""
CERTAINTIES = tuple(Certainty)
"""What the numbers in `AuditColumns.certainty` mean."""


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What is asked of every row."""

    classifier: Classifier
    at_least: float
    """The level from which on a decision is safe."""
    next_test: bool = False
    reason: bool = False
    costs: Mapping[str, float] = field(default_factory=dict)
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True, eq=False)
class AuditColumns:
    """What an audit adds to each row, as arrays; an answered row without a posterior (NaN) is impossible."""

    decisions: Ints
    """Position of the action decided."""
    posterior: Floats
    """Pr(positive state | row), or of the most probable state."""
    low: Floats
    high: Floats
    """What holds the same-decision probability."""
    certainty: Codes
    """What the two promise, as positions in `CERTAINTIES`."""
    answered: Bools
    """Whether all that was asked of the row is there; False where the time was over, or nobody waited."""
    next_test: np.ndarray[Any, Any] | None = None
    """The feature to observe next; None where the row is safe or nothing is left."""
    reason: np.ndarray[Any, Any] | None = None
    """The smallest set of findings that keeps the decision."""

    def take(self, rows: Any) -> AuditColumns:
        """The same columns with some rows, or with their rows in another order."""
        taken: dict[str, Any] = {name: None if c is None else c[rows] for name, c in self.by_name().items()}
        return AuditColumns(**taken)

    def by_name(self) -> dict[str, Any]:
        """The arrays by the names of their fields."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def join_columns(parts: list[AuditColumns]) -> AuditColumns:
    """The rows of all parts, one part after the other."""
    each = [part.by_name() for part in parts]
    joined: dict[str, Any] = {
        name: None if first is None else np.concatenate([part[name] for part in each])
        for name, first in each[0].items()
    }
    return AuditColumns(**joined)


@dataclass(frozen=True, slots=True, eq=False)
class RowAuditor:
    """A recipe with everything that rows share made ready."""

    recipe: Recipe
    problem: Problem
    ways: tuple[PatternWay, ...]
    """What answers a pattern."""
    features: SumsOfFeatures | None = None
    """What answers all patterns at once."""


def prepare_auditor(recipe: Recipe) -> RowAuditor:
    """What answers rows; expensive tables are made when a row first needs them."""
    with grace():
        problem = make_problem(recipe.classifier)
        # A named engine is asked row by row.
        if recipe.options.get("engine") is not None:
            return RowAuditor(recipe, problem, ())
        return RowAuditor(recipe, problem, tuple(ways_for(problem)), sums_of_features(problem))


def blank_columns(recipe: Recipe, n_rows: int) -> AuditColumns:
    """The columns of rows that are not answered; `fill_rows` writes into their arrays."""
    return AuditColumns(
        decisions=np.zeros(n_rows, dtype=np.int64),
        posterior=np.full(n_rows, np.nan),
        low=np.full(n_rows, np.nan),
        high=np.full(n_rows, np.nan),
        certainty=np.zeros(n_rows, dtype=np.int8),
        answered=np.zeros(n_rows, dtype=bool),
        next_test=np.full(n_rows, None) if recipe.next_test else None,
        reason=np.full(n_rows, None) if recipe.reason else None,
    )


def answer_rows(auditor: RowAuditor, codes: Codes, many: bool, seconds: float = math.inf) -> AuditColumns:
    """The columns of rows, as far as so many seconds suffice."""
    columns = blank_columns(auditor.recipe, len(codes))
    with until(time.monotonic() + seconds):
        fill_rows(auditor, codes, many, columns)
    return columns


def fill_rows(auditor: RowAuditor, codes: Codes, many: bool, columns: AuditColumns) -> None:
    """Answer rows (rows, free features) of states, -1 where not observed, into their columns.

    `many` says that the rows are part of a large table, for which compiled code pays. When the time is over,
    the rows that are left stay as they are.
    """
    problem, block = auditor.problem, _Block(auditor, codes, many, columns)
    at_once = math.isinf(seconds_left()) or is_plain_forest(problem.network, problem.target)
    groups = [np.arange(len(codes))] if at_once else [rows for _, rows in split_patterns(codes)]
    for rows in groups:
        if seconds_left() <= 0:
            return
        try:
            block.fill(rows)
        except LimitError:
            # What one group has no time for, another may have.
            if math.isinf(seconds_left()):
                raise


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rows, and the columns that their answers are written into."""

    auditor: RowAuditor
    codes: Codes
    many: bool
    columns: AuditColumns

    def fill(self, rows: Ints) -> None:
        """Answer some rows; those that share their work together."""
        problem, codes = self.auditor.problem, self.codes
        asked = problem.network, problem.target, problem.free, codes[rows], problem.evidence
        logs = row_log_posteriors(*asked, many=self.many)
        possible = np.isfinite(logs.max(axis=1))
        self.columns.answered[rows[~possible]] = True
        rows, logs = rows[possible], logs[possible]
        decisions = problem.decider.decide(np.exp(logs))
        left = np.arange(len(rows))
        if self.auditor.features is not None:
            same = self._walk(rows, logs, decisions)
            left = np.flatnonzero(np.isnan(same))
            known = np.flatnonzero(~np.isnan(same))
            exact = np.zeros(len(known), dtype=np.int8)
            self._write(rows[known], logs[known], decisions[known], (same[known], same[known], exact))
        for pattern, places in split_patterns(codes[rows[left]]):
            tick(what=THE_AUDIT)
            some = left[places]
            observed = tuple(f for f, one in zip(problem.free, pattern, strict=True) if one)
            seen = PatternRows(observed, codes[rows[some]][:, pattern], logs[some], decisions[some])
            for places_done, found in _answer_pattern(self.auditor, seen):
                done = some[places_done]
                self._write(rows[done], logs[done], decisions[done], found)

    def _walk(self, rows: Ints, logs: Floats, decisions: Ints) -> Floats:
        """The SDP where features are independent, in portions between which the clock is read."""
        assert self.auditor.features is not None
        length = len(rows) if math.isinf(seconds_left()) else PORTION
        same = np.full(len(rows), np.nan)
        for start in range(0, len(rows), max(length, 1)):
            tick(what=THE_AUDIT)
            part = slice(start, start + length)
            same[part] = self.auditor.features.same(self.codes[rows[part]], logs[part], decisions[part])
        return same

    def _write(self, rows: Ints, logs: Floats, decisions: Ints, found: tuple[Floats, Floats, Codes]) -> None:
        """Write what was found about rows, with the next test and the reason of each where asked."""
        columns, recipe, (low, high, certainty) = self.columns, self.auditor.recipe, found
        posterior = decision_posteriors(self.auditor.problem.classifier, logs)
        groups: Iterable[Any] = [slice(None)] if len(rows) else []
        if recipe.next_test or recipe.reason:
            _, which = np.unique(self.codes[rows], axis=0, return_inverse=True)
            groups = (np.flatnonzero(which.reshape(-1) == i) for i in range(which.max(initial=-1) + 1))
        for group in groups:
            written = rows[group]
            if not self._write_extras(written, low[group]):
                continue
            columns.decisions[written], columns.posterior[written] = decisions[group], posterior[group]
            columns.low[written], columns.high[written] = low[group], high[group]
            columns.certainty[written], columns.answered[written] = certainty[group], True

    def _write_extras(self, rows: Ints, low: Floats) -> bool:
        """The next test and the reason of equal rows, where asked; whether there was time for them."""
        recipe, columns = self.auditor.recipe, self.columns
        if columns.next_test is None and columns.reason is None:
            return True
        tick(what=THE_AUDIT)
        problem, row = self.auditor.problem, self.codes[rows[0]]
        seen = tuple(f for f, s in zip(problem.free, row, strict=True) if s >= 0)
        findings = _findings(problem, seen, row[row >= 0])
        is_safe = low[0] >= recipe.at_least - SLACK
        try:
            with until(moment_at(EXTRAS_SHARE)):
                asks_on = columns.next_test is not None and not is_safe and len(seen) < len(row)
                test = _next_test(recipe, findings) if asks_on else None
                reason = _reason(recipe, findings) if columns.reason is not None and findings else None
        except LimitError:
            if math.isinf(seconds_left()):
                raise
            return False
        if columns.next_test is not None:
            columns.next_test[rows] = test
        if columns.reason is not None:
            columns.reason[rows] = reason
        return True


def _answer_pattern(
    auditor: RowAuditor, rows: PatternRows
) -> Iterator[tuple[Ints, tuple[Floats, Floats, Codes]]]:
    """Rows of a pattern by their places, with the ends of their SDP and what these promise, as it is found.

    A row for which its share of the time does not suffice is left out.
    """
    for way in auditor.ways:
        if way.fits(rows.observed):
            same = way.same(rows)
            yield np.arange(len(same)), (same, same, np.zeros(len(same), dtype=np.int8))
            return
    distinct, which = np.unique(rows.codes, axis=0, return_inverse=True)
    for number, row in enumerate(distinct):
        tick(what=THE_AUDIT)
        try:
            with until(moment_at(ROW_SHARE)):
                findings = _findings(auditor.problem, rows.observed, row)
                problem = make_problem(auditor.recipe.classifier, findings)
                measured = agreement_of(problem, frozenset(), problem.decider, auditor.recipe.options)
        except LimitError:
            if math.isinf(seconds_left()):
                raise
            continue
        places = np.flatnonzero(which.reshape(-1) == number)
        ends = np.full(len(places), measured.low), np.full(len(places), measured.high)
        certainty = np.full(len(places), CERTAINTIES.index(measured.certainty), dtype=np.int8)
        yield places, (*ends, certainty)


def _findings(problem: Problem, observed: tuple[int, ...], row: Codes) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[f].name: variables[f].states[int(s)] for f, s in zip(observed, row, strict=True)}


def _next_test(recipe: Recipe, findings: Mapping[str, str]) -> str | None:
    from unswayed.api.ranking import rank_observations

    return rank_observations(recipe.classifier, findings, **recipe.options).best


def _reason(recipe: Recipe, findings: Mapping[str, str]) -> str | None:
    from unswayed.api.reasons import explain_decision

    found = explain_decision(
        recipe.classifier,
        evidence=findings,
        at_least=recipe.at_least,
        costs=recipe.costs or None,
        **recipe.options,
    )
    if not found.reasons:
        return None
    return ", ".join(f"{name}={state}" for name, state in found.reasons[0].findings.items())
