"""Learning from files: seconds and memory over the number of rows, beside pandas reading the same file.

    python -m benchmarks.speed.learn [--quick]

Tables of eight measurements, four whole numbers and six labels with gaps, as CSV and as Parquet. Each figure
is of a process of its own: learning naive Bayes and TAN, and `pandas.read_csv` alone. Writes
docs/benchmarks/learn.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
from pyarrow import csv, parquet

from benchmarks.page import write_measured

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "learn.md"
PREFACE = """# Learning from files

Written by `python -m benchmarks.speed.learn`. Eight measurements, four whole numbers and six labels with
gaps, and a class of two states; cut points by the description length principle. Each figure is of a process
of its own: seconds of the clock without the start of Python, and the most memory that the process took.
*pandas* only reads the file into memory.

| rows | file | MB | pandas s | MB | naive Bayes s | MB | beside pandas | TAN s | MB |
|---|---|---|---|---|---|---|---|---|---|
"""
MEMORY = """
def most_memory():
    # getrusage would count what the process that started this one took.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
"""
LEARN = """
import sys, time
from unswayed.learning.classifiers import learn_naive_bayes, learn_tan
learn = {"naive": learn_naive_bayes, "tan": learn_tan}[sys.argv[2]]
started = time.perf_counter()
learn(sys.argv[1], "y")
print(time.perf_counter() - started, most_memory())
"""
READ = """
import sys, time
import pandas
read = pandas.read_csv if sys.argv[1].endswith("csv") else pandas.read_parquet
started = time.perf_counter()
read(sys.argv[1])
print(time.perf_counter() - started, most_memory())
"""


def random_table(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Columns that tell more or less about the class, a twentieth of their cells missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, np.ndarray] = {}
    for j in range(8):
        columns[f"m{j}"] = np.round(rng.normal(size=n_rows) + y * (j % 3) * 0.5, 4)
    for j in range(4):
        columns[f"i{j}"] = (rng.integers(0, 200, n_rows) + y).astype(float)
    for j in range(6):
        columns[f"l{j}"] = np.array(["red", "green", "blue", "a longer label"], dtype=object)[
            rng.integers(0, 4, n_rows)
        ]
    for values in columns.values():
        values[rng.random(n_rows) < 0.05] = None
    return pd.DataFrame({**columns, "y": np.array(["no", "yes"])[y]})


def measure(script: str, *words: str) -> tuple[float, float]:
    """Seconds and megabytes of a process."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY + script, *words], capture_output=True, text=True, check=True
    )
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def lines(sizes: tuple[int, ...], folder: Path) -> Iterator[str]:
    for n_rows in sizes:
        table = pyarrow.Table.from_pandas(random_table(n_rows), preserve_index=False)
        for suffix in ("csv", "parquet"):
            path = folder / f"{n_rows}.{suffix}"
            (csv.write_csv if suffix == "csv" else parquet.write_table)(table, path)
            size = path.stat().st_size / 1e6
            pandas, naive, tan = (
                measure(READ, str(path)),
                measure(LEARN, str(path), "naive"),
                measure(LEARN, str(path), "tan"),
            )
            path.unlink()
            yield (
                f"| {n_rows:,} | {suffix} | {size:,.0f} | {pandas[0]:.2f} | {pandas[1]:,.0f} | "
                f"{naive[0]:.2f} | {naive[1]:,.0f} | {naive[0] / pandas[0]:.1f} | "
                f"{tan[0]:.2f} | {tan[1]:,.0f} |\n"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    options, _ = parser.parse_known_args()
    sizes = (10_000, 100_000) if options.quick else (100_000, 1_000_000, 3_000_000)
    page = PREFACE
    with tempfile.TemporaryDirectory() as folder:
        for line in lines(sizes, Path(folder)):
            print(line, end="", flush=True)
            page += line
    if not options.quick:
        write_measured(PAGE, page)


if __name__ == "__main__":
    main()
