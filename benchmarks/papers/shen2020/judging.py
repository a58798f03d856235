"""What the paper states, beside what is found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

from benchmarks.papers.records import Record
from benchmarks.papers.shen2020.curves import Curves
from benchmarks.papers.shen2020.decoding import Fold, spread

SIMILAR = 1.1
"""Two likelihoods are called similar when one is at most this many times the other."""


def decoding_records(table: Mapping[str, Any], decoding: Mapping[int, Sequence[Fold]]) -> list[Record]:
    """Every number of the table."""
    records = []
    for n_bits, folds in decoding.items():
        printed = table["rows"][str(n_bits)]
        seconds = sum(fold.learning_seconds for fold in folds)
        for place, (name, higher) in enumerate((("words", True), ("bits", True), ("hamming", False))):
            mean, deviation = spread([getattr(fold.learned, name) for fold in folds])
            told = fmean(getattr(fold.told, name) for fold in folds)
            what = f"n = {n_bits}, {table['columns'][place]}"
            verdict = _verdict(printed[place], (mean, deviation), higher=higher)
            records.append(
                Record(
                    "section 7.2",
                    what,
                    printed[place][0],
                    mean,
                    f"{verdict}; told the code {told:.3f}",
                    seconds,
                )
            )
        word = fmean(fold.single_seconds for fold in folds)
        what = f"n = {n_bits}, seconds for a word"
        ratio = printed[3][0] / word
        records.append(Record("section 7.2", what, printed[3][0], word, f"{ratio:,.0f} times less", word))
    return records


def _verdict(printed: Sequence[float], ours: tuple[float, float], *, higher: bool) -> str:
    lead = (ours[0] - printed[0]) * (1 if higher else -1)
    if abs(lead) <= 2 * max(printed[1], ours[1], 5e-4):
        return "the same within the spread"
    return "better" if lead > 0 else "worse"


def cardinality_records(claims: Mapping[str, str], runs: Sequence[Sequence[Curves]]) -> list[Record]:
    """Figure 2, over several runs of the three panels."""
    panels = [panel for run in runs for panel in run]
    seconds = sum(panel.seconds for panel in panels)
    falling = sum(b[1] <= a[1] + 1e-3 for p in panels for a, b in pairwise(p.tree))
    steps = sum(len(p.tree) - 1 for p in panels)
    focs = [p.best_focs(8) for p in panels]
    beaten = sum(f < p.best_tree() and p.mlp < p.best_tree() for f, p in zip(focs, panels, strict=True))
    above = sum(dict(p.focs)[2] < p.mlp for p in panels)
    gaps = {
        k: fmean(p.best_tree() - p.best_focs(8) for p in panels if p.name == f"k = {k}") for k in (2, 4, 8)
    }
    shown = ", ".join(f"k = {k}: {gap:.3f}" for k, gap in gaps.items())
    n = len(panels)
    ratios = [p.mlp / p.best_focs(8) for p in runs[0]]
    shown_ratios = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    similar = f"; in the table the MLP has {shown_ratios} times the value of the FoCS CPT"
    found = (
        ("tree", f"{falling} of {steps} steps in depth do not lose", falling > 0.8 * steps),
        (
            "better",
            f"both better than the best tree on {beaten} of {n} panels{similar}",
            beaten == n and max(ratios) < SIMILAR,
        ),
        ("few", f"2 contexts beat the MLP on {above} of {n} panels", above > n / 2),
        ("pattern", f"distance of the best tree: {shown}", gaps[2] > gaps[4] > gaps[8]),
    )
    records = [_claim("Figure 2", claims[key], text, holds, seconds) for key, text, holds in found]
    if beaten == n and max(ratios) >= SIMILAR:
        records[1] = replace(
            records[1], verdict="partly: better than the tree, but not similar to each other"
        )
    return records


def digit_records(claims: Mapping[str, str], panels: Sequence[Curves]) -> list[Record]:
    """Figure 3."""
    seconds = sum(panel.seconds for panel in panels)
    shares = [panel.best_focs(8) / panel.best_tree() for panel in panels]
    ratios = [panel.best_focs(8) / panel.mlp for panel in panels]
    first = "8 contexts at most: " + ", ".join(f"{share:.2f}" for share in shares) + " of the best tree's"
    second = "8 contexts at most: " + ", ".join(f"{ratio:.3f}" for ratio in ratios) + " of the MLP's"
    short = sum(ratio > 1.0 for ratio in ratios)
    partly = f"partly: short of the MLP on {short} of {len(ratios)} digits"
    return [
        _claim("Figure 3", claims["fewer"], first, max(shares) < 1, seconds),
        Record(
            "Figure 3",
            claims["not enough"],
            None,
            second,
            "holds" if short == len(ratios) else partly,
            seconds,
        ),
    ]


def _claim(where: str, what: str, ours: str, holds: bool, seconds: float) -> Record:
    return Record(where, what, None, ours, "holds" if holds else "does not hold", seconds)
