"""The commands around networks with functions: learn --structure focs, info, posterior, sdp, mpe."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from oracles.enumerate_functions import enumerate_rows
from unswayed.cli.main import make_app
from unswayed.model.formats.files import read_network


def run(*words):
    done = CliRunner().invoke(make_app(), list(map(str, words)))
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A network learned from 1,500 rows: eight sensors, the alarm is the exclusive or of two, with errors."""
    folder = tmp_path_factory.mktemp("learned")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (1500, 8))
    alarm = rows[:, 1] ^ rows[:, 6] ^ (rng.random(1500) < 0.05)
    header = ",".join([*(f"S{i}" for i in range(8)), "Alarm"])
    np.savetxt(folder / "t.csv", np.column_stack([rows, alarm]), "%d", ",", header=header, comments="")
    run("learn", folder / "t.csv", "--target", "Alarm", "--structure", "focs", "-o", folder / "net.json")
    return folder / "net.json"


def test_contexts_are_learned_to_a_file(learned):
    network = read_network(learned)
    cpt = network.cpts[network.index("Alarm")]
    rows = np.zeros((4, 8), dtype=int)
    rows[:, 1], rows[:, 6] = [0, 0, 1, 1], [0, 1, 0, 1]
    assert cpt.probabilities(rows)[:, 1] == pytest.approx([0.05, 0.95, 0.95, 0.05], abs=0.03)
    assert "functions" in run("info", learned)


def test_posteriors_and_decisions_take_it(learned):
    network = read_network(learned)
    rows, mass = enumerate_rows(network, {"S1": "1", "Alarm": "1"})
    expected = mass[rows[:, network.index("S6")] == 1].sum() / mass.sum()
    found = json.loads(run("posterior", learned, "--of", "S6", "-e", "S1=1", "-e", "Alarm=1", "--json"))
    assert found["posteriors"]["S6"]["1"] == pytest.approx(expected)
    features = [word for i in range(8) for word in ("--features", f"S{i}")]
    sdp = json.loads(run("sdp", learned, "--target", "Alarm", *features, "-e", "S1=1", "--json"))
    assert 0.4 < sdp["value"] < 0.6


def test_the_most_probable_explanation_is_that_of_enumeration(learned):
    network = read_network(learned)
    _, mass = enumerate_rows(network, {"Alarm": "1"})
    found = json.loads(run("mpe", learned, "-e", "Alarm=1", "--json"))
    assert found["optimal"]
    assert np.exp(found["log_probability"]) == pytest.approx(mass.max())
    assert found["states"]["S1"] != found["states"]["S6"]
    assert "no other states are more probable" in run("mpe", learned, "-e", "Alarm=1")
