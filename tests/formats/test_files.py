"""Which file is read how: suffixes, packing, encodings, and files that are not there or cannot be written."""

from __future__ import annotations

import gzip
import os
import re

import pytest

from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network, write_network
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.formats.reading import source
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

WRITABLE = [".bif", ".net", ".hugin", ".xdsl", ".uai", ".json", ".xml", ".bifxml", ".xmlbif"]


@pytest.fixture
def network():
    """Two variables with names that plain formats would break."""
    rain, grass = Variable("Rain", ["<5", "12+"]), Variable("wet gräss", ["yes", "no"])
    return BayesianNetwork(
        [Cpt(rain, [], [0.2, 0.8]), Cpt(grass, [rain], [[0.9, 0.1], [1 / 3, 2 / 3]])], "Lawn"
    )


@pytest.mark.parametrize("packing", ["", ".gz", ".GZ"])
@pytest.mark.parametrize("suffix", [*WRITABLE, ".BIF", ".Xml"])
def test_the_suffix_chooses_the_format(network, tmp_path, suffix, packing):
    path = tmp_path / f"some.network{suffix}{packing}"
    write_network(network, path)
    assert path.read_bytes().startswith(b"\x1f\x8b") == bool(packing)
    assert read_network(path) == network
    assert read_network(str(path)) == network


def test_packed_files_do_not_depend_on_the_time_of_writing(network, tmp_path):
    for name in ("a.xdsl.gz", "b.xdsl.gz"):
        write_network(network, tmp_path / name)
    assert (tmp_path / "a.xdsl.gz").read_bytes() == (tmp_path / "b.xdsl.gz").read_bytes()


@pytest.mark.parametrize("name", ["net.txt", "net", "net.gz", "bif", ".bif.txt"])
def test_unknown_suffixes_list_the_known_ones(network, tmp_path, name):
    (tmp_path / name).write_text("network x {}")
    with pytest.raises(FormatError, match=r"cannot tell the format.*'\.bif'.*'\.dsc'"):
        read_network(tmp_path / name)
    with pytest.raises(FormatError, match="cannot tell the format"):
        write_network(network, tmp_path / name)


@pytest.mark.parametrize("suffix", sorted(set(MODULE_BY_SUFFIX) - set(WRITABLE)))
def test_formats_that_are_only_read_say_which_are_written(network, tmp_path, suffix):
    with pytest.raises(FormatError, match=r"does not write it; use '\.bif'"):
        write_network(network, tmp_path / f"net{suffix}")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"missing\.bif: no such file") as caught:
        read_network(tmp_path / "missing.bif")
    assert caught.value.path == tmp_path / "missing.bif"


