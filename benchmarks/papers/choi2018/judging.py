"""What the figures of [choi2018] state, beside what is found here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from benchmarks.papers.choi2018.accuracy import Split
from benchmarks.papers.choi2018.information import Point
from benchmarks.papers.records import Record

ABOVE = 1e-9


def accuracy_records(figure: dict[str, Any], splits: dict[str, list[Split]], seconds: float) -> list[Record]:
    """Figure 5: means over our splits beside the numbers of the paper's one split."""
    records = []
    for name, runs in splits.items():
        for choice, both in figure["test"][name].items():
            for place, (kind, printed) in enumerate(both.items()):
                values = [run.test_by_choice[choice][place] for run in runs]
                what = f"{name}, subset of {choice}: {kind} on the test set"
                records.append(_spread(what, printed, values, seconds))
        for what, values in (
            ("full accuracy", [run.full_accuracy for run in runs]),
            ("share of subsets above the full accuracy", [run.share_above_full for run in runs]),
        ):
            records.append(_spread(f"{name}, {what}", figure[what][name], values, seconds))
    return [*records, *_accuracy_claims(figure["claims"], splits, seconds)]


def _spread(what: str, printed: float, values: Sequence[float], seconds: float) -> Record:
    """A printed number of one unknown split within, or outside, the range of ours."""
    low, high = min(values), max(values)
    inside = low - 5e-4 <= printed <= high + 5e-4
    about = f"{low:.3f} to {high:.3f} over {len(values)} splits, standard deviation {pstdev(values):.3f}"
    verdict = f"{'within our range' if inside else 'outside our range'}: {about}"
    return Record("Figure 5", what, printed, round(fmean(values), 4), verdict, seconds)


def _accuracy_claims(claims: dict[str, str], splits: dict[str, list[Split]], seconds: float) -> list[Record]:
    return [
        *(_tends(claims["tends"], name, runs, seconds) for name, runs in splits.items()),
        *(_frontier(claims["frontier"], name, runs, seconds) for name, runs in splits.items()),
        _splits(claims["splits"], splits["heart"], seconds),
    ]


def _tends(claim: str, name: str, runs: Sequence[Split], seconds: float) -> Record:
    correlations = [float(np.corrcoef(run.agreement, run.accuracy)[0, 1]) for run in runs]
    text = f"{name}: correlation {fmean(correlations):.2f} on average, at least {min(correlations):.2f}"
    return Record("Figure 5", claim, None, text, "holds" if min(correlations) > 0 else "mixed", seconds)


def _frontier(claim: str, name: str, runs: Sequence[Split], seconds: float) -> Record:
    longer = sum(len(run.frontier) > 1 for run in runs)
    points = fmean(len(run.frontier) for run in runs)
    text = f"{name}: on {longer} of {len(runs)} splits, {points:.1f} subsets on it on average"
    return Record("Figure 5", claim, None, text, "holds" if longer > len(runs) / 2 else "mixed", seconds)


def _splits(claim: str, runs: Sequence[Split], seconds: float) -> Record:
    pairs = [
        (run.test_by_choice["best agreement"][1], run.test_by_choice["best accuracy"][1]) for run in runs
    ]
    higher, lower = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    text = (
        f"higher on {higher}, equal on {len(pairs) - higher - lower}, lower on {lower} of {len(pairs)} splits"
    )
    verdict = "holds" if higher > len(pairs) / 2 else "does not hold"
    return Record("Figure 5", claim, None, text, verdict, seconds)


def information_records(
    claims: dict[str, str], series: Sequence[Sequence[Point]], seconds: float
) -> list[Record]:
    """Figure 7: trimming against information gain at every point."""
    points = [point for each in series for point in each]
    same = [p.trimmed - p.informed for p in points]
    best = [p.trimmed - p.informed_best for p in points]
    text = (
        f"higher at {sum(d > ABOVE for d in same)}, equal at {sum(abs(d) <= ABOVE for d in same)} of "
        f"{len(points)} points, by at most {max(same):.4f}; where the features of information gain are given "
        f"their best threshold, higher at {sum(d > ABOVE for d in best)}, by at most {max(best):.4f}"
    )
    verdict = "partly: never lower, more often equal than higher"
    if min(same) < -ABOVE or min(best) < -ABOVE:
        verdict = "does not hold"
    moved = sum(one.informed_kept != two.informed_kept for each in series for one, two in pairwise(each))
    return [
        Record("Figure 7", claims["higher"], None, text, verdict, seconds),
        Record(
            "Figure 7",
            claims["same"],
            None,
            f"{moved} changes over {len(points)} points",
            "does not hold" if moved else "holds",
            seconds,
        ),
    ]
