"""`unswayed plan`: the numbers of the reviewers, its files, and what goes wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dependent_cases import tied_by_a_hidden_variable
from unswayed.model.formats.files import write_network
from unswayed.model.zoo import random_naive_bayes

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]


def test_json_holds_the_tree(unswayed, review):
    outcome = unswayed("plan", review, *PAPERS, "--json")
    answer = json.loads(outcome.out)
    assert answer["expected_cost"] == pytest.approx(1.2)
    assert (answer["worst_cost"], answer["optimal"], answer["gap"]) == (2.0, True, 0.0)
    assert answer["tree"]["test"] == "R2"
    assert answer["tree"]["outcomes"]["-"]["decision"] == "not +"
    assert answer["tree"]["outcomes"]["+"]["outcomes"]["+"]["sdp"] == pytest.approx(1.0)


def test_several_faults_are_told_apart(unswayed, review):
    answer = json.loads(unswayed("plan", review, "--target", "R1=-,R2=-", "--features", "AC", "--json").out)
    leaf = answer["tree"]
    while "outcomes" in leaf:
        leaf = next(iter(leaf["outcomes"].values()))
    assert leaf["decision"] in ("R1=-", "R2=-", "none")
    ranked = json.loads(unswayed("voi", review, "--target", "R1,R2", "--features", "AC", "--json").out)
    assert [row["feature"] for row in ranked["ranking"]] == ["AC"]
    assert ranked["target"] == "targets"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "R1=-,R2"], "name a state for each of several targets"),
        (["--target", "R1=-,R2=-", "--threshold", "0.5"], "go with one target"),
        (["--target", "R1=-,R9=-"], "unknown variable 'R9'"),
    ],
)
def test_several_targets_that_make_no_sense_are_refused(unswayed, review, words, message):
    outcome = unswayed("plan", review, *words)
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.parametrize("suffix", ["svg", "png", "html", "txt", "json", "dot"])
def test_a_plan_is_written_as_its_suffix_says(unswayed, review, tmp_path, suffix):
    path = tmp_path / f"plan.{suffix}"
    outcome = unswayed("plan", review, *PAPERS, "-o", path)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"wrote {path}" in outcome.out
    assert path.stat().st_size > 100


def test_costs_come_from_a_file(unswayed, review, tmp_path):
    costs = tmp_path / "costs.toml"
    costs.write_text('[groups.votes]\nfeatures = ["R1", "R2"]\ncost = 1.1\n', encoding="utf-8")
    answer = json.loads(unswayed("plan", review, *PAPERS, "--costs", costs, "--json").out)
    assert answer["expected_cost"] == pytest.approx(1.1)
    assert answer["tree"]["features"] == ["R1", "R2"]


def test_a_shallow_plan_says_how_often_it_is_safe(unswayed, review):
    outcome = unswayed("plan", review, *PAPERS, "--max-depth", 1)
    assert "no plan within these limits is safe more often" in outcome.out
    assert "With probability 0.1600 it has to stop before that." in outcome.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at-least", "2"], "--at-least must lie between 0 and 1; got 2.0"),
        (["--stop-posterior", "0.9"], "--stop-posterior is '0.9'; expected two numbers, such as 0.05,0.9"),
        (["--stop-posterior", "0.9,0.1"], "limits of a posterior must ascend"),
        (["-o", "plan.doc"], "plans are saved as .png, .svg, .pdf, .json, .txt, .html, .dot, not '.doc'"),
        (["--objective", "utility"], "a plan by utility needs a utility rule"),
        (["--budget", "-1"], "the budget must be at least 0"),
        (["--costs", "none.toml"], "no such file"),
    ],
)
def test_mistakes_get_a_message_and_exit_code_2(unswayed, review, words, message):
    outcome = unswayed("plan", review, *PAPERS, *words)
    assert outcome.code == 2
    assert message in outcome.err


def test_without_a_target_the_network_must_single_one_out(unswayed, review, tmp_path):
    """Naive Bayes has one variable that all others depend on; the network of reviewers has none."""
    outcome = unswayed("plan", review)
    assert outcome.code == 2
    assert "name what is decided about" in outcome.err
    path = tmp_path / "naive.bif"
    write_network(random_naive_bayes(4, np.random.default_rng(1)), path)
    answer = json.loads(unswayed("plan", path, "--json").out)
    assert (answer["target"], answer["optimal"]) == ("C", True)


def test_certain_changes_no_plan(unswayed, review, tmp_path):
    """Plans hold exact numbers and certified bounds alone, also where no table holds the features."""
    asked = ["plan", review, *PAPERS, "--json"]
    plain, certain = (json.loads(unswayed(*asked, *more).out) for more in ([], ["--certain"]))
    assert {**plain, "seconds": 0} == {**certain, "seconds": 0}
    path = tmp_path / "tied.bif"
    write_network(tied_by_a_hidden_variable().network, path)
    wide = ["--target", "T", "--features", ",".join(f"F{i}" for i in range(45)), "--max-seconds", "2"]
    assert unswayed("sdp", path, *wide, "--certain").code == 2
    outcome = unswayed("plan", path, *wide, "--certain", "--json")
    assert (outcome.code, json.loads(outcome.out)["gap"] > 0) == (0, True)
