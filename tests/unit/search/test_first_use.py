"""On a machine where nothing is compiled yet, a limit on time holds, and compiling goes on beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from unswayed.api import maximum_achievable_agreement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.zoo import random_naive_bayes

N_FEATURES, BUDGET, SECONDS = 22, 7, 3.0
SCRIPT = f"""
import json, time
import numpy as np
from unswayed.api import trim
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.kernels import jit
from unswayed.model.zoo import random_naive_bayes

network = random_naive_bayes({N_FEATURES}, np.random.default_rng(1))
classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
said = []
started = time.monotonic()
with jit.announce_compiling(said.append):
    found = trim(classifier, {BUDGET}, limits=Limits(max_seconds={SECONDS})).selection
seconds = time.monotonic() - started
for child in jit._started().values():
    child.kill()
    child.wait()
print(json.dumps([seconds, list(found.kept), found.value, found.upper_bound, found.optimal, said]))
"""


@pytest.mark.slow
def test_the_first_search_of_a_machine_keeps_to_its_limit(tmp_path):
    """Without compiled code: features within the budget, their agreement exact, nothing claimed of others."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True)
    seconds, kept, value, upper_bound, optimal, said = json.loads(done.stdout)
    assert seconds < 2.0 * SECONDS  # two at a time on a busy machine
    assert len(kept) == BUDGET
    assert value <= upper_bound == 1.0
    assert not optimal
    assert said == ["compiling (once), in the background"]
    network = random_naive_bayes(N_FEATURES, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    by_table = maximum_achievable_agreement(classifier, kept, engine="dense")
    assert value == pytest.approx(by_table.value, abs=1e-9)
