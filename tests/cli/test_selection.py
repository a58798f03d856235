"""`unswayed select`, `trim` and `frontier`: numbers of the papers, layout, files, and what goes wrong.

In the network of reviewers [choi2017, Figure 1] with threshold 0.6 the full decision is positive when both
reviewers vote +, on 10% of papers: 0.2 * 0.7 * 0.6 + 0.8 * 0.2 * 0.1.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

import unswayed as library
from tolerances import ENGINE, paper
from unswayed.cli.progress import showing_progress
from unswayed.core.extras import install_command
from unswayed.model import zoo
from unswayed.model.formats.files import read_network, write_network

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]
NUMBERS = {
    "kept",
    "value",
    "threshold",
    "threshold_interval",
    "upper_bound",
    "gap",
    "optimal",
    "evaluations",
    "engine",
    "seconds",
}


@pytest.fixture
def smallest(tmp_path):
    """The smallest case where sorting by joint mass goes wrong, as in the tests of [choi2018]."""
    tables = {"C": ((), [0.5]), "F1": (("C",), [0.3, 0.1]), "F2": (("C",), [0.4, 0.6])}
    network = zoo.binary_network({**tables, "F3": (("C",), [0.6, 0.5])}, states=("c0", "c1"))
    path = tmp_path / "smallest.bif"
    write_network(network, path)
    return path


@pytest.fixture
def wide(tmp_path):
    """A naive Bayes classifier of twenty features: too much to search in no time."""
    path = tmp_path / "wide.bif"
    write_network(zoo.random_naive_bayes(20, np.random.default_rng(3), max_states=2), path)
    return path


def timeless(text: str) -> str:
    """The text without what depends on the machine and on the order of the search."""
    return re.sub(r"after [\d,]+ subsets in [\d.e-]+ s", "after N subsets in S s", text)


def test_select_in_words(unswayed, review):
    """One feature is best spent on the area chair, with .92 [choi2017, section 3]."""
    outcome = unswayed("select", review, *PAPERS, "--budget", "1")
    assert (outcome.code, outcome.err) == (0, "")
    assert timeless(outcome.out) == (
        "Keep AC (1 of 3 features, cost 1).\n"
        "It decides as all 3 do with probability 0.9200 by the same threshold 0.6.\n"
        "Proven optimal after N subsets in S s.\n"
    )


def test_select_in_json(answer):
    found = answer("select", "--budget", "1")
    assert set(found) >= NUMBERS
    assert (found["kept"], found["optimal"], found["engine"]) == (["AC"], True, "dense")
    assert found["value"] == pytest.approx(0.92, abs=paper(2))
    assert found["upper_bound"] == pytest.approx(found["value"])
    assert (found["gap"], found["threshold"], found["threshold_interval"]) == (0.0, 0.6, None)


@pytest.mark.parametrize(("objective", "best"), [("esdp", "AC"), ("entropy", "R2"), ("margin", "R2")])
def test_each_objective_selects_its_own(answer, objective, best):
    """The chair by E-SDP and the second reviewer by entropy [choi2017]; 0.08 against 0.07 by margin."""
    assert answer("select", "--budget", "1", "--objective", objective)["kept"] == [best]


def test_rewards_in_words(unswayed, review):
    """H(D) is .72 and H(D | R2) .57 [choi2017]."""
    out = unswayed("select", review, *PAPERS, "--budget", "1", "--objective", "entropy").out
    gain = float(re.search(r"Observing R2 is expected to lower the entropy of D by ([\d.]+) bits\.", out)[1])
    assert gain == pytest.approx(0.72 - 0.57, abs=2 * paper(2))


def test_utilities_select(unswayed, review, tmp_path):
    """Both reviewers together gain 0.084 - 2 * 0.016: of the 10% they accept, 0.084 are good."""
    path = tmp_path / "utilities.json"
    path.write_text('{"accept": {"+": 1, "-": -2}, "decline": {"+": 0, "-": 0}}')
    options = ["--target", "D", "--features", "R1,R2", "--utilities", path, "--budget", "2"]
    found = json.loads(unswayed("select", review, *options, "--objective", "utility", "--json").out)
    assert (found["kept"], found["threshold"]) == (["R1", "R2"], None)
    assert found["value"] == pytest.approx(0.084 - 2 * 0.016, abs=ENGINE)
    assert "by the same rule." in unswayed("trim", review, *options).out


def test_trim_in_words(unswayed, review):
    """Between the two posteriors that the chair's vote leads to, 0.1024 / 0.84 = 0.1219 and 0.61."""
    assert timeless(unswayed("trim", review, *PAPERS, "--budget", "1").out) == (
        "Keep AC (1 of 3 features, cost 1).\n"
        "It decides as all 3 do with probability 0.9200 when the threshold is 0.60 (any from 0.13 to 0.61).\n"
        "Proven optimal after N subsets in S s.\n"
    )


