"""Worker processes as the asking process sees them: started when needed, kept for later, killed when late.

A job ends in one of four ways: an answer; `LimitError` when time or memory ran out; `SolverError` when
libsdd is missing or has died; or the exception that interrupted the wait. In the last three the worker is
killed, which is the only way to stop libsdd.
"""

from __future__ import annotations

import atexit
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import IO, Any, Final

from unswayed.circuits.libsdd.exchange import CircuitJob, Failure, JobResult, Report, receive, send
from unswayed.core.anytime import bytes_allowed, tick
from unswayed.core.errors import LimitError, SolverError
from unswayed.core.extras import install_command
from unswayed.core.limits import readable_bytes
from unswayed.core.processes import child_environment

Progress = Callable[[Report], None]
"""Called now and then while a job runs."""

POLL_SECONDS = 0.05


class Worker:
    """One child process and the thread that listens to it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._is_busy = False
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        # Ours to remove: a child that is killed leaves its files behind.
        self._folder = tempfile.mkdtemp(prefix="unswayed-")
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "unswayed.circuits.libsdd.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=self._folder,
            env=child_environment(),
        )
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def is_alive(self) -> bool:
        """Whether it can take a job from this process."""
        return self._process.poll() is None and self._owner == os.getpid()

    def run(self, job: CircuitJob, progress: Progress | None) -> JobResult | Failure:
        """The worker's answer; the worker is dead afterwards unless this returns."""
        self._is_busy = True
        try:
            return self._conversation(job, progress)
        except (EOFError, BrokenPipeError):
            raise self._death() from None
        finally:
            if self._is_busy:
                self.kill()

    def _conversation(self, job: CircuitJob, progress: Progress | None) -> JobResult | Failure:
        assert self._process.stdin is not None
        send(self._process.stdin, job)
        while isinstance(message := self._next(), Report):
            if progress is not None:
                progress(message)
        self._is_busy = False
        answer: JobResult | Failure = message
        return answer

    def _next(self) -> Any:
        """The next message; waits in short turns so that an interrupt or the end of the budget is heard."""
        while True:
            tick(what="compiling the circuit")
            try:
                message = self._messages.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if message is None:
                raise EOFError
            return message

    def _listen(self) -> None:
        """Pass messages on until the child has gone; a thread, since not every system waits for pipes."""
        assert self._process.stdout is not None
        try:
            while True:
                self._messages.put(receive(self._process.stdout))
        except (EOFError, OSError, ValueError):
            self._messages.put(None)

    def _death(self) -> LimitError | SolverError:
        """What to say when the child has gone."""
        code = self._process.wait()
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "no message")
        if "alloc" in said or "MemoryError" in said or code == -signal.SIGKILL:
            return _too_large()
        return SolverError(
            f"libsdd ended with code {code} while compiling a circuit ({said[:200]}); nothing else is lost: "
            "try another vtree, or more memory with Limits(max_bytes=...)"
        )

    def kill(self) -> None:
        """End the child at once."""
        if self._owner != os.getpid():
            return  # a copy of the object in a forked process; the child is not ours
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            _close(stream)
        shutil.rmtree(self._folder, ignore_errors=True)


def _close(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:
        return  # what was still to be flushed has no reader any more


def _too_large() -> LimitError:
    return LimitError(
        f"compiling the circuit needs more memory than the limit of {readable_bytes(bytes_allowed())}; "
        "raise Limits(max_bytes=...), or choose another vtree"
    )


# Workers without a job. They keep nothing between jobs, so which one is taken changes no answer. A list's own
# `pop` and `append` are all that threads need, and unlike a lock they survive a fork.
_IDLE: Final[list[Worker]] = []


def run_job(job: CircuitJob, *, progress: Progress | None = None) -> JobResult:
    """The answer to a job from a worker process, kept from before or started.

    `LimitError` when time or memory is over, `SolverError` when libsdd is not there or has died.
    """
    worker = _idle_worker()
    outcome = worker.run(job, progress)
    _IDLE.append(worker)
    if isinstance(outcome, JobResult):
        return outcome
    if outcome.reason == "memory":
        raise _too_large()
    raise SolverError(f"PySDD is not installed; install it with: {install_command('circuits')}")


def _idle_worker() -> Worker:
    while True:
        try:
            worker = _IDLE.pop()
        except IndexError:
            return Worker()
        if worker.is_alive:
            return worker
        worker.kill()


@atexit.register
def _end_idle_workers() -> None:
    while _IDLE:
        _IDLE.pop().kill()
