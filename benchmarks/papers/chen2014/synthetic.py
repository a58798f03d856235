"""Random networks of 100 two-state variables, by components and by threshold [chen2014, Figures 8 and 9]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.chen2014.methods import METHODS, Run, run
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.groups import independent_groups
from unswayed.inference.sampling import sample_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import random_bounded_treewidth

N_VARIABLES = 100
N_QUERIES = 20
N_EVIDENCE = 10
DISTANCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
COMPARED = ("depth-first", "unswayed")


@dataclass(frozen=True, slots=True)
class Sample:
    """A random network with decision, query variables and evidence."""

    network: BayesianNetwork
    target: str
    queries: tuple[str, ...]
    evidence: dict[str, str]
    posterior: float
    """Of the positive state, given the evidence."""
    n_components: int

    def classifier(self, threshold: float) -> Classifier:
        return Classifier(self.network, self.target, self.queries, ThresholdRule("s0", threshold))


@dataclass(frozen=True, slots=True)
class Point:
    """One computation on a sample."""

    n_components: int
    distance: float
    runs: dict[str, Run]


def draw(seed: int) -> Sample:
    """Widths from 1 to 4 and densities from 0.3 to 1 in turn; the rest at random."""
    rng = np.random.default_rng(seed)
    width, density = 1 + seed % 4, float(rng.uniform(0.3, 1.0))
    network = random_bounded_treewidth(N_VARIABLES, width, rng, density=density)
    target, *others = (network.names[i] for i in rng.permutation(N_VARIABLES))
    states = sample_states(network, 1, {}, rng)[0]
    observed = others[N_QUERIES : N_QUERIES + N_EVIDENCE]
    evidence = {name: f"s{states[network.index(name)]}" for name in observed}
    queries = tuple(others[:N_QUERIES])
    problem = make_problem(Classifier(network, target, queries, ThresholdRule("s0", 0.5)), evidence)
    k = len(independent_groups(problem))
    return Sample(network, target, queries, evidence, float(problem.prior[0]), k)


def thresholds(posterior: float, distance: float) -> list[float]:
    """The thresholds at this distance from the posterior that lie between 0 and 1."""
    return sorted({t for t in (posterior - distance, posterior + distance) if 0.005 < t < 0.995})


def measure(n_samples: int, limits: Limits) -> Iterator[Point]:
    """Every sample at every distance, by the methods compared."""
    for seed in range(n_samples):
        sample = draw(seed)
        for distance in DISTANCES:
            for threshold in thresholds(sample.posterior, distance):
                classifier = sample.classifier(threshold)
                runs = {name: run(METHODS[name], classifier, sample.evidence, limits) for name in COMPARED}
                yield Point(sample.n_components, distance, runs)
