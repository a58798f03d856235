"""A block of rows answered: decision, posterior and same-decision probability of each.

Rows that observe the same features share their work (`engines/patterns.py`); where no way fits a pattern,
its distinct rows are asked one by one as `sdp` asks. The stream of answers is one of
columns in which more and more rows are filled (`fill_rows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options
from unswayed.core.anytime import reserve, tick
from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.prediction import (
    decision_posteriors,
    group_rows,
    row_log_posteriors,
    split_patterns,
    within_share,
)
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.patterns import PatternRows, PatternWay, SumsOfFeatures, sums_of_features, ways_for

THE_AUDIT = "the audit"
STEP_ROWS = 4096
"""Rows that are answered in one step: .1 s with lists for 24 features; steps of 1024 take a fifth longer."""
ROW_UNITS = 30.0
"""Work for one of them."""
ROW_SHARE, EXTRAS_SHARE = 0.1, 0.5
"""Share of what is left that one row may take where rows are asked one by one, and its test and reason."""
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
    with reserve():
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


def fill_rows(auditor: RowAuditor, codes: Codes) -> Iterator[AuditColumns]:
    """The columns of rows (rows, free features) of states, -1 where not observed, as they are filled.

    Rows for which their share of what is left does not suffice stay as they are.
    """
    problem, columns = auditor.problem, blank_columns(auditor.recipe, len(codes))
    yield columns
    for rows in group_rows(problem.network, problem.target, codes):
        tick(ROW_UNITS * len(rows), THE_AUDIT)
        logs = within_share(1.0, partial(_log_posteriors, problem, codes[rows]))
        if logs is None:
            continue
        possible = np.isfinite(logs.max(axis=1))
        columns.answered[rows[~possible]] = True
        rows, logs = rows[possible], logs[possible]
        seen = _SeenRows(rows, codes[rows], logs, problem.decider.decide(np.exp(logs)))
        for places, ends in _measure(auditor, seen):
            _write(auditor, columns, seen.take(places), ends)
            yield columns


def _log_posteriors(problem: Problem, codes: Codes) -> Floats:
    return row_log_posteriors(problem.network, problem.target, problem.free, codes, problem.evidence)


@dataclass(frozen=True, slots=True, eq=False)
class _SeenRows:
    """Possible rows of a block, and what is decided on them."""

    rows: Ints
    """Their places in the block."""
    codes: Codes
    logs: Floats
    decisions: Ints

    def take(self, places: Any) -> _SeenRows:
        """Some of them."""
        return _SeenRows(self.rows[places], self.codes[places], self.logs[places], self.decisions[places])


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """What holds the same-decision probability of rows."""

    low: Floats
    high: Floats
    certainty: Codes


def _exactly(same: Floats) -> _Ends:
    return _Ends(same, same, np.zeros(len(same), dtype=np.int8))


def _measure(auditor: RowAuditor, seen: _SeenRows) -> Iterator[tuple[Ints, _Ends]]:
    """Rows by their places among those seen, with what holds their SDP, as it is found."""
    left = np.arange(len(seen.rows))
    if auditor.features is not None:
        unknown = []
        for start in range(0, len(left), STEP_ROWS):
            places = left[start : start + STEP_ROWS]
            tick(ROW_UNITS * len(places), THE_AUDIT)
            same = auditor.features.same(seen.codes[places], seen.logs[places], seen.decisions[places])
            known = ~np.isnan(same)
            unknown.append(places[~known])
            yield places[known], _exactly(same[known])
        left = np.concatenate(unknown) if unknown else left
    for pattern, places in split_patterns(seen.codes[left]):
        some = seen.take(left[places])
        observed = tuple(f for f, one in zip(auditor.problem.free, pattern, strict=True) if one)
        rows = PatternRows(observed, some.codes[:, pattern], some.logs, some.decisions)
        for done, ends in _measure_pattern(auditor, rows):
            yield left[places[done]], ends


def _measure_pattern(auditor: RowAuditor, rows: PatternRows) -> Iterator[tuple[Ints, _Ends]]:
    """The same for rows of a pattern; one for which its share does not suffice is left out."""
    tick(ROW_UNITS * len(rows.codes), THE_AUDIT)
    way = next((way for way in auditor.ways if way.fits(rows.observed)), None)
    if way is not None:
        same = within_share(1.0, partial(way.same, rows))
        if same is not None:
            yield np.arange(len(same)), _exactly(same)
        return
    distinct, which = np.unique(rows.codes, axis=0, return_inverse=True)
    for number, row in enumerate(distinct):
        tick(what=THE_AUDIT)
        findings = _findings(auditor.problem, rows.observed, row)
        measured = within_share(ROW_SHARE, partial(ask_row, auditor.recipe, findings))
        if measured is None:
            continue
        places = np.flatnonzero(which.reshape(-1) == number)
        ends = np.full(len(places), measured.low), np.full(len(places), measured.high)
        yield places, _Ends(*ends, np.full(len(places), CERTAINTIES.index(measured.certainty), dtype=np.int8))


def ask_row(recipe: Recipe, findings: Mapping[str, Any]) -> Measurement:
    """The same-decision probability of a row."""
    problem = make_problem(recipe.classifier, findings)
    return agreement_of(problem, frozenset(), problem.decider, recipe.options)


def _write(auditor: RowAuditor, columns: AuditColumns, seen: _SeenRows, ends: _Ends) -> None:
    """Write what was found about rows, with the next test and the reason of each where asked."""
    posterior = decision_posteriors(auditor.problem.classifier, seen.logs)
    for group in _alike(auditor.recipe, seen.codes):
        tick(what=THE_AUDIT)
        rows, first = seen.rows[group], seen.codes[group][0]
        extras = within_share(EXTRAS_SHARE, partial(_find_extras, auditor, first, ends.low[group][0]))
        if extras is None:
            continue
        if columns.next_test is not None:
            columns.next_test[rows] = extras.next_test
        if columns.reason is not None:
            columns.reason[rows] = extras.reason
        columns.decisions[rows], columns.posterior[rows] = seen.decisions[group], posterior[group]
        columns.low[rows], columns.high[rows] = ends.low[group], ends.high[group]
        columns.certainty[rows], columns.answered[rows] = ends.certainty[group], True


def _alike(recipe: Recipe, codes: Codes) -> Iterator[Any]:
    """Rows that are written together: all, or equal ones where each has a test or a reason of its own."""
    if not len(codes):
        return
    if not (recipe.next_test or recipe.reason):
        yield slice(None)
        return
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    yield from (np.flatnonzero(which.reshape(-1) == number) for number in range(len(distinct)))


@dataclass(frozen=True, slots=True)
class _Extras:
    """What is asked about a row beside its decision."""

    next_test: str | None
    reason: str | None


def _find_extras(auditor: RowAuditor, row: Codes, low: float) -> _Extras:
    recipe, is_seen = auditor.recipe, row >= 0
    observed = tuple(f for f, one in zip(auditor.problem.free, is_seen, strict=True) if one)
    findings = _findings(auditor.problem, observed, row[is_seen])
    is_open = low < recipe.at_least - SLACK and not is_seen.all()
    return _Extras(
        find_next_test(recipe, findings) if recipe.next_test and is_open else None,
        find_reason(recipe, findings) if recipe.reason and findings else None,
    )


def _findings(problem: Problem, observed: tuple[int, ...], row: Codes) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[f].name: variables[f].states[int(s)] for f, s in zip(observed, row, strict=True)}


def find_next_test(recipe: Recipe, findings: Mapping[str, Any]) -> str | None:
    """The feature to observe next."""
    from unswayed.api.information import voi

    return voi(recipe.classifier, findings, **recipe.options).best


def find_reason(recipe: Recipe, findings: Mapping[str, Any]) -> str | None:
    """The smallest set of findings that keeps the decision."""
    from unswayed.api.reasons import why

    found = why(
        recipe.classifier,
        evidence=findings,
        at_least=recipe.at_least,
        costs=recipe.costs or None,
        **recipe.options,
    )
    if not found.reasons:
        return None
    return ", ".join(f"{name}={state}" for name, state in found.reasons[0].findings.items())
