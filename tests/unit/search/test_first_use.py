"""On a machine where nothing is compiled yet: searches begin at once, limits on time hold, nothing is left.

Every question here is asked by a process of its own with an empty folder for compiled code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import unswayed
from forms import keep_plain
from unswayed import LimitError, Limits
from unswayed.api import trim
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.zoo import random_naive_bayes

SCRIPT = """
import json, sys, time
import numpy as np
from unswayed.api import trim
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.kernels import jit
from unswayed.model.zoo import random_naive_bayes

n_features, budget, max_seconds = json.loads(sys.argv[1])
network = random_naive_bayes(n_features, np.random.default_rng(1))
classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
said = []
started = time.process_time()
with jit.announce_compiling(said.append):
    found = trim(classifier, budget=budget, limits=Limits(max_seconds=max_seconds)).selection
seconds = time.process_time() - started
children = [child.pid for child in jit._started().values()]
print(json.dumps([seconds, list(found.kept), found.value, found.upper_bound, found.optimal, said, children]))
"""


def classifier_of(n_features):
    network = random_naive_bayes(n_features, np.random.default_rng(1))
    return Classifier(network, "C", None, ThresholdRule("s0", 0.5))


def search_first(folder, n_features, budget, max_seconds):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    asked = [sys.executable, "-c", SCRIPT, json.dumps([n_features, budget, max_seconds])]
    done = subprocess.run(asked, env=environment, stdout=subprocess.PIPE, check=True, timeout=240)
    return json.loads(done.stdout)


def test_the_first_search_is_over_before_anything_would_be_compiled(tmp_path):
    """Loops over grids take 14 seconds to compile; this search, without them, about one."""
    seconds, kept, value, upper_bound, optimal, _, _ = search_first(tmp_path, 22, 7, None)
    assert seconds < 3.0
    assert optimal
    by_table = unswayed.maa(classifier_of(22), kept=kept, engine="dense")
    assert value == pytest.approx(by_table.value, abs=1e-9)
    assert value == pytest.approx(upper_bound, abs=1e-9)
    assert value == pytest.approx(
        trim(classifier_of(22), budget=7, method="exhaustive").selection.value, abs=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [46, 100, 300])
def test_a_limit_on_time_holds_for_any_number_of_features(tmp_path, n_features):
    """Features within the budget come back, and the agreement said of them is one that they have."""
    budget, max_seconds = n_features // 3, 2.0
    seconds, kept, value, upper_bound, *_ = search_first(tmp_path, n_features, budget, max_seconds)
    assert seconds < max_seconds + 1.0
    assert len(kept) <= budget
    assert value <= upper_bound <= 1.0
    certified = unswayed.maa(classifier_of(n_features), kept=kept, tolerance=1e-3)
    assert certified.low - 1e-3 <= value <= certified.high + 1e-9


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_process_that_compiles_ends_with_the_one_that_started_it(tmp_path):
    *_, said, children = search_first(tmp_path, 100, 33, 3.0)
    assert said == ["compiling (once), in the background"]
    (child,) = children
    end = time.monotonic() + 5.0
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(child)
    assert all(file.suffix == ".kernel" for file in tmp_path.rglob("*") if file.is_file())


def is_running(number):
    status = Path(f"/proc/{number}/stat")
    if not status.exists():
        return False
    return status.read_text().rpartition(")")[2].split()[0] != "Z"  # it may wait to be buried


COMMANDS = {
    "sdp of 46 features": "sdp(nb(46), limits=limits)",
    "ranking of 46 features": "voi(nb(46), limits=limits)",
    "frontier of 44 features": "frontier(nb(44), limits=limits)",
    "thresholds of 44 features": "api.thresholds(nb(44), budget=14, limits=limits)",
    "plan of 24 features": "plan(nb(24), limits=limits)",
}
ASKING = """
import sys, time
import numpy as np
from unswayed import *
from unswayed import api
from unswayed.model.zoo import random_naive_bayes

def nb(n):
    return Classifier(random_naive_bayes(n, np.random.default_rng(n)), "C", None, ThresholdRule("s0", 0.5))

limits = Limits(max_seconds=2.0)
started = time.process_time()
eval(sys.argv[1])
print(time.process_time() - started)
"""


@pytest.mark.slow
@pytest.mark.parametrize("question", COMMANDS.values(), ids=COMMANDS)
def test_the_first_question_of_a_machine_keeps_to_its_limit(tmp_path, question):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", ASKING, question]
    done = subprocess.run(asked, env=environment, stdout=subprocess.PIPE, check=True, timeout=240)
    assert float(done.stdout) < 3.2


def test_a_named_engine_refuses_what_it_has_no_time_for(monkeypatch):
    """Where nothing is compiled, lists of 44 features take seconds; another engine has an answer."""
    keep_plain(monkeypatch)
    limits = Limits(max_seconds=1.0)
    with pytest.raises(LimitError, match=r"takes about .* s, over the limit of 1 s"):
        unswayed.sdp(classifier_of(44), engine="weights", limits=limits)
    with pytest.raises(LimitError, match=r"'dense' takes about .* s, over the limit of 0.01 s"):
        unswayed.sdp(classifier_of(22), engine="dense", limits=Limits(max_seconds=0.01))
    measured = unswayed.sdp(classifier_of(44), limits=limits)
    assert measured.high - measured.low <= 1e-3


def test_thresholds_share_a_limit_on_time():
    """Those that there is no time for are left out; what is left is what a search without a limit finds."""
    whole = unswayed.thresholds(classifier_of(12), budget=3)
    cut = unswayed.thresholds(classifier_of(12), budget=3, limits=Limits(max_seconds=1e-6))
    assert 1 <= len(cut.thresholds) < len(whole.thresholds) == 9
    assert set(cut.thresholds) <= set(whole.thresholds)
    assert list(cut.thresholds) == sorted(cut.thresholds)
    assert sorted((*cut.thresholds, *cut.left_out)) == list(whole.thresholds)
    assert "There was no time for" in str(cut)
