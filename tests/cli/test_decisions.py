"""`unswayed decide`, `sdp`, `esdp`, `eca` and `voi`: numbers of the papers, and layout.

The network of reviewers has D, R1, R2 and AC [choi2017, Figure 1]. With threshold 0.6 the full decision is
positive when both reviewers vote +, so on 10% of papers: 0.2 * 0.7 * 0.6 + 0.8 * 0.2 * 0.1.
"""

from __future__ import annotations

import json
import math
import re
from itertools import product

import pytest

from tolerances import ENGINE, paper
from unswayed.engines.choice import ENGINES
from unswayed.model.annotation import Annotation, Role
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import binary_network

PAPERS = ["--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC"]
NUMBERS = {"value", "low", "high", "certainty", "engine", "seconds"}


@pytest.fixture
def utilities(tmp_path):
    """What to do about a paper: accepting a bad one costs more than missing a good one."""
    path = tmp_path / "utilities.json"
    path.write_text('{"accept": {"+": 1, "-": -2}, "decline": {"+": 0, "-": 0}}')
    return path


def entropy(*probabilities: float) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


def test_decide_shows_the_posterior_and_why(unswayed, review):
    outcome = unswayed("decide", review, *PAPERS, "--evidence", "AC=+")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "given AC=+\n"
        "\n"
        "D\n"
        "  +  0.6100  ██████████████▋\n"
        "  -  0.3900  █████████▍\n"
        "\n"
        "decision: +, since Pr(D = +) is 0.6100, at least 0.6\n"
    )


def test_decide_in_json(answer):
    found = answer("decide", "-e", "AC=-")
    assert found["decision"] == "not +"
    # 0.1024 / 0.84 [choi2017, Figure 1]
    assert found["posterior"]["+"] == pytest.approx(0.1024 / 0.84, abs=ENGINE)


def test_sdp_says_in_words_what_it_found(unswayed, review):
    """SDP .99 after a negative vote of the chair [choi2017]: of 0.84, one paper in a hundred changes."""
    outcome = unswayed("sdp", review, *PAPERS, "-e", "AC=-")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "given AC=-\n"
        "decision: not +, since Pr(D = +) is 0.1219, below 0.6\n"
        "SDP: 0.9881 (exact)\n"
        "With probability 0.9881 the decision 'not +' survives observing R1 and R2.\n"
        "Stop observing: that is at least 0.95.\n"
    )


@pytest.mark.parametrize(
    ("evidence", "printed", "decision", "stop"), [("AC=-", 0.99, "not +", True), ("AC=+", 0.56, "+", False)]
)
def test_sdp_after_the_chair_s_vote_is_the_paper_s(answer, evidence, printed, decision, stop):
    found = answer("sdp", "-e", evidence)
    assert set(found) >= NUMBERS
    assert found["value"] == pytest.approx(printed, abs=paper(2))
    assert found["low"] == found["value"] == found["high"]
    assert found["certainty"] == "exact"
    assert (found["decision"], found["stop"]) == (decision, stop)


def test_the_level_to_stop_at_can_be_chosen(unswayed, review, answer):
    assert answer("sdp", "-e", "AC=-", "--at-least", "0.999")["stop"] is False
    out = unswayed("sdp", review, *PAPERS, "-e", "AC=+", "--at-least", "0.5").out
    assert out.endswith("Stop observing: that is at least 0.5.\n")


@pytest.mark.parametrize(("kept", "printed"), [("R1", 0.90), ("R2", 0.90), ("AC", 0.92), ("R1,R2", 1.0)])
def test_esdp_of_each_observation_is_the_paper_s(answer, kept, printed):
    """[choi2017]: .90, .90 and .92; both reviewers together decide as all do."""
    assert answer("esdp", "--keep", kept)["value"] == pytest.approx(printed, abs=paper(2))


def test_esdp_in_words(unswayed, review):
    assert unswayed("esdp", review, *PAPERS, "--keep", "AC").out == (
        "E-SDP: 0.9200 (exact)\n"
        "With probability 0.9200 the decision after observing AC is the one that observing R1, R2 and AC "
        "leads to.\n"
    )


