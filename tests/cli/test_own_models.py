"""Commands open a saved model of one's own like a network file, and take values as they are."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unswayed.api.decisions import sdp
from unswayed.api.saving import save_classifier
from unswayed.api.wrap import wrap


@pytest.fixture
def saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = LogisticRegression().fit(X, np.where(X[:, 0] + X[:, 1] > 0, "ill", "well"))
    classifier = wrap(model, X, threshold=0.4, positive="ill", bins=3)
    save_classifier(classifier, tmp_path / "model.json")
    return classifier, tmp_path / "model.json"


def test_sdp_takes_values(unswayed, saved):
    classifier, path = saved
    outcome = unswayed("sdp", path, "-e", "x0=0.21", "--json")
    assert outcome.code == 0
    wanted = sdp(classifier, {"x0": 0.21}).value
    assert any(abs(each - wanted) < 1e-9 for each in _numbers(json.loads(outcome.out)))


def _numbers(found):
    if isinstance(found, dict | list):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _numbers(each)
    elif isinstance(found, float):
        yield found


def test_words_that_contradict_the_file_are_refused(unswayed, saved):
    outcome = unswayed("sdp", saved[1], "--threshold", "0.2")
    assert outcome.code == 2
    assert "leave out --target" in outcome.err
