"""Lines of a table that are too long to be lines are refused before they are held; long ones are read."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from unswayed.core.errors import FormatError
from unswayed.learning import learn_naive_bayes
from unswayed.model.data.chunks import chunk_table, estimate_rows, read_chunks
from unswayed.model.data.tables import read_table

READERS = {
    "whole": read_table,
    "chunks": lambda path: list(map(chunk_table, read_chunks(path))),
    "learn": lambda path: learn_naive_bayes(path, "b"),
}


@pytest.fixture(params=["small", "pyarrow", "library"])
def way(request, monkeypatch):
    """Each way to read a table: a small file, and a large one with pyarrow and without."""
    if request.param != "small":
        monkeypatch.setattr("unswayed.model.data.csv.SMALL_FILE", -1)
    if request.param == "library":
        monkeypatch.setattr("unswayed.model.data.arrow.has_arrow", lambda: False)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a,b\n1,2\n" + "7" * 5_000 + "\n1,2\n", 3, "more than 1,000 characters"),
        ("a,b\r\n1,2\r\n" + "1," * 5_000, 3, "more than 1,000 characters"),
        ("a" * 5_000, 1, "more than 1,000 characters"),
        ('a,b\n1,2\n1,"2\n' + "1,2\n" * 50_000, 3, "field larger than field limit.*check quotes"),
    ],
    ids=["no end", "cells", "names", "quote"],
)
def test_a_line_without_end_is_refused_by_its_number(tmp_path, monkeypatch, way, read, text, line, message):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    monkeypatch.setattr("unswayed.model.formats.reading.source.MAX_LINE", 1_000)
    monkeypatch.setattr("unswayed.model.data.arrow.BLOCK_BYTES", 500)
    with pytest.raises(FormatError, match=message) as error:
        read(path)
    assert error.value.path == path
    assert error.value.line == line


@pytest.mark.parametrize("n_blanks", [0, 200])
def test_lines_of_ten_thousand_cells_are_read(tmp_path, way, n_blanks):
    """With blanks they have over two million characters, which pyarrow's blocks cannot hold."""
    path = tmp_path / "wide.csv.gz"
    rows = [[f"{start}{j}" + " " * n_blanks for j in range(10_000)] for start in ("x", "1.", "2.", "3.")]
    path.write_bytes(gzip.compress("\n".join(map(",".join, rows)).encode(), 1))
    [table] = map(chunk_table, read_chunks(path))
    assert [table.columns[j].values.tolist() for j in (0, -1)] == [
        [float(row[j]) for row in rows[1:]] for j in (0, -1)
    ]


def test_rows_of_a_file_without_line_ends_are_not_estimated(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a,b\n" + "7" * 5_000)
    monkeypatch.setattr("unswayed.model.formats.reading.source.MAX_LINE", 1_000)
    with pytest.raises(FormatError, match=r"line 2: .*more than 1,000 characters"):
        estimate_rows(tmp_path / "table.csv")


MEMORY = """
import sys
from unswayed.core.errors import FormatError
from unswayed.learning import learn_naive_bayes
from unswayed.model.data import arrow
from unswayed.model.data.chunks import read_chunks
if sys.argv[2] == "library":
    arrow.has_arrow = lambda: False
for read in (lambda path: list(read_chunks(path)), lambda path: learn_naive_bayes(path, "b")):
    try:
        read(sys.argv[1])
    except FormatError as error:
        print(error.line)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the most memory of a process")
@pytest.mark.parametrize("way", ["pyarrow", "library"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_line_of_200_megabytes_is_not_held(tmp_path, way, suffix):
    """All of the process takes less than the line would; of the packed file, 200 kB, too."""
    path = tmp_path / f"table{suffix}"
    with gzip.open(path, "wb") if suffix == ".csv.gz" else path.open("wb") as file:
        file.write(b"a,b\n1,2\n")
        for _ in range(200):
            file.write(b"7" * 2**20)
    command = [sys.executable, "-c", MEMORY, str(path), way]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    *lines, taken = map(int, found.stdout.split())
    assert lines == [3, 3]
    assert taken < 200_000
