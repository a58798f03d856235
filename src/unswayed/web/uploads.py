"""Files that somebody sent, read in a child process (`reading.py`) that is killed when it takes too long.

A file's name says its format and what to call it, and is otherwise not trusted: the child sees a name of
ours, in a folder of its own that is gone afterwards.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unswayed.core.errors import FormatError, LimitError
from unswayed.core.limits import readable_bytes
from unswayed.core.names import listing
from unswayed.core.processes import child_environment
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.network import BayesianNetwork
from unswayed.view.summaries import size_text
from unswayed.web.reading import ANSWER, MOST_SECONDS, TABLE_SUFFIXES, Reading, Unreadable
from unswayed.web.workspace import Held, HeldTable, Origin, hold_network, make_id

MOST_FILE_BYTES = 20 * 2**20
LONGEST_NAME = 60
SUFFIXES = (*MODULE_BY_SUFFIX, *TABLE_SUFFIXES)
"""What a file to open may be called; `.gz` may follow."""
_POLL_SECONDS = 0.01


def safe_name(name: str) -> Path:
    """A name of ours that keeps what a file's name says: its stem in plain letters, and its format.

    >>> safe_name("../../etc/Liver patients (2).XDSL.gz").name
    'Liver-patients-2.xdsl.gz'
    """
    base = re.split(r"[/\\]", name)[-1]
    packed = ".gz" if base.lower().endswith(".gz") else ""
    stem, dot, last = base[: len(base) - len(packed)].rpartition(".")
    suffix = f".{last.lower()}" if dot else ""
    if suffix not in SUFFIXES:
        raise FormatError(
            f"{base[:LONGEST_NAME]}: cannot tell what this is; expected a network "
            f"({listing(list(MODULE_BY_SUFFIX), at_most=20)}) or a table ({', '.join(TABLE_SUFFIXES)}), "
            ".gz after any of them"
        )
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-")[:LONGEST_NAME] or "file"
    return Path(f"{plain}{suffix}{packed}")


def open_upload(name: str, data: bytes) -> tuple[Held, int]:
    """What is in a file, ready to be held, and its size in bytes.

    `FormatError` says what is wrong with the file, `LimitError` that it takes too much.
    """
    path = safe_name(name)
    if len(data) > MOST_FILE_BYTES:
        raise LimitError(
            f"{path} has {readable_bytes(len(data))}; at most {readable_bytes(MOST_FILE_BYTES)} are read here"
        )
    reading, n_bytes = _read_in_child(path, data)
    if isinstance(reading.content, BayesianNetwork):
        about = size_text(reading.content)
        return hold_network(reading.content, Origin.UPLOADED, about=about, notes=reading.notes), n_bytes
    return HeldTable(make_id(), reading.content, path.name), n_bytes


def _read_in_child(path: Path, data: bytes) -> tuple[Reading, int]:
    with tempfile.TemporaryDirectory(prefix="unswayed-") as folder:
        Path(folder, path).write_bytes(data)
        with _child(path, folder) as child:
            # In short turns, so that a client that goes away stops this thread.
            deadline = time.monotonic() + MOST_SECONDS
            while child.poll() is None and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            is_late = child.poll() is None
        answer = Path(folder, ANSWER)
        if is_late or not answer.is_file() or child.returncode != 0:
            reason = f"takes longer than {MOST_SECONDS} s" if is_late else "takes more than this page allows"
            raise LimitError(f"{path}: reading {reason}; open it from the command line: unswayed serve FILE")
        packed = answer.read_bytes()
    outcome: Reading | Unreadable = pickle.loads(packed)
    if isinstance(outcome, Unreadable):
        raise (LimitError if outcome.is_too_much else FormatError)(outcome.reason)
    return outcome, len(packed)


@contextmanager
def _child(path: Path, folder: str) -> Iterator[subprocess.Popen[bytes]]:
    """The child that reads; it never outlives this block."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", "from unswayed.web.reading import main; main()", str(path)],
        cwd=folder,
        env=child_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is ours to pass on
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
