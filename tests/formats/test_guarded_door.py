"""Files that nobody should hand in: each reader refuses them in a few lines, with the name of the file."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from golden_texts import GOLDEN
from unswayed import Classifier, load_classifier, save_classifier, trim
from unswayed.api.results.plan import load_plan
from unswayed.circuits.io.ace import read_ace
from unswayed.circuits.io.dimacs import read_cnf
from unswayed.circuits.io.psdd import read_psdd
from unswayed.circuits.io.sdd import read_sdd
from unswayed.circuits.io.vtree import read_vtree
from unswayed.circuits.vtree import balanced
from unswayed.cli.classifiers import utilities_in
from unswayed.core.errors import MAX_MESSAGE, FormatError, UnswayedError
from unswayed.decisions.purchase_files import read_purchase
from unswayed.model.data.tables import read_table
from unswayed.model.formats import read_network
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.formats.reading import source
from unswayed.model.zoo import review
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.inputs import read_observations
from unswayed.spaces.preflib import read_orders
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.route_files import read_graph, read_paths


def resume(path):
    return trim(Classifier(review(), "D", threshold=0.6, positive="+"), budget=1, checkpoint=path)


READERS = {
    "plan.json": load_plan,
    "classifier.json": load_classifier,
    "network.json": read_network,
    "checkpoint.json": resume,
    "utilities.json": utilities_in,
    "graph.json": read_graph,
    "trips.json": read_paths,
    "model.npz": load_classifier,
    "costs.toml": read_purchase,
    "costs.csv": read_purchase,
    "graph.csv": read_graph,
    "rankings.csv": lambda path: read_observations(path, are_paths=False),
    "table.csv": read_table,
    "table.parquet": read_table,
    "orders.soc": read_orders,
    "formula.cnf": read_cnf,
    "ace.cnf": lambda path: read_ace(path, path),
    "tree.vtree": read_vtree,
    "circuit.sdd": lambda path: read_sdd(path, balanced("abc")),
    "circuit.psdd": lambda path: read_psdd(path, balanced("abc")),
    **{f"network{suffix}": read_network for suffix in MODULE_BY_SUFFIX},
}
N_CHANGED = 300
"""Models with one byte changed."""
DIGITS = b"1" * 5000
CONTENTS = {
    "lists": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "braces": b"net {" * 20_000,
    "digits": DIGITS,
    "digits in JSON": b'{"format": "unswayed network", "version": ' + DIGITS + b"}",
    "digits in TOML": b"default = " + DIGITS,
    "large whole number": b"[costs]\nx = 1" + b"0" * 400,
    "lists in TOML": b"a = " + b"[" * 100_000,
    "long text in TOML": b"mandatory = '" + b"q" * 300_000 + b"'",
    "long cell": b"a,b\n" + b"q" * 300_000 + b",1\n",
    "long word": b"q" * 300_000,
    "long line of words": b"p cnf 2 1\n" + b"1 2 " * 100_000,
    "open quote": b'a,b\n"' + b"x\n" * 1000,
    "half a pair": b'{"a": "\\ud800"}',
    "not text": bytes(range(256)) * 4,
    "nothing": b"",
    "null": b"null",
    "zip": b"PK\x03\x04" + bytes(200),
}


def refusal(read, path):
    """What a reader says against a file; None where it takes it."""
    try:
        read(path)
    except UnswayedError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READERS)
def test_no_content_ends_in_a_foreign_error_or_a_long_message(name, tmp_path):
    path = tmp_path / name
    for content in CONTENTS.values():
        path.write_bytes(content)
        said = refusal(READERS[name], path) or ""
        assert len(said) < MAX_MESSAGE + len(str(path)) + 40
        assert len(said.splitlines()) < 8


def xmlbif(n_parents):
    names = [f"A{i}" for i in range(n_parents + 1)]
    variables = "".join(
        f"<VARIABLE><NAME>{name}</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>" for name in names
    )
    given = "".join(f"<GIVEN>{name}</GIVEN>" for name in names[1:])
    table = f"<DEFINITION><FOR>A0</FOR>{given}<TABLE>0.5 0.5</TABLE></DEFINITION>"
    return f"<BIF><NETWORK><NAME>x</NAME>{variables}{table}</NETWORK></BIF>"


@pytest.mark.parametrize("n_parents", [40, 2000])
def test_more_parents_than_a_float_can_count_are_refused(n_parents, tmp_path):
    (tmp_path / "wide.xml").write_text(xmlbif(n_parents))
    with pytest.raises(FormatError, match=r"would have .*e\+\d+ numbers, over the limit"):
        read_network(tmp_path / "wide.xml")


@pytest.fixture
def model(tmp_path):
    """A saved structured classifier."""
    path = tmp_path / "model.npz"
    rankings = [("tea", "milk", "rum"), ("rum", "milk", "tea")]
    save_classifier(StructuredNaiveBayes(ranking_space(["tea", "milk", "rum"])).fit(rankings, [0, 1]), path)
    return path


@pytest.mark.filterwarnings("ignore")
def test_a_model_with_changed_bytes_is_read_or_refused(model):
    whole, rng = model.read_bytes(), random.Random(7)
    refused = 0
    for _ in range(N_CHANGED):
        place = rng.randrange(len(whole))
        model.write_bytes(whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :])
        refused += refusal(load_classifier, model) is not None
    assert refused > N_CHANGED // 2


def test_a_model_is_measured_before_it_is_unpacked(model, monkeypatch):
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("x.npy", bytes(2_000_000))
    monkeypatch.setattr(source, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "open", None)  # nothing is unpacked
    with pytest.raises(FormatError, match="bytes unpacked are over the limit of 1,000,000"):
        load_classifier(model)


@pytest.mark.parametrize(
    ("declared", "message"), [(300 * 2**20, "bytes unpacked are over the limit"), (1000, "broken zip file")]
)
def test_zeros_that_unpack_to_300_megabytes_are_never_unpacked(declared, message, model):
    """Whether or not the archive is honest about their number."""
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("x.npy", "w") as member:
            shape = {"descr": "<f8", "fortran_order": False, "shape": (300 * 2**17,)}
            np.lib.format.write_array_header_1_0(member, shape)
            for _ in range(300):
                member.write(bytes(2**20))
        archive.filelist[-1].file_size = declared
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=message):
            load_classifier(model)
        assert tracemalloc.get_traced_memory()[1] < 10 * model.stat().st_size < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("kind", "count"), [("<f8", 10**9), ("|b1", 1)])
def test_an_array_that_declares_more_than_it_holds_is_not_made(kind, count, model, monkeypatch):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": kind, "fortran_order": False, "shape": (count,)})
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("x.npy", buffer.getvalue() + struct.pack("<d", 1.0))
    monkeypatch.setattr(np.lib.format, "read_array", None)
    with pytest.raises(FormatError, match="declares other numbers than it holds"):
        load_classifier(model)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "'X' has no table; .*: this is a fragment"),
        ("parents = (Lost); probs = (0.5, 0.5);", "unknown variable 'Lost'.*this is a fragment"),
        ("parents = (#0); probs = (0.5, 0.5);", "cut off from its parent.*this is a fragment"),
    ],
)
def test_a_part_of_a_netica_network_is_called_a_fragment(fields, message, tmp_path):
    path = tmp_path / "part.dne"
    path.write_text(f"bnet part {{ node X {{ kind = NATURE; states = (a, b); {fields} }}; }};")
    with pytest.raises(FormatError, match=message):
        read_network(path)


def test_the_readers_are_those_of_the_golden_files():
    assert {Path(name).suffix for name in READERS} >= set(GOLDEN)
