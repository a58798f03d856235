"""Laws of wrapped models: enumeration, values as they are, complete rows, every verb, files."""

import itertools

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import unswayed
from predictor_cases import below_tree, random_predictor
from tolerances import EXACT
from unswayed.api.decisions import decide, sdp
from unswayed.api.saving import load_classifier, save_classifier
from unswayed.api.wrap import wrap
from unswayed.core.errors import ModelError, UnswayedWarning
from unswayed.decisions.problem import make_problem
from unswayed.model.cpt import Cpt
from unswayed.model.evidence import observe, read_evidence
from unswayed.model.network import BayesianNetwork


def enumerate_case(classifier, evidence):
    """Pr(D | e) and the SDP, by all completions: values go to the model, intervals to the rest."""
    network = classifier.network
    cpt = network.cpts[classifier.target_index]
    seen = observe(network, evidence).states
    sizes = [range(len(v)) if i not in seen else [seen[i]] for i, v in enumerate(network.variables[:-1])]
    prior, full = np.zeros(len(cpt.child)), []
    for states in itertools.product(*sizes):
        mass = 1.0
        for position, each in enumerate(network.cpts[:-1]):
            row = np.array([[states[p] for p in network.parents[position]]], dtype=np.int64)
            mass *= each.probabilities(row.reshape(1, -1))[0, states[position]]
        columns = []
        for parent, values in zip(cpt.parents, cpt.inputs, strict=True):
            state = states[network.index(parent.name)]
            given = evidence.get(parent.name)
            columns.append([values.values[state] if given is None else given])
        shares = cpt.predict(columns)[0]
        prior += mass * shares
        full.append((mass, shares))
    total = sum(mass for mass, _ in full)
    now = classifier.decider.decide(prior[np.newaxis] / total)[0]
    same = sum(mass for mass, shares in full if classifier.decider.decide(shares[np.newaxis])[0] == now)
    return prior / total, same / total


@pytest.mark.parametrize("seed", range(40))
def test_posterior_and_sdp_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    classifier = below_tree(random_predictor(rng, 4), rng)
    evidence = {}
    for parent in classifier.network.cpts[-1].parents:
        if rng.random() < 0.5:
            evidence[parent.name] = (
                str(rng.choice(parent.states)) if parent.name == "x2" else float(rng.normal())
            )
    prior, same = enumerate_case(classifier, evidence)
    np.testing.assert_allclose(make_problem(classifier, evidence).prior, prior, atol=EXACT)
    measured = sdp(classifier, evidence)
    assert measured.low - 1e-9 <= same <= measured.high + 1e-9


def fitted(kind="logistic", n_columns=4, n_rows=150, gaps=0.0):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] += X[:, 0]
    y = np.where(X[:, 0] + X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0, "ill", "well")
    model = (
        LogisticRegression()
        if kind == "logistic"
        else GradientBoostingClassifier(n_estimators=5, max_depth=2)
    )
    model.fit(X, y)
    X = X.copy()
    X[rng.random(X.shape) < gaps] = np.nan
    return model, X


def test_cases_of_equal_intervals_and_different_values_never_share_an_answer():
    model, X = fitted()
    classifier = wrap(model, X, threshold=0.5, positive="ill", bins=3)
    network = classifier.network
    cuts = [float(s.split("..")[1]) for s in network.variable("x0").states if ".." in s]
    top, bottom = cuts[0] - 1e-3, cuts[0] - 0.3
    assert observe(network, {"x0": top}).states == observe(network, {"x0": bottom}).states
    one, other = (decide(classifier, {"x0": x}).posterior["ill"] for x in (top, bottom))
    assert one != other
    again = decide(classifier, {"x0": top}).posterior["ill"]
    assert again == one
    assert read_evidence(network, {"x0": top}) == {"x0": repr(top)}
    assert decide(classifier, read_evidence(network, {"x0": top})).posterior["ill"] == one
    table = {"x0": [top, bottom, top], "x1": [None] * 3, "x2": [0.0] * 3, "x3": [0.0] * 3}
    audited = unswayed.audit(classifier, table)
    asked = [sdp(classifier, {"x0": x, "x2": 0.0, "x3": 0.0}) for x in table["x0"]]
    np.testing.assert_allclose(audited.sdp, [each.value for each in asked], atol=EXACT)


