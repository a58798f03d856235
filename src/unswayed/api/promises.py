"""The verbs `promise` and `safe_level`: is what a classifier promises kept on rows that it has not seen?

A same-decision probability is exact under a distribution; whether that distribution is true, only rows tell
that took no part in learning. Each row is decided twice: on what it knows, and with some inputs hidden. The
hidden decision comes with its SDP, the *promise* that it stays; whether it stayed is then counted.

`safe_level` turns the count into a level that holds: the lowest SDP from which on at most a given share of
decisions changes, with a given confidence. Levels are tested in an order fixed beforehand, from the strictest
down ("learn then test", arXiv 2110.01052), so that testing many of them costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from unswayed.api.audits.audit import audit
from unswayed.api.audits.outcomes import confirm, outcome_states
from unswayed.api.shown import Plotted, Shown
from unswayed.core.anytime import bounded
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError, expect, expect_number
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.engines.sampling import clopper_pearson
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import NumberColumn, Table, make_table, read_table

LEVELS = tuple(1.0 - step / 200.0 for step in range(101))
"""The levels that are tested, from 1 down to 0.5."""
STARTS = {1.0: 0.2, 0.99: 0.4, 0.95: 0.4}
"""Where testing begins anew after a level has failed, and the share of the allowed error put aside for it."""
BANDS = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bands of SDP in which promised and kept are compared."""
SLACK = 1e-9
"""How far below a level an SDP may lie by rounding alone."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many of some decisions stayed the same."""

    n_rows: int
    """Decisions,"""
    n_kept: int
    """and how many of them stayed."""
    promised: float
    """Their mean SDP; NaN without any."""
    low: float
    """Lower end of the Clopper-Pearson interval of the share that stays,"""
    high: float
    """and its upper end."""

    @property
    def kept(self) -> float:
        """The share that stayed; NaN without any."""
        return self.n_kept / self.n_rows if self.n_rows else math.nan

    @property
    def is_broken(self) -> bool:
        """Whether more was promised than the rows allow."""
        return bool(self.n_rows) and self.promised > self.high


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Promise(Plotted):
    """What was promised about rows with hidden inputs, and what was kept."""

    sdp: Floats  # (rows,)
    """The lower end of each row's SDP with inputs hidden."""
    kept: Bools  # (rows,)
    """Whether the decision was the same on all that the row knows."""
    right: Bools | None = None  # (rows,)
    """Whether the decision with inputs hidden was right, where outcomes are known."""
    n_hidden: float = 0.0
    """How many inputs were hidden of a row, in the mean."""
    at_least: float = 0.95
    """The level from which on a decision is called safe."""
    confidence: float = 0.95
    """Probability that an interval holds the true share."""

    @property
    def every(self) -> Counted:
        """All rows."""
        return self._count(np.ones(len(self.sdp), dtype=np.bool_))

    @property
    def safe(self) -> Counted:
        """The rows whose decision was called safe."""
        return self._count(self.sdp >= self.at_least - SLACK)

    @property
    def bands(self) -> list[tuple[float, float, Counted]]:
        """Lower end, upper end and count of each band of SDP that has rows."""
        found = []
        for low, high in pairwise(BANDS):
            inside = (self.sdp >= low - SLACK) & ((self.sdp < high - SLACK) | (high == 1.0))
            if inside.any():
                found.append((low, high, self._count(inside)))
        return found

    @property
    def accuracy(self) -> float:
        """The share of decisions with inputs hidden that were right; NaN where no outcome is known."""
        return math.nan if self.right is None else float(self.right.mean())

    def _count(self, rows: Bools) -> Counted:
        n_rows, n_kept = int(rows.sum()), int(self.kept[rows].sum())
        if not n_rows:
            return Counted(0, 0, math.nan, 0.0, 1.0)
        low, high = clopper_pearson(n_kept, n_rows, self.confidence)
        return Counted(n_rows, n_kept, float(self.sdp[rows].mean()), low, high)


