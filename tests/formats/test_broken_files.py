"""Whatever a file holds, reading it gives a network or a `FormatError`: no crash, no hang, no memory gone."""

from __future__ import annotations

import gzip
import importlib
import tracemalloc
import warnings
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from golden_texts import GOLDEN, text_with_parents
from strategies import networks
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.formats import read_network
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.network import BayesianNetwork

KINDS = list(GOLDEN)
WRITERS = [".bif", ".net", ".xdsl", ".xml", ".uai"]
TOKENS = (
    *"{}()[]<>&;,|=:\"'\\%#.-+e012é\u0085\u2028\ufeff\U0001f600\x01\x1b",
    *("</", "/>", "&amp;", "<!--", "-->", "<![CDATA[", "]]>", "<?xml", "<!DOCTYPE", "<cpt>", "<TABLE>"),
    *("//", "/*", "*/", "1e999", "nan", "inf", "-1", "1000000000", "9" * 20, "0x10", "1_0", "true", "table"),
    *(
        "default",
        "network",
        "node",
        "states",
        "data",
        "probability",
        "variable",
        "potential",
        "BAYES",
        "MARKOV",
    ),
)


def slowly(*values: str) -> list[object]:
    """Parameters for the thorough suite only."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that all the files of this module share."""
    return tmp_path_factory.mktemp("broken")


def outcome(folder: Path, suffix: str, data: bytes) -> BayesianNetwork | FormatError:
    """The network or the complaint; any other exception, and any warning but ours, fails the test."""
    path = folder / f"net{suffix}"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnswayedWarning)
        try:
            return read_network(path)
        except FormatError as error:
            return error


def refused(folder: Path, suffix: str, data: bytes) -> bool:
    return isinstance(outcome(folder, suffix, data), FormatError)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes after one to three accidents."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        lines = data.splitlines(keepends=True)
        line = draw(st.integers(0, max(len(lines) - 1, 0)))
        match draw(st.sampled_from(["cut", "flip", "drop", "double", "insert", "erase", "swap"])):
            case "cut":
                data = data[:place]
            case "flip":
                data = data[:place] + draw(st.binary(min_size=1, max_size=2)) + data[place + 1 :]
            case "drop":
                data = b"".join(lines[:line] + lines[line + 1 :])
            case "double":
                data = b"".join(lines[: line + 1] + lines[line:])
            case "insert":
                token = draw(st.sampled_from(TOKENS) | st.text(max_size=5)).encode("utf-8", "surrogatepass")
                data = data[:place] + draw(st.sampled_from([b"", b" "])) + token + data[place:]
            case "erase":
                data = data[:place] + data[place + draw(st.integers(1, 40)) :]
            case "swap":
                data = b"".join(lines[line:] + lines[:line])
    return data


@pytest.mark.parametrize("suffix", KINDS)
def test_the_golden_files_are_read(folder, suffix):
    network = outcome(folder, suffix, GOLDEN[suffix].encode())
    assert isinstance(network, BayesianNetwork)
    assert network.cpts[0].table.tolist() == [[0.2, 0.8]]
    assert [len(cpt.parents) for cpt in network.cpts][:2] == [0, 1]


@pytest.mark.parametrize("suffix", KINDS)
@given(data=st.data())
def test_damaged_golden_files_give_a_network_or_a_complaint(folder, suffix, data):
    assert outcome(folder, suffix, data.draw(damaged(GOLDEN[suffix].encode()))) is not None


@pytest.mark.parametrize("suffix", WRITERS)
@given(network=networks(max_variables=3), data=st.data())
def test_damaged_written_files_give_a_network_or_a_complaint(folder, suffix, network, data):
    text = importlib.import_module(f"unswayed.model.formats.{MODULE_BY_SUFFIX[suffix]}").write(network)
    assert outcome(folder, suffix, data.draw(damaged(text.encode()))) is not None


