"""The experiments of [choi2018, section 6]: trimming classifiers.

    python -m benchmarks.papers.choi2018.run [--splits 20] [--quick]

Prints every number beside the printed one, and writes docs/benchmarks/choi2018.md with two plots and
results.jsonl beside this file. `--quick` runs Table 6 and two splits of Figure 5, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.page import write_measured
from benchmarks.papers.choi2017.times import warm_up
from benchmarks.papers.choi2018 import accuracy, information, leaves, page, trimming
from benchmarks.papers.choi2018.judging import accuracy_records, information_records
from benchmarks.papers.records import Record, write_lines

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs" / "benchmarks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20, help="random splits of each table")
    parser.add_argument("--quick", action="store_true", help="two splits, no Figure 7; writes nothing")
    options = parser.parse_args()
    printed = json.loads((HERE / "printed.json").read_text())
    warm_up()
    measured = trimming.measure()
    table = trimming.records(printed["Table 6"], measured)
    table.append(trimming.share_record(printed["section 6.2"], measured))
    splits, subsets = figure_5(printed["Figure 5"], 2 if options.quick else options.splits)
    series, informed = ([], []) if options.quick else figure_7(printed["Figure 7"])
    for record in (*table, *subsets, *informed):
        print(record.where, "|", record.what, "|", record.printed, "|", record.ours, "|", record.verdict)
    if not options.quick:
        accuracy.plot([runs[0] for runs in splits.values()], DOCS / "choi2018_accuracy.png")
        information.plot(series, DOCS / "choi2018_thresholds.png")
        rows = trimming.rows(printed["Table 6"], printed["authors' program"]["seconds"], measured)
        text = page.write(rows, [table[-1]], subsets, page.Curves(series, informed, list(leaves.measure())))
        write_measured(DOCS / "choi2018.md", text)
        write_lines(HERE / "results.jsonl", "choi2018", [*table, *subsets, *informed])


def figure_5(figure: dict[str, Any], n_splits: int) -> tuple[dict[str, list[accuracy.Split]], list[Record]]:
    """Both tables, split at random several times."""
    started = time.perf_counter()
    splits = {name: list(accuracy.splits(name, n_splits)) for name in accuracy.FILE_BY_NAME}
    return splits, accuracy_records(figure, splits, time.perf_counter() - started)


def figure_7(figure: dict[str, Any]) -> tuple[list[list[information.Point]], list[Record]]:
    """Three roots of each network, at every threshold."""
    started = time.perf_counter()
    series = []
    for name in information.NETWORKS:
        for case in information.cases(name):
            series.append(information.measure(case))
            print(f"{name}, {case.target}: {len(case.features)} of {case.n_leaves} leaves", flush=True)
    return series, information_records(figure["claims"], series, time.perf_counter() - started)


if __name__ == "__main__":
    main()