def test_eca_under_a_new_threshold(unswayed, review, answer):
    """Above 0.61 the chair alone never decides +, so 90% of papers agree."""
    assert answer("eca", "--keep", "AC", "--new-threshold", "0.7")["value"] == pytest.approx(0.9, abs=ENGINE)
    assert unswayed("eca", review, *PAPERS, "--keep", "AC", "--new-threshold", "0.7").out == (
        "ECA: 0.9000 (exact)\n"
        "With probability 0.9000 the decision on AC with threshold 0.7 is the one on all features with "
        "threshold 0.6.\n"
    )


def test_eca_without_a_new_threshold_finds_the_best(unswayed, review, answer):
    """Between the two posteriors that the chair's vote leads to, 0.1024 / 0.84 and 0.61."""
    found = answer("eca", "--keep", "AC")
    assert found["value"] == pytest.approx(0.92, abs=ENGINE)
    assert found["thresholds"] == pytest.approx([0.1024 / 0.84, 0.61], abs=ENGINE)
    out = unswayed("eca", review, *PAPERS, "--keep", "AC").out
    assert out.startswith("MAA: 0.9200 (exact)\nNo new threshold was given")
    assert out.endswith("Thresholds above 0.121905, up to and including 0.61, achieve it.\n")


def test_thresholds_that_do_as_well_elsewhere_are_told(unswayed, tmp_path):
    """Half of the full decisions are positive, most of them where F2 = -, which makes C = + less probable.

    So thresholds up to that posterior, 20 / 43, decide all positive, those above the other, 10 / 19, all
    negative, and both agree on a half; those between agree less often.
    """
    tables = {
        "C": ((), [0.5]),
        "F0": (("C",), [0.2, 0.8]),
        "F1": (("C", "F0"), [0.4, 0.4, 0.6, 0.7]),
        "F2": (("C", "F0"), [1.0, 0.5, 0.6, 0.3]),
    }
    path = tmp_path / "network.bif"
    write_network(binary_network(tables), path)
    words = (path, "--target", "C=+", "--threshold", "0.6", "--features", "all", "--keep", "F2")
    found = json.loads(unswayed("eca", *words, "--json").out)
    assert found["value"] == pytest.approx(0.5, abs=ENGINE)
    assert found["thresholds"] == pytest.approx([0.0, 20 / 43], abs=ENGINE)
    assert found["other_thresholds"] == [pytest.approx([10 / 19, 1.0], abs=ENGINE)]
    assert unswayed("eca", *words).out.endswith(
        "Thresholds above 0, up to and including 0.465116; or above 0.526316, up to and including 1, "
        "achieve it.\n"
    )
    between = json.loads(unswayed("eca", *words, "--new-threshold", "0.5", "--json").out)
    assert between["value"] < 0.5 - 0.01


def test_voi_ranks_by_sdp_and_shows_all_criteria(unswayed, review):
    """The chair by SDP and the second reviewer by entropy [choi2017].

    The margin rises from 0.6 to 0.04 + 0.64 by the reviewer, to 0.0352 + 0.6352 by the chair.
    """
    outcome = unswayed("voi", review, *PAPERS)
    assert (outcome.code, outcome.err) == (0, "")
    header, first, *rest = outcome.out.splitlines()
    assert header.split() == ["feature", "sdp", "entropy", "margin"]
    assert first.split()[:2] == ["AC", "0.0200"]
    assert rest[-2] == "Observe next: AC by sdp; R2 by entropy and margin."
    assert rest[-1].startswith("Most likely to settle it: AC;")
    assert len({len(line) for line in (header, first, *rest[:2])}) == 1


@pytest.mark.parametrize(("reward", "order"), [("sdp", ["AC", "R2", "R1"]), ("entropy", ["R2", "R1", "AC"])])
def test_voi_in_json_is_a_ranking_best_first(answer, reward, order):
    found = answer("voi", "--reward", reward)
    assert found["reward"] == reward
    assert [row["feature"] for row in found["ranking"]] == order
    for row in found["ranking"]:
        assert set(row) >= NUMBERS
        assert row["value"] == row["values"][reward]


def test_entropy_left_after_each_observation_is_the_paper_s(answer):
    """H(D | .) in bits: .59, .57 and .60 [choi2017]."""
    now = entropy(0.2, 0.8)
    gains = {row["feature"]: row["value"] for row in answer("voi", "--reward", "entropy")["ranking"]}
    for feature, printed in {"R1": 0.59, "R2": 0.57, "AC": 0.60}.items():
        assert now - gains[feature] == pytest.approx(printed, abs=paper(2))


