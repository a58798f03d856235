"""The experiments of [shen2020, sections 6 and 7]: FoCS CPTs and learning to decode.

    python -m benchmarks.papers.shen2020.run [--seed 0] [--quick]

Prints every number beside the printed one, and writes docs/benchmarks/shen2020.md with two plots and
results.jsonl beside this file. `--quick` runs one panel of Figure 2 and two folds of the smallest code, and
writes nothing.
"""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from benchmarks.papers.records import Record, write_lines
from benchmarks.papers.shen2020 import cardinality, decoding, digits, page
from benchmarks.papers.shen2020.curves import curves, plot
from benchmarks.papers.shen2020.judging import cardinality_records, decoding_records, digit_records

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs" / "benchmarks"
RUNS = 2
"""Data sets of Figure 2; the plot and the table show the first."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a small part; writes nothing")
    options = parser.parse_args()
    printed = json.loads((HERE / "printed.json").read_text())
    if options.quick:
        quick(options.seed)
        return
    table = {n: told(n, options.seed) for n in decoding.SIZES}
    runs = [cardinality.panels(options.seed + run) for run in range(RUNS)]
    images = digits.panels(options.seed)
    records = [
        *decoding_records(printed["section 7.2"], table),
        *cardinality_records(printed["Figure 2"]["claims"], runs),
        *digit_records(printed["Figure 3"]["claims"], images),
    ]
    show(records)
    plot(runs[0], DOCS / "shen2020_cardinality.png")
    plot(images, DOCS / "shen2020_digits.png")
    write_measured(
        DOCS / "shen2020.md", page.write(printed["section 7.2"], table, [runs[0], images], records)
    )
    write_lines(HERE / "results.jsonl", "shen2020", records)


def told(n_bits: int, seed: int) -> list[decoding.Fold]:
    """The folds of one size, with a line for each."""
    found = []
    for fold in decoding.folds(n_bits, seed):
        print(f"n = {n_bits}: words {fold.learned.words:.3f}, told {fold.told.words:.3f}, "
              f"regret {fold.regret:.1e}, learned in {fold.learning_seconds:.1f} s", flush=True)  # fmt: skip
        found.append(fold)
    return found


def quick(seed: int) -> None:
    """One panel and two folds."""
    for fold in islice(decoding.folds(10, seed), 2):
        print(fold)
    print(curves(cardinality.data(4, np.random.default_rng(seed)), seed))


def show(records: list[Record]) -> None:
    for record in records:
        print(record.where, "|", record.what, "|", record.printed, "|", record.ours, "|", record.verdict)


if __name__ == "__main__":
    main()
