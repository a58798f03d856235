"""Choosing by samples: the interval holds the exact agreement of what was chosen."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import unswayed
from unswayed import Classifier, LimitError, Limits, MostProbable, QueryError, ThresholdRule
from unswayed.decisions.rules import UtilityRule
from unswayed.engines import sampling
from unswayed.model.zoo import random_bounded_treewidth
from unswayed.search import plan, sampled_choice

SMALL = Limits(max_bytes=20_000)
"""Too little for a table of the features, enough for posteriors."""


@pytest.fixture(autouse=True)
def free_samples(monkeypatch):
    """Samples take more memory than the tables of these few features: let them count for nothing."""
    monkeypatch.setattr(sampling, "BYTES_PER_STATE", 0.0)


def classifier(seed: int, rule=None) -> Classifier:
    network = random_bounded_treewidth(14, 2, np.random.default_rng(seed))
    target = network.names[0]
    rule = rule or ThresholdRule(network.variable(target).states[0], 0.4)
    return Classifier(network, target, network.names[1:11], rule)


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_holds_the_exact_agreement_of_the_trimming(seed):
    full = classifier(seed)
    found = unswayed.trim(full, budget=3, limits=SMALL, allow_estimates=True)
    low, high = found.selection.interval
    exact = unswayed.eca(full, kept=found.selection.kept, new_threshold=found.classifier.rule.threshold).value
    best = unswayed.trim(full, budget=3).selection.value
    assert low <= exact <= high
    assert exact >= best - 0.05
    assert low <= best
    assert (found.selection.engine, found.selection.optimal) == ("sampling", False)
    assert found.selection.cost <= 3


@pytest.mark.parametrize("seed", range(2))
def test_the_interval_holds_the_exact_agreement_of_the_selection(seed):
    full = classifier(seed, MostProbable())
    chosen = unswayed.select(
        full, budget=3, costs={full.features[0]: 2.5}, limits=SMALL, allow_estimates=True
    )
    low, high = chosen.interval
    exact = unswayed.esdp(full, kept=chosen.kept).value
    assert low <= exact <= high
    assert chosen.cost <= 3


def test_estimates_must_be_allowed():
    with pytest.raises(LimitError, match="allow_estimates=True"):
        unswayed.trim(classifier(0), budget=3, limits=SMALL)


def test_what_is_in_reach_is_not_estimated():
    found = unswayed.trim(classifier(0), budget=3, allow_estimates=True)
    assert found.selection.interval is None
    assert found.selection.optimal


def test_a_rule_without_threshold_is_kept():
    network = classifier(1).network
    target = network.names[0]
    first, second = network.variable(target).states[:2]
    rule = UtilityRule({"act": {first: 2.0, second: -1.0}, "wait": {first: 0.0, second: 0.0}})
    found = unswayed.trim(classifier(1, rule), budget=2, limits=SMALL, allow_estimates=True)
    assert found.classifier.rule == rule
    assert found.threshold_interval is None


@pytest.mark.parametrize("seed", range(3))
def test_when_time_is_over_few_samples_say_what_they_can(seed):
    limits = Limits(max_bytes=20_000, max_seconds=1e-6)
    found = unswayed.trim(classifier(seed), budget=3, limits=limits, allow_estimates=True)
    low, high = found.selection.interval
    assert len(found.kept) <= 3
    assert not found.selection.optimal
    threshold = found.classifier.rule.threshold
    exact = unswayed.eca(classifier(seed), kept=found.kept, new_threshold=threshold)
    assert low <= exact.value <= high


@pytest.mark.parametrize("options", [{}, {"allow_estimates": True, "limits": SMALL}])
@pytest.mark.parametrize("kind", ["threads", "own"])
def test_helpers_change_no_choice(kind, options, monkeypatch):
    """Swaps are taken in the order of one process, whoever values them; certified by sums or not."""
    full = classifier(2)
    if not options:
        monkeypatch.setattr(plan, "LARGEST_TABLE", 2.0)
    alone = unswayed.trim(full, budget=4, **options)
    assert alone.selection.engine == ("sampling" if options else "sums")
    monkeypatch.setattr(sampled_choice, "ALONE_UNITS", -1.0)
    monkeypatch.setattr(sampled_choice, "BATCH", 3)
    calls = []
    with ThreadPoolExecutor(2) as threads:
        submit = threads.submit
        monkeypatch.setattr(threads, "submit", lambda *call: calls.append(call) or submit(*call))
        team = {"threads": {"executor": threads}, "own": {"jobs": 2}}[kind]
        together = unswayed.trim(full, budget=4, **options, **team)
    assert kind == "own" or any(arguments[0] for _, _, _, _, arguments, *_ in calls)
    assert (together.kept, together.selection.value) == (alone.kept, alone.selection.value)
    assert together.selection.interval == alone.selection.interval


def test_a_choice_on_samples_keeps_no_checkpoint(tmp_path):
    with pytest.raises(QueryError, match="chosen on samples"):
        unswayed.trim(
            classifier(0), budget=3, limits=SMALL, allow_estimates=True, checkpoint=tmp_path / "c.json"
        )


def test_other_methods_refuse_helpers():
    with pytest.raises(QueryError, match="'greedy' works in one process"):
        unswayed.trim(classifier(0), budget=3, method="greedy", jobs=2)