@pytest.mark.parametrize("method", ["branch-and-bound", "exhaustive", "greedy"])
def test_trimming_the_smallest_case(unswayed, smallest, method):
    """[choi2018]: F1 alone achieves .784, however it is searched."""
    options = ["--target", "C=c0", "--threshold", "0.5", "--budget", "1", "--method", method]
    found = json.loads(unswayed("trim", smallest, *options, "--json").out)
    assert found["kept"] == ["F1"]
    assert found["value"] == pytest.approx(0.784, abs=paper(3))
    low, high = found["threshold_interval"]
    assert low < found["threshold"] <= high


def test_a_budget_of_nothing_leaves_the_prior_decision(unswayed, review, answer):
    found = answer("trim", "--budget", "0")
    assert found["kept"] == []
    assert found["value"] == pytest.approx(0.9, abs=ENGINE)
    assert unswayed("trim", review, *PAPERS, "--budget", "0").out.startswith(
        "Keep nothing (0 of 3 features, cost 0).\n"
        "Without observing anything, the decision is that of all 3 with probability 0.9000 when the "
        "threshold is 0.60 (any above 0.20).\n"
    )


def test_a_budget_for_everything_decides_as_everything_does(answer):
    """The two reviewers decide; the chair is dropped, since it changes nothing."""
    found = answer("trim", "--budget", "3")
    assert found["kept"] == ["R1", "R2"]
    assert found["value"] == pytest.approx(1.0, abs=ENGINE)


def test_evidence_is_conditioned_on(answer):
    """Of the papers the chair votes for, 0.09 / 0.16 are accepted when both reviewers have voted."""
    found = answer("trim", "--budget", "0", "-e", "AC=+")
    assert found["value"] == pytest.approx(0.5625, abs=ENGINE)


def test_costs_are_typed_or_read(answer, tmp_path):
    dear = answer("trim", "--budget", "2", "--cost", "R1=1.5,R2=1.5", "--cost", "AC=2")
    assert (dear["kept"], dear["cost"]) == (["AC"], 2.0)
    for name, text in {
        "plain.csv": "R1,1.5\nR2,1.5\nAC,2\n",
        "head.csv": "feature,cost\r\nAC, 2\r\n\r\nR1,2",
    }.items():
        path = tmp_path / name
        path.write_text(text)
        assert answer("trim", "--budget", "2", "--costs", path)["kept"] == ["AC"]


def test_frontier_is_a_table(unswayed, review):
    outcome = unswayed("frontier", review, *PAPERS)
    assert (outcome.code, outcome.err) == (0, "")
    assert re.sub(r"[\d.e-]+ s\.", "S s.", outcome.out) == (
        "cost  agreement  threshold  keep\n"
        "   0  0.9000     0.60       nothing\n"
        "   1  0.9200     0.60       AC\n"
        "   2  1.0000     0.60       R1 and R2\n"
        "\n"
        "Each row is the best there is until the cost of the next, proven in S s.\n"
    )


def test_frontier_grows_in_cost_and_agreement(answer):
    points = answer("frontier", "--cost", "R1=2,AC=1.5")["points"]
    assert all(set(point) >= {*NUMBERS, "cost"} for point in points)
    for before, after in pairwise(points):
        assert before["cost"] < after["cost"]
        assert before["value"] < after["value"]
    assert points[-1]["value"] == pytest.approx(1.0, abs=ENGINE)
    short = answer("frontier", "--cost", "R1=2,AC=1.5", "--budget", "1.5")["points"]
    assert [point["kept"] for point in short] == [p["kept"] for p in points if p["cost"] <= 1.5]


def test_every_point_of_the_frontier_is_the_trimming_for_its_budget(answer):
    for point in answer("frontier")["points"]:
        again = answer("trim", "--budget", point["cost"])
        assert (again["kept"], again["value"]) == (point["kept"], pytest.approx(point["value"]))


