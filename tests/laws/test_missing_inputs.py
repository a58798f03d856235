"""Which decision is meant when inputs of a model are missing; raw values; a retrained model is noticed."""

import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import unswayed
from unswayed import (
    FormatError,
    QueryError,
    decide,
    load_classifier,
    save_classifier,
    sdp,
    wrap,
)
from unswayed.api import is_same_model


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    X[:, 1] += X[:, 0]
    y = np.where(X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=300) > 0, "ill", "well")
    return X, y


def gapped(row, known):
    return np.where(np.isin(np.arange(len(row)), known), row, np.nan)


@pytest.mark.parametrize("kind", ["hist", "imputed", "xgboost", "lightgbm"])
def test_the_native_reading_is_the_library_s_own(rows, kind):
    X, y = rows
    if kind in ("xgboost", "lightgbm"):
        library = pytest.importorskip(kind)
        model = (
            library.XGBClassifier(n_estimators=9)
            if kind == "xgboost"
            else library.LGBMClassifier(n_estimators=9, verbose=-1)
        )
        y = (y == "ill").astype(int)
    elif kind == "hist":
        model = HistGradientBoostingClassifier(max_iter=9)
    else:
        model = make_pipeline(SimpleImputer(strategy="mean"), LogisticRegression())
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model.fit(gaps, y)
    classifier = wrap(model, gaps, bins=4)
    for place, known in enumerate([[0], [1, 3], [2]]):
        row = gapped(X[place], known)
        found = decide(classifier, row)
        native = next(each for each in found.readings if each.missing == "native")
        own = model.predict_proba(row[np.newaxis])[0]
        assert list(native.posterior.values()) == pytest.approx(own.tolist(), abs=1e-6)
        assert decide(classifier, row, missing="native").posterior == native.posterior
        assert [each.missing for each in found.disagreeing] == [
            each.missing for each in found.readings if each.action != found.action
        ]


def test_the_imputed_reading_is_a_row_of_middle_values(rows):
    X, y = rows
    model = LogisticRegression().fit(X, y)
    classifier = wrap(model, X, bins=5)
    found = decide(classifier, {"x0": 0.3}, missing="impute")
    node = classifier.network.cpts[classifier.target_index]
    row = [0.3, *(each.values[2] for each in node.inputs[1:])]  # five bins of equal mass: the third
    assert list(found.posterior.values()) == pytest.approx(model.predict_proba([row])[0].tolist())
    with pytest.raises(QueryError, match="impute"):
        decide(classifier, {"x0": 0.3}, missing="native")
    with pytest.raises(QueryError, match="one of"):
        decide(classifier, {"x0": 0.3}, missing="guess")


def test_readings_of_complete_rows_are_one(rows):
    X, y = rows
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    classifier = wrap(model, X, bins=4)
    for word in ("expected", "native", "impute"):
        assert decide(classifier, X[0], missing=word).action == model.predict(X[:1])[0]
        assert sdp(classifier, X[0], missing=word).value == 1.0


def test_the_sdp_of_a_reading_is_that_of_what_it_decides(rows):
    X, y = rows
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    classifier = wrap(model, X, bins=4)
    for place in range(6):
        case = {"x1": float(X[place, 1])}
        expected, native = (decide(classifier, case, missing=word) for word in ("expected", "native"))
        stays = {word: sdp(classifier, case, missing=word).value for word in ("expected", "native")}
        if expected.action == native.action:
            assert stays["native"] == pytest.approx(stays["expected"], abs=1e-9)
        else:
            assert stays["native"] == pytest.approx(1.0 - stays["expected"], abs=1e-9)


def test_networks_have_no_other_reading():
    from unswayed.model.zoo import review

    papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    assert decide(papers, {"AC": "+"}).readings == ()
    with pytest.raises(QueryError, match="wrap"):
        decide(papers, {"AC": "+"}, missing="native")


def test_an_estimate_that_straddles_the_threshold_holds_both_decisions(rows, monkeypatch):
    from unswayed.inference import expected, predictors

    X, y = rows
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    exact = decide(wrap(model, X, bins=4), {"x1": 0.1}).posterior["ill"]
    monkeypatch.setattr(predictors, "TABLE_CELLS", 0)
    monkeypatch.setattr(expected, "MOST_COMPLETIONS", 0)
    at = wrap(model, X, bins=4, threshold=round(exact, 4), positive="ill")
    found = decide(at, {"x1": 0.1})
    assert abs(found.posterior["ill"] - exact) <= found.doubt < 0.02
    assert sorted(found.possible) == ["ill", "not ill"]
    assert "may as well decide" in str(found)
    clear = decide(wrap(model, X, bins=4, threshold=0.99, positive="ill"), {"x1": 0.1})
    assert clear.doubt > 0
    assert clear.possible == ()


def test_a_row_of_a_table_is_asked_in_its_own_values(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    classifier = wrap(LogisticRegression().fit(X, y), X, bins=2)
    low, high = np.sort(X[:, 0])[[10, 100]]  # in one interval
    for wanted in (low, high):
        asked = decide(classifier, {"x0": float(wanted)}).posterior
        row = [wanted, np.nan, np.nan, np.nan]
        assert decide(classifier, np.array(row)).posterior == asked
        assert decide(classifier, pandas.Series(row, index=classifier.features)).posterior == asked
        assert [each.posterior for each in decide(classifier, np.array([row, row]))] == [asked] * 2


def test_a_retrained_model_is_noticed(rows, tmp_path):
    X, y = rows
    for model in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=3)):
        classifier = wrap(model.fit(X, y), X, bins=3)
        save_classifier(classifier, tmp_path / "model.json")
        again = load_classifier(tmp_path / "model.json")
        assert is_same_model(again, model)
        model.fit(X[:200], y[:200])
        assert not is_same_model(again, model)
        kept = (tmp_path / "model.json").read_text()
        save_classifier(wrap(model, X, bins=3), tmp_path / "model.json")
        (tmp_path / "model.json").write_text(kept)  # beside the later training's network
        with pytest.raises(FormatError, match="not the one"):
            load_classifier(tmp_path / "model.json")
        for each in tmp_path.iterdir():
            each.unlink()


def test_quantiles_are_nobody_s_values(rows, tmp_path):
    X, y = rows
    model = LogisticRegression().fit(X, y)
    save_classifier(wrap(model, X, bins=3, representatives="quantiles"), tmp_path / "model.json")
    nodes = json.loads((tmp_path / "model.network.json").read_text())["nodes"]
    inputs = next(node for node in nodes if node["kind"] == "additive")["inputs"]
    for place, each in enumerate(inputs):
        assert not np.isin(each["values"], X[:, place]).any()


def test_a_function_has_no_checkpoint_and_a_token(rows, tmp_path):
    X, _ = rows

    def rule(table):
        return table[:, 0] > 0

    one, other = (wrap(rule, X, bins=2) for _ in range(2))
    models = [each.network.cpts[each.target_index] for each in (one, other)]
    assert models[0].fingerprint != models[1].fingerprint
    assert is_same_model(one, rule)
    with pytest.raises(QueryError, match="checkpoint"):
        unswayed.trim(one, budget=1, checkpoint=tmp_path / "search.json")
