"""Saved structured models: what is loaded answers as what was saved, and damaged files are refused."""

from __future__ import annotations

import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from tolerances import EXACT
from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.psdd.learn import Laplace, UniformExamples
from unswayed.core.anytime import within
from unswayed.core.errors import FormatError, ModelError
from unswayed.core.limits import Limits
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.files import load_structured, save_structured
from unswayed.spaces.formulas import formula_space
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.rankings import ranking_space, tiered_ranking_space
from unswayed.spaces.recipes import matching_space, spanning_tree_space
from unswayed.spaces.space import Space
from unswayed.spaces.subsets import subset_space

SPACES = {
    "rankings": ranking_space(["tea", "milk", "rum"]),
    "numbers": ranking_space(4),
    "top": ranking_space(5, top=2),
    "tiers": tiered_ranking_space("abcd", [1, 2]),
    "paths": path_space(grid(3, 3), (0, 0), (2, 2)),
    "any paths": path_space_between([("a", "b"), ("b", "c"), ("c", "a")]),
    "some paths": path_space_between(grid(2, 3), [((0, 0), (1, 2)), ((0, 2), (1, 0))]),
    "subsets": subset_space(["ham", "egg", "rye"], [1, 2]),
    "matchings": matching_space(grid(2, 3)),
    "trees": spanning_tree_space(grid(2, 3)),
    "formula": formula_space(Cnf(["rain", "snow", "sun"], [(1, 2, 3), (-1, -2)])),
}


def some_objects(space: Space, n_objects: int) -> list:
    return space.decode_many(space.sample(n_objects, np.random.default_rng(2)))


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("kind", SPACES)
def test_a_classifier_answers_as_before(kind, suffix, tmp_path):
    space = SPACES[kind]
    objects = some_objects(space, 12)
    model = StructuredNaiveBayes(space, smoothing=UniformExamples(2.0)).fit(objects, [0, 1] * 6)
    save_structured(model, tmp_path / f"model{suffix}")
    loaded = load_structured(tmp_path / f"model{suffix}")
    fresh = some_objects(loaded.structured, 20)
    assert loaded.predict_proba(fresh) == pytest.approx(model.predict_proba(fresh), abs=EXACT)
    assert loaded.classes_.tolist() == [0, 1]
    assert loaded.smoothing == UniformExamples(2.0)
    with pytest.raises(ModelError, match="no counts"):
        loaded.partial_fit(objects, [0, 1] * 6)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_mixed_rows_and_classes_of_two_parts(suffix, tmp_path):
    drinks = SPACES["rankings"]
    rows = pd.DataFrame(
        {
            "height": [1.6, 1.8, 1.7, 1.9],
            "1": ["tea", "rum", "milk", "rum"],
            "2": ["milk", "tea", "tea", "milk"],
            "3": ["rum", "milk", "rum", "tea"],
            "hat": ["yes", "no", None, "no"],
        }
    )
    labels = [("land", "a"), ("sea", "a"), ("land", "b"), ("sea", "b")]
    model = StructuredNaiveBayes([(drinks, ["1", "2", "3"])]).fit(rows, labels)
    save_structured(model, tmp_path / f"m{suffix}")
    loaded = load_structured(tmp_path / f"m{suffix}")
    assert loaded.predict_proba(rows) == pytest.approx(model.predict_proba(rows), abs=EXACT)
    assert loaded.predict(rows).tolist() == model.predict(rows).tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(rows.rename(columns={"hat": "cap"}))


def test_a_detector_answers_as_before(tmp_path):
    space = SPACES["paths"]
    detector = StructuredAnomalyDetector(space, contamination=0.2).fit(some_objects(space, 9))
    save_structured(detector, tmp_path / "m.npz")
    loaded = load_structured(tmp_path / "m.npz")
    everything = some_objects(space, 30)
    assert loaded.decision_function(everything) == pytest.approx(
        detector.decision_function(everything), abs=EXACT
    )


def damage(content: dict, path: list, value: object) -> None:
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 1, "reads from 2 on"),
        (["classes"], ["a"], "every class needs"),
        (["attributes", 0, "space", "items"], ["tea", "milk", "gin", "rum"], "do not|not the one|fill"),
        (["attributes", 0, "space", "items"], "tea", "list of names"),
        (["attributes", 0, "space", "tiers"], [5], "cannot be filled"),
        (["attributes", 0, "space", "kind"], "sounds", "unknown kind of space"),
        (["attributes", 0, "space"], None, "damaged"),
        (["attributes", 0, "kind"], "sounds", "unknown kind of attribute"),
        (["arrays", "log_parameters_0"], [[0.0]], "parameters expected"),
        (["arrays", "log_parameters_0"], [["x"]], "not numbers in its arrays"),
        (["arrays"], {}, "damaged"),
        (["options"], {}, "damaged"),
        (["columns"], None, "damaged"),
    ],
)
def test_damaged_files_are_refused(path, value, message, tmp_path):
    model = StructuredNaiveBayes(SPACES["rankings"]).fit([("tea", "milk", "rum")] * 2, ["a", "b"])
    file = tmp_path / "m.json"
    save_structured(model, file)
    content = json.loads(file.read_text())
    damage(content, path, value)
    file.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=message):
        load_structured(file)


def test_no_file_runs_code_or_unpacks_without_limit(tmp_path):
    file = tmp_path / "m.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("x.npy", pickle.dumps({"a": 1}))
    with pytest.raises(FormatError):
        load_structured(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}" + " " * 10_000_000)
    with pytest.raises(FormatError, match="over the limit"), within(Limits(max_bytes=1_000_000)):
        load_structured(file)
    with pytest.raises(FormatError, match="no such file"):
        load_structured(tmp_path / "nothing.npz")
    with pytest.raises(FormatError, match=r"\.json or \.npz"):
        save_structured(StructuredNaiveBayes(), tmp_path / "m.pkl")
    with pytest.raises(ModelError, match="call fit first"):
        save_structured(StructuredNaiveBayes(), tmp_path / "m.json")


def test_the_prior_chosen_explains_other_examples_best():
    """Objects drawn uniformly want a strong pull to equal objects; one repeated object wants next to none."""
    space = SPACES["paths"]
    rng = np.random.default_rng(0)
    spread = space.decode_many(space.sample(60, rng))
    model = StructuredNaiveBayes(space, smoothing="held-out").fit(spread, ["x"] * 60)
    assert isinstance(model.priors_[0], UniformExamples)
    one = StructuredNaiveBayes(space, smoothing="held-out").fit(spread[:1] * 60, ["x"] * 60)
    assert one.priors_[0] in (Laplace(0.01), UniformExamples(0.1))
    with pytest.raises(ModelError, match="cannot hold rows out"):
        StructuredNaiveBayes(space, smoothing="held-out").partial_fit(spread, ["x"] * 60, classes=["x"])
