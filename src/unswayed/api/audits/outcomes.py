"""Decisions and posteriors beside what turned out to be true: safe is not right.

A decision is safe when everything else that may be observed would leave it as it is; a row that misses
nothing is always safe. Whether decisions are right, and posteriors mean what they say, only outcomes tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.model.data.encoding import state_codes, unknown_values
from unswayed.model.data.tables import Column

N_TENTHS = 10
"""Bins of the posterior in which it is compared with how often its state came true."""


def outcome_states(classifier: Classifier, outcomes: Column) -> Ints:
    """The state of the target in each row, -1 where it is missing.

    `QueryError` names values that are no state: a misspelt one must not count for or against a decision.
    """
    target = classifier.network.variable(classifier.target)
    states = state_codes(outcomes, target)
    rows, values = unknown_values(outcomes, states)
    if values:
        raise QueryError(
            f"the outcome {outcomes.name!r} is no state of {target.name!r} in {rows.sum()} of {len(rows)} "
            f"rows: {listing(values, at_most=5)}; the states are {listing(target.states)}. Write outcomes as "
            "the network spells its states, or empty the cells that are to be left out"
        )
    return states.astype(np.int64)


def confirm(classifier: Classifier, decisions: Ints, states: Ints) -> Ints:
    """1 where who knows the state decides the same, 0 where otherwise, -1 where the state is missing."""
    n_states = len(classifier.network.variable(classifier.target))
    informed = classifier.decider.decide(np.eye(n_states))
    return np.where(states < 0, -1, informed[states] == decisions).astype(np.int64)


@dataclass(frozen=True, slots=True)
class PosteriorCounts:
    """Rows with a known outcome by tenths of the posterior."""

    rows: list[int]
    sums: list[float]
    """The sum of their posteriors."""
    came_true: list[int]
    """Rows whose outcome is the state that the posterior is about."""
    squares: float
    """The sum of the squared differences of posterior and outcome."""


NO_POSTERIORS = PosteriorCounts([0] * N_TENTHS, [0.0] * N_TENTHS, [0] * N_TENTHS, 0.0)


def count_posteriors(
    classifier: Classifier, posterior: Floats, decisions: Ints, states: Ints | None
) -> PosteriorCounts:
    """Posteriors beside outcomes; nothing where none is known, or a rule goes by more than one posterior."""
    rule = classifier.rule
    if states is None or not isinstance(rule, ThresholdRule | MostProbable):
        return NO_POSTERIORS
    about = decisions  # of the most probable state, which is decided for
    if isinstance(rule, ThresholdRule):
        about = np.full_like(states, classifier.network.variable(classifier.target).index(rule.positive))
    known = (states >= 0) & ~np.isnan(posterior)
    posterior, came_true = posterior[known], (about == states)[known]
    tenth = np.clip((posterior * N_TENTHS).astype(np.int64), 0, N_TENTHS - 1)
    return PosteriorCounts(
        np.bincount(tenth, minlength=N_TENTHS).tolist(),
        np.bincount(tenth, posterior, minlength=N_TENTHS).tolist(),
        np.bincount(tenth[came_true], minlength=N_TENTHS).tolist(),
        float(((posterior - came_true) ** 2).sum()),
    )


def describe_outcomes(right: Sequence[int], known: Sequence[int], found: PosteriorCounts) -> dict[str, Any]:
    """How often decisions were right, and how well posteriors were calibrated; None where nothing tells."""
    n_known = sum(known)
    return {
        "rows": n_known,
        "right": sum(right),
        "accuracy": sum(right) / n_known if n_known else None,
        "calibration": _describe_calibration(found) if sum(found.rows) else None,
    }


def _describe_calibration(found: PosteriorCounts) -> Mapping[str, Any]:
    n_rows = sum(found.rows)
    bins = zip(found.rows, found.sums, found.came_true, strict=True)
    tenths = [
        {
            "from": i / N_TENTHS,
            "to": (i + 1) / N_TENTHS,
            "rows": rows,
            "mean_posterior": total / rows,
            "came_true": came_true / rows,
        }
        for i, (rows, total, came_true) in enumerate(bins)
        if rows
    ]
    return {
        "mean_posterior": sum(found.sums) / n_rows,
        "came_true": sum(found.came_true) / n_rows,
        "error": sum(abs(t["mean_posterior"] - t["came_true"]) * t["rows"] for t in tenths) / n_rows,
        "brier": found.squares / n_rows,
        "tenths": tenths,
    }
