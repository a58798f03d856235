"""A points score as a classifier: below its own prevalences, a table or a network, and saved."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from unswayed.api.saving import load_classifier, save_classifier
from unswayed.api.scores import score_classifier
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.nodes.points import ScoreCpt
from unswayed.model.scores import NAMES, example_score

WITH_PREVALENCES = [name for name in NAMES if not example_score(name).unknown_prevalences]


@pytest.mark.parametrize("name", WITH_PREVALENCES)
def test_a_saved_score_gives_the_same_answers(tmp_path, name):
    made = unswayed.wrap(example_score(name))
    save_classifier(made, tmp_path / "mine.json")
    opened = load_classifier(tmp_path / "mine.json")
    assert opened.network.cpts[opened.target_index].score == example_score(name)
    assert unswayed.sdp(opened).value == pytest.approx(unswayed.sdp(made).value, abs=1e-12)


def test_a_score_is_a_node_of_network_files(tmp_path):
    network = score_classifier(example_score("curb_65")).network
    write_network(network, tmp_path / "curb.json")
    again = read_network(tmp_path / "curb.json")
    assert isinstance(again.cpts[again.index("CURB-65")], ScoreCpt)


def test_another_form_than_the_variables_is_refused(tmp_path):
    network = score_classifier(example_score("qsofa")).network
    write_network(network, tmp_path / "qsofa.json")
    text = (tmp_path / "qsofa.json").read_text().replace(r"\"positive\"", r"\"worse\"")
    (tmp_path / "qsofa.json").write_text(text)
    with pytest.raises(unswayed.FormatError, match="other items, answers or bands"):
        read_network(tmp_path / "qsofa.json")


def test_numbers_are_read_by_the_conditions_of_the_form():
    classifier = unswayed.wrap(example_score("cha2ds2_vasc"))
    assert unswayed.decide(classifier, {"age": 78}).action == "high"
    by_name = unswayed.sdp(classifier, {"age": ">= 65 and < 75"}).value
    assert unswayed.sdp(classifier, {"age": 71.5}).value == by_name


def test_a_table_tells_how_answers_go_together():
    score, rng = example_score("qsofa"), np.random.default_rng(0)
    rate = rng.normal(20, 4, 400)
    rows = {
        "respiratory rate": rate,
        "altered mentation": np.where(rate > 24, "yes", "no"),
        "systolic pressure": np.where(rng.random(400) < 0.1, np.nan, 130 - rate),
    }
    learned = unswayed.wrap(score, rows)
    high = unswayed.posterior(learned.network, {"respiratory rate": 30.0}, of="altered mentation")["yes"]
    low = unswayed.posterior(learned.network, {"respiratory rate": 15.0}, of="altered mentation")["yes"]
    assert high > 0.4 > 0.05 > low


def test_what_does_not_fit_a_score_is_refused():
    score = example_score("qsofa")
    with pytest.raises(unswayed.QueryError, match="no column for 'systolic pressure'"):
        unswayed.wrap(score, {"respiratory rate": [20.0], "altered mentation": ["no"]})
    with pytest.raises(unswayed.QueryError, match="decides by its bands"):
        unswayed.wrap(score, threshold=0.3)
