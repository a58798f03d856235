"""The worker: runs one program over libsdd in a process of its own.

libsdd ends the process on misuse and when memory runs out, holds Python's lock while it works, and cannot
be interrupted. Here that hurts nobody: the process that asked waits with a deadline (`client.py`) and kills
this one. Started as `python -m unswayed.circuits.libsdd.worker` in a folder of its own, it reads `job.json`,
`start.vtree` and `loaded-N.sdd`, says in `progress` how far it is, and leaves `result-N.sdd` and
`result.vtree`. It imports nothing of ours and no numpy, so that it starts at once.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from enum import IntEnum
from pathlib import Path
from typing import Any

_SECONDS_BETWEEN_REPORTS = 0.1
_DEAD_WORTH_COLLECTING = 200_000
_STACK_BYTES = 512 * 2**20
_GRACE_SECONDS = 5
_LONGEST_ALARM = 10**8


class Operation(IntEnum):
    """What an instruction does with its operands."""

    FALSE = 0
    """The function that never holds."""
    TRUE = 1
    """The function that always holds."""
    LITERAL = 2
    """The literal a."""
    LOAD = 3
    """The loaded circuit a."""
    NEGATE = 4
    """Not register a."""
    CONJOIN = 5
    """Registers a and b."""
    DISJOIN = 6
    """Registers a or b."""
    CONDITION = 7
    """Register a where the literal b holds."""
    FORGET = 8
    """Register a for some value of the variable b."""
    MINIMIZE = 9
    """Search for a better vtree for about a seconds; makes no register."""


def main() -> None:
    """Run the job of this folder."""
    # Interrupts from the keyboard go to the whole group; the parent decides what becomes of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    job = json.loads(Path("job.json").read_text(encoding="ascii"))
    import pysdd.sdd as library

    _limit(job["max_bytes"], job["max_seconds"])
    manager = library.SddManager.from_vtree(library.Vtree.from_file("start.vtree"))
    # Left on, it moves nodes under our hands and takes minutes nobody asked for.
    manager.auto_gc_and_minimize_off()
    registers = _run(manager, job["instructions"], job["last_uses"])
    for number, result in enumerate(job["results"]):
        manager.save(os.fsencode(f"result-{number}.sdd"), registers[result])
    manager.vtree().save(b"result.vtree")


def _run(manager: Any, instructions: list[tuple[int, int, int]], last_uses: list[int]) -> list[Any]:
    registers: list[Any] = [None] * len(instructions)
    parent, reported = os.getppid(), time.monotonic()
    for position, (operation, a, b) in enumerate(instructions):
        registers[position] = _step(manager, Operation(operation), a, b, registers)
        for operand in (a, b):
            # A node without a handle may be collected.
            if 0 <= operand < position and last_uses[operand] == position:
                registers[operand] = None
        if manager.dead_count() > max(_DEAD_WORTH_COLLECTING, manager.live_count()):
            manager.garbage_collect()
        if time.monotonic() - reported >= _SECONDS_BETWEEN_REPORTS:
            reported = time.monotonic()
            Path("progress.new").write_text(f"{position + 1} {int(manager.live_size())}", encoding="ascii")
            Path("progress.new").replace("progress")
            if os.getppid() != parent:
                sys.exit(1)  # nobody is waiting any more
    return registers


def _step(manager: Any, operation: Operation, a: int, b: int, registers: list[Any]) -> Any:
    match operation:
        case Operation.FALSE:
            return manager.false()
        case Operation.TRUE:
            return manager.true()
        case Operation.LITERAL:
            return manager.literal(a)
        case Operation.LOAD:
            return manager.read_sdd_file(os.fsencode(f"loaded-{a}.sdd"))
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
            # Only the limited search obeys its limits; below a second libsdd takes them for none.
            manager.set_vtree_search_time_limit(a)
            manager.set_vtree_fragment_time_limit(max(1, a // 2))
            manager.set_vtree_operation_time_limit(max(1, a // 4))
            manager.set_vtree_apply_time_limit(max(1, a // 8))
            return manager.minimize_limited()


def _limit(max_bytes: int, max_seconds: float | None) -> None:
    """Bound memory from inside, and time for the case that the parent has died."""
    if max_seconds is not None and hasattr(signal, "alarm"):
        # Ends the process even inside libsdd, where no handler would run.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(math.ceil(min(max_seconds, _LONGEST_ALARM)) + _GRACE_SECONDS)
    try:
        import resource
    except ImportError:
        return
    # libsdd recurses once for each level of the vtree, which may be thousands deep.
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (_at_most(_STACK_BYTES, hard), hard))
    used = _virtual_bytes()
    if used:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_at_most(used + max_bytes, hard), hard))


def _at_most(wanted: int, hard: int) -> int:
    return wanted if hard < 0 else min(wanted, hard)


def _virtual_bytes() -> int:
    """Address space in use; 0 where it cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
