"""Audits: rows a second over the number of rows, of patterns and of features, beside row by row.

    python -m benchmarks.speed.audit [--quick] [--rows 10000000]

Random rows with gaps for a naive Bayes classifier of two-state features, and for a TAN. In the same run:
`Classifier.predict`, the same rows asked one by one (a sample of them), and scikit-learn's
`CategoricalNB.predict_proba` on as many rows without gaps. `--rows` adds an audit of so many rows from one
Parquet file to another, with the most memory that it took. Writes docs/benchmarks/audit.md.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB

import unswayed
from benchmarks.page import write_measured
from unswayed import Classifier
from unswayed.learning import learn_tan
from unswayed.model.data.tables import LabelColumn, Table
from unswayed.model.zoo import random_naive_bayes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "audit.md"
SAMPLE = 40
"""Rows that are asked one by one."""
PREFACE = """# Audits

Written by `python -m benchmarks.speed.audit`. Random rows with gaps; each pattern observes a feature with
probability 0.6. *Audit* gives decision, posterior and same-decision probability of every row, *predict* the
decision alone, both from columns in memory and after a first call that compiles; *single* asks for the
same-decision probability of one row at a time; *scikit-learn* is `CategoricalNB.predict_proba` on as many
rows without gaps. Seconds are those of the clock, in one process.

| classifier | features | rows | patterns | audit s | rows/s | predict s | single ms/row | scikit-learn s |
|---|---|---|---|---|---|---|---|---|
"""


def random_rows(classifier: Classifier, n_rows: int, n_patterns: int, seed: int = 0) -> Table:
    """Columns of random states, with gaps by random patterns."""
    rng = np.random.default_rng(seed)
    seen = rng.random((n_patterns, len(classifier.features))) < 0.6
    pattern = rng.integers(n_patterns, size=n_rows)
    columns = []
    for j, name in enumerate(classifier.features):
        states = classifier.network.variable(name).states
        codes = np.where(seen[pattern, j], rng.integers(len(states), size=n_rows), -1)
        columns.append(LabelColumn(name, states, codes))
    return Table(tuple(columns), n_rows)


def seconds_of(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def labels_of(table: Table) -> list[LabelColumn]:
    return [column for column in table.columns if isinstance(column, LabelColumn)]


def one_by_one(classifier: Classifier, table: Table) -> float:
    """Milliseconds a row when each is asked by itself."""
    started = time.perf_counter()
    for row in range(SAMPLE):
        evidence = {c.name: c.labels[c.codes[row]] for c in labels_of(table) if c.codes[row] >= 0}
        unswayed.sdp(classifier, evidence)
    return 1e3 * (time.perf_counter() - started) / SAMPLE


def peer_seconds(classifier: Classifier, n_rows: int) -> float:
    """scikit-learn's posteriors of as many rows without gaps."""
    rng = np.random.default_rng(1)
    sizes = [len(classifier.network.variable(name)) for name in classifier.features]
    rows = np.stack([rng.integers(size, size=n_rows) for size in sizes], axis=1)
    learned = rows[:500]
    peer = CategoricalNB(min_categories=sizes).fit(learned, rng.integers(2, size=len(learned)))
    return seconds_of(lambda: peer.predict_proba(rows))


def naive(n_features: int) -> Classifier:
    network = random_naive_bayes(n_features, np.random.default_rng(n_features))
    return Classifier(network, "C", threshold=0.5, positive="s0")


def tree(n_features: int) -> Classifier:
    rng = np.random.default_rng(n_features)
    rows = rng.integers(0, 2, (2000, n_features + 1))
    rows[:, 2:] ^= rows[:, 1:-1] & (rng.random((2000, n_features - 1)) < 0.5)
    return Classifier(learn_tan(rows, "x0"), "x0", threshold=0.5, positive="1")


def measure(classifier: Classifier, kind: str, n_rows: int, n_patterns: int) -> str:
    table = random_rows(classifier, n_rows, n_patterns)
    unswayed.audit(classifier, random_rows(classifier, 3_000, 50, seed=1))
    audit = seconds_of(lambda: unswayed.audit(classifier, table))
    predict = seconds_of(lambda: classifier.predict(table))
    single, peer = one_by_one(classifier, table), peer_seconds(classifier, n_rows)
    return (
        f"| {kind} | {len(classifier.features)} | {n_rows:,} | {n_patterns:,} | {audit:.2f} | "
        f"{n_rows / audit:,.0f} | {predict:.2f} | {single:.1f} | {peer:.2f} |\n"
    )


def lines(quick: bool) -> Iterator[str]:
    scale = 20 if quick else 1
    for n_rows in (10_000, 100_000, 1_000_000):
        yield measure(naive(30), "naive Bayes", n_rows // scale, 1_000 // scale)
    for n_patterns in (10, 100, 10_000):
        yield measure(naive(30), "naive Bayes", 1_000_000 // scale, n_patterns)
    for n_features in (10, 20, 40):
        yield measure(naive(n_features), "naive Bayes", 100_000 // scale, 1_000 // scale)
    for n_features in (10, 20, 30):
        yield measure(tree(n_features), "TAN", 20_000 // scale, 100)


def file_line(n_rows: int) -> str:
    """An audit from file to file, in chunks."""
    from pyarrow import dataset, parquet

    classifier = naive(30)
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "rows", Path(folder) / "audited.parquet"
        source.mkdir()
        for part, start in enumerate(range(0, n_rows, 500_000)):
            table = random_rows(classifier, min(500_000, n_rows - start), 1_000, seed=part // 1_000)
            columns = {c.name: np.array([*c.labels, None], dtype=object)[c.codes] for c in labels_of(table)}
            import pyarrow

            parquet.write_table(pyarrow.table(columns), source / f"{part:04d}.parquet")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        seconds = seconds_of(lambda: unswayed.audit(classifier, source, output=output))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        assert dataset.dataset(output).count_rows() == n_rows
    return (
        f"\nFrom one Parquet file to another, naive Bayes, 30 features, 1,000 patterns: {n_rows:,} rows in "
        f"{seconds:.1f} s ({n_rows / seconds:,.0f} rows/s); the process took {after:,.0f} MB at most, "
        f"{before:,.0f} MB before.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=0)
    options, _ = parser.parse_known_args()
    page = PREFACE
    for line in lines(options.quick):
        print(line, end="", flush=True)
        page += line
    if options.rows:
        page += file_line(options.rows)
    print(page[-300:])
    if not options.quick:
        write_measured(PAGE, page)


if __name__ == "__main__":
    main()
