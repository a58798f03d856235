"""Exact posteriors beside pyAgrum and pgmpy, one run, ratios.

    python -m benchmarks.speed.inference [--quick]

For each network, ten findings are drawn from the network itself (so they are possible) and two questions
are put: the posteriors of *all* variables, and of one variable. unswayed plans once for a set of observed
variables and then answers for any findings on them; "cold" includes the planning, "warm" does not. pyAgrum's
lazy propagation is given other findings each time, so that it computes rather than remembers. Medians over
repetitions; the machine is shared, so read the ratios. Writes docs/benchmarks/inference.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from unswayed.core.arrays import Ints
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table
from unswayed.inference.sampling import sample_states
from unswayed.model import BayesianNetwork
from unswayed.model.adapters import to_pgmpy, to_pyagrum
from unswayed.model.formats import read_network

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT.parent / "shared" / "data" / "networks"
NAMES = ("alarm.bif", "hailfinder.bif", "win95pts.bif", "andes.bif", "munin1.bif.gz", "diabetes.bif.gz")
N_FINDINGS = 10
PAGE = ROOT / "docs" / "benchmarks" / "inference.md"


def median_seconds(action: Callable[[int], object], repeats: int) -> float:
    """Median time of `action(i)` for i below `repeats`."""
    seconds = []
    for i in range(repeats):
        start = time.perf_counter()
        action(i)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


class Case:
    """One network with findings to ask about, and the peers' copies of it."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.network = read_network(NETWORKS / name)
        self.name = name.split(".")[0]
        self.samples: Ints = sample_states(self.network, 100, {}, rng)
        chosen = rng.choice(len(self.network), N_FINDINGS + 1, replace=False)
        self.asked, self.observed = int(chosen[0]), [int(v) for v in chosen[1:]]

    def findings(self, i: int) -> dict[int, int]:
        return {v: int(self.samples[i % len(self.samples), v]) for v in self.observed}

    def named(self, i: int) -> dict[str, int]:
        return {self.network.variables[v].name: s for v, s in self.findings(i).items()}


def forget_plans(network: BayesianNetwork) -> BayesianNetwork:
    """The network without remembered plans, so that the next question is planned anew."""
    for what in ("plans", "tables"):
        network._memo.pop(what, None)
    return network


def measure_unswayed(case: Case, repeats: int) -> dict[str, float]:
    cold = median_seconds(lambda i: all_marginals(forget_plans(case.network), case.findings(i)), repeats)
    all_marginals(case.network, case.findings(0))
    warm = median_seconds(lambda i: all_marginals(case.network, case.findings(i)), repeats)
    joint_table(case.network, [case.asked], case.findings(0))
    one = median_seconds(lambda i: joint_table(case.network, [case.asked], case.findings(i)), repeats)
    one_cold = median_seconds(
        lambda i: joint_table(forget_plans(case.network), [case.asked], case.findings(i)), repeats
    )
    return {"all cold": cold, "all warm": warm, "one cold": one_cold, "one warm": one}


def measure_pyagrum(case: Case, repeats: int) -> dict[str, float]:
    import pyagrum as gum

    peer = to_pyagrum(case.network)
    names = case.network.names
    asked = names[case.asked]

    def everything(i: int) -> None:
        engine = gum.LazyPropagation(peer)
        engine.setEvidence(case.named(i))
        engine.makeInference()
        for name in names:
            engine.posterior(name)

    kept = gum.LazyPropagation(peer)

    def everything_again(i: int) -> None:
        kept.setEvidence(case.named(i))
        kept.makeInference()
        for name in names:
            kept.posterior(name)

    def one(i: int) -> None:
        engine = gum.LazyPropagation(peer)
        engine.addTarget(asked)
        engine.setEvidence(case.named(i))
        engine.makeInference()
        engine.posterior(asked)

    return {
        "all cold": median_seconds(everything, repeats),
        "all warm": median_seconds(everything_again, repeats),
        "one cold": median_seconds(one, repeats),
    }


def measure_pgmpy(case: Case, repeats: int) -> dict[str, float]:
    from pgmpy.inference import VariableElimination

    engine = VariableElimination(to_pgmpy(case.network))
    variables = case.network.variables
    asked = variables[case.asked].name

    def one(i: int) -> None:
        evidence = {variables[v].name: variables[v].states[s] for v, s in case.findings(i).items()}
        engine.query([asked], evidence, show_progress=False)

    some = np.random.default_rng(2).choice(len(variables), min(5, len(variables)), replace=False)
    unobserved = [variables[v].name for v in some if v not in case.observed]

    def each(i: int) -> None:
        evidence = {variables[v].name: variables[v].states[s] for v, s in case.findings(0).items()}
        engine.query([unobserved[i]], evidence, show_progress=False)

    everything = len(variables) * median_seconds(each, len(unobserved))
    return {"one cold": median_seconds(one, repeats), "all": everything}


def row(case: Case, ours: dict[str, float], agrum: dict[str, float], pgmpy: dict[str, float]) -> str:
    def ms(seconds: float) -> str:
        return f"{seconds * 1e3:.3g}"

    cells = [
        case.name,
        str(len(case.network)),
        ms(ours["all cold"]),
        ms(ours["all warm"]),
        ms(agrum["all cold"]),
        ms(agrum["all warm"]),
        f"{agrum['all cold'] / ours['all cold']:.1f}",
        f"{agrum['all warm'] / ours['all warm']:.1f}",
        f"{ms(pgmpy['all'])} ({pgmpy['all'] / ours['all cold']:.0f}x)" if pgmpy else "not measured",
        ms(ours["one cold"]),
        ms(ours["one warm"]),
        ms(agrum["one cold"]),
        ms(pgmpy["one cold"]) if pgmpy else "not measured",
    ]
    return "| " + " | ".join(cells) + " |"


HEADER = """# Exact inference beside pyAgrum and pgmpy

Made by `python -m benchmarks.speed.inference`: {findings} findings drawn from each network, medians of
{repeats} runs in milliseconds, everything side by side in one run on one shared machine. Read the ratios:
above 1, unswayed is faster. "Cold" includes planning (unswayed) or triangulation (pyAgrum); "warm" asks
again with other findings on the same variables. pgmpy eliminates variables anew for each posterior; its time
for all is that of five variables scaled to their number, with the ratio to unswayed's cold time beside it.
The two `all` columns ask for the posteriors of every variable, the `one` columns for a single one.

"""
COLUMNS = (
    "network", "variables",
    "all: unswayed cold", "warm", "all: pyAgrum cold", "warm", "ratio cold", "ratio warm", "all: pgmpy",
    "one: unswayed cold", "warm", "one: pyAgrum", "one: pgmpy",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small networks only, fewer repetitions")
    options = parser.parse_args()
    repeats = 5 if options.quick else 15
    if not NETWORKS.is_dir():
        raise SystemExit("the folder of real networks is not beside the project; nothing to measure")
    lines = []
    for name in NAMES[:3] if options.quick else NAMES:
        case = Case(name, np.random.default_rng(1))
        ours = measure_unswayed(case, repeats)
        agrum = measure_pyagrum(case, repeats)
        try:
            pgmpy = measure_pgmpy(case, min(repeats, 3))
        except ImportError:
            pgmpy = {}
        lines.append(row(case, ours, agrum, pgmpy))
        print(lines[-1], flush=True)
    if not options.quick:
        head = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
        text = HEADER.format(findings=N_FINDINGS, repeats=repeats) + "\n".join([*head, *lines]) + "\n"
        write_measured(PAGE, text)


if __name__ == "__main__":
    main()
