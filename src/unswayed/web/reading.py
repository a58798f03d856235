"""The child process that reads a file somebody sent: with little memory, little time, and nothing to lose.

`main` runs in a folder of its own that holds the file, and leaves `answer.pickle` there: the network or table
with what its reader warned of, or why it cannot be read.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from unswayed.core.errors import LimitError, UnswayedError, UnswayedWarning
from unswayed.model.data.csv import inspect_csv
from unswayed.model.data.tables import Table, read_table
from unswayed.model.formats.files import name_after_file, read_network
from unswayed.model.network import BayesianNetwork

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")
MOST_SECONDS = 20
MOST_BYTES = 2 * 2**30
"""Memory of the child; the largest file that is taken needs about 30 times its size."""
MOST_COLUMNS = 20_000
"""Columns of a table; more take minutes, here and on every page about them."""
LARGEST_ANSWER = 256 * 2**20
ANSWER = "answer.pickle"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was in a file."""

    content: BayesianNetwork | Table
    notes: tuple[str, ...]
    """What the reader warned of."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file was not read."""

    reason: str
    is_too_much: bool = False
    """Whether it takes more memory than allowed."""


def is_table(path: Path) -> bool:
    """Whether a name is that of a table."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower() in TABLE_SUFFIXES


def read_file(path: Path) -> Reading | Unreadable:
    """The network or table in a file, or why there is none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnswayedWarning)
        try:
            content: BayesianNetwork | Table
            content = _read_table(path) if is_table(path) else name_after_file(read_network(path), path)
        except LimitError as error:
            return Unreadable(str(error), is_too_much=True)
        except UnswayedError as error:
            return Unreadable(str(error))
        except (MemoryError, RecursionError):
            return Unreadable(f"{path}: reading takes more memory than this page allows", is_too_much=True)
    notes = [str(each.message) for each in caught if issubclass(each.category, UnswayedWarning)]
    return Reading(content, tuple(notes))


def _read_table(path: Path) -> Table:
    """The table in a file; `LimitError` when its first line names too many columns."""
    file = inspect_csv(path)
    if len(file.names) > MOST_COLUMNS:
        raise LimitError(
            f"{path}: {len(file.names):,} columns; this page takes at most {MOST_COLUMNS:,}; leave out those "
            "that nothing is asked about"
        )
    return read_table(file)


def _limit_resources() -> None:
    try:
        import resource
    except ImportError:  # not on Windows; the parent still watches the clock
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_ANSWER, LARGEST_ANSWER))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Read the file that the command line names."""
    _limit_resources()
    path = Path(sys.argv[1])
    data = pickle.dumps(read_file(path), protocol=pickle.HIGHEST_PROTOCOL)
    if len(data) > LARGEST_ANSWER:
        data = pickle.dumps(Unreadable(f"{path}: too large for this page", is_too_much=True))
    Path(ANSWER).write_bytes(data)