def test_voi_of_features_together(unswayed, review, answer):
    """Both reviewers are never wrong: the SDP rises from 0.9 to 1."""
    found = answer("voi", "--keep", "R1,R2")
    assert found["value"] == pytest.approx(0.1, abs=ENGINE)
    assert unswayed("voi", review, *PAPERS, "--keep", "R1,R2").out == (
        "Observing R1 and R2 is expected to change the same-decision probability by 0.1000.\n"
    )


def test_without_a_state_the_most_probable_one_is_decided(unswayed, printer):
    found = json.loads(unswayed("decide", printer, "--target", "Fault", "-e", "Light=red", "--json").out)
    assert found["decision"] == max(found["posterior"], key=found["posterior"].get) == "paper_jam"
    out = unswayed("sdp", printer, "--target", "Fault", "-e", "Light=red").out
    assert "survives observing TestPage and Ping" in out


def test_the_threshold_is_one_half_unless_given(unswayed, review):
    features = ["--features", "all", "-e", "AC=+"]
    half = unswayed("sdp", review, "--target", "D=+", *features)
    assert half.out == unswayed("sdp", review, "--target", "D=+", "--threshold", "0.5", *features).out
    assert "at least 0.5" in half.out


def test_features_are_the_leaves_unless_given(unswayed, printer):
    leaves = unswayed("voi", printer, "--target", "Fault").out
    assert leaves == unswayed("voi", printer, "--target", "Fault", "--features", "leaves").out
    assert "Age" not in leaves


def test_a_single_leaf_is_not_all_there_is_to_observe(unswayed, review):
    taken = unswayed("voi", review, "--target", "D=+")
    assert taken.out == unswayed("voi", review, "--target", "D=+", "--features", "all").out
    assert taken.err.startswith("features: the 3 others, since one alone is a leaf (R1, R2 and AC)")


def test_an_example_asks_its_own_question(unswayed):
    asked = ["--target", "D=+", "--threshold", "0.6", "--features", "all", "-e", "AC=-"]
    assert unswayed("sdp", "review", "-e", "AC=-") == unswayed("sdp", "review", *asked)


def test_features_may_be_named_in_several_options(unswayed, review):
    every = unswayed("voi", review, "--target", "D=+", "--features", "all").out
    assert every == unswayed("voi", review, "--target", "D=+", "--features", "R1,R2", "--features", "AC").out


def test_utilities_decide_and_rank(unswayed, review, utilities, tmp_path):
    """Accept when Pr(+) >= 2/3, which the two reviewers' agreement alone achieves: 0.084 / 0.1."""
    options = ["--target", "D", "--features", "all", "--utilities", utilities]
    assert "decision: decline, the action of highest" in unswayed("decide", review, *options).out
    found = json.loads(unswayed("esdp", review, *options, "--keep", "R1,R2", "--json").out)
    assert found["value"] == pytest.approx(1.0, abs=ENGINE)
    # Of 10% of papers both reviewers accept, 0.084 are good and 0.016 bad.
    both = json.loads(
        unswayed("voi", review, *options, "--keep", "R1,R2", "--reward", "utility", "--json").out
    )
    assert both["value"] == pytest.approx(0.084 - 2 * 0.016, abs=ENGINE)
    table = tmp_path / "utilities.csv"
    table.write_text("action,+,-\naccept,1,-2\ndecline,0,0\n")
    again = unswayed("voi", review, *options[:-1], table, "--reward", "utility")
    assert again.out == unswayed("voi", review, *options, "--reward", "utility").out
    assert again.out.split()[:2] == ["feature", "utility"]


def test_when_all_is_observed_nothing_can_change(unswayed, review):
    everything = ["-e", "R1=+,R2=+,AC=+"]
    assert unswayed("sdp", review, *PAPERS, *everything).out.endswith(
        "All features are observed: nothing is left that could change the decision.\n"
    )
    assert json.loads(unswayed("sdp", review, *PAPERS, *everything, "--json").out)["value"] == pytest.approx(
        1.0
    )
    assert unswayed("voi", review, *PAPERS, *everything).out.endswith("All features are observed.\n")