def test_a_trimmed_classifier_is_saved_and_decides_alike(unswayed, review, tmp_path):
    path = tmp_path / "trimmed.json"
    out = unswayed("trim", review, *PAPERS, "--budget", "1", "-o", path).out
    assert out.endswith(f"wrote {path}\n")
    saved = library.load_classifier(path)
    assert saved.features == ("AC",)
    full = library.Classifier(read_network(review), "D", ["R1", "R2", "AC"], library.ThresholdRule("+", 0.6))
    agreement = library.eca(full, kept=["AC"], new_threshold=saved.rule.threshold)
    assert agreement.value == pytest.approx(0.92, abs=ENGINE)


def test_saving_never_overwrites_the_network_asked_about(unswayed, review):
    before = review.read_bytes()
    outcome = unswayed("trim", review, *PAPERS, "--budget", "1", "-o", review.with_suffix(".json"))
    assert (outcome.code, outcome.out) == (2, "")
    assert "choose another name for --output" in outcome.err
    assert review.read_bytes() == before


def test_answers_are_written_to_files(unswayed, review, tmp_path):
    path = tmp_path / "answer.json"
    for command, budget in (("select", ["--budget", "1"]), ("frontier", [])):
        outcome = unswayed(command, review, *PAPERS, *budget, "-o", path, "--json")
        assert json.loads(path.read_text(encoding="utf-8")) == json.loads(outcome.out)
    for command, budget in (("select", ["--budget", "1"]), ("trim", ["--budget", "1"]), ("frontier", [])):
        outcome = unswayed(command, review, *PAPERS, *budget, "-o", tmp_path / "absent" / "answer.json")
        assert (outcome.code, "cannot be written" in outcome.err) == (2, True)


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_frontier_is_plotted(unswayed, review, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"frontier{suffix}"
    assert unswayed("frontier", review, *PAPERS, "-o", path).out.endswith(f"wrote {path}\n")
    assert path.read_bytes().startswith(start)


def test_without_matplotlib_the_error_names_the_extra(unswayed, review, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = unswayed("frontier", review, *PAPERS, "-o", tmp_path / "frontier.png")
    assert outcome.code == 2
    assert f"install it with: {install_command('plots')}" in outcome.err


def test_when_time_is_over_the_best_so_far_comes_with_its_gap(unswayed, wide):
    options = [
        "--target",
        read_network(wide).names[0],
        "--features",
        "all",
        "--budget",
        "9",
        "--method",
        "exhaustive",
    ]
    outcome = unswayed("select", wide, *options, "--objective", "entropy", "--max-seconds", "0.5")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Not proven optimal after " in outcome.out
    found = json.loads(unswayed("select", wide, *options, "--max-seconds", "0.5", "--json").out)
    assert found["optimal"] is False
    assert found["gap"] == pytest.approx(found["upper_bound"] - found["value"])


@pytest.mark.parametrize("method", ["branch-and-bound", "exhaustive", "greedy"])
def test_one_ctrl_c_gives_the_best_so_far(unswayed, wide, monkeypatch, method):
    """The interruption comes with the first report of progress, in the middle of the search."""
    reports = []

    def interrupted(*told: object) -> None:
        reports.append(told)
        if len(reports) == 1:
            raise KeyboardInterrupt

    @contextmanager
    def interrupting(options):
        yield {**options, "report": interrupted}

    monkeypatch.setattr("unswayed.cli.commands.selection.showing_progress", interrupting)
    options = [
        "--target",
        read_network(wide).names[0],
        "--features",
        "all",
        "--budget",
        "9",
        "--method",
        method,
    ]
    outcome = unswayed("select", wide, *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Not proven optimal after " in outcome.out
    assert len(reports) == 1


def test_progress_is_shown_in_terminals_only(monkeypatch, capsys):
    with showing_progress({}) as options:
        assert "report" not in options
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with showing_progress({}) as options:
        options["report"](0.92, 0.95, 12)
    assert "12 subsets, best 0.9200, bound 0.9500, gap 0.0300" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("trim", ["--budget", "-1"], "the budget must be at least 0, not -1.0"),
        ("frontier", ["--budget", "-1"], "the budget must be at least 0, not -1.0"),
        ("select", ["--budget", "nan"], "the budget must be at least 0, not nan"),
        (
            "trim",
            ["--budget", "1", "--cost", "AX=2"],
            "a cost is given for 'AX': unknown feature 'AX'; known: 'R1', 'R2', 'AC'",
        ),
        ("trim", ["--budget", "1", "--cost", "AC=0"], "the cost of 'AC' must be a positive number, not 0.0"),
        (
            "trim",
            ["--budget", "1", "--cost", "AC=dear"],
            "the cost of 'AC' is 'dear'; expected FEATURE=COST, such as Light=2",
        ),
        (
            "trim",
            ["--budget", "1", "--cost", "AC"],
            "cannot read 'AC'; expected FEATURE=COST, such as Light=2",
        ),
        ("trim", ["--budget", "1", "--cost", "AC=1,AC=2"], "--cost prices 'AC' twice; give one cost"),
        (
            "trim",
            ["--budget", "1", "--cost", "AC=1", "--costs", "any.csv"],
            "--cost and --costs both give costs; put all of them in one place",
        ),
        (
            "select",
            ["--budget", "1", "--objective", "utility"],
            "--objective utility needs utilities; give a file of them with --utilities",
        ),
    ],
)
def test_questions_that_do_not_fit_say_what_would(unswayed, review, command, options, message):
    outcome = unswayed(command, review, *PAPERS, *options)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize("command", ["select", "trim"])
def test_a_budget_must_be_given(unswayed, review, command):
    outcome = unswayed(command, review, *PAPERS)
    assert outcome.code == 2
    assert "missing option '--budget'" in outcome.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("feature,cost\nAC,two\n", "line 2: the cost of 'AC' is 'two'; give a number"),
        ("AC,1\n\nR1,-3\n", "line 3: the cost of 'R1' must be a number, at least 0, not -3"),
        ("AC,1\nR1,inf\n", "line 2: the cost of 'R1' must be a number, at least 0, not inf"),
        ("AC,1,2\n", "line 1: expected FEATURE,COST; found 'AC,1,2'"),
        ("AC;1\n", "line 1: expected FEATURE,COST; found 'AC;1'"),
        ("AC,1\nAC,2\n", "line 2: 'AC' has a second line; give one"),
        ("name,price\nAC,2\n", "line 1: the cost of 'name' is 'price'; give a number"),
    ],
)
def test_broken_costs_files_name_the_line(unswayed, review, tmp_path, text, message):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    outcome = unswayed("trim", review, *PAPERS, "--budget", "1", "--costs", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {path}, {message}\n"


def test_too_many_features_for_a_table_are_chosen_and_certified(unswayed, tmp_path):
    path = tmp_path / "large.bif"
    network = zoo.random_polytree(60, np.random.default_rng(2))
    write_network(network, path)
    options = ["--target", network.names[0], "--features", "all", "--budget", "3", "--certain"]
    outcome = unswayed("trim", path, *options, "--max-seconds", "4")
    assert outcome.code == 0
    assert re.search(r"with a probability between 0\.\d+ and", outcome.out)
    assert re.search(r"The best found after [\d,]+ subsets in .*: its agreement is certified", outcome.out)


def test_held_out_rows_are_counted(unswayed, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("R1,R2,AC\n+,+,+\n-,-,-\n+,-,-\n", encoding="utf-8")
    case = ["review", "--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]
    outcome = unswayed("trim", *case, "--budget", "1", "--held-out", rows)
    assert (outcome.code, outcome.err) == (0, "")
    assert (
        "On 3 held-out rows it decides alike on 3: 1.0000 (between 0.1709 and 1.0000 with 99% confidence)."
        in (outcome.out.replace("\n", " "))
    )
    points = json.loads(unswayed("frontier", *case, "--held-out", rows, "--json").out)["points"]
    assert [point["held_out"]["rows"] for point in points] == [3] * len(points)
    missing = unswayed("trim", *case, "--budget", "1", "--held-out", tmp_path / "none.csv")
    assert (missing.code, missing.out) == (2, "")


def test_a_table_may_decide_instead_of_a_rule(unswayed, tmp_path, printer):
    output = tmp_path / "table.json"
    case = [printer, "--target", "Fault", "--features", "leaves", "--budget", "1", "--potential"]
    outcome = unswayed("trim", *case, "-o", output)
    assert (outcome.code, outcome.err) == (0, "")
    assert "by a table of 3 decisions." in outcome.out
    loaded = library.load_classifier(output)
    assert isinstance(loaded, library.decisions.TableClassifier)
    answer = json.loads(unswayed("frontier", *[c for c in case if c not in ("--budget", "1")], "--json").out)
    assert [point["threshold"] for point in answer["points"]] == [None] * len(answer["points"])
