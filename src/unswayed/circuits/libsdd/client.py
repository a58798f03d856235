"""A program run over libsdd by a process of its own, which is killed when it is late.

A job ends in one of four ways: an answer; `LimitError` when time or memory ran out; `SolverError` when
libsdd is missing or has died; or the exception that interrupted the wait. In the last three the process is
killed, which is the only way to stop libsdd. Everything goes through files in a folder that is removed.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from unswayed.circuits.io.sdd import sdd_text
from unswayed.circuits.io.vtree import parse_vtree, tree_lines
from unswayed.circuits.libsdd.program import CircuitProgram, Progress, Report
from unswayed.circuits.libsdd.worker import Operation
from unswayed.circuits.sdd.apply import canonical
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.validate import is_canonical
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.anytime import bytes_allowed, seconds_left, tick
from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError, SolverError
from unswayed.core.extras import install_command
from unswayed.core.limits import readable_bytes
from unswayed.core.processes import child_environment
from unswayed.model.formats.reading.source import Source

POLL_SECONDS = 0.05
_KIND_BY_LETTER = bytes.maketrans(b"FTLD", b"0123")
_BLANK, _NEWLINE = 32, 10


def run_in_worker(
    program: CircuitProgram, vtree: Vtree, loaded: Sequence[Sdd] = (), *, progress: Progress | None = None
) -> tuple[Sdd, ...]:
    """The results of a program, computed by libsdd in a process of its own."""
    if find_spec("pysdd") is None:
        raise SolverError(f"PySDD is not installed; install it with: {install_command('circuits')}")
    with tempfile.TemporaryDirectory(prefix="unswayed-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.joinpath("start.vtree").write_text("\n".join([*tree_lines(vtree), ""]), encoding="ascii")
        for number, sdd in enumerate(loaded):
            # libsdd follows the vtree of every prime, and constants have none: it reads canonical ones only.
            text = sdd_text(sdd if is_canonical(sdd) else canonical(sdd))
            folder.joinpath(f"loaded-{number}.sdd").write_text(text, encoding="ascii")
        run_job(program, folder, progress)
        if (program.instructions[:, 0] == Operation.MINIMIZE).any():
            text = folder.joinpath("result.vtree").read_text(encoding="ascii")
            vtree = parse_vtree(Source(Path("the worker's vtree"), text), vtree.names).vtree
        files = [folder / f"result-{number}.sdd" for number in range(len(program.results))]
        return tuple(sdd_from_saved(each.read_bytes(), vtree) for each in files)


def run_job(program: CircuitProgram, folder: Path, progress: Progress | None = None) -> None:
    """Run a program on the vtree and the circuits in a folder, and leave its results there.

    `LimitError` when time or memory is over, `SolverError` when libsdd has died.
    """
    left = seconds_left()
    job = {
        "instructions": program.instructions.tolist(),
        "last_uses": program.last_uses().tolist(),
        "results": program.results,
        "max_bytes": bytes_allowed(),
        "max_seconds": left if left < math.inf else None,
    }
    folder.joinpath("job.json").write_text(json.dumps(job), encoding="ascii")
    command = [sys.executable, "-P", "-m", "unswayed.circuits.libsdd.worker"]
    with folder.joinpath("said").open("wb") as said:  # libsdd prints to standard output
        process = subprocess.Popen(command, cwd=folder, env=child_environment(), stdout=said, stderr=said)
        try:
            code = _wait(process, program, folder / "progress", progress)
        finally:
            process.kill()
            process.wait()
    if code:
        raise _death(code, folder.joinpath("said").read_text(encoding="utf-8", errors="replace"))


def _wait(
    process: subprocess.Popen[bytes], program: CircuitProgram, path: Path, progress: Progress | None
) -> int:
    """The exit code; waits in short turns so that an interrupt or the end of the budget is heard."""
    told = ""
    while True:
        tick(what="compiling the circuit")
        try:
            return process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        if progress is not None and path.exists() and (now := path.read_text(encoding="ascii")) != told:
            told = now
            done, size = map(int, told.split())
            progress(Report(done, len(program), size))


def _death(code: int, said: str) -> LimitError | SolverError:
    """What to say when the child has ended without an answer."""
    last = next((line.strip() for line in reversed(said.split("\n")) if line.strip()), "no message")
    if "alloc" in last or "MemoryError" in last or code == -signal.SIGKILL:
        return LimitError(
            f"compiling the circuit needs more memory than the limit of {readable_bytes(bytes_allowed())}; "
            "raise Limits(max_bytes=...), or choose another vtree"
        )
    return SolverError(
        f"libsdd ended with code {code} while compiling a circuit ({last[:200]}); nothing else is lost: "
        "try another vtree, or more memory with Limits(max_bytes=...)"
    )


def sdd_from_saved(text: bytes, vtree: Vtree) -> Sdd:
    """The circuit in a file that libsdd has just written, its root last; read without a loop over nodes.

    One blank between numbers, children before parents: `io/sdd.py` reads files of unknown origin.
    """
    header = text.index(b"\nsdd ") + 1 if not text.startswith(b"sdd ") else 0
    body = (text[text.index(b"\n", header) + 1 :].rstrip() + b"\n").translate(_KIND_BY_LETTER)
    words: Ints = np.fromstring(body, dtype=np.int64, sep=" ")
    first = _first_words(body, len(words))
    kind, ident = words[first], words[first + 1]
    inner = kind >= LITERAL
    # The two constants come first with us, wherever they stand in the file.
    number = np.empty(int(ident.max()) + 1, dtype=np.int64)
    number[ident[inner]] = 2 + np.arange(np.count_nonzero(inner))
    number[ident[~inner]] = kind[~inner]
    lines = first[inner]
    is_literal = words[lines] == LITERAL
    counts = np.where(is_literal, 0, words[np.where(is_literal, lines, lines + 3)])
    starts = np.concatenate([[0, 0, 0], np.cumsum(counts)])
    places = np.repeat(lines + 4, counts) + 2 * (np.arange(starts[-1]) - np.repeat(starts[2:-1], counts))
    literal = np.where(is_literal, words[np.where(is_literal, lines + 3, lines)], 0)
    return Sdd(
        vtree,
        kind=np.concatenate([[FALSE, TRUE], np.where(is_literal, LITERAL, DECISION)]),
        vtree_node=np.concatenate([[NOTHING, NOTHING], words[lines + 2] if len(lines) else lines]),
        literal=np.concatenate([[0, 0], literal]),
        starts=starts,
        primes=number[words[places]],
        subs=number[words[places + 1]],
        root=int(number[words[first[-1] + 1]]),
    )


def _first_words(body: bytes, n_words: int) -> Ints:
    """Position of the first word of each line."""
    characters = np.frombuffer(body, dtype=np.uint8)
    is_end = characters == _NEWLINE
    words_so_far = np.cumsum(is_end | (characters == _BLANK))
    if words_so_far[-1] != n_words:
        raise ValueError("libsdd has saved a circuit in an unknown layout")
    ends: Ints = words_so_far[is_end]
    return np.concatenate([[0], ends[:-1]])
