"""Models of other libraries, read: on full rows and with gaps they predict as the library does."""

import warnings

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from unswayed.api.wrap import wrap
from unswayed.model.nodes.additive import AdditiveCpt
from unswayed.model.nodes.black_box import BlackBoxCpt
from unswayed.model.nodes.trees import TreesCpt

CLOSE = 1e-6


def rows_of(n_classes, n_rows=200):
    X, y = make_classification(
        n_rows,
        6,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=n_classes,
    )
    X[:, 0] = np.round(X[:, 0], 1)  # values that meet the cuts
    return X, np.array(["a", "b", "c"])[y]


def node_of(model, X, **options):
    network = wrap(model, X, **options).network
    return network.cpts[network.index("prediction")]


def assert_predicts_alike(node, X, expected):
    columns = [list(X[:, int(parent.name[1:])]) for parent in node.parents]
    np.testing.assert_allclose(node.predict(columns), expected, atol=CLOSE)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(MinMaxScaler(), RobustScaler(), LogisticRegression()),
        GaussianNB(),
        BernoulliNB(binarize=0.2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sums_predict_as_the_library(model, n_classes):
    X, y = rows_of(n_classes)
    node = node_of(model.fit(X, y), X)
    assert isinstance(node, AdditiveCpt)
    assert_predicts_alike(node, X, model.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(10, random_state=0),
        ExtraTreesClassifier(10, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        HistGradientBoostingClassifier(max_iter=10),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_trees_predict_as_the_library(model, n_classes):
    X, y = rows_of(n_classes)
    node = node_of(model.fit(X, y), X)
    assert isinstance(node, TreesCpt)
    assert_predicts_alike(node, X, model.predict_proba(X))
    # Just beside every cut, where single precision and scaling decide.
    near = X[:50].copy()
    for place, parent in enumerate(node.parents):
        cuts = node.trees.cut[(node.feature == place) & ~np.isnan(node.trees.cut)]
        column = np.concatenate([cuts, np.nextafter(cuts, np.inf)])[:50]
        near[: len(column), int(parent.name[1:])] = column
    assert_predicts_alike(node, near, model.predict_proba(near))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=10),
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
        make_pipeline(
            StandardScaler(), SimpleImputer(strategy="median"), DecisionTreeClassifier(max_depth=3)
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_was_never_measured_goes_where_the_library_sends_it(model, n_classes):
    X, y = rows_of(n_classes)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    assert_predicts_alike(node_of(model.fit(X, y), X), X, model.predict_proba(X))


@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier(), SGDClassifier(random_state=0)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_without_probabilities_are_decisions(model, n_classes):
    X, y = rows_of(n_classes)
    node = node_of(model.fit(X, y), X)
    columns = [list(X[:, int(parent.name[1:])]) for parent in node.parents]
    decided = np.array(node.child.states)[node.predict(columns).argmax(axis=1)]
    assert decided.tolist() == model.predict(X).tolist()


def test_codes_of_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(150, 3)).astype(float)
    model = CategoricalNB().fit(X, X[:, 0] + rng.integers(0, 3, size=150) > 3)
    assert_predicts_alike(node_of(model, X), X, model.predict_proba(X))


@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=0)])
@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(drop="first")])
def test_one_hot_groups_are_one_variable(encoder, last):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X = pandas.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 150),
            "age": rng.normal(50, 9, 150),
            "n": rng.integers(0, 3, 150),
        }
    )
    y = (X["age"] + 10 * (X["colour"] == "red") > 52).map({True: "yes", False: "no"})
    model = make_pipeline(
        make_column_transformer((encoder, ["colour", "n"]), (StandardScaler(), ["age"])), last
    )
    node = node_of(model.fit(X, y), X)
    assert not isinstance(node, BlackBoxCpt)
    assert {parent.name for parent in node.parents} <= {"colour", "age", "n"}
    columns = [X[parent.name].tolist() for parent in node.parents]
    np.testing.assert_allclose(node.predict(columns), model.predict_proba(X), atol=CLOSE)


def test_words_as_ordinals():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    X = pandas.DataFrame({"size": rng.choice(["S", "M", "L"], 150), "age": rng.normal(50, 9, 150)})
    model = make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["size"]), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=3),
    ).fit(X, (X["size"] == "M") ^ (X["age"] > 50))
    node = node_of(model, X)
    assert isinstance(node, TreesCpt)
    columns = [X[parent.name].tolist() for parent in node.parents]
    np.testing.assert_allclose(node.predict(columns), model.predict_proba(X), atol=CLOSE)


def test_other_models_and_functions_are_asked_themselves():
    X, y = rows_of(2)
    model = SVC().fit(X, y)  # decisions only
    node = node_of(model, X)
    assert isinstance(node, BlackBoxCpt)
    columns = [list(column) for column in X.T]
    decided = np.array(node.child.states)[node.predict(columns).argmax(axis=1)]
    assert decided.tolist() == model.predict(X).tolist()
    chance = node_of(lambda rows: 1 / (1 + np.exp(-rows[:, 0])), X)
    np.testing.assert_allclose(chance.predict(columns)[:, 1], 1 / (1 + np.exp(-X[:, 0])), atol=CLOSE)
    score = node_of(lambda rows: rows[:, 0], X, link="logit")
    np.testing.assert_allclose(score.predict(columns), chance.predict(columns), atol=CLOSE)


def boosted(name, n_classes, **options):
    if name == "xgboost":
        library = pytest.importorskip("xgboost", reason="XGBoost is not installed")
        return library.XGBClassifier(n_estimators=12, max_depth=4, **options)
    library = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    return library.LGBMClassifier(n_estimators=12, num_leaves=12, verbose=-1, min_child_samples=5, **options)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_boosters_predict_as_the_library(name, n_classes, gaps):
    X, y = rows_of(n_classes)
    X[np.random.default_rng(0).random(X.shape) < gaps] = np.nan
    labels = np.unique(y, return_inverse=True)[1]
    model = boosted(name, n_classes).fit(X, labels)
    node = node_of(model, X)
    assert isinstance(node, TreesCpt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_predicts_alike(node, X, model.predict_proba(X))
        blank = X.copy()
        blank[:, 1] = np.nan
        assert_predicts_alike(node, blank, model.predict_proba(blank))
    booster = getattr(model, "booster_", None) or model.get_booster()
    assert_predicts_alike(
        node_of(booster, X), X, node.predict([list(X[:, int(p.name[1:])]) for p in node.parents])
    )


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_boosters_split_categories(name):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(
        {"colour": pandas.Categorical(rng.choice(list("abcdef"), 300)), "age": rng.normal(50, 9, 300)}
    )
    X.loc[rng.random(300) < 0.1, "colour"] = None
    y = ((X["age"] > 50) ^ X["colour"].isin(["b", "e"])).astype(int)
    options = (
        {"enable_categorical": True} if name == "xgboost" else {"min_data_per_group": 5, "cat_smooth": 1}
    )
    model = boosted(name, 2, **options).fit(X, y)
    node = node_of(model, X)
    assert node.trees.codes_left.any()
    columns = [[np.nan if pandas.isna(cell) else cell for cell in X[parent.name]] for parent in node.parents]
    np.testing.assert_allclose(node.predict(columns), model.predict_proba(X), atol=CLOSE)
