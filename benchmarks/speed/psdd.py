"""How fast PSDDs learn and score, and how the cost grows with data and circuit.

    python -m benchmarks.speed.psdd [--rows 524288] [--quick]

Rankings of nine items (the games of [choi2016]) and paths between the corners of grids of 6x6 to 10x10 nodes;
examples are drawn uniformly, the worst case for memory: they use the whole circuit. One thread, processor
seconds, since the machine is shared; kernels are compiled before the clock runs. Writes
docs/benchmarks/psdd.md and psdd.png.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import write_measured
from unswayed.circuits.psdd.learn import Laplace, count_examples, estimate
from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.query import log_likelihood, log_likelihoods, marginals, sample
from unswayed.circuits.psdd.structure import uniform_psdd
from unswayed.circuits.psdd.walk import WALK, walk_tables
from unswayed.core.arrays import Bools
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Space

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "psdd.md"
SIDES = (6, 7, 8, 9, 10)
PEER = {"rankings of 9": 1937, "grid 8x8": 1159}
"""Examples a second of the authors' program, ported to Python 3.11, measured once on a machine like this."""


@dataclass(frozen=True, slots=True)
class Result:
    """One space."""

    name: str
    objects: int
    parameters: int
    choices: int
    prepare: float
    learn: float
    score: float
    score_nine: float
    words_learn: float
    words_score: float
    marginal: float
    draw: float
    megabytes: float


def seconds(run: Callable[[], Any]) -> float:
    """Processor time of the quicker of two runs."""
    times = []
    for _ in range(2):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return max(min(times), 1e-9)


def spaces(sides: Sequence[int]) -> Iterator[tuple[str, Callable[[], Space[Any]]]]:
    yield "rankings of 9", lambda: ranking_space(9)
    for side in sides:
        yield f"grid {side}x{side}", lambda s=side: path_space(grid(s, s), (0, 0), (s - 1, s - 1))  # type: ignore[misc]


