"""How sensitive a posterior is to a number of a network, beside pyAgrum's posteriors of moved networks."""

from __future__ import annotations

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.inference.sampling import sample_states
from unswayed.model.adapters import to_pyagrum
from unswayed.model.formats import read_network
from unswayed.reasons.case import explained_decision
from unswayed.reasons.sensitivity import all_intervals, class_slopes, co_variation, network_at

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")

CASES = {"asia": ("lung", "yes"), "alarm": ("LVFAILURE", "TRUE"), "insurance": ("Theft", "True")}
STEP = 1e-5


def posterior_by_peer(network, target, evidence):
    engine = gum.LazyPropagation(to_pyagrum(network))
    engine.setEvidence({network.variables[v].name: s for v, s in evidence.items()})
    engine.makeInference()
    return engine.posterior(target).toarray()


@needs_shared_data
@pytest.mark.parametrize("name", CASES)
def test_slopes_and_ends_agree_with_differences_by_pyagrum(name):
    target, positive = CASES[name]
    network = read_network(SHARED / "networks" / f"{name}.bif")
    rng = np.random.default_rng(5)
    states = sample_states(network, 1, {}, rng)[0]
    place = network.index(target)
    leaves = [v for v in range(len(network)) if not network.children[v] and v != place][:6]
    evidence = {network.variables[v].name: network.variables[v].states[states[v]] for v in leaves}
    classifier = Classifier(network, target, None, ThresholdRule(positive, 0.3))
    explained = explained_decision(make_problem(classifier, evidence))
    now, slopes = class_slopes(explained)
    intervals = [each for each in all_intervals(explained) if 0.01 < each.value < 0.99]
    observed = explained.problem.evidence
    for each in (intervals[i] for i in rng.choice(len(intervals), 12, replace=False)):
        moved = [
            posterior_by_peer(network_at(network, each, each.value + step), target, observed)
            for step in (-STEP, STEP)
        ]
        slope = slopes[each.variable][:, each.row]
        shares = co_variation(network.cpts[each.variable].table)[each.row, each.state]
        change = slope[:, each.state] - (slope * shares).sum(axis=1)
        ours = (change * now.sum() - now * change.sum()) / now.sum() ** 2
        np.testing.assert_allclose(ours, (moved[1] - moved[0]) / (2 * STEP), atol=1e-6)
    turning = sorted((e for e in intervals if np.isfinite(e.slack)), key=lambda e: e.slack)[:3]
    upper = network.variable(target).index(positive)
    for each in turning:
        for end in (each.low, each.high):
            if 0.0 < end < 1.0:
                answer = posterior_by_peer(network_at(network, each, end), target, observed)
                assert answer[upper] == pytest.approx(0.3, abs=1e-6)