@bounded
def promise(
    classifier: Classifier,
    held_out: Any,
    *,
    missing: float | Any = 0.5,
    at_least: float = 0.95,
    confidence: float = 0.95,
    outcome: str | None = None,
    rng: np.random.Generator | None = None,
    limits: Limits | None = None,
) -> Promise:
    """What the same-decision probabilities of held-out rows promise, and how often it is kept.

    `held_out` is a table of rows that took no part in learning. `missing` says what is hidden of each: a
    share (every known input is hidden with that probability), or a table whose missing cells are the
    patterns to hide, drawn row by row. The decision on what is left is compared with the decision on all that
    the row knows. `outcome` names the column with what turned out to be true, where there is one. A
    decision is called safe where its SDP is at least `at_least`; intervals hold with `confidence`. Without
    `rng`, the same inputs are hidden in every run.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> rows = {"R1": ["+", "-"] * 20, "R2": ["+", "-"] * 20, "AC": ["+", "-"] * 20}
    >>> counted = promise(papers, rows, missing=0.3).every
    >>> counted.n_rows, counted.n_kept
    (40, 38)
    """
    expect(classifier, Classifier, "the classifier")
    expect_number(confidence, "confidence")
    if not 0 < confidence < 1:
        raise QueryError(f"confidence must lie between 0 and 1, not {confidence!r}")
    table = read_table(held_out)
    hidden = _choose_hidden(classifier, table, missing, rng or np.random.default_rng(0))
    seen = audit(classifier, _hide(table, hidden, classifier.features), at_least=at_least)
    answered, decisions = seen.answered, seen.columns.decisions
    full = np.array([classifier.actions.index(action) for action in classifier.predict(table)])
    right = None
    if outcome is not None:
        confirmed = confirm(classifier, decisions, outcome_states(classifier, table.column(outcome)))
        right = (confirmed == 1)[answered & (confirmed >= 0)]
    return Promise(
        sdp=seen.columns.low[answered],
        kept=(decisions == full)[answered],
        right=right,
        n_hidden=float(hidden.sum(axis=1).mean()),
        at_least=at_least,
        confidence=confidence,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class SafeLevel(Shown):
    """The level from which on few decisions change, or that there is none on these rows."""

    level: float | None
    """The lowest SDP that was shown to be enough; None where no level was."""
    at_most: float
    """The share of decisions that may change,"""
    confidence: float
    """and how probable it is at least that no more do."""
    counted: Counted
    """The rows at or above the level; all rows where there is none."""
    promise: Promise
    """The rows behind it."""


@bounded
def safe_level(
    classifier: Classifier,
    held_out: Any,
    *,
    at_most: float = 0.05,
    confidence: float = 0.95,
    missing: float | Any = 0.5,
    rng: np.random.Generator | None = None,
    limits: Limits | None = None,
) -> SafeLevel:
    """The SDP from which on at most a share `at_most` of decisions changes, with `confidence`.

    Rows, and what is hidden of them, are those of `promise`. The level can be given wherever a verb takes
    `at_least`. It holds for cases that come as the held-out rows do, with inputs missing as they were hidden
    here; where no level can be shown to hold, more rows or a larger share may do.
    """
    expect_number(at_most, "the share of decisions that may change")
    if not 0 < at_most < 1:
        raise QueryError(f"the share of decisions that may change lies between 0 and 1, not {at_most!r}")
    found = promise(classifier, held_out, missing=missing, confidence=confidence, rng=rng)
    level = lowest_safe_level(found.sdp, found.kept, at_most=at_most, confidence=confidence)
    counted = found.every if level is None else replace(found, at_least=level).safe
    return SafeLevel(level=level, at_most=at_most, confidence=confidence, counted=counted, promise=found)


def lowest_safe_level(sdp: Floats, kept: Bools, *, at_most: float, confidence: float) -> float | None:
    """The lowest of `LEVELS` shown to change at most a share of decisions; None where none is.

    Levels are tested from the strictest down, each by the exact binomial test of "more than `at_most` of
    the decisions at or above it change". A level that passes hands its error on to the next one, so a run of
    passes costs no more than its first test; testing begins anew at each of `STARTS` with a part of the error
    put aside for it. All that pass are true at once with the confidence (the fallback test of Wiens).
    """
    from scipy.special import bdtr

    carried, lowest = 0.0, None
    for level in LEVELS:
        error = carried + (1.0 - confidence) * STARTS.get(level, 0.0)
        if error == 0.0:
            continue
        rows = sdp >= level - SLACK
        n_changed = int((~kept[rows]).sum())
        if rows.any() and float(bdtr(n_changed, int(rows.sum()), at_most)) <= error:
            carried, lowest = error, level
        else:
            carried = 0.0
    return lowest


def _choose_hidden(classifier: Classifier, table: Table, missing: Any, rng: np.random.Generator) -> Bools:
    """Which known features of each row are hidden: (rows, features)."""
    known = _list_known(classifier, table)
    if isinstance(missing, int | float) and not isinstance(missing, bool):
        if not 0 <= missing <= 1:
            raise QueryError(f"the share of missing inputs must lie between 0 and 1, not {missing!r}")
        return known & (rng.random(known.shape) < missing)
    patterns = ~_list_known(classifier, read_table(missing))
    return known & patterns[rng.integers(len(patterns), size=table.n_rows)]


def _list_known(classifier: Classifier, table: Table) -> Bools:
    variables = [classifier.network.variable(name) for name in classifier.features]
    absent = [v.name for v in variables if v.name not in table.names]
    if len(absent) == len(variables):
        raise QueryError(f"the table has none of the features; it has {', '.join(table.names[:6])}")
    known = np.zeros((table.n_rows, len(variables)), dtype=np.bool_)
    for place, variable in enumerate(variables):
        if variable.name in table.names:
            known[:, place] = encode(table, [variable]).codes[:, 0] >= 0
    return known


def _hide(table: Table, hidden: Bools, features: Sequence[str]) -> Table:
    """The table without its hidden cells."""
    columns = []
    for column in table.columns:
        if column.name in features:
            gone = hidden[:, features.index(column.name)]
            if isinstance(column, NumberColumn):
                column = replace(column, values=np.where(gone, np.nan, column.values))
            else:
                column = replace(column, codes=np.where(gone, -1, column.codes).astype(column.codes.dtype))
        columns.append(column)
    return make_table(columns, table.path)