@pytest.mark.parametrize("name", ["folder.xml", "folder.xml.gz"])
def test_a_folder_is_not_a_file(network, tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(FormatError, match="this is a folder"):
        read_network(tmp_path / name)
    with pytest.raises(FormatError, match="cannot be written"):
        write_network(network, tmp_path / name)


def test_a_target_in_no_folder_is_refused(network, tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        write_network(network, tmp_path / "no folder" / "net.bif")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may read all")
def test_forbidden_files_are_refused(network, tmp_path):
    path = tmp_path / "net.bif"
    write_network(network, path)
    path.chmod(0)
    with pytest.raises(FormatError, match="not allowed to read"):
        read_network(path)
    tmp_path.chmod(0o500)
    with pytest.raises(FormatError, match="cannot be written"):
        write_network(network, path)
    tmp_path.chmod(0o700)


def test_a_failed_write_leaves_the_old_file_and_no_other(network, tmp_path, monkeypatch):
    path = tmp_path / "net.bif"
    write_network(network, path)
    before = path.read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(FormatError, match="disk full"):
        write_network(BayesianNetwork(network.cpts, "Other"), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["net.bif"]


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xdsl", ".uai", ".xml", ".dne", ".dsl", ".dsc"])
@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(5000), b"a" * 9999 + b"\0"])
def test_binary_files_are_refused(tmp_path, suffix, data):
    (tmp_path / f"net{suffix}").write_bytes(data)
    with pytest.raises(FormatError, match="this is a binary file"):
        read_network(tmp_path / f"net{suffix}")


@pytest.mark.parametrize(
    "data",
    [b"not packed", gzip.compress(b"x" * 1000)[:-20], b"\x1f\x8b", b"\x1f\x8b" + bytes(30)],
    ids=["plain", "cut off", "two bytes", "zeros"],
)
def test_broken_packing_is_refused(tmp_path, data):
    (tmp_path / "net.bif.gz").write_bytes(data)
    with pytest.raises(FormatError, match="broken gzip file"):
        read_network(tmp_path / "net.bif.gz")


def test_unpacking_stops_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    (tmp_path / "bomb.bif.gz").write_bytes(gzip.compress(b" " * 50_000_000))
    with pytest.raises(FormatError, match="holds more than 1 MB"):
        read_network(tmp_path / "bomb.bif.gz")
    (tmp_path / "long.bif").write_bytes(b" " * 1_000_001)
    with pytest.raises(FormatError, match="holds more than 1 MB"):
        read_network(tmp_path / "long.bif")


XML = (
    '<BIF VERSION="0.3"><NETWORK><NAME>N</NAME><VARIABLE><NAME>{name}</NAME><OUTCOME>ja</OUTCOME></VARIABLE>'
    "<DEFINITION><FOR>{name}</FOR><TABLE>1</TABLE></DEFINITION></NETWORK></BIF>"
)


@pytest.mark.parametrize(
    ("name", "declared", "written_as"),
    [
        ("naïve", None, "utf-8"),
        ("naïve", "UTF-8", "utf-8-sig"),
        ("naïve", "ISO-8859-1", "latin-1"),
        ("naïve", "ISO-8859-1", "utf-8"),
        ("5 € „für“", "windows-1252", "cp1252"),
        ("5 € „für“", "ISO-8859-1", "cp1252"),
        ("naïve", None, "latin-1"),
        ("plain", "US-ASCII", "ascii"),
        ("źdźbło", "ISO-8859-2", "iso-8859-2"),
        ("źdźbło", "windows-1250", "cp1250"),
        ("дождь", "KOI8-R", "koi8-r"),
        ("雨", "Shift_JIS", "shift_jis"),
        ("雨", "UTF-16", "utf-16"),
        ("雨", "UTF-16", "utf-16-le"),
        ("雨", "UTF-16", "utf-16-be"),
        ("雨", "nonsense", "utf-8"),
    ],
)
def test_encodings_of_xml_files(tmp_path, name, declared, written_as):
    header = "" if declared is None else f'<?xml version="1.0" encoding="{declared}"?>\n'
    (tmp_path / "net.xml").write_bytes((header + XML.format(name=name)).encode(written_as))
    assert read_network(tmp_path / "net.xml").names == (name,)


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xdsl", ".uai", ".xml"])
def test_rows_that_nearly_sum_to_one_are_rescaled_and_named(network, tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    write_network(network, path)
    (tmp_path / "net.uai.names.json").unlink(missing_ok=True)
    path.write_text(re.sub(r"\b0\.9\b", "0.899", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.warns(UnswayedWarning, match=r"1 row does not sum to 1 and was rescaled: .* = 0\.999"):
        found = read_network(path)
    assert found.cpts[1].table[0] == pytest.approx([0.899 / 0.999, 0.1 / 0.999], abs=1e-15)
    assert found.cpts[1].table[1].tolist() == [1 / 3, 2 / 3]


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xdsl", ".uai", ".xml"])
def test_rows_far_from_one_are_refused_unless_asked_to_be_normalized(network, tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    write_network(network, path)
    (tmp_path / "net.uai.names.json").unlink(missing_ok=True)
    path.write_text(re.sub(r"\b0\.9\b", "0.5", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(FormatError, match=r"sums to 0\.6, not 1.*normalize=True"):
        read_network(path)
    assert read_network(path, normalize=True).cpts[1].table[0] == pytest.approx([5 / 6, 1 / 6], abs=1e-15)


@pytest.mark.parametrize("suffix", WRITABLE)
def test_rows_within_the_tolerance_of_a_table_come_back_to_the_bit(tmp_path, suffix):
    """A table may miss 1 by rounding to ten digits; a file must not mend it."""
    third = Variable("Third", ["a", "b", "c"])
    network = BayesianNetwork([Cpt(third, [], [0.3333333333, 0.3333333333, 0.3333333333])])
    write_network(network, tmp_path / f"net{suffix}")
    assert read_network(tmp_path / f"net{suffix}") == network
