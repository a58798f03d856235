"""The page of results, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.page import markdown
from benchmarks.papers.choi2018.information import Point
from benchmarks.papers.choi2018.leaves import Row
from benchmarks.papers.records import Record

HEAD = """# Trimming beside [choi2018]

Made by `python -m benchmarks.papers.choi2018.run` on one shared machine. Printed times are the paper's, from
other machines and years; `their program` is the authors' published program on a machine like this one,
measured once and not in this run.

## Table 6: naive Bayes, a third of the features

Seconds, the mean over the thresholds .1 to .9; `select` is optimal selection with the threshold fixed (the
paper's FS-SDD), `trim` finds features and threshold (ECA-TRIM). Both are proven optimal. Evaluations count
subsets valued or bounded; FS-SDD's are all non-empty subsets within the budget, which is the printed number
exactly. Ours include the bounds and a first search among the most harmful features.

"""
COLUMNS = (
    "network", "features", "FS-SDD", "select", "ECA-TRIM", "their program", "trim", "ECA-TRIM evaluations",
    "trim evaluations", "FS-SDD evaluations", "n choose m",
)  # fmt: skip
ACCURACY = """
## Figure 5: agreement and accuracy

Every subset of at most half the features of pima and heart. The split of the paper cannot be rebuilt (its
fractions imply test sets of other sizes than 20% of the tables), so the numbers are means over random splits,
and the verdict says whether the printed one lies within their range. The plot shows the first split.

![Agreement and accuracy of every subset](choi2018_accuracy.png)

"""
INFORMATION = """
## Figure 7: general networks

A random root as the class, its first state positive; the leaves as features, a third of them kept. The roots
are drawn among those where, at most thresholds, the leaves change the decision with a probability of at
least .001: most roots are rare faults, decided alike whatever is observed, with which any features agree.
The 71 leaves of diagnose are too many for a table: the most informative ones are taken, so that it has at
most 2^19 instantiations. `information gain` keeps the subset of highest joint information
gain, proven, and the threshold.

![Agreement by threshold](choi2018_thresholds.png)

"""

LEAVES = """
## All leaves as features

Threshold .5, a third of the leaves kept, up to three random roots that the leaves decide differently at
least once in a thousand cases. Where a table holds the leaves the trimming is proven; where not (62, 117 and
71 leaves), features are chosen and measured by samples (`allow_estimates=True`).

"""


@dataclass(frozen=True, slots=True)
class Curves:
    """General networks: the points of Figure 7, what is made of them, and all leaves as features."""

    series: Sequence[Sequence[Point]]
    records: Sequence[Record]
    leaves: Sequence[Row]


def write(
    rows: Sequence[Sequence[object]], shares: Sequence[Record], subsets: Sequence[Record], curves: Curves
) -> str:
    """The whole page."""
    text = HEAD + markdown(COLUMNS, rows) + "\n" + _table(shares)
    text += ACCURACY + _table(subsets)
    text += INFORMATION + _curves(curves.series) + "\n" + _table(curves.records)
    return text + LEAVES + _leaves(curves.leaves)


def _table(records: Sequence[Record]) -> str:
    return markdown(
        ["what", "printed", "here", "verdict"],
        [
            [r.what, f"{r.printed:g}" if isinstance(r.printed, float) else r.printed, _here(r), r.verdict]
            for r in records
        ],
    )


def _here(record: Record) -> str:
    return f"{record.ours:.4f}" if isinstance(record.ours, float) else record.ours


def _curves(series: Sequence[Sequence[Point]]) -> str:
    """One row for each root: the lowest agreement over the thresholds, and the largest difference."""
    rows = []
    for points in series:
        case = points[0].case
        gain = max(p.trimmed - p.informed for p in points)
        counts = [f"{len(case.features)} of {case.n_leaves}", case.budget]
        lowest = [f"{min(p.trimmed for p in points):.4f}", f"{min(p.informed for p in points):.4f}"]
        slowest = max(p.seconds for p in points)
        rows.append([case.network, case.target, *counts, *lowest, f"{gain:.4f}", slowest])
    head = ["network", "class", "leaves", "kept", "lowest, trimming", "lowest, information gain"]
    return markdown([*head, "largest difference", "trimming, slowest, s"], rows)


def _leaves(rows: Sequence[Row]) -> str:
    head = ["network", "class", "leaves", "kept", "agreement", "99% interval", "without any", "seconds"]
    cells = []
    for row in rows:
        interval = "exact" if row.interval is None else f"{row.interval[0]:.4f} to {row.interval[1]:.4f}"
        numbers = [f"{row.agreement:.4f}", interval, f"{row.nothing:.4f}", row.seconds]
        cells.append([row.network, row.target, row.n_leaves, len(row.kept), *numbers])
    return markdown(head, cells)
