"""Ctrl-C and limits on time where single steps are long: all ends soon, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import unswayed
from dependent_cases import random_tree
from unswayed.model.zoo import random_naive_bayes

pytestmark = pytest.mark.slow

SETTLING, PROMPT, PATIENT = 6.0, 2.0, 90.0
"""Seconds before the signal, within which all must end after it, and after which it is ended by force."""
SECONDS = 3.0


def tan_of_forty():
    """A tree of forty features of three states."""
    return random_tree(np.random.default_rng(40), 40, sizes=(3, 4))


def naive_bayes_of_24():
    """Twenty-four independent features."""
    return random_naive_bayes(24, np.random.default_rng(24), max_states=3)


def processes_of(group: int) -> list[int]:
    """The processes of a group that live, by the system's own list."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, timeout=30
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [int(pid) for pid, own, state in rows if int(own) == group and not state.startswith("Z")]


def wait_until_empty(group: int, seconds: float) -> float:
    """How long it took until no process of the group lived; those that still live then are killed."""
    began = time.monotonic()
    while processes_of(group) and time.monotonic() - began < seconds:
        time.sleep(0.1)
    took = time.monotonic() - began
    if processes_of(group):
        os.killpg(group, signal.SIGKILL)
    return took


@pytest.mark.parametrize("to_group", [False, True], ids=["parent", "group"])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("make", [tan_of_forty, naive_bayes_of_24])
def test_an_interrupted_plan_ends_with_all_its_processes(make, jobs, to_group, tmp_path):
    network, path = make(), tmp_path / "network.bif"
    unswayed.write_network(network, path)
    target = f"C={network.variable('C').states[0]}"
    asked = ["plan", path, "--target", target, "--features", "all", "--jobs", str(jobs)]
    process = subprocess.Popen(
        [sys.executable, "-m", "unswayed", *map(str, asked)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # its own group, whose processes are counted afterwards
        # A test run in the background ignores Ctrl-C, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):  # the plan is still being searched
            process.wait(timeout=SETTLING)
        (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
        took = wait_until_empty(process.pid, PATIENT)
        assert took < PROMPT
        assert process.wait(timeout=PATIENT) in (0, 130)
    finally:
        wait_until_empty(process.pid, 0.0)
        process.wait(timeout=PATIENT)


SCRIPT = """
import sys, time
import unswayed
network = unswayed.read_network(sys.argv[1])
classifier = unswayed.Classifier(network, "C", threshold=0.5, positive=network.variable("C").states[0])
features = [name for name in network.names if name != "C"]
rows = unswayed.sample(network, 20, rng=3)
table = {v.name: [v.states[code] if i % 3 else None for code in rows.codes[:, i]]
         for i, v in enumerate(rows.variables) if v.name != "C"}
findings = {name: values[0] for name, values in table.items() if values[0] is not None}
limits = unswayed.Limits(max_seconds=float(sys.argv[3]))
began = time.monotonic()
if sys.argv[2] == "plan":
    unswayed.plan(classifier, limits=limits)
elif sys.argv[2] == "why":
    unswayed.why(classifier, findings, limits=limits)
else:
    unswayed.audit(classifier, table, limits=limits)
print(time.monotonic() - began)
"""


@pytest.mark.parametrize(
    ("verb", "make"),
    [
        ("plan", tan_of_forty),
        ("plan", naive_bayes_of_24),
        ("why", tan_of_forty),
        ("audit", tan_of_forty),
    ],
)
def test_a_limit_on_time_is_kept(verb, make, tmp_path):
    path = tmp_path / "network.bif"
    unswayed.write_network(make(), path)
    asked = [sys.executable, "-c", SCRIPT, str(path), verb, str(SECONDS)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENT, check=True)
    assert float(done.stdout) < 2 * SECONDS
