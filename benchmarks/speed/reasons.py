"""How long it takes to tell why: naive Bayes of growing size, a tree of 30 features, alarm.

    python -m benchmarks.speed.reasons [--seconds 20] [--quick]

All features are observed, drawn from the class that the decision is for, and the threshold is one half.
Beside it, enumeration goes through the subsets of the findings, the smallest first, and sums the full table
for each of them: what one would write down first. It stops at the limit. Where both answer, they must agree.
Writes docs/benchmarks/reasons.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

import unswayed
from benchmarks.page import write_measured
from unswayed.api.results.reasons import Reasons
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.dense import DenseEngine
from unswayed.inference.sampling import sample_states
from unswayed.learning import learn_tan
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import read_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.reasons.case import explained_decision

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "reasons.md"
ALARM = Path(__file__).resolve().parents[3] / "shared" / "data" / "networks" / "alarm.bif"
SIZES = (8, 12, 16, 20, 30, 50, 100, 200)
LEVELS = (1.0, 0.95)
LARGEST_TABLE = 20
"""Two-state features up to which enumeration has a table to sum."""

Case = tuple[str, Classifier, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Told:
    """One decision explained at one level."""

    name: str
    level: float
    seconds: float
    enumeration: float | None
    """Seconds for the smallest reason alone; None when it was stopped or has no table."""
    why: Reasons


def naive_bayes(n_features: int) -> Case:
    """Two-state features of moderate strength, the same for the same number."""
    rng = np.random.default_rng(n_features)
    target = Variable("C", ["+", "-"])
    cpts = [Cpt(target, [], [0.4, 0.6])]
    for i in range(n_features):
        share, log_odds = rng.uniform(0.2, 0.8), rng.normal(0.0, 1.0)
        other = 1.0 / (1.0 + np.exp(log_odds - np.log(share / (1 - share))))
        cpts.append(Cpt(Variable(f"F{i}", "ab"), [target], [[share, 1 - share], [other, 1 - other]]))
    network = BayesianNetwork(cpts)
    classifier = Classifier(network, "C", None, ThresholdRule("+", 0.5))
    return f"naive Bayes, {n_features}", classifier, drawn(classifier, {"C": "+"}, rng)


def tree() -> Case:
    """A tree-augmented naive Bayes classifier of the breast cancer data, 30 features of up to 4 states."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    labels = ["benign" if target else "malignant" for target in data.target]
    network = learn_tan(data.data.assign(diagnosis=labels), "diagnosis")
    features = [name for name in network.names if name != "diagnosis"]
    classifier = Classifier(network, "diagnosis", features, ThresholdRule("malignant", 0.5))
    return "TAN, 30", classifier, drawn(classifier, {"diagnosis": "malignant"}, np.random.default_rng(2))


def alarm() -> Case:
    """The leaves of alarm, for a failure of the left ventricle."""
    classifier = Classifier(read_network(ALARM), "LVFAILURE", None, ThresholdRule("TRUE", 0.2))
    rng = np.random.default_rng(3)
    return "alarm, leaves", classifier, drawn(classifier, {"LVFAILURE": "TRUE"}, rng)


def drawn(classifier: Classifier, given: dict[str, str], rng: np.random.Generator) -> dict[str, str]:
    """Findings on all features, drawn from the network."""
    network = classifier.network
    states = sample_states(network, 1, network.evidence(given), rng)[0]
    return {
        name: network.variable(name).states[int(states[network.index(name)])] for name in classifier.features
    }


def enumerated(case: Case, level: float, seconds: float) -> tuple[float, int] | None:
    """Time and size of the smallest reason by trying every subset; None when there is no table or no time."""
    _, classifier, evidence = case
    started = time.perf_counter()
    explained = explained_decision(make_problem(classifier, evidence))
    sizes = explained.whole.sizes(explained.findings)
    if np.prod(sizes, dtype=float) > 2.0**LARGEST_TABLE:
        return None
    masses = DenseEngine().prepare(explained.whole).masses
    decided = masses[len(explained.whole.prior) :].reshape(-1, *sizes)
    for size in range(len(sizes) + 1):
        for chosen in combinations(range(len(sizes)), size):
            if time.perf_counter() - started > seconds:
                return None
            at = tuple(explained.states[i] if i in chosen else slice(None) for i in range(len(sizes)))
            shares = decided[(slice(None), *at)].reshape(len(decided), -1).sum(axis=1)
            if shares[explained.action] >= (level - 1e-12) * shares.sum():
                return time.perf_counter() - started, size
    return time.perf_counter() - started, -1


def tell(case: Case, level: float, limits: Limits) -> Told:
    """The explanation, timed, and checked by enumeration where that is possible."""
    name, classifier, evidence = case
    started = time.perf_counter()
    why = unswayed.why(classifier, evidence, at_least=level, limits=limits)
    seconds = time.perf_counter() - started
    plain = enumerated(case, level, limits.max_seconds or np.inf)
    if plain is not None and why.proven:
        size = -1 if why.reason is None else len(why.reason.findings)
        if size != plain[1]:
            raise SystemExit(f"{name}, level {level}: {size} findings, but enumeration finds {plain[1]}")
    return Told(name, level, seconds, None if plain is None else plain[0], why)


HEAD = """# Why this decision: how the cost grows

Made by `python -m benchmarks.speed.reasons`: all features observed, threshold one half (alarm: 0.2); seconds
for the whole explanation (reason, flips, contributions, ranges of parameters) on a shared machine, and beside
it for enumeration of the subsets in the same run, which finds the smallest reason only. "-": no table, or
stopped after {limit:g} s. Where both answer, they agree.

"""


def lines_of(results: Sequence[Told]) -> Iterator[str]:
    """Markdown, a row for each case and level."""
    yield "| classifier | level | seconds | enumeration | findings | smallest reason | no reason below |"
    yield "|---|---|---|---|---|---|---|"
    for each in results:
        reason = each.why.reason
        size = "none" if reason is None else str(len(reason.findings))
        proof = "proven" if each.why.proven else f"{each.why.cost_bound:g}"
        plain = "-" if each.enumeration is None else f"{each.enumeration:.3g}"
        yield (
            f"| {each.name} | {each.level:g} | {each.seconds:.3g} | {plain} | {len(each.why.evidence)} | "
            f"{size} | {proof} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="limit on one answer")
    parser.add_argument("--quick", action="store_true", help="three sizes, 2 s; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(DEFAULT_LIMITS.max_bytes, 2.0 if options.quick else options.seconds)
    cases = [naive_bayes(n) for n in (SIZES[:3] if options.quick else SIZES)]
    if not options.quick:
        cases += [tree(), *([alarm()] if ALARM.exists() else [])]
    tell(cases[0], 0.95, limits)  # imports before the clock runs
    results = []
    for case in cases:
        for level in LEVELS:
            results.append(tell(case, level, limits))
            print(list(lines_of(results))[-1], flush=True)
    if not options.quick:
        write_measured(PAGE, HEAD.format(limit=limits.max_seconds) + "\n".join(lines_of(results)) + "\n")


if __name__ == "__main__":
    main()
