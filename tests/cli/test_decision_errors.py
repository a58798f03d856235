"""`unswayed decide`, `sdp`, `esdp`, `eca` and `voi` when the question does not fit, or is out of reach."""

from __future__ import annotations

import re

import numpy as np
import pytest

from unswayed.engines.choice import ENGINES
from unswayed.model import zoo
from unswayed.model.formats.files import write_network

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("sdp", ["--target", "D=x"], "unknown state of 'D' 'x'; known: '+', '-'"),
        ("sdp", ["--target", "DD=+"], "unknown variable 'DD'; did you mean 'D'?"),
        ("decide", ["--target", "D=+", "-e", "AC=x"], "unknown state of 'AC' 'x'; known: '+', '-'"),
        (
            "sdp",
            ["--target", "D=+", "--threshold", "1"],
            "the threshold must lie between 0 and 1, both excluded; got 1.0",
        ),
        (
            "eca",
            ["--target", "D=+", "--keep", "AC", "--new-threshold", "0"],
            "the threshold must lie between 0 and 1, both excluded; got 0.0",
        ),
        (
            "sdp",
            ["--target", "D=+", "--features", "D,AC"],
            "the target 'D' is among the features; a classifier may not observe it",
        ),
        (
            "decide",
            ["--target", "D=+", "-e", "D=+"],
            "the target 'D' is part of the evidence; once it is known, there is nothing to decide",
        ),
        (
            "esdp",
            ["--target", "D=+", "--features", "AC", "--keep", "R1"],
            "'R1' cannot be kept, it is not among the features: unknown feature 'R1'; known: 'AC'",
        ),
        (
            "esdp",
            ["--target", "D=+", "--features", "all", "--keep", "R1", "-e", "R1=+"],
            "'R1' cannot be kept: observed already, part of the evidence",
        ),
        (
            "esdp",
            ["--target", "D=+", "--keep", "AC,"],
            "cannot read ''; expected VARIABLE,VARIABLE, such as Rain,Wind",
        ),
        (
            "sdp",
            ["--target", "D=+", "--features", "all", "-e", "AC=+,R1=-,R2=-"],
            "the evidence has probability 0 in this network: 'AC=+', 'R1=-', 'R2=-'; "
            "check it for typing errors or for findings that contradict each other",
        ),
        (
            "sdp",
            ["--target", "D", "--threshold", "0.6"],
            "--threshold needs a positive state; name it with --target D=STATE",
        ),
        (
            "sdp",
            ["--target", "AC=+"],
            "the network has no leaves other than 'AC' to take as features; name the features with "
            "--features, or take all variables with --features all",
        ),
        (
            "eca",
            ["--target", "D", "--keep", "AC"],
            "eca compares thresholds, so it needs a positive state; name it with --target D=STATE",
        ),
        ("sdp", ["--target", "D=+", "--engine", "dens"], "unknown engine 'dens'; did you mean 'dense'?"),
        (
            "sdp",
            ["--target", "D=+", "--engine", "sampling", "--certain"],
            "engine 'sampling' gives estimates; allow them by leaving out --certain",
        ),
        ("sdp", ["--target", "D=+", "--tolerance", "-1"], "the tolerance must be at least 0, not -1.0"),
        ("sdp", ["--target", "D=+", "--at-least", "2"], "--at-least must lie between 0 and 1; got 2.0"),
        (
            "voi",
            ["--target", "D=+", "--reward", "utility"],
            "--reward utility needs utilities; give a file of them with --utilities",
        ),
    ],
)
def test_questions_that_do_not_fit_say_what_would(unswayed, review, command, options, message):
    outcome = unswayed(command, review, *options)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("u.json", "{", "u.json, line 1: no JSON: "),
        ("u.json", '{"accept": 3}', "u.json: expected an object such as "),
        ("u.json", '{"accept": {"+": true, "-": 0}}', "'+' is True; give a number"),
        ("u.json", '{"accept": {"+": 1}}', "leave out the state '-' of 'D'"),
        ("u.json", '{"accept": {"+": 1, "x": 2}}', "unknown state of 'D' 'x'"),
        ("u.csv", "action,+,-\naccept,1,many\n", "'-' is 'many'; give a number"),
        ("u.csv", "action,+,-\naccept,1,2\naccept,3,4\n", "the action 'accept' has two rows"),
        ("u.txt", "", "utilities come from .json or .csv files, not '.txt'"),
    ],
)
def test_utilities_that_make_no_sense_are_refused(unswayed, review, tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    outcome = unswayed("decide", review, "--target", "D", "--utilities", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_utilities_and_a_threshold_exclude_each_other(unswayed, review):
    outcome = unswayed("sdp", review, "--target", "D=+", "--utilities", "any.json")
    assert outcome.code == 2
    assert "leave out --threshold, and the state in --target" in outcome.err


def test_the_target_must_be_named(unswayed, review):
    outcome = unswayed("sdp", review)
    assert outcome.code == 2
    assert "name what is decided about" in outcome.err


@pytest.mark.parametrize("command", ["sdp", "info", "posterior"])
def test_a_table_in_place_of_a_network_is_to_be_learned_first(unswayed, tmp_path, command):
    table = tmp_path / "rows.csv"
    table.write_text("D,A\n+,x\n")
    outcome = unswayed(command, table, *(["--target", "D=+"] if command == "sdp" else []))
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"error: {table}: a network is expected here, and this looks like a table; learn a classifier from "
        f"it first, with unswayed learn {table} --target COLUMN -o rows.bif\n",
    )


def test_what_is_out_of_reach_lists_the_bids_and_the_ways_out(unswayed, review):
    outcome = unswayed("sdp", review, *PAPERS, "--max-memory", "1e-7", "--engine", "dense")
    assert outcome.code == 2
    assert outcome.err.endswith("or raise --max-memory\n")
    outcome = unswayed("sdp", review, *PAPERS, "--max-memory", "1e-7", "--certain")
    assert (outcome.code, outcome.out) == (2, "")
    first, *bids, last = outcome.err.splitlines()
    assert first == "error: no engine can answer this exactly within the limits:"
    assert [bid.split(":")[0] for bid in bids] == [f"  {engine.name}" for engine in ENGINES]
    # More memory is what it takes, and nothing else is advised that would not help.
    (n_bytes,) = re.findall(r"--max-memory\) to (\d+) B", last)
    assert unswayed("sdp", review, *PAPERS, "--max-memory", str(int(n_bytes) / 1e9), "--certain").code == 0
    assert "--tolerance" not in last
    assert "--max-seconds" not in last
    assert "max_bytes" not in last


def test_no_time_at_all_is_said_to_be_too_little(unswayed, review):
    outcome = unswayed("sdp", review, *PAPERS, "--max-seconds", "1e-6", "--certain")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: the time was over before ")
    assert outcome.err.endswith("raise --max-seconds\n")


def test_voi_leaves_out_the_sdp_where_it_is_out_of_reach(unswayed, tmp_path):
    path = tmp_path / "large.bif"
    network = zoo.random_naive_bayes(60, np.random.default_rng(2), max_states=4)
    write_network(network, path)
    options = ["--target", network.names[0], "--features", "all"]
    options += ["--reward", "entropy", "--max-memory", "0.001"]
    outcome = unswayed("voi", path, *options)
    assert outcome.code == 0
    assert outcome.err == "warning: the gain in SDP is left out, since no engine finds it within the limits\n"
    assert outcome.out.splitlines()[0].split() == ["feature", "entropy", "margin"]
    assert "\nand 40 more\n" in outcome.out
    assert unswayed("voi", path, *options[:4], *options[6:]) == outcome  # also without --reward


def test_ctrl_c_leaves_with_130(unswayed, review, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unswayed.api.should_stop", interrupted)
    outcome = unswayed("sdp", review, *PAPERS)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")
