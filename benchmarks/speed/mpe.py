"""Most probable explanations: ours beside HiGHS, CP-SAT and Gurobi on the same learned networks.

    python -m benchmarks.speed.mpe [--seconds 60] [--quick] [--gap]

Codes of three adjacent bits are learned from pairs, and words are decoded by every method. `pruned` contexts
depend on the three bits that matter; `dense` ones are networks of eight neurons over all bits, as learned
without pruning. A random network without any structure shows how best states and bound approach each other
(`--gap` measures that alone, in two minutes). Writes docs/benchmarks/mpe.md and a plot. Solvers that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.page import write_measured
from benchmarks.speed.solvers import CpSat, Gurobi
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, SolverError
from unswayed.core.limits import Limits
from unswayed.focs.decoding import Channel, adjacent_parities, learn_code, simulate
from unswayed.focs.diagrams.trellis import compile_network, explain_rows
from unswayed.focs.learn.inputs import StepOptions
from unswayed.focs.mpe.choice import choose_method
from unswayed.focs.mpe.problem import Evaluator, MpeMethod, MpeProblem, build_problem
from unswayed.focs.mpe.program import Highs
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, quantised
from unswayed.model.variable import Variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "mpe.md"
PRUNED = (10, 15, 20, 25, 30, 40, 50, 60)
DENSE = (10, 15, 20, 25, 30)
PAIRS = 4096
WORDS = 5
GAP_BITS, GAP_SECONDS = 30, (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
GAP_TITLE = "## Best states and bound over time"
GAP_TEXT = """A network without any structure: 30 biased bits and 30 observed functions of all of them, step
networks of six random neurons. Logarithms of the probability of the best states found, and of the bound that
no states exceed, after so many seconds by the clock.
"""
COMPILED, OURS = "trellis", "default"
SAME = 1e-5


@dataclass(frozen=True, slots=True)
class Result:
    """One method on one network: the mean over the words."""

    kind: str
    n_bits: int
    method: str
    seconds: float
    """CPU seconds for a word."""
    n_proven: int
    """Words whose explanation was proven within the time limit."""


def methods() -> dict[str, Callable[[MpeProblem], MpeMethod]]:
    """The default, branch and bound always, and every solver that is installed."""
    found: dict[str, Callable[[MpeProblem], MpeMethod]] = {
        OURS: choose_method,
        "branch and bound": lambda _: BranchAndBound(),
        "HiGHS": lambda _: Highs(),
    }
    if importlib.util.find_spec("ortools"):
        found["CP-SAT"] = lambda _: CpSat()
    if importlib.util.find_spec("gurobipy"):
        found["Gurobi"] = lambda _: Gurobi()
    return found


def learned(kind: str, n_bits: int) -> tuple[BayesianNetwork, np.ndarray]:
    """A learned code, and words to decode."""
    rng = np.random.default_rng(n_bits)
    code, channel = adjacent_parities(n_bits), Channel()
    options = StepOptions(max_inputs=8 if kind == "pruned" else 0)
    network = learn_code(simulate(code, channel, PAIRS, rng), options=options, rng=rng)
    return network, simulate(code, channel, WORDS, rng).received


def measure(kind: str, n_bits: int, limits: Limits, given_up: set[str]) -> Iterator[Result]:
    """Every method on one network; all proven explanations must be equally probable."""
    network, words = learned(kind, n_bits)
    places = [network.index(f"X{i}") for i in range(n_bits)]
    problems = [build_problem(network, dict(zip(places, map(int, word), strict=True))) for word in words]
    best = [-np.inf] * len(words)
    for name, method in methods().items():
        if name in given_up:
            continue
        seconds, proven = 0.0, 0
        for number, problem in enumerate(problems):
            started = time.process_time()
            try:
                with within(limits):
                    answer = method(problem).solve(problem)
            except (LimitError, SolverError) as error:
                print(f"{kind} {n_bits}, {name}: {error}", flush=True)
                break
            seconds += time.process_time() - started
            if answer.finished and answer.states is not None:
                proven += 1
                value = float(Evaluator(problem).values(problem.completed(answer.states))[0])
                assert best[number] in (-np.inf, value) or abs(best[number] - value) < SAME, (name, number)
                best[number] = max(best[number], value)
        if proven < len(words):
            given_up.add(name)
        yield Result(kind, n_bits, name, seconds / len(words), proven)
    yield from compiled(kind, network, places, words)


def compiled(kind: str, network: BayesianNetwork, places: list[int], words: np.ndarray) -> Iterator[Result]:
    """The trellis, compiled once: time for a word, compiling not counted."""
    try:
        with within(Limits(max_bytes=2**27, max_seconds=10.0)):
            trellis = compile_network(network)
    except LimitError:
        return
    rows = np.full((len(words), len(network)), -1)
    rows[:, places] = words
    explain_rows(trellis, np.repeat(rows, 40, axis=0))  # loads what is loaded at the first use
    started = time.process_time()
    for _ in range(20):
        for row in rows:
            explain_rows(trellis, row[np.newaxis])
    yield Result(
        kind, len(words[0]), COMPILED, (time.process_time() - started) / (20 * len(rows)), len(words)
    )


HEAD = """# Most probable explanations: how the cost grows

