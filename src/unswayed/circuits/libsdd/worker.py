"""The worker: runs programs over libsdd in a process of its own.

libsdd ends the process on misuse and when memory runs out, holds Python's lock while it works, and cannot
be interrupted. Here that hurts nobody: the process that asked waits with a deadline (`client.py`) and kills
this one. Started as `python -m unswayed.circuits.libsdd.worker`, it reads jobs from its standard input and
answers on its standard output until the input ends.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from unswayed.circuits.libsdd.exchange import (
    CircuitJob,
    Failure,
    JobResult,
    Report,
    arrays_from_saved,
    receive,
    send,
)
from unswayed.circuits.libsdd.program import Operation

_SECONDS_BETWEEN_REPORTS = 0.1
_DEAD_WORTH_COLLECTING = 200_000
_STACK_BYTES = 512 * 2**20
_GRACE_SECONDS = 5
_LONGEST_ALARM = 10**8


def main() -> None:
    """Answer jobs until the input ends."""
    # Interrupts from the keyboard go to the whole group; the parent decides what becomes of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libsdd prints to standard output
    _allow_deep_recursion()
    while True:
        try:
            job = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(out, _answer_job(job, out))


def _answer_job(job: CircuitJob, out: IO[bytes]) -> JobResult | Failure:
    try:
        import pysdd.sdd
    except ImportError as error:
        return Failure("missing", str(error))
    _limit(job)
    try:
        return _Run(pysdd.sdd, job, Path.cwd(), lambda report: send(out, report)).answer()
    except MemoryError:
        return Failure("memory", "out of memory")
    finally:
        _set_alarm(0)


class _Run:
    """One job: a manager of libsdd, and the registers that hold its nodes."""

    def __init__(self, library: Any, job: CircuitJob, folder: Path, report: Callable[[Report], None]) -> None:
        self.job = job
        self.folder = folder
        self.report = report
        self.reported = time.monotonic()
        self.is_reshaped = False
        self.parent = os.getppid()
        path = self._file("start.vtree", job.vtree)
        self.manager = library.SddManager.from_vtree(library.Vtree.from_file(str(path)))
        # Left on, it moves nodes under our hands and takes minutes nobody asked for.
        self.manager.auto_gc_and_minimize_off()

    def answer(self) -> JobResult:
        """Run all instructions and export the results."""
        program = self.job.program
        registers: list[Any] = [None] * len(program)
        last = program.last_uses().tolist()
        for position, (operation, a, b) in enumerate(program.instructions.tolist()):
            registers[position] = self._step(Operation(operation), a, b, registers)
            for operand in (a, b):
                # A node without a handle may be collected.
                if 0 <= operand < position and last[operand] == position:
                    registers[operand] = None
            self._pause(position + 1)
        circuits = tuple(arrays_from_saved(self._save(registers[i])) for i in program.results)
        return JobResult(circuits, self._vtree() if self.is_reshaped else None)

    def _step(self, operation: Operation, a: int, b: int, registers: list[Any]) -> Any:
        manager = self.manager
        match operation:
            case Operation.FALSE:
                return manager.false()
            case Operation.TRUE:
                return manager.true()
            case Operation.LITERAL:
                return manager.literal(a)
            case Operation.LOAD:
                return manager.read_sdd_file(os.fsencode(self._file("loaded.sdd", self.job.loaded[a])))
            case Operation.NEGATE:
                return manager.negate(registers[a])
            case Operation.CONJOIN:
                return manager.conjoin(registers[a], registers[b])
            case Operation.DISJOIN:
                return manager.disjoin(registers[a], registers[b])
            case Operation.CONDITION:
                return manager.condition(b, registers[a])
            case Operation.FORGET:
                return manager.exists(b + 1, registers[a])
            case Operation.MINIMIZE:
                return self._minimize(a)

    def _minimize(self, seconds: int) -> None:
        # Only the limited search obeys its limits; below a second libsdd takes them for none.
        self.is_reshaped = True
        self.manager.set_vtree_search_time_limit(seconds)
        self.manager.set_vtree_fragment_time_limit(max(1, seconds // 2))
        self.manager.set_vtree_operation_time_limit(max(1, seconds // 4))
        self.manager.set_vtree_apply_time_limit(max(1, seconds // 8))
        self.manager.minimize_limited()

    def _pause(self, done: int) -> None:
        """Collect garbage and report now and then; stop when nobody is waiting."""
        if self.manager.dead_count() > max(_DEAD_WORTH_COLLECTING, self.manager.live_count()):
            self.manager.garbage_collect()
        now = time.monotonic()
        if now - self.reported >= _SECONDS_BETWEEN_REPORTS:
            self.reported = now
            self.report(Report(done, len(self.job.program), int(self.manager.live_size())))
            if os.getppid() != self.parent:
                sys.exit(1)

    def _save(self, node: Any) -> bytes:
        path = self.folder / "result.sdd"
        self.manager.save(os.fsencode(path), node)
        return path.read_bytes()

    def _vtree(self) -> bytes:
        path = self.folder / "result.vtree"
        self.manager.vtree().save(os.fsencode(path))
        return path.read_bytes()

    def _file(self, name: str, contents: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(contents)
        return path


def _limit(job: CircuitJob) -> None:
    """Bound memory from inside, and time for the case that the parent has died."""
    if job.max_seconds is not None:
        _set_alarm(math.ceil(min(job.max_seconds, _LONGEST_ALARM)) + _GRACE_SECONDS)
    try:
        import resource
    except ImportError:
        return
    used = _virtual_bytes()
    if used:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + job.max_bytes
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def _set_alarm(seconds: int) -> None:
    """End the process after so many seconds, even inside libsdd, where no handler would run; 0 for never."""
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)


def _virtual_bytes() -> int:
    """Address space in use; 0 where it cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _allow_deep_recursion() -> None:
    """libsdd recurses once for each level of the vtree, which may be thousands deep."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = _STACK_BYTES if hard < 0 else min(_STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


if __name__ == "__main__":
    main()
