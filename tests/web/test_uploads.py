"""Files that somebody sends: every format, and what must be refused."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

from unswayed.core.errors import FormatError, LimitError
from unswayed.core.processes import child_environment
from unswayed.model.formats.files import write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import disease_tests, printer
from unswayed.web import uploads
from unswayed.web.uploads import open_upload, safe_name
from unswayed.web.workspace import HeldNetwork, HeldTable

LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY l2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
<!ENTITY l3 "&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;">]><smile>&l3;</smile>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]><x>&file;</x>"""


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xdsl", ".xmlbif", ".json", ".bif.gz"])
def test_networks_of_every_format_come_back_equal(suffix, tmp_path):
    write_network(printer(), tmp_path / f"printer{suffix}")
    held, n_bytes = open_upload(f"printer{suffix}", (tmp_path / f"printer{suffix}").read_bytes())
    assert isinstance(held, HeldNetwork)
    assert held.network == printer()
    assert n_bytes > 0


def test_a_network_without_a_name_is_called_as_its_file(tmp_path):
    write_network(BayesianNetwork(disease_tests().cpts), tmp_path / "x.bif")
    held, _ = open_upload("Ward 7.bif", (tmp_path / "x.bif").read_bytes())
    assert held.title == "Ward-7"


def test_warnings_of_the_reader_come_along():
    text = (
        b"network x {} variable A { type discrete [ 2 ] { a, b }; } probability ( A ) { table 0.3, 0.702; }"
    )
    held, _ = open_upload("x.bif", text)
    assert isinstance(held, HeldNetwork)
    assert any("A" in note for note in held.notes)


def test_a_table_is_held_as_a_table():
    held, _ = open_upload("cases.csv", b"R1;R2\n+;-\n;+\n")
    assert isinstance(held, HeldTable)
    assert held.table.names == ("R1", "R2")
    assert held.table.n_rows == 2
    assert held.title == "cases.csv"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd.bif", "passwd.bif"),
        ("..\\..\\boot.XDSL", "boot.xdsl"),
        ("a\0b.csv", "a-b.csv"),
        (".bif", "file.bif"),
        ("-rf.bif.gz", "rf.bif.gz"),
        ("é<script>.net", "script.net"),
        ("x" * 500 + ".uai", "x" * 60 + ".uai"),
        ("con\r\nSet-Cookie: a.json", "con-Set-Cookie-a.json"),
    ],
)
def test_names_keep_only_what_is_harmless(name, kept):
    assert str(safe_name(name)) == kept


@pytest.mark.parametrize(
    "name", ["", "network", "x.exe", "x.zip", "x.bif.zip", "x.py", "..", "/", "x.pickle", ".gz"]
)
def test_what_is_no_network_and_no_table_is_refused_with_the_known_suffixes(name):
    with pytest.raises(FormatError, match=r"\.bif.*\.csv"):
        open_upload(name, b"")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.bif", b""),
        ("x.bif", b"network x { garbage"),
        ("x.bif", b"\x7fELF\0\0\0\0"),
        ("x.xdsl", b"<smile><xdsl>"),
        ("x.json", b'{"a": 1}'),
        ("x.json", b"[" * 100_000),
        ("x.csv", b""),
        ("x.csv", b"a,b\n1\n"),
        ("x.bif.gz", b"no gzip"),
        ("x.xml", LAUGHS),
        ("x.xdsl", LAUGHS),
        ("x.xml", OUTSIDE),
        ("x.xml", b"<a>" * 100_000),
        ("x.xml", b"<bif>" + b"<a/>" * 400_000),
    ],
)
def test_broken_files_and_bombs_are_refused_with_their_name(name, data):
    started = time.monotonic()
    with pytest.raises((FormatError, LimitError), match=r"^x\.") as caught:
        open_upload(name, data)
    assert "root:" not in str(caught.value)
    assert time.monotonic() - started < 60  # its own limit is 10 s; the machine may be busy


def test_a_file_that_unpacks_to_gigabytes_is_refused():
    bomb = gzip.compress(b"\n" * (300 * 2**20), compresslevel=1)
    assert len(bomb) < 20 * 2**20
    with pytest.raises((FormatError, LimitError), match="too large"):
        open_upload("x.bif.gz", bomb)


def test_a_file_above_the_limit_is_not_read():
    with pytest.raises(LimitError, match="at most 21 MB"):
        open_upload("x.bif", b" " * (20 * 2**20 + 1))


def test_reading_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_SECONDS", 0.05)
    started = time.monotonic()
    with pytest.raises(LimitError, match="longer than"):
        open_upload("x.bif", b"")
    assert time.monotonic() - started < 2


def test_a_line_of_a_million_columns_is_refused_in_time():
    header = ",".join(f"c{i}" for i in range(1_500_000)).encode()
    started = time.monotonic()
    with pytest.raises((FormatError, LimitError), match=r"^x\.csv"):
        open_upload("x.csv", header)
    assert time.monotonic() - started < 60  # its own limit is 10 s; the machine may be busy


def test_a_table_of_too_many_columns_is_refused_by_its_first_line():
    header = ",".join(f"c{i}" for i in range(200_000))
    with pytest.raises(LimitError, match=r"^x\.csv: 200,000 columns; .* at most 20,000"):
        open_upload("x.csv", f"{header}\n{'1,' * 199_999}1\n".encode())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_memory_of_the_child_is_limited():
    program = "from unswayed.web import reading; reading._limit_resources(); bytearray(3 * 2**30)"
    child = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=child_environment(),
        check=False,
        timeout=240,
    )
    assert child.returncode == 1
    assert child.stderr.strip().endswith("MemoryError")
