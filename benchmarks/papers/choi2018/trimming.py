"""Trimming the seven naive Bayes classifiers to a third of their features [choi2018, Table 6]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.papers.choi2017.networks import NAIVE
from benchmarks.papers.choi2017.times import Timing, by_branch_and_bound, on_naive
from benchmarks.papers.records import Record, exact_record, time_record
from unswayed.api import Selection, trim
from unswayed.decisions.classifier import Classifier

ABOVE = 1e-9
"""How much more agreement counts as more."""


@dataclass(frozen=True, slots=True)
class Both:
    """One network: selection with the threshold fixed, and trimming, at every threshold."""

    selecting: Timing
    trimming: Timing

    @property
    def n_above(self) -> int:
        """At how many thresholds moving the threshold gains agreement."""
        pairs = zip(self.selecting.found, self.trimming.found, strict=True)
        return sum(trimmed.value > selected.value + ABOVE for selected, trimmed in pairs)


def by_trimming(classifier: Classifier, budget: float) -> Selection:
    """Trimming by branch and bound."""
    return trim(classifier, budget=budget).selection


def measure() -> list[Both]:
    """All networks, one after the other."""
    found = []
    for name in NAIVE:
        found.append(Both(on_naive(name, by_branch_and_bound), on_naive(name, by_trimming)))
        print(f"{name}: trimmed in {found[-1].trimming.mean_seconds:.3g} s", flush=True)
    return found


def records(table: dict[str, Any], measured: list[Both]) -> list[Record]:
    """Every number of Table 6 beside ours."""
    found = []
    for both in measured:
        name, n = both.trimming.name, both.trimming.n_features
        n_features, slow, all_subsets, fast, evaluations, full_size = table["rows"][name]
        in_budget = sum(math.comb(n, k) for k in range(1, n // 3 + 1))
        found += [
            exact_record("Table 6", f"{name}, features", n_features, n),
            time_record("Table 6", f"{name}, seconds, FS-SDD", slow, both.selecting.mean_seconds),
            exact_record("Table 6", f"{name}, evaluations, FS-SDD", all_subsets, in_budget),
            time_record("Table 6", f"{name}, seconds, ECA-TRIM", fast, both.trimming.mean_seconds),
            _evaluations(name, evaluations, both.trimming),
            exact_record("Table 6", f"{name}, n choose m", full_size, math.comb(n, n // 3)),
        ]
    return found


def _evaluations(name: str, printed: float, ours: Timing) -> Record:
    verdict = "another order of search, another count: bounds and the first, restricted search included"
    what = f"{name}, evaluations, ECA-TRIM"
    return Record("Table 6", what, printed, round(ours.evaluations, 1), verdict, ours.mean_seconds)


def share_record(printed: dict[str, Any], measured: list[Both]) -> Record:
    """In how many instances a free threshold gains agreement."""
    above, total = sum(both.n_above for both in measured), sum(len(b.trimming.found) for b in measured)
    counts = ", ".join(f"{both.trimming.name} {both.n_above}" for both in measured)
    return Record(
        "section 6.2",
        printed["about"],
        printed["share_above_selection"],
        round(above / total, 4),
        f"differs: {above} of {total} ({counts}), every optimum proven; the authors' program values some "
        "trimmings too low, which can only lower their share",
        sum(sum(both.trimming.seconds) for both in measured),
    )


def rows(table: dict[str, Any], theirs_here: dict[str, Any], measured: list[Both]) -> list[list[object]]:
    """Rows for the page."""
    found: list[list[object]] = []
    for both in measured:
        name = both.trimming.name
        n, slow, all_subsets, fast, evaluations, full_size = table["rows"][name]
        counts: list[object] = [evaluations, round(both.trimming.evaluations), all_subsets, full_size]
        here = [str(theirs_here[name]), both.trimming.mean_seconds]
        times = [str(slow), both.selecting.mean_seconds, str(fast), *here]
        found.append([name, n, *times, *counts])
    return found