def measure(name: str, make: Callable[[], Space[Any]], n_rows: int) -> Result:
    """Everything about one space, on rows drawn uniformly."""
    started = time.process_time()
    space = make()
    structure = space.structure
    walk_tables(structure)
    prepare = time.process_time() - started
    rows = sample(uniform_psdd(structure), n_rows, np.random.default_rng(0))
    psdds = [estimate(count_examples(structure, rows[:1000]), Laplace(k + 1.0)) for k in range(9)]
    log_likelihoods(psdds, rows[:1000])
    few = rows[: max(n_rows // 16, 1000)]
    unknown = np.full((20, structure.n_variables), np.nan)
    marginals(psdds[0], unknown)
    return Result(
        name,
        space.size,
        structure.n_parameters,
        structure.n_choices,
        prepare,
        n_rows / seconds(lambda: count_examples(structure, rows)),
        n_rows / seconds(lambda: log_likelihood(psdds[0], rows)),
        len(few) / seconds(lambda: log_likelihoods(psdds, few)),
        *by_words(structure, few),
        seconds(lambda: marginals(psdds[0], unknown)) / len(unknown),
        len(few) / seconds(lambda: sample(psdds[0], len(few), np.random.default_rng(1))),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    )


def by_words(structure: PsddStructure, rows: Bools) -> tuple[float, float]:
    """Examples a second when the decision diagram is not used, only words of 64 examples."""
    tables = walk_tables(structure)
    structure.memo.put(WALK, None, None)
    psdd = uniform_psdd(structure)
    count_examples(structure, rows[:256])
    log_likelihood(psdd, rows[:256])
    found = (
        len(rows) / seconds(lambda: count_examples(structure, rows)),
        len(rows) / seconds(lambda: log_likelihood(psdd, rows)),
    )
    structure.memo.put(WALK, None, tables)
    return found


def growth(n_rows: int) -> list[tuple[int, float, float]]:
    """Seconds to learn and to score by the number of games."""
    space = ranking_space(9)
    structure = space.structure
    rows = space.sample(n_rows, np.random.default_rng(0))
    psdd = estimate(count_examples(structure, rows[:1000]), Laplace(1.0))
    grown = []
    for part in (rows[: 2**k] for k in range(10, n_rows.bit_length())):
        learn = seconds(partial(count_examples, structure, part))
        grown.append((len(part), learn, seconds(partial(log_likelihood, psdd, part))))
    return grown


HEAD = """# PSDDs: how fast they learn and score

Made by `python -m benchmarks.speed.psdd`: rankings of nine items, and paths between the corners of grids;
examples drawn uniformly from the space, one thread, processor seconds on a shared machine. Examples a second;
`9 classes` scores nine distributions of one structure at once. `words` is the general way, 64 examples in a
machine word, used where the vtree has large blocks; the other columns walk the decision diagram. `pypsdd` is
the authors' program in Python, ported to Python 3.11 and measured once on a machine of this kind, not in this
run (in Python 2.7 it learns from 624 games or 278 paths, and scores 778 or 494, a second).

"""
COLUMNS = (
    "space", "objects", "parameters", "choices", "prepare, s", "learn", "score", "9 classes", "words: learn",
    "words: score", "pypsdd", "sample", "marginals, ms", "peak MB",
)  # fmt: skip


def table(results: Sequence[Result]) -> str:
    """Markdown, a row for each space."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for r in results:
        peer = PEER.get(r.name)
        cells = [r.name, f"{r.objects:.3g}" if r.objects > 1e9 else f"{r.objects:,}"]
        cells += [f"{r.parameters:,}", f"{r.choices:,}", f"{r.prepare:.2g}"]
        cells += [_speed(x) for x in (r.learn, r.score, r.score_nine, r.words_learn, r.words_score)]
        cells += ["-" if peer is None else f"{peer:,}"]
        cells += [_speed(r.draw), f"{1e3 * r.marginal:.3g}", f"{r.megabytes:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _speed(per_second: float) -> str:
    return f"{per_second / 1e6:.2f} M"


def plot(results: Sequence[Result], grown: Sequence[tuple[int, float, float]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
    rows = [n for n, *_ in grown]
    left.plot(rows, [learn for _, learn, _ in grown], "-o", label="learn", markersize=4)
    left.plot(rows, [score for *_, score in grown], "-s", label="score", markersize=4)
    left.set(xscale="log", yscale="log", xlabel="games", ylabel="seconds", title="rankings of nine items")
    grids = [r for r in results if r.name.startswith("grid")]
    sizes = [r.choices for r in grids]
    for name, marker in (("learn", "-o"), ("score", "-s"), ("words_learn", "--o"), ("words_score", "--s")):
        speeds = [1e6 / getattr(r, name) for r in grids]
        right.plot(sizes, speeds, marker, label=name.replace("_", ": "), markersize=4)
    right.set(xscale="log", yscale="log", xlabel="choices of the circuit", ylabel="microseconds an example")
    right.set_title("paths on grids of " + ", ".join(r.name.removeprefix("grid ") for r in grids))
    for axis in (left, right):
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize="small")
    figure.savefig(PAGE.with_suffix(".png"), dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2**19, help="examples")
    parser.add_argument("--quick", action="store_true", help="small grids, few rows; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    n_rows = 2**14 if options.quick else options.rows
    results = []
    for name, make in spaces(SIDES[:2] if options.quick else SIDES):
        results.append(measure(name, make, n_rows if "10x" not in name else n_rows // 4))
        print(results[-1], flush=True)
    grown = growth(n_rows)
    print(table(results))
    if not options.quick:
        rate = grown[-1][0] / grown[-1][1] / 1e6, grown[-1][0] / grown[-1][2] / 1e6
        text = f"\nTime is linear in the number of examples. With all of them, {rate[0]:.1f} M games are\n"
        text += f"learned from and {rate[1]:.1f} M scored a second.\n"
        plotted = "![Seconds by games, and microseconds an example by the size of the circuit](psdd.png)\n\n"
        write_measured(PAGE, HEAD + plotted + table(results) + text)
        plot(results, grown)


if __name__ == "__main__":
    main()