@pytest.mark.parametrize("engine", ["dense", "weights", "depth_first", "brute_force"])
def test_every_exact_engine_can_be_named(answer, engine):
    found = answer("sdp", "-e", "AC=+", "--engine", engine)
    assert (found["engine"], found["certainty"]) == (engine, "exact")
    assert found["value"] == pytest.approx(0.5625, abs=ENGINE)


def test_intervals_are_shown_as_intervals(unswayed, review, answer):
    """0.09 of the 0.16 that the chair votes + for."""
    bound = answer("sdp", "-e", "AC=+", "--engine", "sums")
    assert bound["certainty"] == "bound"
    assert bound["low"] <= 0.5625 <= bound["high"]
    text = unswayed("sdp", review, *PAPERS, "-e", "AC=+", "--engine", "sums").out
    low, high = map(float, re.search(r"SDP: between ([\d.]+) and ([\d.]+) \(certified\)", text).groups())
    assert low <= 0.5625 <= high
    estimate = answer("sdp", "-e", "AC=+", "--engine", "sampling", "--allow-estimates")
    assert (estimate["certainty"], estimate["confidence"]) == ("estimate", 0.99)
    assert estimate["low"] < estimate["value"] < estimate["high"]
    text = unswayed("sdp", review, *PAPERS, "-e", "AC=+", "--engine", "sampling", "--allow-estimates").out
    assert re.search(r"SDP: about [\d.]+, between [\d.]+ and [\d.]+ with confidence 0.99 \(estimate\)", text)


def test_explain_lists_the_bids_beside_the_answer(unswayed, review):
    text = unswayed("sdp", review, *PAPERS, "--explain")
    bids = [line for line in text.out.splitlines() if re.match(r"(->|  ) \w+: ", line)]
    names = [line[3:].partition(":")[0] for line in bids]
    assert names == [engine.name for engine in ENGINES]
    assert sum(line.startswith("->") for line in bids) == 1
    in_json = unswayed("voi", review, *PAPERS, "--explain", "--json")
    assert json.loads(in_json.out)["ranking"]
    assert "-> " in in_json.err
    assert unswayed("sdp", review, *PAPERS, "--explain", "--engine", "dense").out.endswith("-> dense\n")


def test_the_answer_says_which_features_were_taken(unswayed, printer):
    said = "features: the 3 leaves (Light, TestPage and Ping); name others with --features\n"
    assert unswayed("sdp", printer, "--target", "Fault").err == said
    assert unswayed("sdp", printer, "--target", "Fault", "--features", "leaves").err == ""
    assert unswayed("sdp", printer, "--target", "Fault", "--json").err == ""


def diagnosis(path, n_faults, ranked=()):
    """Faults with one test that sees them all; the second fault is the most probable."""
    faults = [
        Variable(
            f"F{i}", ["ok", "bad"], Annotation(role=Role.TARGET, ranked=i in ranked, fault_states=("bad",))
        )
        for i in range(n_faults)
    ]
    chances = [0.3 if i == 1 else 0.1 for i in range(n_faults)]
    alarm = Variable("Alarm", ["on", "off"], Annotation(role=Role.OBSERVATION))
    rows = [[0.9, 0.1] if any(states) else [0.05, 0.95] for states in product((0, 1), repeat=n_faults)]
    causes = [Cpt(fault, [], [1 - p, p]) for fault, p in zip(faults, chances, strict=True)]
    write_network(BayesianNetwork([*causes, Cpt(alarm, faults, rows)]), path)
    return path


def test_the_answer_says_which_of_several_targets_was_taken(unswayed, tmp_path):
    several = diagnosis(tmp_path / "nine.xdsl", 9)
    outcome = unswayed("sdp", several)
    assert outcome.code == 0
    assert "target: F1, one of 9 that the file marks (its fault is the most probable)" in outcome.err
    assert "; name another with --target (F0, F2, F3, F4, F5, F6, F7 and F8)" in outcome.err
    assert json.loads(unswayed("sdp", several, "--json").out)["target"] == "F1"
    assert "target:" not in unswayed("sdp", several, "--target", "F2=bad").err
    ranked = unswayed("sdp", diagnosis(tmp_path / "ranked.xdsl", 3, ranked=(2,)))
    assert "target: F2, one of 3 that the file marks" in ranked.err
    assert "of those it ranks); name another with --target (F0 and F1)" in ranked.err
    assert "target:" not in unswayed("sdp", diagnosis(tmp_path / "one.xdsl", 1)).err
