"""Files that the version before this one saved are read, or refused with what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import unswayed
from unswayed import Classifier, FormatError, ThresholdRule
from unswayed.api.audits.rows import AuditColumns
from unswayed.api.audits.tally import Tally
from unswayed.api.results.plan import load_plan
from unswayed.core.codec import from_plain, json_bytes
from unswayed.model.zoo import random_naive_bayes, review

FILES = Path(__file__).parent / "earlier_files"
PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
SOUGHT = Classifier(random_naive_bayes(9, np.random.default_rng(5)), "C", None, threshold=0.5, positive="s0")


def changed(tmp_path, name, **fields):
    """A copy of a file with other fields."""
    path = tmp_path / name
    path.write_text(json.dumps({**json.loads((FILES / name).read_text()), **fields}))
    return path


def test_a_classifier_decides_as_it_did():
    found = unswayed.load_classifier(FILES / "classifier.json")
    assert (found.target, found.features, found.rule) == (PAPERS.target, PAPERS.features, PAPERS.rule)


def test_a_classifier_of_the_first_version_has_no_given_findings(tmp_path):
    shutil.copy(FILES / "classifier.bif", tmp_path)
    content = json.loads((FILES / "classifier.json").read_text())
    del content["given"]
    (tmp_path / "classifier.json").write_text(json.dumps({**content, "version": 1}))
    assert unswayed.load_classifier(tmp_path / "classifier.json").given == {}


def test_an_estimator_predicts_as_it_did():
    found = unswayed.load_classifier(FILES / "estimator.json")
    assert found.predict([[0, 0, 1], [1, 1, None]]).tolist() == ["no", "yes"]


def test_a_structured_classifier_predicts_as_it_did():
    found = unswayed.load_classifier(FILES / "structured.json")
    assert found.predict([("rum", "tea", "milk")]).tolist() == ["sea"]


def test_a_plan_is_the_plan_that_it_was():
    found, again = load_plan(FILES / "plan.json"), unswayed.plan(PAPERS)
    assert (found.tree, found.comparisons, found.variables) == (
        again.tree,
        again.comparisons,
        again.variables,
    )
    assert found.origin is not None


def test_a_search_goes_on_from_its_checkpoint(tmp_path):
    file = Path(shutil.copy(FILES / "search.json", tmp_path))
    found = unswayed.trim(SOUGHT, budget=4, checkpoint=file)
    assert found.selection.optimal
    assert found.selection.kept == unswayed.trim(SOUGHT, budget=4).selection.kept


def test_counts_and_rows_of_an_audit_are_read_as_they_were_written():
    tally = {
        "n_rows": 2, "n_safe": 1, "histogram": [[1, 0], [0, 1]], "safe_by_decision": [1, 0], "missing": [0],
        "missing_where_fragile": [0], "stopped": [1], "saved": [0.5], "bands": [0], "confirmed": [0],
        "sum_sdp": [0.0], "patterns": {"1": [2, 1]}, "n_forgotten": 0, "n_left_out": 0,
    }  # fmt: skip
    assert tally.items() <= json.loads(json_bytes(from_plain(Tally, tally))).items()  # later counts are 0
    rows = '{"decisions": [1, 0], "posterior": [0.5, NaN], "low": [0.5, NaN], "high": [0.75, NaN], '
    rows += '"certainty": [1, 0], "answered": [true, false], "next_test": ["R1", null], "reason": null}'
    columns = from_plain(AuditColumns, json.loads(rows))
    assert columns.answered.tolist() == [True, False]
    assert (columns.next_test.tolist(), columns.reason) == (["R1", None], None)
    assert json.loads(json_bytes(columns, allow_nan=True))["posterior"][0] == 0.5


@pytest.mark.parametrize("name", ["classifier.json", "estimator.json", "structured.json"])
def test_models_of_a_later_version_are_refused_with_what_to_do(tmp_path, name):
    with pytest.raises(FormatError, match=r"of version 99, not .*read it with a newer one"):
        unswayed.load_classifier(changed(tmp_path, name, version=99))


def test_other_files_of_a_later_version_are_refused_with_what_to_do(tmp_path):
    with pytest.raises(FormatError, match="read it with a newer one"):
        load_plan(changed(tmp_path, "plan.json", version=99))
    with pytest.raises(FormatError, match="read it with a newer one"):
        unswayed.trim(SOUGHT, budget=4, checkpoint=changed(tmp_path, "search.json", version=99))


def test_a_structured_classifier_of_the_first_version_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(FormatError, match="or make it again"):
        unswayed.load_classifier(changed(tmp_path, "structured.json", version=1))