Made by `python -m benchmarks.speed.mpe`: codes of n message bits learned from {pairs:,} pairs, {words} words
decoded by each method; CPU seconds for a word on one core of a shared machine, the mean. All methods get the
same presolved problem, and all explanations that were proven are equally probable. `>`: some word was not
proven within {limit:g} s by the clock, of which a busy machine gives a method only a part; what is shown is
the CPU time it had. "-": not tried, after that happened at a smaller size. `default` is what
`mpe` chooses. `trellis` is max-product on the compiled network, one word a call,
compiling not counted; where it is missing, the network does not compile within ten seconds.

![Seconds by number of bits](mpe.png)

"""


def table(results: Sequence[Result], kind: str) -> Iterator[str]:
    """Markdown, a row for each number of bits."""
    names = [OURS, COMPILED, *(name for name in methods() if name != OURS)]
    of = {(r.method, r.n_bits): r for r in results if r.kind == kind}
    yield f"| n | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for n_bits in sorted({n for _, n in of}):
        cells = []
        for name in names:
            result = of.get((name, n_bits))
            is_proven = result is not None and result.n_proven == WORDS
            cells.append("-" if result is None else f"{'' if is_proven else '> '}{result.seconds:.3g}")
        yield f"| {n_bits} | {' | '.join(cells)} |"


def random_problem(n_bits: int) -> MpeProblem:
    """As many random step networks of all bits as there are bits, all of them observed."""
    rng = np.random.default_rng(5)
    bits = [Variable(f"U{i}", ["0", "1"]) for i in range(n_bits)]
    nodes: list[ConditionalDistribution] = [
        Cpt(u, [], [1 - p, p]) for u, p in zip(bits, rng.uniform(0.2, 0.8, n_bits), strict=True)
    ]
    for number in range(n_bits):
        steps = quantised(rng.normal(size=(6, n_bits)), rng.normal(size=6), rng.normal(size=6), bits=6)
        one, other = rng.uniform(0.02, 0.3, 2)
        columns = [[1 - one, one], [other, 1 - other]]
        nodes.append(FocsCpt(Variable(f"X{number}", ["0", "1"]), bits, StepContexts(steps, [0]), columns))
    return build_problem(BayesianNetwork(nodes), {n_bits + i: int(rng.integers(2)) for i in range(n_bits)})


def gap_lines() -> Iterator[str]:
    """Best states and bound of each method after growing times, on a random network of 30 bits."""
    problem = random_problem(GAP_BITS)
    names = [name for name in methods() if name not in (OURS, "HiGHS")]
    yield f"| seconds | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for seconds in GAP_SECONDS:
        cells = []
        for name in names:
            with within(Limits(max_seconds=seconds)):
                answer = methods()[name](problem).solve(problem)
            value = -np.inf
            if answer.states is not None:
                value = float(Evaluator(problem).values(problem.completed(answer.states))[0])
            cells.append(f"{value:.2f} to {max(value, answer.bound):.2f}")
        yield f"| {seconds:g} | {' | '.join(cells)} |"


def write_gap() -> None:
    """Put the section on the gap at the end of the page; the rest stays as it is."""
    lines = []
    for line in gap_lines():
        print(line, flush=True)
        lines.append(line)
    page = PAGE.read_text(encoding="utf-8").partition(GAP_TITLE)[0].partition("\nMeasured on")[0].rstrip()
    write_measured(PAGE, f"{page}\n\n{GAP_TITLE}\n\n{GAP_TEXT}\n" + "\n".join(lines) + "\n")


def plot(results: Sequence[Result]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), sharey=True, layout="constrained")
    for axis, kind in zip(axes, ("pruned", "dense"), strict=True):
        for name, marker in zip([OURS, COMPILED, *list(methods())[1:]], "osD^vP", strict=False):
            done = [
                (r.n_bits, r.seconds)
                for r in results
                if (r.kind, r.method, r.n_proven) == (kind, name, WORDS)
            ]
            if done:
                axis.plot(*zip(*done, strict=True), marker=marker, label=name)
        axis.set(yscale="log", xlabel="message bits", title=f"{kind} contexts")
        axis.grid(visible=True, alpha=0.3)
    axes[0].set_ylabel("CPU seconds for a word")
    axes[0].legend(fontsize="small")
    figure.savefig(PAGE.with_suffix(".png"), dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit on one word")
    parser.add_argument("--quick", action="store_true", help="10 and 15 bits; writes nothing")
    parser.add_argument("--gap", action="store_true", help="only the section on the gap over time")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    if options.gap:
        write_gap()
        return
    limits = Limits(max_seconds=options.seconds)
    list(measure("dense", 6, limits, set()))  # loads what is loaded at the first use, before the clock runs
    results: list[Result] = []
    for kind, sizes in (("pruned", PRUNED), ("dense", DENSE)):
        given_up: set[str] = set()
        for n_bits in sizes[:2] if options.quick else sizes:
            for result in measure(kind, n_bits, limits, given_up):
                results.append(result)
                print(f"{kind} {n_bits}, {result.method}: {result.seconds:.3g} s", flush=True)
    lines = [f"## Pruned contexts\n\n{chr(10).join(table(results, 'pruned'))}\n"]
    lines.append(f"\n## Dense contexts\n\n{chr(10).join(table(results, 'dense'))}\n")
    print("".join(lines))
    if not options.quick:
        head = HEAD.format(pairs=PAIRS, words=WORDS, limit=options.seconds)
        write_measured(PAGE, head + "".join(lines))
        plot(results)
        write_gap()


if __name__ == "__main__":
    main()
