"""How long the optimal selection takes, and what it finds, on naive Bayes and general networks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean

import numpy as np

import unswayed
from benchmarks.papers.choi2017.networks import THRESHOLDS, naive_classifier, network_of, roots
from unswayed.api import Method, Selection
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule

N_FEATURES = 10
MOST_KEPT = 3
DRAWS = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """One method on one network, over several thresholds or draws."""

    name: str
    n_features: int
    seconds: tuple[float, ...]
    found: tuple[Selection, ...]

    @property
    def mean_seconds(self) -> float:
        return fmean(self.seconds)

    @property
    def evaluations(self) -> float:
        return fmean(each.evaluations for each in self.found)

    @property
    def n_settled(self) -> int:
        """How often nothing need be kept."""
        return sum(not each.kept for each in self.found)

    @property
    def finished(self) -> bool:
        return all(each.optimal for each in self.found)


Search = Callable[[Classifier, float], Selection]


def by_branch_and_bound(classifier: Classifier, budget: float) -> Selection:
    """The search that is used unless told otherwise."""
    return unswayed.select(classifier, budget=budget)


def by_exhaustion(max_seconds: float) -> Search:
    """Every subset, given up after so many seconds."""

    def search(classifier: Classifier, budget: float) -> Selection:
        limits = Limits(max_seconds=max_seconds)
        return unswayed.select(classifier, budget=budget, method=Method.EXHAUSTIVE, limits=limits)

    return search


def on_naive(name: str, search: Search, thresholds: Iterable[float] = THRESHOLDS) -> Timing:
    """A third of the features, for each threshold; the clock runs from the classifier to the answer."""
    network = network_of(name)
    budget = (len(network) - 1) // 3
    return timed(name, [naive_classifier(network, t) for t in thresholds], budget, search)


def on_general(name: str, search: Search) -> Timing:
    """At most 3 of 10 features: random features and root, five draws, thresholds .1, .5 and .9."""
    return timed(name, drawn_classifiers(name), MOST_KEPT, search)


def drawn_classifiers(name: str) -> list[Classifier]:
    """Ten random features and a random root, five draws, each at thresholds .1, .5 and .9."""
    network = network_of(name)
    classifiers = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        target = str(rng.choice(roots(network)))
        others = [each for each in network.names if each != target]
        features = [others[i] for i in sorted(rng.choice(len(others), N_FEATURES, replace=False))]
        positive = network.variable(target).states[0]
        rules = [ThresholdRule(positive, t) for t in (0.1, 0.5, 0.9)]
        classifiers += [Classifier(network, target, features, rule) for rule in rules]
    return classifiers


def timed(name: str, classifiers: list[Classifier], budget: float, search: Search) -> Timing:
    """The search on each classifier, timed."""
    seconds, found = [], []
    for classifier in classifiers:
        started = time.perf_counter()
        found.append(search(classifier, budget))
        seconds.append(time.perf_counter() - started)
    return Timing(name, len(classifiers[0].features), tuple(seconds), tuple(found))


def warm_up() -> None:
    """Load what is loaded at the first use, before the clock runs."""
    on_naive("bupa", by_branch_and_bound, (0.5,))
