"""Where numba cannot be imported, every verb answers, and as where everything is compiled."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
is_without = sys.argv[1] == "without"
if is_without:
    sys.modules["numba"] = None  # importing it fails
import numpy as np
import unswayed
from unswayed import Classifier
from unswayed.kernels import jit
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes

if not is_without:
    jit.Kernel._pays = lambda *_: True

found = {}
networks = {"naive": random_naive_bayes(6, rng=np.random.default_rng(3)),
            "other": random_bounded_treewidth(7, 2, rng=np.random.default_rng(3))}
for name, network in networks.items():
    target = network.variables[0]
    asked = Classifier(network, target.name, threshold=0.4, positive=target.states[0])
    seen = {f: network.variable(f).states[1] for f in asked.features[:3]}
    rows = {f: [network.variable(f).states[k % 2] for k in range(5)] for f in asked.features[:4]}
    ranking = unswayed.voi(asked)
    selected, trimmed = unswayed.select(asked, budget=3), unswayed.trim(asked, budget=3)
    reasons, plan = unswayed.why(asked, evidence=seen), unswayed.plan(asked, budget=3)
    found[name] = {
        "sdp": unswayed.sdp(asked, seen).value,
        "voi": [list(ranking.features), list(ranking.values)],
        "why": [reasons.sdp.value, reasons.reason and reasons.reason.findings],
        "plan": [plan.expected_cost, plan.expected_loss, plan.optimal],
        "trim": [list(trimmed.kept), trimmed.agreement.value, trimmed.optimal],
        "select": [list(selected.kept), selected.value, selected.optimal],
        "audit": np.asarray(unswayed.audit(asked, rows).sdp).tolist(),
    }
assert not is_without or sys.modules["numba"] is None
print(json.dumps(found, default=lambda measured: measured.value))
"""
VERBS = ["sdp", "voi", "why", "plan", "trim", "select", "audit"]


def answers(how):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def both():
    return answers("without"), answers("with")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("network", ["naive", "other"])
def test_verbs_answer_without_numba_as_with_it(both, network, verb):
    without, compiled = (found[network][verb] for found in both)
    assert numbers(without) == pytest.approx(numbers(compiled), abs=1e-12)
    assert words(without) == words(compiled)


def flat(found):
    return [each for part in found for each in flat(part)] if isinstance(found, list) else [found]


def numbers(found):
    return [each for each in flat(found) if isinstance(each, float)]


def words(found):
    return [each for each in flat(found) if not isinstance(each, float)]
