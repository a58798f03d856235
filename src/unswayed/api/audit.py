"""A table of cases audited: what is decided on each row, how safely, and what to ask next."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from unswayed.api.audited import SLACK, Audit, AuditColumns
from unswayed.api.decisions import agreement_of
from unswayed.api.questions import Options, check_options
from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.patterns import PatternWay, ways_for
from unswayed.model.encoding import encode
from unswayed.model.tables import Table, read_table


def audit(
    classifier: Classifier,
    table: Any,
    *,
    at_least: float = 0.95,
    next_test: bool = False,
    reason: bool = False,
    outcome: str | None = None,
    costs: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    **options: Unpack[Options],
) -> Audit:
    """For each row of a table: the decision, its posterior, and its same-decision probability.

    `table` may be a CSV file, a dataframe, or columns by name, in original units; missing cells are not
    observed. Equal rows are answered once, and rows that observe the same features share their work; the
    answers are those of `same_decision_probability`. With `next_test` and `reason`, rows that are not safe
    also get the feature to observe next, and all rows the smallest set of findings that keeps the decision.
    `outcome` names a column with what turned out to be true. `n_jobs` is joblib's, whose backends serve.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> found = audit(papers, {"R1": ["+", None, "-"], "AC": ["+", "-", None]})
    >>> list(zip(found.decision, found.sdp.round(4).tolist(), found.safe.tolist()))
    [('+', 0.6923, False), ('not +', 0.9881, True), ('not +', 1.0, True)]
    """
    started = time.perf_counter()
    check_options(options, Options)
    if not 0 < at_least <= 1:
        raise QueryError(f"the level must lie above 0 and not above 1, not {at_least!r}")
    rows = read_table(table)
    _check_outcome(rows, outcome)
    limits = options.get("limits", DEFAULT_LIMITS)
    problem = make_problem(classifier, limits=limits)
    codes = encode(rows, [problem.network.variables[f] for f in problem.free]).codes
    distinct, which = _deduplicate(codes)
    batch = _Batch(classifier, problem, options, tuple(ways_for(problem, limits)))
    answers = _answer(batch, distinct, n_jobs)
    _refuse_impossible(answers, which, problem, distinct)
    extras = _extra_columns(batch, distinct, answers, (at_least, next_test, reason, costs))
    columns = AuditColumns(
        decisions=answers.decisions[which],
        posterior=_posterior_column(classifier, problem, answers)[which],
        low=answers.low[which],
        high=answers.high[which],
        certainties=tuple(answers.certainties[i] for i in which.tolist()) if answers.certainties else (),
        next_test=None if extras[0] is None else [extras[0][i] for i in which.tolist()],
        reason=None if extras[1] is None else [extras[1][i] for i in which.tolist()],
    )
    return Audit(
        classifier=classifier,
        table=rows,
        observed=codes >= 0,
        columns=columns,
        at_least=at_least,
        outcome=outcome,
        costs=dict(costs or {}),
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """What all rows share."""

    classifier: Classifier
    problem: Problem
    options: Options
    ways: tuple[PatternWay, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _RowAnswers:
    """What holds for each distinct row."""

    class_mass: Floats  # (rows, classes)
    decisions: Ints
    low: Floats
    high: Floats
    certainties: list[Certainty] = field(default_factory=list)


def _deduplicate(codes: Codes) -> tuple[Codes, Ints]:
    """The distinct rows, and which of them each row is; rows of bytes are sorted many times faster."""
    packed = np.ascontiguousarray(codes)
    if packed.shape[1] == 0:
        return packed[:1], np.zeros(len(packed), dtype=np.int64)
    view = packed.view(np.dtype((np.void, packed.dtype.itemsize * packed.shape[1]))).reshape(-1)
    _, first, which = np.unique(view, return_index=True, return_inverse=True)
    return packed[first], which.reshape(-1)


def _answer(batch: _Batch, distinct: Codes, n_jobs: int | None) -> _RowAnswers:
    """Answers of all distinct rows, pattern by pattern; in parallel where joblib is asked to."""
    seen = distinct >= 0
    patterns, pattern_of = _deduplicate(seen.view(np.int8))
    tasks = [np.flatnonzero(pattern_of == number) for number in range(len(patterns))]
    if n_jobs in (None, 1) or len(tasks) == 1:
        parts = [_answer_pattern(batch, distinct[rows]) for rows in tasks]
    else:
        from joblib import Parallel, delayed

        parts = Parallel(n_jobs=n_jobs)(delayed(_answer_pattern)(batch, distinct[rows]) for rows in tasks)
    order = np.argsort(np.concatenate(tasks), kind="stable") if tasks else np.zeros(0, dtype=np.int64)
    certainties = [certainty for part in parts for certainty in part.certainties]
    return _RowAnswers(
        np.concatenate([part.class_mass for part in parts])[order],
        np.concatenate([part.decisions for part in parts])[order],
        np.concatenate([part.low for part in parts])[order],
        np.concatenate([part.high for part in parts])[order],
        [certainties[i] for i in order.tolist()],
    )


def _answer_pattern(batch: _Batch, rows: Codes) -> _RowAnswers:
    """Answers of rows that observe the same features."""
    columns = np.flatnonzero(rows[0] >= 0)
    observed = tuple(batch.problem.free[j] for j in columns)
    for way in batch.ways:
        if way.fits(observed):
            found = way.answer(observed, rows[:, columns])
            exact = [Certainty.EXACT] * len(rows)
            return _RowAnswers(found.class_mass, found.decisions, found.same, found.same, exact)
    return _ask_one_by_one(batch, observed, rows[:, columns])


def _ask_one_by_one(batch: _Batch, observed: tuple[int, ...], rows: Codes) -> _RowAnswers:
    problem = batch.problem
    n_classes = len(problem.prior)
    answers = _RowAnswers(
        np.zeros((len(rows), n_classes)),
        np.zeros(len(rows), dtype=np.int64),
        np.zeros(len(rows)),
        np.zeros(len(rows)),
    )
    for i, row in enumerate(rows):
        try:
            asked = make_problem(batch.classifier, _findings(problem, observed, row))
        except ImpossibleEvidence:
            answers.certainties.append(Certainty.EXACT)
            continue
        measured = agreement_of(asked, frozenset(), asked.decider, batch.options)
        answers.class_mass[i] = asked.prior
        answers.decisions[i] = asked.decider.decide(asked.prior[np.newaxis])[0]
        answers.low[i], answers.high[i] = measured.low, measured.high
        answers.certainties.append(measured.certainty)
    return answers


def _findings(problem: Problem, observed: Sequence[int], row: Codes) -> dict[str, str]:
    variables = problem.network.variables
    return {variables[f].name: variables[f].states[int(s)] for f, s in zip(observed, row, strict=True)}


def _refuse_impossible(answers: _RowAnswers, which: Ints, problem: Problem, distinct: Codes) -> None:
    impossible = np.flatnonzero(answers.class_mass.sum(axis=1) == 0)
    if len(impossible):
        row = int(np.flatnonzero(which == impossible[0])[0])
        states = distinct[impossible[0]]
        seen = [f for f, s in zip(problem.free, states, strict=True) if s >= 0]
        findings = _findings(problem, seen, states[states >= 0])
        raise ImpossibleEvidence(
            f"row {row + 1} of the table is impossible in this network: Pr({_written(findings)}) = 0; "
            "correct the row, or leave cells empty that were not observed"
        )


def _written(findings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={state}" for name, state in findings.items())


def _posterior_column(classifier: Classifier, problem: Problem, answers: _RowAnswers) -> Floats:
    """Pr(the positive state) under a threshold rule, else Pr(the most probable state)."""
    total = answers.class_mass.sum(axis=1, keepdims=True)
    posteriors: Floats = answers.class_mass / np.where(total > 0, total, 1.0)
    if isinstance(classifier.rule, ThresholdRule):
        column = problem.network.variables[problem.target].index(classifier.rule.positive)
        positive: Floats = posteriors[:, column]
        return positive
    largest: Floats = posteriors.max(axis=1)
    return largest


def _extra_columns(
    batch: _Batch,
    distinct: Codes,
    answers: _RowAnswers,
    asked: tuple[float, bool, bool, Mapping[str, float] | None],
) -> tuple[list[str | None] | None, list[str | None] | None]:
    """The next test of each row that is not safe, and the reason of each row."""
    at_least, wants_next, wants_reason, costs = asked
    safe = (answers.low >= at_least - SLACK).tolist()
    tests = None
    if wants_next:
        tests = [None if ok else _next_test(batch, row) for ok, row in zip(safe, distinct, strict=True)]
    reasons = [_reason(batch, row, at_least, costs) for row in distinct] if wants_reason else None
    return tests, reasons


def _row_findings(batch: _Batch, row: Codes) -> dict[str, str]:
    free = batch.problem.free
    return _findings(batch.problem, [f for f, s in zip(free, row, strict=True) if s >= 0], row[row >= 0])


def _next_test(batch: _Batch, row: Codes) -> str | None:
    from unswayed.api.ranking import rank_observations

    if (row >= 0).all():
        return None
    return rank_observations(batch.classifier, _row_findings(batch, row), **batch.options).best


def _reason(batch: _Batch, row: Codes, at_least: float, costs: Mapping[str, float] | None) -> str | None:
    from unswayed.api.reasons import explain_decision

    findings = _row_findings(batch, row)
    if not findings:
        return None
    found = explain_decision(
        batch.classifier, evidence=findings, at_least=at_least, costs=costs, **batch.options
    )
    return _written(found.reasons[0].findings) if found.reasons else None


def _check_outcome(rows: Table, outcome: str | None) -> None:
    if outcome is not None and outcome not in rows.names:
        from unswayed.core.names import unknown_name

        raise QueryError(f"the outcome is no column: {unknown_name('column', outcome, rows.names)}")
