"""Fitted estimators and rows of tables, where verbs ask for classifiers and evidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB

import unswayed
from unswayed import ModelError, QueryError

RNG = np.random.default_rng(0)
BITS = (RNG.random((60, 4)) > 0.5).astype(int)
LABELS = BITS[:, 0] | BITS[:, 2]
ROWS = pd.DataFrame({"heat": RNG.normal(size=80), "sky": RNG.choice(["blue", "grey"], 80)})
PLAY = pd.Series(np.where(ROWS.heat > 0, "yes", "no"), name="play")
FITTED = unswayed.BayesNetClassifier().fit(ROWS, PLAY)


@pytest.mark.parametrize("estimator", [BernoulliNB(), CategoricalNB()], ids=lambda one: type(one).__name__)
def test_a_naive_bayes_of_scikit_learn_decides_as_it_predicts(estimator):
    estimator.fit(BITS, LABELS)
    decided = unswayed.decide(estimator, BITS)
    assert [int(each.action) for each in decided] == estimator.predict(BITS).tolist()
    assert unswayed.sdp(estimator).value == unswayed.sdp(unswayed.as_classifier(estimator)).value


def test_a_dataframe_gives_an_answer_for_each_row():
    decided = unswayed.decide(FITTED, ROWS)
    assert [each.action for each in decided] == FITTED.predict(ROWS).tolist()


@pytest.mark.parametrize(
    "row",
    [
        ROWS.iloc[3],
        pd.concat([ROWS, PLAY], axis=1).iloc[3],
        ROWS.iloc[3].to_numpy(),
        ROWS.iloc[3].tolist(),
        ROWS.iloc[3].to_dict(),
    ],
    ids=["series", "series with the outcome", "array", "list", "dict"],
)
def test_a_row_is_evidence(row):
    assert unswayed.decide(FITTED, row) == unswayed.decide(FITTED, ROWS.iloc[[3]])[0]
    assert unswayed.why(FITTED, row).evidence == unswayed.why(FITTED, evidence=row).evidence


def test_missing_cells_are_not_observed():
    assert unswayed.sdp(FITTED, [None, None]).value == unswayed.sdp(FITTED).value


def test_a_trimmed_classifier_is_asked_about_what_it_kept():
    trimmed = unswayed.TrimmedClassifier(budget=2).fit(BITS, LABELS)
    assert unswayed.as_classifier(trimmed).features == trimmed.trimming_.kept


def test_a_threshold_may_be_set():
    asked = unswayed.as_classifier(FITTED, threshold=0.8, positive="yes")
    assert asked.rule == unswayed.ThresholdRule("yes", 0.8)


def test_tables_are_audited_by_estimators():
    fitted = BernoulliNB().fit(BITS, LABELS)
    table = pd.DataFrame(BITS[:5], columns=["x0", "x1", "x2", "x3"])
    assert unswayed.predict(fitted, table).decision == tuple(map(str, fitted.predict(BITS[:5])))
    assert len(unswayed.audit(fitted, table)) == 5


def test_other_estimators_are_refused_with_a_way_out():
    forest = RandomForestClassifier(n_estimators=2).fit(BITS, LABELS)
    with pytest.raises(ModelError, match=r"wrap\(model, X\)"):
        unswayed.sdp(forest)
    with pytest.raises(ModelError, match=r"not fitted yet; call its fit first$"):
        unswayed.sdp(BernoulliNB())
    with pytest.raises(QueryError, match="a cell for each of the 2 features"):
        unswayed.sdp(FITTED, [1, 2, 3])


def test_help_shows_options_as_keyword_arguments():
    import inspect

    parameters = inspect.signature(unswayed.sdp).parameters
    assert list(parameters)[:5] == ["classifier", "evidence", "missing", "engine", "tolerance"]
    verbs = [getattr(unswayed, name) for name in unswayed.__all__ if name.islower()]
    kinds = {each.kind for verb in verbs if callable(verb) for each in _parameters(verb)}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def _parameters(verb):
    import inspect

    return inspect.signature(verb).parameters.values()


@pytest.mark.parametrize(
    ("tried", "meant"), [("explain", "why"), ("treshold", "thresholds"), ("same_decision_probability", "sdp")]
)
def test_an_unknown_name_suggests_the_nearest(tried, meant):
    with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
        getattr(unswayed, tried)
