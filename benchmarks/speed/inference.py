"""Exact posteriors beside pyAgrum, one run, ratios.

    python -m benchmarks.speed.inference [--quick]

Findings are drawn from each network itself, so they are possible. Two questions are put: the posteriors of
*all* variables given ten findings, and of *one* variable drawn at random, given 0, 3 or 10 findings drawn
anew each time. unswayed plans once for a set of observed variables and then answers for any findings on them;
"cold" includes the planning, "warm" does not. The two programs take turns, and the quickest run of each
counts, since whatever else the machine does only adds to it. Writes docs/benchmarks/inference.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyagrum as gum

from benchmarks.page import write_measured
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table
from unswayed.inference.sampling import sample_states
from unswayed.model import BayesianNetwork
from unswayed.model.adapters import to_pyagrum
from unswayed.model.formats import read_network

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT.parent / "shared" / "data" / "networks"
NAMES = (
    "alarm.bif",
    "hailfinder.bif",
    "win95pts.bif",
    "hrl_uai08/diagnose_a.bif",
    "andes.bif",
    "barley.bif.gz",
    "munin1.bif.gz",
    "diabetes.bif.gz",
)
COUNTS = (0, 3, 10)
"""Numbers of findings."""
LONG = 0.05
"""Seconds from which a question is put fewer times."""
PAGE = ROOT / "docs" / "benchmarks" / "inference.md"

Findings = dict[int, int]


class Case:
    """One network with states drawn from it, and the peer's copy of it."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.network = read_network(NETWORKS / name)
        self.name = Path(name).name.split(".")[0]
        self.samples = sample_states(self.network, 100, {}, rng)
        self.peer = to_pyagrum(self.network)

    def draw(self, count: int, row: int, rng: np.random.Generator) -> tuple[int, Findings]:
        """A variable to ask about and findings on others."""
        asked, *observed = rng.choice(len(self.network), count + 1, replace=False)
        return int(asked), {int(v): int(self.samples[row % len(self.samples), v]) for v in observed}

    def named(self, findings: Findings) -> dict[str, int]:
        return {self.network.names[v]: state for v, state in findings.items()}


def forget_plans(network: BayesianNetwork) -> BayesianNetwork:
    """The network without remembered plans, so that the next question is planned anew."""
    return BayesianNetwork(network.cpts, network.name)


def ask_peer(engine: Any, case: Case, findings: Findings, asked: list[int]) -> None:
    """Posteriors by lazy propagation."""
    engine.setEvidence(case.named(findings))
    engine.makeInference()
    for variable in asked:
        engine.posterior(case.network.names[variable])


def take_turns(actions: list[Callable[[int], object]], repeats: int) -> list[float]:
    """The shortest time of each action, in turns; once each before that, which is not counted."""
    seconds: list[list[float]] = [[] for _ in actions]
    for i in range(repeats + 1):
        for action, each in zip(actions, seconds, strict=True):
            start = time.perf_counter()
            action(i)
            each.append(time.perf_counter() - start)
        if i >= 3 and max(each[-1] for each in seconds) > LONG:
            break
    return [min(each[1:]) for each in seconds]


def measure_all(case: Case, repeats: int, rng: np.random.Generator) -> str:
    """A line about the posteriors of all variables given ten findings."""
    _, findings = case.draw(10, 0, rng)
    everything = list(range(len(case.network)))
    kept = gum.LazyPropagation(case.peer)

    def other(i: int) -> Findings:
        return {v: int(case.samples[i, v]) for v in findings}

    cold, peer_cold = take_turns(
        [
            lambda i: all_marginals(forget_plans(case.network), other(i)),
            lambda i: ask_peer(gum.LazyPropagation(case.peer), case, other(i), everything),
        ],
        repeats,
    )
    warm, peer_warm = take_turns(
        [
            lambda i: all_marginals(case.network, other(i)),
            lambda i: ask_peer(kept, case, other(i), everything),
        ],
        repeats,
    )
    times = [f"{1e3 * seconds:.3g}" for seconds in (cold, peer_cold, warm, peer_warm)]
    ratios = [f"{peer_cold / cold:.1f}", f"{peer_warm / warm:.1f}"]
    return f"| {' | '.join([case.name, str(len(everything)), *times, *ratios])} |"


