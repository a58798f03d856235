"""All leaves as features, on five general networks: exactly where a table holds them, else by samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import unswayed
from benchmarks.papers.choi2017.networks import leaves, network_of, roots
from unswayed.api import trim
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule

NETWORKS = ("alarm", "win95pts", "tcc4e", "emdec6g", "diagnose")
DRAWS = 3
THRESHOLD = 0.5
MOST_DRAWS = 30
"""Roots looked at before giving up on finding three that the leaves can change."""


@dataclass(frozen=True, slots=True)
class Row:
    """One network with one root as the class."""

    network: str
    target: str
    n_leaves: int
    kept: tuple[str, ...]
    agreement: float
    interval: tuple[float, float] | None
    """Of an estimate."""
    nothing: float
    """Agreement without observing anything, the same-decision probability."""
    seconds: float


def measure() -> Iterator[Row]:
    """Up to three roots of each network, among those that the leaves decide differently now and then."""
    for name in NETWORKS:
        network, rng, found = network_of(name), np.random.default_rng(1), 0
        for target in map(str, rng.permutation(roots(network))[:MOST_DRAWS]):
            features = leaves(network)
            rule = ThresholdRule(network.variable(target).states[0], THRESHOLD)
            classifier = Classifier(network, target, features, rule)
            nothing = unswayed.esdp(classifier, kept=(), allow_estimates=True).value
            if nothing > 0.999:
                continue
            yield _row(name, classifier, nothing)
            found += 1
            if found == DRAWS:
                break


def _row(name: str, classifier: Classifier, nothing: float) -> Row:
    started = time.perf_counter()
    found = trim(classifier, budget=len(classifier.features) // 3, allow_estimates=True).selection
    return Row(
        name,
        classifier.target,
        len(classifier.features),
        found.kept,
        found.value,
        found.interval,
        nothing,
        time.perf_counter() - started,
    )
