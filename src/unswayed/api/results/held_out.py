"""The agreement of a trimmed classifier counted on rows that took no part in learning.

A network promises how often two of its classifiers agree, under its own distribution. Naive Bayes and other
networks that are not true of the data promise too much or too little; rows put aside tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unswayed.core.anytime import reserve
from unswayed.core.arrays import Bools
from unswayed.core.errors import QueryError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import join_evidence
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.sampling import clopper_pearson
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import NumberColumn, Table, make_table, read_table
from unswayed.model.evidence import Evidence, list_open, list_possible

CONFIDENCE = 0.99
"""Probability that the interval of a counted agreement holds the true one."""


@dataclass(frozen=True, slots=True)
class CountedAgreement:
    """On how many held-out rows a trimmed classifier decided as the full one."""

    n_rows: int
    """Rows that both classifiers decided."""
    n_agreeing: int
    """Those on which they decided alike."""
    low: float
    """Lower end of the Clopper-Pearson interval of the share,"""
    high: float
    """and its upper end."""
    confidence: float = CONFIDENCE
    """Probability that the interval holds the true share."""

    @property
    def share(self) -> float:
        """The share of rows on which both decided alike."""
        return self.n_agreeing / self.n_rows

    def keeps(self, promised: float) -> bool:
        """Whether an agreement that the network promises is no higher than the rows allow."""
        return promised <= self.high

    def as_dict(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        return {
            "rows": self.n_rows,
            "agreeing": self.n_agreeing,
            "agreement": self.share,
            "interval": [self.low, self.high],
            "confidence": self.confidence,
        }


def count_agreement(
    full: Classifier,
    trimmed: Classifier | TableClassifier,
    rows: Any,
    *,
    evidence: Evidence | None = None,
    confidence: float = CONFIDENCE,
) -> CountedAgreement:
    """How often two classifiers decide alike on the rows of a table.

    `rows` may be a CSV file, a dataframe, or columns by name, in original units; missing cells are not
    observed. With evidence, rows that contradict it are left out.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> chair = Classifier(review(), "D", ["AC"], threshold=0.6, positive="+")
    >>> found = count_agreement(papers, chair, {"R1": ["+", "-"], "R2": ["+", "-"], "AC": ["+", "-"]})
    >>> found.n_agreeing, found.n_rows
    (2, 2)
    """
    table = read_table(rows)
    given = join_evidence(full, evidence)
    if given:
        allowed = _allow(full, table, given)
        if not allowed.any():
            raise QueryError("no held-out row fits the evidence; give others, or leave the evidence out")
        table = _take(table, allowed)
        open_features = list_open(full.network, full.features, given)
        full = Classifier(full.network, full.target, open_features, full.rule, given=given)
    with reserve(math.inf):  # a share of some rows would be that of other rows
        decided = zip(full.predict(table), trimmed.predict(table), strict=True)
    alike = [one == other for one, other in decided]
    low, high = clopper_pearson(sum(alike), len(alike), confidence)
    return CountedAgreement(len(alike), sum(alike), low, high, confidence)


def _allow(full: Classifier, table: Table, given: dict[str, str]) -> Bools:
    """The rows that say nothing against the evidence."""
    allowed = np.ones(table.n_rows, dtype=np.bool_)
    for name, possible in list_possible(full.network, given).items():
        if name in table.names:
            codes = encode(table, [full.network.variable(name)]).codes[:, 0]
            allowed &= (codes < 0) | possible[codes]
    return allowed


def _take(table: Table, rows: Bools) -> Table:
    return make_table(
        [
            replace(column, values=column.values[rows])
            if isinstance(column, NumberColumn)
            else replace(column, codes=column.codes[rows])
            for column in table.columns
        ],
        table.path,
    )
