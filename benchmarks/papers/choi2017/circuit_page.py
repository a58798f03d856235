"""The part of the page about circuits: the three variants of FS-SDD, the brute force, and Figure 7."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.page import markdown
from benchmarks.papers.choi2017.circuits import General, on_general, on_naive, recompiling_on_naive
from benchmarks.papers.choi2017.figure import Line, line, plot
from benchmarks.papers.choi2017.networks import NAIVE
from benchmarks.papers.records import Record, time_record
from unswayed.search.options import CircuitVariant

NAIVE_SECONDS = 900.0
GENERAL_SECONDS = 600.0
RECOMPILED_SECONDS = 60.0
AGREEMENT = 1e-9

NAIVE_TEXT = """
## Table 5 again: the paper's own method

FS-SDD as the paper describes it, in its three variants, at threshold .5: processor seconds from the
classifier to the proven optimum, compilation included. "-" means not done within {limit:g} s and 2 GB. The
first variant is run up to a minute; numbers in parentheses are one compilation times the number of subsets.
All that are done find the same value. Circuits are compiled by elimination, in this process; registers are
kept while features are moved, so a subset costs what its move changes.

"""
GENERAL_TEXT = """
## Table 6 again: circuits and brute force

Processor seconds, means over the same fifteen instances as above. `jointree` is a brute force that asks
pyAgrum for the posterior of every instantiation of the ten features once, and values all 176 subsets from
the answers; the paper's, on SamIam, enumerates the instantiations to compute each expected SDP. FS-SDD times
include compiling. The values of all of them, and of the table engine, differ by at most {furthest:.0e}.

"""
FIGURE_TEXT = """
## Figure 7: expected SDP by threshold

All leaves are features, a third of them may be kept. Large markers are thresholds at which the optimal
subset differs from the one before. The root and its positive state are those whose subset changes most
often: {roots}.

![Expected SDP by threshold](choi2017_thresholds.png)
"""


def circuit_page(printed: dict[str, Any], images: Path) -> tuple[list[Record], str]:
    """Records and text."""
    records, naive = _naive(printed["Table 5"])
    more, general = _general(printed["Table 6"])
    lines = [line("alarm"), line("win95pts")]
    plot(lines, images / "choi2017_thresholds.png")
    figure = FIGURE_TEXT.format(roots=" and ".join(map(_root, lines)))
    return [*records, *more], naive + general + figure


def _root(one: Line) -> str:
    return f"{one.target} = {one.positive} of {one.network} ({len(one.changes)} changes)"


def _naive(table: dict[str, Any]) -> tuple[list[Record], str]:
    records, rows = [], []
    for name in NAIVE:
        printed = table["rows"].get(name, [None] * 5)
        row: list[object] = [name]
        values = []
        for variant, theirs in zip(CircuitVariant, printed[2:], strict=True):
            predicted = recompiling_on_naive(name) if variant is CircuitVariant.RECOMPILED else 0.0
            within = predicted is not None and predicted <= RECOMPILED_SECONDS
            done = on_naive(name, variant, NAIVE_SECONDS) if within else None
            shown = f"({predicted:,.0f})" if predicted and not within else None
            row += [None if theirs is None else str(theirs), shown if done is None else done[0]]
            if done is not None:
                values.append(done[1])
                if theirs is not None:
                    what = f"{name}, seconds, FS-SDD{variant.value} by both"
                    records.append(time_record("Table 5", what, theirs, done[0]))
        if values and max(values) - min(values) > AGREEMENT:
            raise SystemExit(f"{name}: the variants of FS-SDD find {values}")
        print(row, flush=True)
        rows.append(row)
    head = ["network"]
    for variant in CircuitVariant:
        head += [f"FS-SDD{variant.value} printed", f"FS-SDD{variant.value}"]
    return records, NAIVE_TEXT.format(limit=NAIVE_SECONDS) + markdown(head, rows)


def _general(table: dict[str, Any]) -> tuple[list[Record], str]:
    variants = (CircuitVariant.CONSTRAINED, CircuitVariant.MOVED)
    records, rows = [], []
    furthest = 0.0
    for name, (_, naive, circuit) in table["rows"].items():
        ours: General = on_general(name, variants, GENERAL_SECONDS)
        if ours.furthest > AGREEMENT:
            raise SystemExit(f"{name}: values differ by {ours.furthest}")
        furthest = max(furthest, ours.furthest)
        times = [ours.by_variant[variant] for variant in variants]
        records.append(
            time_record("Table 6", f"{name}, seconds, brute force by both", naive, ours.brute_force)
        )
        records.append(time_record("Table 6", f"{name}, seconds, FS-SDD by both", circuit, min(times)))
        rows.append([name, str(naive), ours.brute_force, round(ours.n_queries), str(circuit), *times])
        print(rows[-1], flush=True)
    head = ["network", "naive printed", "jointree", "queries", "FS-SDD printed", "FS-SDD2", "FS-SDD3"]
    return records, GENERAL_TEXT.format(furthest=furthest) + markdown(head, rows)
