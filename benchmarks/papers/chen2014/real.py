"""Real networks, every method at every threshold: the worst case of each [chen2014, Table 4]."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.papers.chen2014.methods import METHODS, Run, run
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.groups import independent_groups
from unswayed.inference.sampling import sample_states
from unswayed.learning.classifiers import learn_naive_bayes
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
THRESHOLDS = (0.01, 0.05, *(round(0.1 * i, 1) for i in range(1, 10)))


@dataclass(frozen=True, slots=True)
class Case:
    """A network with a decision, query variables and evidence."""

    name: str
    source: str
    network: BayesianNetwork
    target: str
    queries: tuple[str, ...]
    evidence: dict[str, str]

    def classifier(self, threshold: float) -> Classifier:
        positive = self.network.variable(self.target).states[0]
        return Classifier(self.network, self.target, self.queries, ThresholdRule(positive, threshold))

    @property
    def n_instantiations(self) -> float:
        return float(np.prod([len(self.network.variable(q)) for q in self.queries], dtype=float))

    @property
    def n_components(self) -> int:
        return len(independent_groups(make_problem(self.classifier(0.5), self.evidence)))


@dataclass(frozen=True, slots=True)
class Sweep:
    """One method at all thresholds."""

    method: str
    runs: dict[float, Run] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return all(each.answer for each in self.runs.values())

    @property
    def worst(self) -> float:
        return max(each.seconds for each in self.runs.values())

    @property
    def explored(self) -> int | None:
        counts = [each.answer.n_explored for each in self.runs.values() if each.answer]
        return max((n for n in counts if n is not None), default=None)


def learned(table: str, target: str) -> Case:
    """A naive Bayes classifier of a table, Laplace-smoothed, all features queried."""
    network = learn_naive_bayes(DATA / "tables" / f"{table}.csv", target)
    queries = tuple(name for name in network.names if name != target)
    return Case(f"{table.split('_')[0]} (naive Bayes)", "UCI", network, target, queries, {})


def drawn(path: str, n_queries: int, rng: np.random.Generator) -> Case:
    """A network with decision, query variables and five observations at random."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = read_network(DATA / "networks" / path)
    order = [network.names[i] for i in rng.permutation(len(network))]
    target = next(name for name in order if len(network.variable(name)) == 2)
    others = [name for name in order if name != target]
    states = sample_states(network, 1, {}, rng)[0]
    observed = others[n_queries : n_queries + 5]
    evidence = {name: network.variable(name).states[states[network.index(name)]] for name in observed}
    source = "HRL" if "hrl" in path else "bnlearn"
    return Case(Path(path).stem, source, network, target, tuple(others[:n_queries]), evidence)


def cases() -> list[Callable[[], Case]]:
    """The cases, made when asked for; the random ones from fixed seeds.

    Seed 1 of alarm draws a decision that no query variable has a bearing on, so it is left out.
    """
    return [
        lambda: learned("tictactoe", "x_wins"),
        lambda: learned("voting", "party"),
        lambda: learned("chess_krvskp", "outcome"),
        lambda: drawn("alarm.bif", 10, np.random.default_rng(2)),
        lambda: drawn("hrl_uai08/emdec6g.bif", 8, np.random.default_rng(2)),
        lambda: drawn("hrl_uai08/tcc4e.bif", 8, np.random.default_rng(3)),
        lambda: drawn("hrl_uai08/emdec6g.bif", 20, np.random.default_rng(2)),
        lambda: drawn("hrl_uai08/tcc4e.bif", 20, np.random.default_rng(3)),
    ]


def sweep(case: Case, method: str, limits: Limits) -> Sweep:
    """All thresholds, until one is not answered within the limits."""
    found = Sweep(method)
    for threshold in THRESHOLDS:
        found.runs[threshold] = run(METHODS[method], case.classifier(threshold), case.evidence, limits)
        if found.runs[threshold].answer is None:
            break
    return found
