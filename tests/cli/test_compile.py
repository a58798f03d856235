"""`unswayed compile`, and the words for FS-SDD."""

from __future__ import annotations

import json

import pytest

from unswayed.circuits.formulas.encode import row_encoding
from unswayed.circuits.io.sdd import read_sdd
from unswayed.circuits.sdd.evaluate import weighted_model_count
from unswayed.model import zoo


def test_compile_tells_predicted_and_actual_sizes(unswayed, review):
    outcome = unswayed("compile", review, "--constrain", "AC,R1", "--json")
    assert outcome.code == 0
    answer = json.loads(outcome.out)
    assert answer["constrained_to"] == ["AC", "R1"]
    # 4 variables of two states and 8 rows, none certain but one.
    assert answer["boolean_variables"] == 12
    assert 0.2 < answer["elements"] / answer["predicted_elements"] < 5


def test_what_is_written_is_the_circuit(unswayed, review, tmp_path):
    out = tmp_path / "review.sdd"
    assert unswayed("compile", review, "-o", out).code == 0
    sdd = read_sdd(out, tmp_path / "review.vtree")
    encoding = row_encoding(zoo.review()).encoding
    assert sdd.names == encoding.cnf.names
    assert float(weighted_model_count(sdd, encoding.weights)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--constrain", "A"], "unknown variable 'A'"),
        (["--constrain", "AC,AC"], "more than once"),
        (["-o", "x.vtree"], "name the circuit x.sdd"),
        (["--max-memory", "1e-7"], "over the limit"),
    ],
    ids=["unknown", "twice", "suffix", "memory"],
)
def test_what_cannot_be_compiled_is_refused(unswayed, review, words, message):
    outcome = unswayed("compile", review, *words)
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.parametrize("variant", ["1", "2", "3"])
def test_fs_sdd_selects_by_circuits(unswayed, review, variant):
    """[choi2017, section 2.1]: one feature is best spent on the area chair, 92%."""
    words = ("--target", "D=+", "--threshold", "0.6", "--features", "all", "--budget", 1, "--json")
    outcome = unswayed("select", review, *words, "--method", "fs-sdd", "--variant", variant)
    answer = json.loads(outcome.out)
    assert answer["kept"] == ["AC"]
    assert answer["value"] == pytest.approx(0.92, abs=0.005)
    assert answer["engine"] == "circuit"


def test_fs_sdd_selects_for_decisions_only(unswayed, review):
    words = ("--target", "D=+", "--features", "all", "--budget", 1, "--method", "fs-sdd")
    assert (
        "use another method for rewards" in unswayed("select", review, *words, "--objective", "entropy").err
    )
    assert "selects by expected SDP only" in unswayed("trim", review, *words).err
