"""Trimming beside feature selection by information gain on general networks [choi2018, Figure 7]."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unswayed
from benchmarks.papers.choi2017.networks import THRESHOLDS, leaves, network_of, roots
from unswayed.api import trim
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.decisions.rules import ThresholdRule
from unswayed.inference.posteriors import joint_table
from unswayed.model.network import BayesianNetwork

NETWORKS = ("alarm", "win95pts", "diagnose")
DRAWS = 3
MOST_CELLS = 2**19
"""Instantiations of the features at most: where the leaves have more, the most informative are taken."""

LEAST_CHANGE = 1e-3
"""How probable it must be that the features change the decision."""


@dataclass(frozen=True, slots=True)
class Case:
    """A network with one root as the class."""

    network: str
    target: str
    n_leaves: int
    features: tuple[str, ...]

    @property
    def budget(self) -> int:
        """A third of the features."""
        return len(self.features) // 3


@dataclass(frozen=True, slots=True)
class Point:
    """One threshold: agreement of each way to choose features."""

    case: Case
    threshold: float
    trimmed: float
    """By trimming."""
    informed: float
    """By information gain, the threshold kept."""
    informed_best: float
    """By information gain, with the best threshold for these features."""
    informed_kept: tuple[str, ...]
    seconds: float
    """Of trimming."""


def cases(name: str) -> list[Case]:
    """Up to three roots at random, among those where the leaves matter to the decision."""
    network, rng = network_of(name), np.random.default_rng(1)
    found: list[Case] = []
    for target in map(str, rng.permutation(roots(network))):
        features = informative(network, target, leaves(network))
        case = Case(name, target, len(leaves(network)), features)
        if features and varies(network, case):
            found.append(case)
        if len(found) == DRAWS:
            break
    return found


def varies(network: BayesianNetwork, case: Case) -> bool:
    """Whether, at most thresholds, observing the features changes the decision now and then.

    Most roots of these networks are rare faults that are decided alike whatever the leaves say; any
    features agree with such a classifier.
    """
    positive = network.variable(case.target).states[0]
    open_ = 0
    for threshold in THRESHOLDS:
        classifier = Classifier(network, case.target, case.features, ThresholdRule(positive, threshold))
        open_ += unswayed.sdp(classifier).value < 1 - LEAST_CHANGE
    return open_ > len(THRESHOLDS) // 2


def informative(network: BayesianNetwork, target: str, names: Sequence[str]) -> tuple[str, ...]:
    """All the names, or the most informative ones whose table is not too large; none without any bit."""
    bits = {name: mutual_information(network, target, name) for name in names}
    if max(bits.values()) < 1e-9:
        return ()
    kept: list[str] = []
    for name in sorted(names, key=lambda each: (-bits[each], each)):
        if math.prod(len(network.variable(each)) for each in (*kept, name)) <= MOST_CELLS:
            kept.append(name)
    return tuple(name for name in names if name in kept)


def mutual_information(network: BayesianNetwork, target: str, name: str) -> float:
    """Between two variables, in bits."""
    sizes = len(network.variable(target)), len(network.variable(name))
    joint = joint_table(network, [network.index(target), network.index(name)], {}).reshape(sizes)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    ratio = np.divide(joint, apart, out=np.ones_like(joint), where=joint > 0)
    return float((joint * np.log2(ratio)).sum())


def measure(case: Case) -> list[Point]:
    """Every threshold; the features of highest joint information gain are chosen once."""
    network = network_of(case.network)
    positive = network.variable(case.target).states[0]
    points = []
    for threshold in THRESHOLDS:
        rule = ThresholdRule(positive, threshold)
        classifier = Classifier(network, case.target, case.features, rule)
        informed = unswayed.select(classifier, budget=case.budget, objective=NegativeEntropy()).kept
        started = time.perf_counter()
        trimmed = trim(classifier, budget=case.budget).selection
        seconds = time.perf_counter() - started
        same = unswayed.esdp(classifier, kept=informed).value
        best = unswayed.maa(classifier, kept=informed).value
        points.append(Point(case, threshold, trimmed.value, same, best, informed, seconds))
    return points


def plot(series: Sequence[Sequence[Point]], path: Path) -> None:
    """Disagreement by threshold, a row for each network and a column for each root."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(len(NETWORKS), DRAWS, figsize=(8.0, 6.6), sharex=True, layout="constrained")
    for axes, points in zip(grid.flat, series, strict=True):
        places = [p.threshold for p in points]
        axes.plot(places, [p.trimmed for p in points], "o-", markersize=4, label="trimming")
        axes.plot(places, [p.informed for p in points], "s--", markersize=4, label="information gain")
        axes.set_title(f"{points[0].case.network}: {points[0].case.target}", fontsize="small")
        axes.ticklabel_format(useOffset=False)
        axes.tick_params(labelsize="x-small")
        axes.grid(visible=True, alpha=0.3)
    grid[0, 0].legend(fontsize="x-small")
    figure.supxlabel("threshold", fontsize="small")
    figure.supylabel("expected agreement", fontsize="small")
    figure.savefig(path, dpi=80)
    plt.close(figure)