@pytest.mark.parametrize("kind", ["logistic", "boosted"])
@pytest.mark.parametrize("background", ["tree", "mixture"])
def test_complete_rows_decide_as_the_model(kind, background):
    model, X = fitted(kind, gaps=0.1)
    classifier = wrap(model, X, background=background, bins=3)
    full = np.nan_to_num(X)
    assert classifier.predict(full) == model.predict(full).tolist()


def test_complete_rows_need_no_background():
    model, X = fitted(n_columns=3)
    classifier = wrap(model, X, bins=2)
    network = classifier.network
    certain = [
        Cpt(cpt.child, cpt.parents, np.eye(len(cpt.child))[[0] * len(cpt.table)])
        if isinstance(cpt, Cpt)
        else cpt
        for cpt in network.cpts
    ]
    other = wrap(model, X, background=BayesianNetwork(certain[:-1]))
    row = {"x0": 2.0, "x1": 2.0, "x2": 2.0}
    assert decide(other, row).action == model.predict([[2.0, 2.0, 2.0]])[0]


@pytest.mark.parametrize("kind", ["logistic", "boosted"])
def test_every_verb_takes_a_wrapped_model(kind):
    model, X = fitted(kind)
    classifier = wrap(model, X, threshold=0.4, positive="ill", bins=3)
    case = {"x0": 0.21}
    assert unswayed.voi(classifier, case).best in classifier.features
    plan = unswayed.plan(classifier, evidence=case)
    assert plan is not None
    reasons = unswayed.why(classifier, evidence={"x0": 0.21, "x2": 1.3})
    assert reasons.reasons
    trimmed = unswayed.trim(classifier, budget=2)
    assert len(trimmed.kept) <= 2
    audited = unswayed.audit(
        classifier, np.where(np.random.default_rng(0).random((5, 4)) < 0.5, np.nan, X[:5])
    )
    assert ((audited.sdp >= 0) & (audited.sdp <= 1)).all()


@pytest.mark.parametrize("kind", ["logistic", "boosted"])
def test_a_saved_model_answers_alike(kind, tmp_path):
    model, X = fitted(kind)
    classifier = wrap(model, X, threshold=0.4, positive="ill", bins=3, background="mixture")
    save_classifier(classifier, tmp_path / "model.json")
    again = load_classifier(tmp_path / "model.json")
    case = {"x0": 0.21, "x2": "-0.4"}
    assert decide(again, case) == decide(classifier, case)
    assert sdp(again, case).value == sdp(classifier, case).value


def test_a_function_is_not_saved(tmp_path):
    _, X = fitted()
    classifier = wrap(lambda rows: rows[:, 0] > 0, X, bins=3)
    assert decide(classifier, {"x0": 0.5}).action == "True"
    with pytest.raises(ModelError, match="wrap it again"):
        save_classifier(classifier, tmp_path / "model.json")


def test_an_unseen_category_goes_to_the_model_alone():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"colour": rng.choice(["red", "blue"], 80), "age": rng.normal(50, 9, 80)})
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(X, X["age"] + 8 * (X["colour"] == "red") > 54)
    classifier = wrap(model, X, threshold=0.5, positive=True)
    with pytest.warns(UnswayedWarning, match="violet"):
        chance = decide(classifier, {"colour": "violet", "age": 51.5}).posterior["True"]
    row = pandas.DataFrame({"colour": ["violet"], "age": [51.5]})
    assert chance == pytest.approx(model.predict_proba(row)[0, 1], abs=1e-9)


def test_never_measured_and_not_yet_known_differ():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[rng.random(200) < 0.3, 0] = np.nan
    y = np.isnan(X[:, 0]) | (X[:, 1] > 0.5)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    classifier = wrap(model, X, threshold=0.5, positive=True, missing_is_value=["x0"], bins=3)
    never = decide(classifier, {"x0": "missing", "x1": 0.0}).posterior["True"]
    assert never == pytest.approx(model.predict_proba([[np.nan, 0.0]])[0, 1], abs=1e-9)
    assert decide(classifier, {"x1": 0.0}).posterior["True"] != pytest.approx(never, abs=1e-3)
    assert classifier.predict(X) == ["True" if each else "not True" for each in model.predict(X)]
