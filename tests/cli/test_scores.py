"""Points scores wherever a network file is expected, and model files wrapped by a command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from unswayed.api.saving import load_classifier
from unswayed.model.formats.score import write_score
from unswayed.model.scores import NAMES, example_score


def test_a_bundled_score_answers_by_its_name(unswayed):
    outcome = unswayed("sdp", "cha2ds2-vasc", "-e", "age=78")
    assert outcome.code == 0
    assert "decision: high" in outcome.out
    assert "no medical device" in outcome.err


@pytest.mark.parametrize("command", [("sdp",), ("voi",), ("why",), ("plan", "--budget", "2"), ("decide",)])
def test_commands_take_a_score_file(unswayed, tmp_path, command):
    write_score(example_score("curb_65"), tmp_path / "form.toml")
    outcome = unswayed(command[0], tmp_path / "form.toml", *command[1:], "-e", "age=71,urea=9.3")
    assert outcome.code == 0, outcome.err
    assert outcome.out


def test_without_prevalences_it_says_what_is_certain(unswayed):
    outcome = unswayed("sdp", "glasgow_coma", "-e", "eyes=spontaneously,verbal=oriented")
    assert outcome.code == 0
    assert "moderate or mild" in outcome.out
    assert "Nothing is assumed" in outcome.out
    told = json.loads(
        unswayed("sdp", "glasgow_coma", "-e", "eyes=spontaneously,verbal=oriented", "--json").out
    )
    assert (told["bands"], told["probabilities"]) == (["moderate", "mild"], None)


def test_info_describes_a_score(unswayed):
    outcome = unswayed("info", "qsofa")
    assert "0 to 3 points; 8 ways to fill in the form" in outcome.out
    assert json.loads(unswayed("info", "qsofa", "--json").out)["points"] == [0, 3]


def test_examples_list_the_scores(unswayed):
    told = json.loads(unswayed("examples", "--json").out)
    assert [each["name"] for each in told["scores"]] == list(NAMES)


def test_two_answers_to_one_item_are_refused(unswayed):
    outcome = unswayed("sdp", "qsofa", "-e", "altered mentation=yes,altered mentation=no")
    assert outcome.code == 2
    assert "twice" in outcome.err


@pytest.fixture
def rows(tmp_path):
    made = np.random.default_rng(0).normal(size=(200, 3))
    lines = [",".join(map(repr, row)) for row in made.tolist()]
    (tmp_path / "train.csv").write_text("\n".join(["a,b,c", *lines]))
    return made, (made[:, 0] + made[:, 1] > 0).astype(int), tmp_path / "train.csv"


def test_an_xgboost_file_is_wrapped(unswayed, tmp_path, rows):
    xgboost = pytest.importorskip("xgboost")
    X, y, table = rows
    data = xgboost.DMatrix(X, y, feature_names=["a", "b", "c"])
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 2}, data, 5)
    for name in ("model.json", "model.ubj"):
        booster.save_model(tmp_path / name)
        out = tmp_path / "mine.json"
        outcome = unswayed("wrap", tmp_path / name, table, "--threshold", "0.4", "-o", out)
        assert outcome.code == 0, outcome.err
        opened = load_classifier(out)
        columns = {name: X[:50, i] for i, name in enumerate("abc")}
        decided = [each == "1" for each in opened.predict(columns)]
        assert decided == (booster.predict(data)[:50] >= 0.4).tolist()
        assert unswayed("sdp", out, "-e", "a=0.3").code == 0


def test_a_lightgbm_file_is_wrapped(unswayed, tmp_path, rows):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, table = rows
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y, feature_name=["a", "b", "c"])
    model.booster_.save_model(str(tmp_path / "model.txt"))
    out = tmp_path / "mine.json"
    outcome = unswayed("wrap", tmp_path / "model.txt", table, "-o", out, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["n_inputs"] == 3
    predicted = load_classifier(out).predict({name: X[:50, i] for i, name in enumerate("abc")})
    assert list(map(int, predicted)) == (model.booster_.predict(X[:50]) > 0.5).astype(int).tolist()


def test_a_score_is_wrapped_with_a_table(unswayed, tmp_path):
    (tmp_path / "t.csv").write_text(
        "respiratory rate,altered mentation,systolic pressure\n20,no,120\n25,yes,95\n18,no,\n"
    )
    outcome = unswayed("wrap", "qsofa", tmp_path / "t.csv", "-o", tmp_path / "mine.json")
    assert outcome.code == 0, outcome.err
    assert unswayed("sdp", tmp_path / "mine.json", "-e", "respiratory rate=25").code == 0


def test_a_pickle_is_refused_with_the_lines_that_do_it(unswayed, tmp_path, rows):
    outcome = unswayed("wrap", tmp_path / "model.pkl", rows[2], "-o", tmp_path / "mine.json")
    assert outcome.code == 2
    assert "joblib.load" in outcome.err
    assert "unswayed.save_classifier" in outcome.err


def test_a_model_that_misses_a_column_is_refused(unswayed, tmp_path, rows):
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(rows[0], rows[1], feature_names=["a", "b", "z"])
    xgboost.train({"objective": "binary:logistic"}, data, 2).save_model(tmp_path / "model.json")
    outcome = unswayed("wrap", tmp_path / "model.json", rows[2], "-o", tmp_path / "mine.json")
    assert outcome.code == 2
    assert "no column 'z'" in outcome.err
