"""Promises of the true distribution are kept, and a safe level holds as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from unswayed import Classifier
from unswayed.api.promises import LEVELS, lowest_safe_level, promise, safe_level
from unswayed.inference.sampling import sample_states
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes


def _true_rows(classifier: Classifier, count: int, rng: np.random.Generator) -> dict[str, list[str]]:
    network = classifier.network
    states = sample_states(network, count, {}, rng)
    places = {name: network.index(name) for name in (*classifier.features, classifier.target)}
    return {n: [network.variable(n).states[s] for s in states[:, place]] for n, place in places.items()}


def _random_classifier(seed: int) -> Classifier:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    network = random_naive_bayes(n, rng) if seed % 2 else random_bounded_treewidth(n, 2, rng)
    target = network.variables[0]
    return Classifier(network, target.name, threshold=float(rng.uniform(0.2, 0.8)), positive=target.states[0])


def _z_of_kept(seeds: range) -> float:
    """How far what was kept lies from what was promised, over many networks, in standard deviations."""
    promised = kept = variance = 0.0
    for seed in seeds:
        classifier = _random_classifier(seed)
        rng = np.random.default_rng((seed, 1))
        found = promise(classifier, _true_rows(classifier, 60, rng), missing=0.5, rng=rng)
        promised += found.sdp.sum()
        kept += found.kept.sum()
        variance += (found.sdp * (1.0 - found.sdp)).sum()
    return float((kept - promised) / np.sqrt(variance))


def test_promises_of_the_true_distribution_are_kept() -> None:
    """Given what is observed, the decision stays with exactly its SDP; sums over rows are nearly normal."""
    assert abs(_z_of_kept(range(30))) < 4.0


@pytest.mark.slow
def test_promises_of_a_thousand_true_distributions_are_kept() -> None:
    assert abs(_z_of_kept(range(1_000))) < 4.0


def test_a_safe_level_holds_with_its_confidence() -> None:
    """Rows whose promises are too bold: the level found changes too many in at most 5% of tables."""
    rng = np.random.default_rng(7)

    def kept_share(sdp: np.ndarray) -> np.ndarray:  # what is promised 0.95 is kept 0.92 of the time
        return np.clip(sdp - 0.6 * (1.0 - sdp), 0.0, 1.0)

    population = rng.beta(6.0, 0.6, size=200_000)
    risk = {level: 1.0 - kept_share(population[population >= level]).mean() for level in LEVELS[1:]}
    wrong = found = 0
    trials = 400
    for _ in range(trials):
        sdp = rng.choice(population, size=800)
        kept = rng.random(800) < kept_share(sdp)
        level = lowest_safe_level(sdp, kept, at_most=0.05, confidence=0.95)
        found += level is not None
        wrong += level is not None and level < 1.0 and risk[level] > 0.05
    assert wrong <= binom.ppf(0.999, trials, 0.05)
    assert found > 0.9 * trials  # and it is of use


def test_no_level_is_found_where_decisions_change_at_random() -> None:
    rng = np.random.default_rng(3)
    levels = [
        lowest_safe_level(rng.uniform(0.9, 1.0, 300), rng.random(300) < 0.8, at_most=0.05, confidence=0.95)
        for _ in range(50)
    ]
    assert levels.count(None) >= 45


def test_a_safe_level_is_told_with_its_rows() -> None:
    classifier = _random_classifier(3)
    rows = _true_rows(classifier, 600, np.random.default_rng(0))
    found = safe_level(classifier, rows, at_most=0.1, missing=0.3)
    assert found.level is not None
    assert found.counted.n_rows - found.counted.n_kept <= 0.1 * found.counted.n_rows
    above = found.promise.sdp >= found.level - 1e-9
    assert found.counted.n_rows == int(above.sum())


def test_outcomes_are_counted_beside_promises() -> None:
    classifier = _random_classifier(5)
    rows = _true_rows(classifier, 200, np.random.default_rng(1))
    found = promise(classifier, rows, missing=0.0, outcome=classifier.target)
    positive = classifier.actions[0]
    truth = [
        state == classifier.network.variable(classifier.target).states[0] for state in rows[classifier.target]
    ]
    right = [
        (action == positive) == true for action, true in zip(classifier.predict(rows), truth, strict=True)
    ]
    assert found.accuracy == pytest.approx(np.mean(right))
    assert found.every.n_kept == found.every.n_rows == 200  # nothing is hidden
