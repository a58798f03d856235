"""A block of rows answered: decision, posterior and same-decision probability of each.

Rows that observe the same features share their work (`engines/patterns.py`); where no way fits a pattern,
its distinct rows are asked one by one as `same_decision_probability` asks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options
from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import decision_posteriors, row_log_posteriors, split_patterns
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.patterns import PatternRows, PatternWay, SumsOfFeatures, sums_of_features, ways_for

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
    """What an audit adds to each row, as arrays; a row that is impossible has no posterior (NaN)."""

    decisions: Ints
    """Position of the action decided."""
    posterior: Floats
    """Pr(positive state | row), or of the most probable state."""
    low: Floats
    high: Floats
    """What holds the same-decision probability."""
    certainty: Codes
    """What the two promise, as positions in `CERTAINTIES`."""
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
    limits = recipe.options.get("limits", DEFAULT_LIMITS)
    problem = make_problem(recipe.classifier, limits=limits)
    # A named engine is asked row by row.
    if recipe.options.get("engine") is not None:
        return RowAuditor(recipe, problem, ())
    return RowAuditor(recipe, problem, tuple(ways_for(problem, limits)), sums_of_features(problem))


def answer_rows(auditor: RowAuditor, codes: Codes, many: bool, seconds: float | None = None) -> AuditColumns:
    """The columns of rows (rows, free features) of states, -1 where not observed.

    `many` says that the rows are part of a large table, for which compiled code pays. Raises `LimitError`
    when it takes longer than so many seconds.
    """
    problem, deadline = auditor.problem, _deadline(seconds)
    network, evidence = problem.network, problem.evidence
    logs = row_log_posteriors(network, problem.target, problem.free, codes, evidence, many=many)
    possible = np.isfinite(logs.max(axis=1))
    if not possible.all():
        return _with_gaps(auditor, codes, possible, many, seconds)
    decisions = problem.decider.decide(np.exp(logs))
    low, high = np.full(len(codes), np.nan), np.full(len(codes), np.nan)
    certainty = np.zeros(len(codes), dtype=np.int8)
    if auditor.features is not None:
        _check_time(deadline, seconds)
        low[:] = high[:] = auditor.features.same(codes, logs, decisions)
    left = np.flatnonzero(np.isnan(low))
    for pattern, places in split_patterns(codes[left]):
        _check_time(deadline, seconds)
        rows = left[places]
        observed = tuple(f for f, one in zip(problem.free, pattern, strict=True) if one)
        asked = PatternRows(observed, codes[rows][:, pattern], logs[rows], decisions[rows])
        low[rows], high[rows], certainty[rows] = _answer_pattern(auditor, asked, deadline, seconds)
    columns = AuditColumns(decisions, decision_posteriors(problem.classifier, logs), low, high, certainty)
    return _with_extras(auditor, columns, codes)


def _with_gaps(
    auditor: RowAuditor, codes: Codes, possible: Bools, many: bool, seconds: float | None
) -> AuditColumns:
    """The answers of the possible rows, and NaN for the others."""
    n_rows, missing = len(codes), np.full(len(codes), np.nan)
    blank = AuditColumns(
        np.zeros(n_rows, dtype=np.int64), missing, missing, missing, np.zeros(n_rows, dtype=np.int8)
    )
    if not possible.any():
        return blank
    found = answer_rows(auditor, codes[possible], many, seconds)
    # Impossible rows, which the caller refuses, borrow the first answer, all but its posterior.
    filled = found.take(np.where(possible, np.cumsum(possible) - 1, 0))
    return replace(filled, posterior=np.where(possible, filled.posterior, np.nan))


def _deadline(seconds: float | None) -> float:
    return np.inf if seconds is None else time.monotonic() + seconds


def _check_time(deadline: float, seconds: float | None) -> None:
    if time.monotonic() > deadline:
        raise LimitError(f"the audit took longer than {seconds:g} s; raise Limits(max_seconds=...)")


def _answer_pattern(
    auditor: RowAuditor, rows: PatternRows, deadline: float, seconds: float | None
) -> tuple[Floats, Floats, Codes]:
    """Lower and upper ends of the SDP, and what they promise."""
    for way in auditor.ways:
        if way.fits(rows.observed):
            same = way.same(rows)
            return same, same, np.zeros(len(same), dtype=np.int8)
    distinct, which = np.unique(rows.codes, axis=0, return_inverse=True)
    found = []
    for row in distinct:
        _check_time(deadline, seconds)
        problem = make_problem(auditor.recipe.classifier, _findings(auditor.problem, rows.observed, row))
        measured = agreement_of(problem, frozenset(), problem.decider, auditor.recipe.options)
        found.append((measured.low, measured.high, CERTAINTIES.index(measured.certainty)))
    low, high, certainty = np.array(found)[which.reshape(-1)].T
    return low, high, certainty.astype(np.int8)


def _findings(problem: Problem, observed: tuple[int, ...], row: Codes) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[f].name: variables[f].states[int(s)] for f, s in zip(observed, row, strict=True)}


def _with_extras(auditor: RowAuditor, columns: AuditColumns, codes: Codes) -> AuditColumns:
    """The columns with the next test of rows that are not safe, and the reason of each row, where asked."""
    recipe = auditor.recipe
    if not (recipe.next_test or recipe.reason):
        return columns
    distinct, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    tests = np.empty(len(distinct), dtype=object)
    reasons = np.empty(len(distinct), dtype=object)
    for i, row in enumerate(distinct):
        seen = tuple(f for f, s in zip(auditor.problem.free, row, strict=True) if s >= 0)
        findings = _findings(auditor.problem, seen, row[row >= 0])
        is_safe = columns.low[first[i]] >= recipe.at_least - SLACK
        if recipe.next_test and not is_safe and len(seen) < len(row):
            tests[i] = _next_test(recipe, findings)
        if recipe.reason and findings:
            reasons[i] = _reason(recipe, findings)
    return replace(
        columns,
        next_test=tests[which] if recipe.next_test else None,
        reason=reasons[which] if recipe.reason else None,
    )


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