def measure_one(case: Case, count: int, draws: int, repeats: int, rng: np.random.Generator) -> str:
    """A line about the posterior of one variable, over many draws."""
    found = []
    for row in range(draws):
        asked, findings = case.draw(count, row, rng)
        name = case.network.names[asked]

        def ours(_: int, asked: int = asked, findings: Findings = findings) -> None:
            joint_table(forget_plans(case.network), [asked], findings)

        def theirs(_: int, asked: int = asked, findings: Findings = findings, name: str = name) -> None:
            engine = gum.LazyPropagation(case.peer)
            engine.addTarget(name)
            ask_peer(engine, case, findings, [asked])

        found.append(take_turns([ours, theirs], repeats))
    ratios = [theirs / ours for ours, theirs in found]
    worst = int(np.argmin(ratios))
    cells = [
        case.name,
        str(count),
        *(f"{1e3 * statistics.median(column):.3g}" for column in zip(*found, strict=True)),
        f"{statistics.median(ratios):.2f}",
        f"{ratios[worst]:.2f}",
        f"{1e3 * found[worst][0]:.3g} / {1e3 * found[worst][1]:.3g}",
        f"{sum(ratio < 1 / 1.5 for ratio in ratios)} of {draws}",
    ]
    return f"| {' | '.join(cells)} |"


HEADER = """# Exact inference beside pyAgrum

Made by `python -m benchmarks.speed.inference`: the quickest of up to {repeats} runs, in milliseconds; the
two programs take turns in one run on one machine. Read the ratios: above 1, unswayed is faster. "Cold"
includes planning (unswayed) or triangulation (pyAgrum, lazy propagation); "warm" asks again with other
findings on the same variables. pgmpy, which eliminates variables anew for each posterior, took 14 (munin1) to
381 (diabetes) times as long as unswayed for all posteriors when last measured, and is left out since.

## All posteriors, given ten findings

"""
ALL = ("network", "variables", "unswayed cold", "pyAgrum cold", "unswayed warm", "pyAgrum warm", "ratio cold",
       "ratio warm")  # fmt: skip
ONE_TEXT = """
## One posterior, cold

The variable and the findings are drawn anew {draws} times; times are medians over the draws. unswayed
refuses findings that contradict each other wherever they stand, so it also looks at zeros in tables that the
findings cut off from the variable. pyAgrum does not: it answers about a variable that contradictory findings
do not touch. Mostly a few states prove the findings possible; where none are found, the tables are summed,
and those are the slowest draws.

"""
ONE = ("network", "findings", "unswayed", "pyAgrum", "median ratio", "worst ratio", "its times",
       "slower than 1.5 times")  # fmt: skip


def table(columns: tuple[str, ...], lines: list[str]) -> str:
    return "\n".join([f"| {' | '.join(columns)} |", "|" + "---|" * len(columns), *lines]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small networks only, fewer draws")
    options = parser.parse_args()
    repeats, draws = (3, 5) if options.quick else (7, 20)
    if not NETWORKS.is_dir():
        raise SystemExit("the folder of real networks is not beside the project; nothing to measure")
    every, single = [], []
    for name in NAMES[:4] if options.quick else NAMES:
        rng = np.random.default_rng(1)
        case = Case(name, rng)
        every.append(measure_all(case, repeats, rng))
        single += [measure_one(case, count, draws, repeats, rng) for count in COUNTS]
        print(every[-1], *single[-len(COUNTS) :], sep="\n", flush=True)
    if not options.quick:
        text = HEADER.format(repeats=repeats) + table(ALL, every)
        write_measured(PAGE, text + ONE_TEXT.format(draws=draws) + table(ONE, single))


if __name__ == "__main__":
    main()
