"""FS-SDD in its three variants, and a brute force with jointree posteriors, as in [choi2017, Tables 5 and 6].

Times are processor seconds of this process, in which all of it runs: other work on the machine does not
count.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np

import unswayed
from benchmarks.papers.choi2017.networks import naive_classifier, network_of, roots
from benchmarks.papers.choi2017.times import MOST_KEPT, drawn_classifiers
from unswayed.api import Method, Selection
from unswayed.circuits.networks.compiled import compile_network
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement
from unswayed.decisions.profile import profile_from_masses
from unswayed.search.options import CircuitVariant

MOST_BYTES = 2**31
"""Beyond this a circuit is not compiled."""
Clocked = tuple[float, float]
"""Processor seconds, and the value found."""


def fs_sdd(
    classifier: Classifier, budget: float, variant: CircuitVariant, max_seconds: float
) -> tuple[Selection, float] | None:
    """What FS-SDD finds and the processor seconds it takes; None when it is not done in time."""
    started = time.process_time()
    try:
        found = unswayed.select(
            classifier,
            budget=budget,
            method=Method.FS_SDD,
            variant=variant,
            limits=Limits(max_seconds=max_seconds, max_bytes=MOST_BYTES),
        )
    except LimitError:
        return None
    return (found, time.process_time() - started) if found.optimal else None


def on_naive(name: str, variant: CircuitVariant, max_seconds: float) -> Clocked | None:
    """A third of the features at threshold .5; None when it is not done in time."""
    network = network_of(name)
    done = fs_sdd(naive_classifier(network, 0.5), (len(network) - 1) // 3, variant, max_seconds)
    return None if done is None else (done[1], done[0].value)


def recompiling_on_naive(name: str) -> float | None:
    """Seconds of compiling for every subset, as one compilation times the subsets; None if too large."""
    network = network_of(name)
    features = [each for each in network.names if each not in roots(network)]
    started = time.process_time()
    try:
        with within(Limits(max_bytes=MOST_BYTES)):
            compile_network(network, constrained_to=features)
    except LimitError:
        return None
    n_subsets = sum(math.comb(len(features), k) for k in range(len(features) // 3 + 1))
    return n_subsets * (time.process_time() - started)


@dataclass(frozen=True, slots=True)
class General:
    """At most 3 of 10 features of a general network: means over draws and thresholds."""

    by_variant: dict[CircuitVariant, float]
    """Seconds of FS-SDD."""
    brute_force: float
    """Seconds of the brute force, its posteriors shared by all subsets and thresholds of a draw."""
    n_queries: float
    """Jointree queries of a brute force."""
    furthest: float
    """Largest difference between the three values and that of a table."""


def on_general(name: str, variants: tuple[CircuitVariant, ...], max_seconds: float) -> General:
    """The same draws and thresholds as for the other methods; `SystemExit` where values differ."""
    seconds: dict[CircuitVariant, list[float]] = {variant: [] for variant in variants}
    brute, queries, furthest = [], [], 0.0
    tables: dict[tuple[str, tuple[str, ...]], np.ndarray] = {}
    for classifier in drawn_classifiers(name):
        truth = unswayed.select(classifier, budget=MOST_KEPT).value
        key = (classifier.target, classifier.features)
        started = time.process_time()
        if key not in tables:
            tables[key] = jointree_table(classifier)
            queries.append(tables[key].shape[1])
            making = time.process_time() - started
        started = time.process_time()
        values = [best_of_all(classifier, tables[key], MOST_KEPT)]
        brute.append(making + time.process_time() - started)
        for variant in variants:
            done = fs_sdd(classifier, MOST_KEPT, variant, max_seconds)
            if done is None:
                raise SystemExit(f"{name}: FS-SDD {variant.value} is not done within {max_seconds:g} s")
            seconds[variant].append(done[1])
            values.append(done[0].value)
        furthest = max(furthest, *(abs(value - truth) for value in values))
    return General({v: fmean(each) for v, each in seconds.items()}, fmean(brute), fmean(queries), furthest)


def jointree_table(classifier: Classifier) -> np.ndarray:  # (classes, instantiations of the features)
    """Pr(target, features) by one jointree query for each instantiation, asked of pyAgrum."""
    import pyagrum

    from unswayed.model.adapters.pyagrum import to_pyagrum

    network = classifier.network
    inference = pyagrum.LazyPropagation(to_pyagrum(network))
    inference.setNumberOfThreads(1)
    inference.addTarget(classifier.target)
    sizes = [len(network.variable(name)) for name in classifier.features]
    table = np.zeros((len(network.variable(classifier.target)), int(np.prod(sizes))))
    for name in classifier.features:
        inference.addEvidence(name, 0)
    for column, states in enumerate(np.ndindex(*sizes)):
        for name, state in zip(classifier.features, states, strict=True):
            inference.chgEvidence(name, state)
        mass = evidence_probability(inference)
        if mass > 0:
            table[:, column] = mass * inference.posterior(classifier.target).toarray()
    return table


def evidence_probability(inference: object) -> float:
    """Pr(evidence), zero where pyAgrum calls it incompatible."""
    import pyagrum

    try:
        return float(inference.evidenceProbability())  # type: ignore[attr-defined]
    except pyagrum.IncompatibleEvidence:
        return 0.0


def best_of_all(classifier: Classifier, table: np.ndarray, most_kept: int) -> float:
    """The best expected SDP of all subsets, each valued from the table of all instantiations."""
    network, decider = classifier.network, classifier.decider
    sizes = [len(network.variable(name)) for name in classifier.features]
    n_classes = len(table)
    totals = table.sum(axis=0)
    decided = np.zeros((len(decider.actions), len(totals)))
    possible = np.flatnonzero(totals)
    decided[decider.decide(table[:, possible].T), possible] = totals[possible]
    masses = np.vstack([table, decided]).reshape(-1, *sizes) / totals.sum()
    best = 0.0
    for count in range(most_kept + 1):
        for kept in combinations(range(len(sizes)), count):
            hidden = tuple(1 + axis for axis in range(len(sizes)) if axis not in kept)
            rows = masses.sum(axis=hidden).reshape(len(masses), -1).T
            profile = profile_from_masses(rows[:, :n_classes], rows[:, n_classes:])
            best = max(best, expected_agreement(profile, decider))
    return best