@pytest.mark.parametrize("suffix", KINDS)
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_noise_is_refused(folder, suffix, data):
    assert refused(folder, suffix, data)


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize(
    "data", [b"", b"\n", b" \t\r\n" * 50, b"\xef\xbb\xbf", b"\xff\xfe", b"\x1a", b"\xff" * 99]
)
def test_files_without_content_are_refused(folder, suffix, data):
    assert refused(folder, suffix, data)


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("piece", ["1", "a", "(", *slowly("{", '"', "/*", "0.5 ", "<a>", "\\", "a b|")])
def test_ten_megabytes_in_one_line_are_refused(folder, suffix, piece):
    assert refused(folder, suffix, (piece * (10_000_000 // len(piece))).encode())


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize(
    "piece", ["1", "(", "0.8 ", "<a>", *slowly("a", "{", "[", "0.8, ", '"', ")", "-", "e")]
)
def test_a_megabyte_in_the_place_of_a_number_is_refused(folder, suffix, piece):
    text = GOLDEN[suffix].replace("0.8", piece * (1_000_000 // len(piece)), 1)
    assert refused(folder, suffix, text.encode())


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize(
    "word",
    [
        "nan",
        "inf",
        "-inf",
        "-0.8",
        "1e999",
        "-1e-9",
        "0x1p-1",
        "\N{ARABIC-INDIC DIGIT ZERO}.8",
        "0_8",
        "0,8",
        "",
        "@undef",
    ],
)
def test_what_is_not_a_probability_is_refused(folder, suffix, word):
    assert refused(folder, suffix, GOLDEN[suffix].replace("0.8", word, 1).encode())


def test_truncated_packing_is_refused_at_every_length(folder):
    packed = gzip.compress(GOLDEN[".bif"].encode())
    assert all(refused(folder, ".bif.gz", packed[:length]) for length in range(len(packed)))


def test_packed_zeros_are_refused(folder):
    assert refused(folder, ".bif.gz", gzip.compress(bytes(30_000_000)))


LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))


@pytest.mark.parametrize("suffix", [".xdsl", ".xml"])
@pytest.mark.parametrize(
    "declarations",
    [
        f'<!ENTITY a0 "ha">{LAUGHS}',
        f'<!ENTITY a9 "{"x" * 100_000}">',
        '<!ENTITY a9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a9 SYSTEM "http://127.0.0.1:9/a.dtd"> %a9;',
        "<!ELEMENT a " + "(" * 200_000 + "b",
    ],
)
def test_entities_are_refused_before_they_grow(folder, suffix, declarations):
    text = GOLDEN[suffix].replace('encoding="US-ASCII"', "")
    head, _, body = text.partition("?>")
    body = body.partition("]>")[2] if "<!DOCTYPE" in body else body
    bomb = f"{head}?><!DOCTYPE x [{declarations}]>{body.replace('0.8', '&a9;' * 1000)}"
    assert refused(folder, suffix, bomb.encode())


@pytest.mark.parametrize("suffix", KINDS)
def test_tables_of_a_few_parents_are_read_from_the_same_text(folder, suffix):
    """So that the refusals below are about size: with no parents the same text is a network."""
    assert len(outcome(folder, suffix, text_with_parents(suffix, 0).encode())) == 1


@pytest.mark.parametrize("suffix", KINDS)
def test_tables_too_large_for_memory_are_refused_in_little_memory(folder, suffix):
    tracemalloc.start()
    try:
        error = outcome(folder, suffix, text_with_parents(suffix, 40).encode())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, FormatError)
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("suffix", "old", "new"),
    [
        (".bif", "[ 2 ]", "[ 1000000000 ]"),
        (".bif", "[ 2 ]", f"[ {'9' * 5000} ]"),
        (".dsc", "[ 2 ]", "[ 1000000000 ]"),
        (".dne", "states = (yes, no);", "numstates = 1000000000;"),
        (".uai", "\n2 2 3\n", "\n2 2 1000000000\n"),
        (".uai", "\n2 2 3\n", "\n2 2 999999\n"),
        (".uai", "\n3\n", "\n100000\n"),
        (".uai", "\n12 ", "\n30000000 "),
        (".xdsl", "0 1 1 0", "0 1 1e9 0"),
    ],
)
def test_large_announcements_are_refused_in_little_memory(folder, suffix, old, new):
    assert old in GOLDEN[suffix]
    tracemalloc.start()
    try:
        error = outcome(folder, suffix, GOLDEN[suffix].replace(old, new, 1).encode())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, FormatError)
    assert peak < 50_000_000
