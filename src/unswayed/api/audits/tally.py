"""What audited rows add up to: counts that can be added, so that a table may come in parts.

`count_rows` counts one part, `add_tallies` joins two, `summarize` says what they mean. A tally is written to
JSON with each finished part of a file and read back when the audit goes on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from unswayed.api.audits.outcomes import (
    NO_POSTERIORS,
    PosteriorCounts,
    confirm,
    count_posteriors,
    describe_outcomes,
)
from unswayed.api.audits.rows import SLACK, AuditColumns, Recipe
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.decisions.classifier import Classifier
from unswayed.model.evidence import list_open

BANDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bands of SDP in which confirmed decisions are counted."""
LEVELS = (0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Levels of SDP at which a rule might have stopped."""
N_BINS = 40
"""Bins of the histogram of SDP, between 0 and 1."""
MOST_PATTERNS = 2**16
"""Patterns that are counted each by itself; beyond it the rarest are forgotten."""
SHOWN_PATTERNS = 10


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of audited rows; every sequence is as long as what it counts by."""

    n_rows: int
    n_safe: int
    histogram: list[list[int]]
    """Rows by decision and bin of SDP."""
    safe_by_decision: list[int]
    missing: list[int]
    """Rows that miss each feature."""
    missing_where_fragile: list[int]
    stopped: list[int]
    """Rows whose SDP reaches each of `LEVELS`, and"""
    saved: list[float]
    """what the features missing in them cost."""
    bands: list[int]
    """Rows with a known outcome in each of `BANDS`, with"""
    confirmed: list[int]
    """how many outcomes were as decided, and"""
    sum_sdp: list[float]
    """the sum of their SDP."""
    patterns: dict[str, list[int]] = field(default_factory=dict)
    """Rows, and fragile rows, by what is observed: a digit for each feature."""
    n_forgotten: int = 0
    """Patterns that were left out of the counts by pattern, at most."""
    n_left_out: int = 0
    """Rows that were not answered, and are counted nowhere else."""
    n_complete: int = 0
    """Rows that miss nothing, and"""
    n_complete_safe: int = 0
    """how many of them are safe: all, since nothing is left that could turn them."""
    posteriors: PosteriorCounts = NO_POSTERIORS
    """Posteriors of rows with a known outcome, beside it."""


def count_rows(recipe: Recipe, observed: Bools, columns: AuditColumns, states: Ints | None) -> Tally:
    """The tally of rows: `observed` (rows, features) says what they observe.

    `states` are their outcomes, -1 where one is not known; None where none is.
    """
    n_left_out = int((~columns.answered).sum())
    if n_left_out:
        known = columns.answered
        states = None if states is None else states[known]
        observed, columns = observed[known], columns.take(known)
    classifier, complete = recipe.classifier, observed.all(axis=1)
    confirmed = None if states is None else confirm(classifier, columns.decisions, states)
    sdp = 0.5 * (columns.low + columns.high)
    safe, decided = columns.low >= recipe.at_least - SLACK, columns.decisions
    n_actions = len(classifier.actions)
    bins = np.minimum((sdp * N_BINS + SLACK).astype(np.int64), N_BINS - 1)
    histogram = np.bincount(decided * N_BINS + bins, minlength=n_actions * N_BINS)
    stopped, saved = _stopping(recipe, observed, columns.low)
    bands, agreed, sums = _bands(sdp, confirmed)
    patterns = _patterns(observed, safe)
    return Tally(
        n_rows=len(sdp),
        n_safe=int(safe.sum()),
        histogram=histogram.reshape(n_actions, N_BINS).tolist(),
        safe_by_decision=np.bincount(decided[safe], minlength=n_actions).tolist(),
        missing=(~observed).sum(axis=0).tolist(),
        missing_where_fragile=(~observed[~safe]).sum(axis=0).tolist(),
        stopped=stopped,
        saved=saved,
        bands=bands,
        confirmed=agreed,
        sum_sdp=sums,
        patterns=patterns,
        n_left_out=n_left_out,
        n_complete=int(complete.sum()),
        n_complete_safe=int((complete & safe).sum()),
        posteriors=count_posteriors(classifier, columns.posterior, columns.decisions, states),
    )


def feature_names(classifier: Classifier) -> tuple[str, ...]:
    """The features that rows may observe: all but those whose state is given for every case."""
    return list_open(classifier.network, classifier.features, classifier.given)


def _stopping(recipe: Recipe, observed: Bools, low: Floats) -> tuple[list[int], list[float]]:
    unspent = np.zeros(len(low))
    for column, name in enumerate(feature_names(recipe.classifier)):
        unspent += np.where(observed[:, column], 0.0, recipe.costs.get(name, 1.0))
    reached = [low >= level - SLACK for level in (*LEVELS, recipe.at_least)]
    return [int(rows.sum()) for rows in reached], [float(unspent[rows].sum()) for rows in reached]


def _bands(sdp: Floats, confirmed: Ints | None) -> tuple[list[int], list[int], list[float]]:
    n_bands = len(BANDS) - 1
    if confirmed is None:
        return [0] * n_bands, [0] * n_bands, [0.0] * n_bands
    known = confirmed >= 0
    band = np.clip(np.searchsorted(BANDS, sdp[known] + SLACK, side="right") - 1, 0, n_bands - 1)
    return (
        np.bincount(band, minlength=n_bands).tolist(),
        np.bincount(band[confirmed[known] == 1], minlength=n_bands).tolist(),
        np.bincount(band, sdp[known], minlength=n_bands).tolist(),
    )


def _patterns(observed: Bools, safe: Bools) -> dict[str, list[int]]:
    from unswayed.decisions.prediction import split_patterns

    found = {}
    for pattern, rows in split_patterns(observed.astype(np.int8) - 1):
        key = "".join("1" if one else "0" for one in pattern)
        found[key] = [len(rows), int((~safe[rows]).sum())]
    return found


def add_tallies(one: Tally, other: Tally) -> Tally:
    """The tally of the rows of both."""
    mine, theirs = asdict(one), asdict(other)
    summed = {name: _add(mine[name], theirs[name]) for name in mine}
    summed["posteriors"] = PosteriorCounts(**summed["posteriors"])
    kept = summed["patterns"]
    if len(kept) > MOST_PATTERNS:
        frequent = sorted(kept, key=lambda key: (-kept[key][1], -kept[key][0], key))[: MOST_PATTERNS // 2]
        summed["n_forgotten"] += len(kept) - len(frequent)
        summed["patterns"] = {key: kept[key] for key in frequent}
    return Tally(**summed)


def _add(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {
            key: _add(one[key], other[key]) if key in one and key in other else one.get(key, other.get(key))
            for key in dict.fromkeys([*one, *other])
        }
    if isinstance(one, list):
        return [_add(a, b) for a, b in zip(one, other, strict=True)]
    return one + other


def summarize(recipe: Recipe, tally: Tally, *, with_outcome: bool, seconds: float) -> dict[str, Any]:
    """How many decisions are fragile, where, for want of which features, and what stopping saves."""
    by_decision = {
        action: {"rows": sum(counts), "fragile": sum(counts) - safe}
        for action, counts, safe in zip(
            recipe.classifier.actions, tally.histogram, tally.safe_by_decision, strict=True
        )
    }
    answer: dict[str, Any] = {
        "rows": tally.n_rows,
        "left_out": tally.n_left_out,
        "patterns": len(tally.patterns) + tally.n_forgotten,
        "at_least": recipe.at_least,
        "safe": tally.n_safe,
        "fragile": tally.n_rows - tally.n_safe,
        "complete": tally.n_complete,
        "safe_of_incomplete": tally.n_safe - tally.n_complete_safe,
        "by_decision": by_decision,
        "missing": _missing(recipe.classifier, tally),
        "by_pattern": _frequent(recipe.classifier, tally),
        "saved_cost": tally.saved[-1],
        "stopping": [
            {"at_least": level, "rows": rows, "saved_cost": cost}
            for level, rows, cost in zip(LEVELS, tally.stopped, tally.saved, strict=False)
        ],
        "seconds": seconds,
    }
    if not with_outcome:
        return answer
    outcomes = describe_outcomes(tally.confirmed, tally.bands, tally.posteriors)
    return {**answer, "confirmed": confirmed_bands(tally), "outcomes": outcomes}


def _missing(classifier: Classifier, tally: Tally) -> list[dict[str, Any]]:
    """For each feature: in how many rows it is missing, and in how many fragile ones, the most first."""
    counts = [
        {"feature": name, "missing": missing, "missing_where_fragile": fragile}
        for name, missing, fragile in zip(
            feature_names(classifier), tally.missing, tally.missing_where_fragile, strict=True
        )
    ]
    return sorted(counts, key=lambda row: (-row["missing_where_fragile"], row["feature"]))


def _frequent(classifier: Classifier, tally: Tally) -> list[dict[str, Any]]:
    """The patterns with most fragile decisions, by what is missing in them."""
    names = feature_names(classifier)
    first = sorted(tally.patterns.items(), key=lambda each: (-each[1][1], -each[1][0], each[0]))
    return [
        {
            "missing": [name for name, digit in zip(names, pattern, strict=True) if digit == "0"],
            "rows": rows,
            "fragile": fragile,
        }
        for pattern, (rows, fragile) in first[:SHOWN_PATTERNS]
    ]


def confirmed_bands(tally: Tally) -> list[dict[str, Any]]:
    """Of the decisions in each band of SDP, how many the recorded outcome confirms."""
    return [
        {
            "sdp_from": BANDS[i],
            "sdp_to": BANDS[i + 1],
            "rows": rows,
            "mean_sdp": tally.sum_sdp[i] / rows,
            "confirmed": tally.confirmed[i] / rows,
        }
        for i, rows in enumerate(tally.bands)
        if rows
    ]
