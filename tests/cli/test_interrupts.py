"""Ctrl-C on the command line: the best so far within two seconds, or nothing and 130; no process stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import unswayed
from cli.test_interrupted_plans import processes_of, tan_of_forty, wait_until_empty
from unswayed.cli.interrupts import PATIENT_SECONDS, heeding_interrupts, waiting_for_a_person
from unswayed.core.anytime import BudgetSpent, settle, tick
from unswayed.model.zoo import random_naive_bayes

PROMPT = 2.0 + PATIENT_SECONDS
"""Seconds within which all must end on a machine that does other things, too."""


@pytest.fixture(autouse=True)
def ordinary_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores them
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_interrupt_stops_the_budget_and_the_second_is_ordinary():
    with heeding_interrupts() as budget:
        signal.raise_signal(signal.SIGINT)
        assert budget.stopped
        with pytest.raises(BudgetSpent):
            tick()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_stream_that_is_interrupted_gives_its_best():
    def states():
        yield 1
        signal.raise_signal(signal.SIGINT)
        yield 2
        yield 3

    with heeding_interrupts():
        assert settle(states()).last == 2


def test_what_does_not_hear_of_it_is_interrupted_a_moment_later(monkeypatch):
    monkeypatch.setattr("unswayed.cli.interrupts.PATIENT_SECONDS", 0.05)
    with heeding_interrupts():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(30)


def test_who_waits_for_an_answer_is_interrupted_at_once():
    with heeding_interrupts() as budget, waiting_for_a_person(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not budget.stopped


def test_interrupts_that_were_ignored_stay_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with heeding_interrupts() as budget, waiting_for_a_person():
        signal.raise_signal(signal.SIGINT)
    assert not budget.stopped


def test_handlers_are_as_before_afterwards():
    with heeding_interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


COMMANDS = {
    "sdp": ["sdp", "NAIVE", "--target", "C=s0", "--features", "all", "--engine", "depth_first"],
    "trim": ["trim", "NAIVE", "--target", "C=s0", "--features", "all", "--budget", "20"],
    "frontier": ["frontier", "NAIVE", "--target", "C=s0", "--features", "all"],
    "report": ["report", "NETWORK", "--target", "C=c0", "--features", "all", "-o", "OUT"],
    "plan": ["plan", "NETWORK", "--target", "C=c0", "--features", "all"],
}


@pytest.mark.slow
@pytest.mark.parametrize("to_group", [False, True], ids=["parent", "group"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_interrupted_ends_soon_and_leaves_nothing_behind(command, to_group, tmp_path):
    networks = {"NETWORK": tan_of_forty(), "NAIVE": random_naive_bayes(60, np.random.default_rng(1))}
    words = {"OUT": str(tmp_path / "report.html")}
    for name, network in networks.items():
        words[name] = str(tmp_path / f"{name}.bif")
        unswayed.write_network(network, words[name])
    process = subprocess.Popen(
        [sys.executable, "-m", "unswayed", *(words.get(word, word) for word in COMMANDS[command])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        try:
            process.wait(timeout=4.0)
        except subprocess.TimeoutExpired:
            (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
            assert wait_until_empty(process.pid, 60.0) < PROMPT
        assert process.wait(timeout=60.0) in (0, 130)
        assert b"Traceback" not in process.stderr.read()
        assert not processes_of(process.pid)
    finally:
        wait_until_empty(process.pid, 0.0)
        process.communicate(timeout=60.0)
