"""`unswayed posterior`: numbers of the papers, layout, evidence as people type it."""

from __future__ import annotations

import json

import pytest

from tolerances import ENGINE
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


def test_a_posterior_is_a_small_table_with_bars(unswayed, review):
    """The chair's vote raises D from 0.2 to 0.0976 / 0.16 [choi2017, Figure 1]."""
    outcome = unswayed("posterior", review, "--of", "D", "--evidence", "AC=+")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out == (
        "given AC=+\n"
        "\n"
        "D\n"
        "  +  0.6100  ██████████████▋\n"  # 0.61 of 24 cells is 14 and 5 eighths
        "  -  0.3900  █████████▍\n"
    )


def test_without_of_all_marginals_are_shown_in_the_order_of_the_network(unswayed, review):
    outcome = unswayed("posterior", review)
    names = [line for line in outcome.out.splitlines() if line and not line.startswith(" ")]
    assert names == ["D", "R1", "R2", "AC"]
    # Pr(R1 = +) = 0.2 * 0.7 + 0.8 * 0.2
    assert "R1\n  +  0.3000" in outcome.out


def test_json_is_one_object_of_full_precision(unswayed, review):
    outcome = unswayed("posterior", review, "--of", "D", "--of", "R2", "-e", "AC=+", "--json")
    answer = json.loads(outcome.out)
    assert list(answer) == ["network", "evidence", "posteriors"]
    assert answer["network"] == "review"
    assert answer["evidence"] == {"AC": "+"}
    assert list(answer["posteriors"]) == ["D", "R2"]
    assert answer["posteriors"]["D"]["+"] == pytest.approx(0.61, abs=ENGINE)


def test_evidence_may_be_given_in_one_option_or_several(unswayed, review):
    together = unswayed("posterior", review, "--of", "D", "-e", "R1=+, R2=-")
    apart = unswayed("posterior", review, "--of", "D", "--evidence", "R1=+", "--evidence", "R2=-")
    assert together.code == apart.code == 0
    assert together.out == apart.out


def test_evidence_repeated_with_one_state_is_no_contradiction(unswayed, review):
    assert unswayed("posterior", review, "--of", "D", "-e", "R1=+,R1=+").code == 0


def test_a_number_stands_for_the_interval_it_lies_in(unswayed, tmp_path):
    age = Variable("age", ["<=30", "30..60", ">60"])
    path = tmp_path / "ages.bif"
    write_network(BayesianNetwork([Cpt(age, [], [0.2, 0.3, 0.5])]), path)
    # A value equal to a cut belongs to the interval below it.
    for typed, state in {"30": "<=30", "30.5": "30..60", "1e3": ">60", "<=30": "<=30"}.items():
        outcome = unswayed("posterior", path, "-e", f"age={typed}", "--json")
        assert json.loads(outcome.out)["evidence"] == {"age": state}


def test_commas_and_equals_signs_in_names_can_be_typed(unswayed, tmp_path):
    odd = Variable("a,b=c\\", ["x,y", "z=1"])
    path = tmp_path / "odd.xdsl"
    write_network(BayesianNetwork([Cpt(odd, [], [0.5, 0.5])]), path)
    for typed, state in {r"a\,b\=c\\=x\,y": "x,y", r"a\,b\=c\\=z=1": "z=1"}.items():
        outcome = unswayed("posterior", path, "-e", typed, "--json")
        assert outcome.err == ""
        assert json.loads(outcome.out)["evidence"] == {odd.name: state}


def test_names_are_neither_cut_nor_wrapped(unswayed, tmp_path):
    long = "a" * 200
    path = tmp_path / "long.bif"
    write_network(BayesianNetwork([Cpt(Variable("L", [long, "b"]), [], [0.5, 0.5])]), path)
    assert f"  {long}  0.5000" in unswayed("posterior", path).out


def test_wide_characters_line_up_and_markup_is_left_alone(unswayed, tmp_path):
    path = tmp_path / "wide.xdsl"
    variable = Variable("天気", ["晴れ", "[red]x", ":smile:"])
    write_network(BayesianNetwork([Cpt(variable, [], [0.5, 0.25, 0.25])]), path)
    out = unswayed("posterior", path).out
    assert "  晴れ     0.5000" in out  # four cells of text, three of blanks, two between columns
    assert "  [red]x   0.2500" in out
    assert "  :smile:  0.2500" in out


def test_a_number_close_to_certainty_is_not_shown_as_certain(unswayed, tmp_path):
    path = tmp_path / "rare.bif"
    write_network(BayesianNetwork([Cpt(Variable("V", ["rare", "usual"]), [], [1e-7, 1 - 1e-7])]), path)
    out = unswayed("posterior", path).out
    assert "1.0e-07" in out
    assert ">0.9999" in out
