"""Worker processes: limits, interrupts, deaths; whatever happens, the next job is answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pytest

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.io.vtree import tree_lines
from unswayed.circuits.libsdd import builder as building, client
from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.libsdd.client import run_in_worker, run_job
from unswayed.circuits.libsdd.program import CircuitProgram, Report, run_here
from unswayed.circuits.libsdd.worker import Operation
from unswayed.circuits.sdd.evaluate import model_count
from unswayed.circuits.vtree import balanced, right_linear
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, SolverError
from unswayed.core.limits import Limits

pytest.importorskip("pysdd")

TRUE_PROGRAM = CircuitProgram(2, 0, np.array([(Operation.TRUE, 0, 0)]), (0,))


def hard_formula():
    """Random clauses over a vtree that does not suit them: libsdd fills any memory in a few seconds."""
    rng = np.random.default_rng(0)
    clauses = rng.integers(1, 121, (300, 3)) * rng.choice([-1, 1], (300, 3))
    return Cnf([f"x{i}" for i in range(120)], clauses.tolist())


def assert_answers():
    """A worker answers a job."""
    (sdd,) = run_in_worker(TRUE_PROGRAM, balanced("AB"))
    assert model_count(sdd) == 4


def test_time_is_a_hard_limit():
    began = time.monotonic()
    with (
        pytest.raises(LimitError, match=r"before (compiling the circuit|combining circuits) was done"),
        within(Limits(max_seconds=0.5)),
    ):
        compile_cnf(hard_formula())
    assert time.monotonic() - began < 5
    assert_answers()


def test_memory_is_a_hard_limit():
    with (
        pytest.raises(LimitError, match="more memory than the limit of 100 MB"),
        within(Limits(max_bytes=100_000_000, max_seconds=60)),
    ):
        compile_cnf(hard_formula())
    assert_answers()


@pytest.fixture
def interrupts():
    """Ctrl-C raises, also where the tests were started with interrupts ignored (`nohup`)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_wait_and_the_worker():
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt), within(Limits(max_seconds=60)):
        compile_cnf(hard_formula())
    timer.join(timeout=60)
    assert_answers()


def test_a_killed_worker_leaves_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LimitError), within(Limits(max_seconds=0.5)):
        compile_cnf(hard_formula())
    assert list(tmp_path.iterdir()) == []


def test_progress_is_reported_while_libsdd_works():
    reports: list[Report] = []
    with pytest.raises(LimitError), within(Limits(max_seconds=1.5)):
        compile_cnf(hard_formula(), progress=reports.append)
    assert reports
    assert all(0 < report.done <= report.total and report.size > 0 for report in reports)


def test_an_error_in_the_progress_callback_ends_the_job():
    def fail(report):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), within(Limits(max_seconds=60)):
        compile_cnf(hard_formula(), progress=fail)
    assert_answers()


def test_a_worker_killed_from_outside_is_told_from_an_answer(monkeypatch):
    """A system that runs out of memory kills whom it likes."""
    monkeypatch.setattr(client, "_wait", lambda process, *args: process.kill() or process.wait(timeout=60))
    with pytest.raises(LimitError, match="more memory than the limit"):
        assert_answers()
    monkeypatch.undo()
    assert_answers()


def test_when_libsdd_ends_its_process_ours_goes_on(tmp_path):
    """A vtree that libsdd refuses by ending the process; through our functions it cannot be sent."""
    (tmp_path / "start.vtree").write_bytes(b"vtree 3\nL 0 1\n")
    with pytest.raises(SolverError, match=r"libsdd ended with code 1 .*parse error.*nothing else is lost"):
        run_job(TRUE_PROGRAM, tmp_path)
    assert_answers()


def test_when_libsdd_crashes_ours_goes_on(tmp_path):
    """A constant for a prime: libsdd follows a pointer to nowhere."""
    load = CircuitProgram(2, 1, np.array([(Operation.LOAD, 0, 0)]), (0,))
    (tmp_path / "start.vtree").write_bytes(b"vtree 3\nL 0 1\nL 2 2\nI 1 0 2\n")
    (tmp_path / "loaded-0.sdd").write_bytes(b"sdd 3\nT 0\nL 1 2 2\nD 2 1 1 0 1\n")
    with pytest.raises(SolverError, match="libsdd ended with code -"):
        run_job(load, tmp_path)
    assert_answers()


def test_without_pysdd_everything_but_minimising_runs_here(monkeypatch):
    monkeypatch.setattr(building, "find_spec", lambda name: None)
    builder = SddBuilder(balanced("ABC"))
    register = builder.disjoin([builder.literal(1), builder.literal(-3)])
    reports: list[Report] = []
    (sdd,) = builder.build([register], progress=reports.append)
    assert model_count(sdd) == 6
    assert reports[-1].done == reports[-1].total
    builder.minimize(1)
    with pytest.raises(SolverError, match=r"pip install 'pysdd>=.*'circuits'"):
        builder.build([register])


def test_a_worker_without_pysdd_says_what_to_install(monkeypatch):
    monkeypatch.setattr(client, "find_spec", lambda name: None)
    with pytest.raises(SolverError, match=r"pip install 'pysdd>=.*'circuits'"):
        assert_answers()


def test_deep_vtrees_run_here_and_there():
    n_variables = 3000
    vtree = right_linear([f"x{i}" for i in range(n_variables)])
    cnf = Cnf(vtree.names, [(i, i + 1) for i in range(1, n_variables)])
    builder = SddBuilder(vtree)
    last = builder.constant(True)
    for clause in reversed(cnf.clauses):
        last = builder.conjoin([builder.clause(clause), last])
    program = builder.program([last, builder.negate(last)])
    here = run_here(program, vtree)
    there = run_in_worker(program, vtree)
    for ours, theirs in zip(here, there, strict=True):
        assert ours.n_elements == theirs.n_elements
        assert model_count(ours) == model_count(theirs)
    assert model_count(here[0]) + model_count(here[1]) == 2**n_variables


def test_limits_hold_here_as_well():
    cnf = hard_formula()
    builder = SddBuilder(balanced(cnf.names))
    program = builder.program([builder.conjoin([builder.clause(clause) for clause in cnf.clauses])])
    with (
        pytest.raises(LimitError, match="before combining circuits was done"),
        within(Limits(max_seconds=0.3)),
    ):
        run_here(program, builder.vtree)
    with pytest.raises(LimitError, match="elements or more needs about"), within(Limits(max_bytes=10**6)):
        run_here(program, builder.vtree)


def test_no_worker_outlives_its_parent():
    """A process that has asked leaves nothing behind and prints nothing."""
    script = (
        "import subprocess\n"
        "from unswayed.circuits.libsdd import client\n"
        "from unswayed.circuits.libsdd.program import CircuitProgram\n"
        "from unswayed.circuits.vtree import balanced\n"
        "started = []\n"
        "class Noted(subprocess.Popen):\n"
        "    def __init__(self, *args, **options):\n"
        "        super().__init__(*args, **options)\n"
        "        started.append(self.pid)\n"
        "subprocess.Popen = Noted\n"
        "client.run_in_worker(CircuitProgram(2, 0, [[1, 0, 0]], (0,)), balanced('AB'))\n"
        "print(*started)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_the_lines_of_a_vtree_are_what_the_worker_reads():
    assert tree_lines(balanced("AB")) == ["vtree 3", "L 0 1", "L 2 2", "I 1 0 2"]
