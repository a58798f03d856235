"""The case studies of [choi2016]: games and paths.

    python -m benchmarks.papers.choi2016.run [--runs 10] [--quick]

Prints every number beside the printed one, and writes docs/benchmarks/choi2016.md with a plot and
results.jsonl beside this file. `--quick` plays fewer games and no Hex, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import write_measured
from benchmarks.papers.choi2016 import games, page, paths
from benchmarks.papers.records import Record, exact_record, write_lines

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs" / "benchmarks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="independent runs of the table of paths")
    parser.add_argument("--quick", action="store_true", help="one run, fewer games, no Hex; writes nothing")
    options = parser.parse_args()
    printed = json.loads((HERE / "printed.json").read_text())
    records = size_records(printed["sizes"])
    training = tuple(printed["paths"]["training"])
    accuracies = paths.measure(training, 1 if options.quick else options.runs)
    records += path_records(printed["paths"], accuracies)
    curves = [
        games.measure(games.tic_tac_toe(2**12 if options.quick else 2**16, 64 if options.quick else 2**10))
    ]
    records += tic_tac_toe_records(printed["Figure 3"]["claims"], curves[0])
    if not options.quick:
        curves.append(games.measure(games.hex_3x3(2**16, 1000)))
        records += hex_records(printed["Figure 5"]["claims"], curves[1])
    for record in records:
        print(record.where, "|", record.what, "|", record.printed, "|", record.ours, "|", record.verdict)
    if not options.quick:
        games.plot(curves, DOCS / "choi2016_games.png")
        write_measured(DOCS / "choi2016.md", page.write(records, accuracies, printed["paths"], curves))
        write_lines(HERE / "results.jsonl", "choi2016", records)


def size_records(printed: dict[str, Any]) -> list[Record]:
    """Sizes of circuits: the printed ones exactly, and what is needed here."""
    started = time.perf_counter()
    found = paths.sizes()
    records = [exact_record("sizes", what, printed[what], ours) for what, ours in found.items()]
    seconds = time.perf_counter() - started
    return records + [
        Record("sizes", what, None, n, "smaller", seconds) for what, n in paths.own_sizes().items()
    ]


def path_records(printed: dict[str, Any], accuracies: paths.Accuracies) -> list[Record]:
    """Printed shares within, or outside, the range of our runs."""
    records = []
    for name, values in (("SNB", accuracies.psdd), ("tabular", accuracies.tabular)):
        for size, number, column in zip(accuracies.training, printed[name], values.T, strict=True):
            error = abs(number - float(column.mean()))
            spread = f"{column.min():.4f} to {column.max():.4f} over {len(column)} runs"
            verdict = "within our range" if column.min() <= number <= column.max() else f"off by {error:.4f}"
            what = f"{name} from {size} paths"
            ours = round(float(column.mean()), 4)
            records.append(Record("paths", what, number, ours, f"{verdict}: {spread}", accuracies.seconds))
    return records


def tic_tac_toe_records(claims: dict[str, str], curves: games.Curves) -> list[Record]:
    """The claims about Figure 3."""
    one, last = curves.psdd[:, 0], curves.psdd[:, -1]
    gap = float((curves.psdd - curves.mallows).mean())
    most = curves.setting.n_games[-1]
    return [
        _claim(claims["one"], f"{one.min():.3f} to {one.max():.3f}", one.max() < 0.95, curves),
        _claim(claims["many"], f"at least {last.min():.3f} from {most} games", last.min() > 0.95, curves),
        _claim(claims["mallows"], f"lower by {gap:.3f} on average", gap > 0.05, curves),
    ]


def hex_records(claims: dict[str, str], curves: games.Curves) -> list[Record]:
    """The claims about Figure 5."""
    mean = curves.psdd.mean(axis=0)
    gap = float((curves.psdd - curves.mallows).mean())
    more = np.diff(mean).min() > 0
    return [
        _claim(claims["more"], f"mean {mean[0]:.3f} to {mean[-1]:.3f}", more, curves),
        _beginner(claims["beginner"], curves),
        _claim(claims["mallows"], f"lower by {gap:.3f} on average", gap > 0.05, curves),
    ]


def _beginner(claim: str, curves: games.Curves) -> Record:
    """The kind of player that is easiest to recognise, by the number of games."""
    easiest = [curves.setting.kinds[int(k)] for k in np.argmax(curves.psdd, axis=0)]
    numbers = curves.setting.n_games
    found = ", ".join(
        f"{n}: {kind} {curves.psdd[:, i].max():.3f}"
        for i, (n, kind) in enumerate(zip(numbers, easiest, strict=True))
    )
    others = [n for n, kind in zip(numbers, easiest, strict=True) if kind != curves.setting.kinds[0]]
    verdict = "holds" if not others else f"partly: another is easier from {', '.join(map(str, others))}"
    return Record(curves.setting.figure, claim, None, f"easiest by games: {found}", verdict, curves.seconds)


def _claim(claim: str, found: str, holds: Any, curves: games.Curves) -> Record:
    return Record(
        curves.setting.figure, claim, None, found, "holds" if holds else "does not hold", curves.seconds
    )


if __name__ == "__main__":
    main()
