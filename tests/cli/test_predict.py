"""`unswayed predict`: rows of a table decided, by words or by a saved classifier."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import unswayed as library
from unswayed import Classifier
from unswayed.model.zoo import review

PAPERS = Path(__file__).resolve().parents[2] / "examples" / "papers.csv"


def test_rows_are_decided_as_single_cases_are(unswayed):
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    words = ("review", PAPERS, "--target", "D=+", "--threshold", "0.6", "--features", "all")
    expected = papers.predict(PAPERS)
    answer = json.loads(unswayed("predict", *words, "--json").out)
    assert answer["decision"] == expected
    lines = unswayed("predict", *words).out.splitlines()
    assert lines[0] == f"6 rows: + {expected.count('+')}, not + {expected.count('not +')}"
    assert [line.split(maxsplit=1)[1].rsplit(maxsplit=1)[0].strip() for line in lines[1:]] == expected


def test_saved_classifiers_predict_on_the_command_line(unswayed, tmp_path):
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    cases = pd.DataFrame({"paper": range(4), "R1": ["+", None, "-", "+"], "AC": ["+", "-", None, "+"]})
    cases.to_csv(tmp_path / "cases.csv", index=False)
    trimming = library.trim(papers, budget=1)
    library.save_classifier(trimming.classifier, tmp_path / "chair.json")
    line = ("predict", tmp_path / "chair.json", tmp_path / "cases.csv")
    answer = json.loads(unswayed(*line, "--json").out)
    assert answer["decision"] == trimming.classifier.predict(cases)
    outcome = unswayed(*line, "-o", tmp_path / "out.csv")
    assert outcome.code == 0
    assert pd.read_csv(tmp_path / "out.csv")["decision"].tolist() == answer["decision"]
    refused = unswayed(*line, "--target", "D=+")
    assert (refused.code, refused.err) == (
        2,
        "error: a saved classifier knows its target, rule and features; leave these options out\n",
    )


@pytest.mark.parametrize("options", [(), ("--potential",)])
@pytest.mark.parametrize("finding", [{"AC": "+"}, {"R1": "+:0.2|-:0.9"}])
def test_a_classifier_trimmed_under_evidence_keeps_it_in_its_file(unswayed, tmp_path, options, finding):
    """The decisions are those of the trimmed classifier for cases with the evidence."""
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    cases = pd.DataFrame({"R2": ["+", "-"], "AC": ["+", "+"]})
    cases.to_csv(tmp_path / "cases.csv", index=False)
    words = ("review", "--target", "D=+", "--threshold", "0.6", "--features", "all", "--budget", "1")
    ((name, found),) = finding.items()
    saved = unswayed("trim", *words, "-e", f"{name}={found}", "-o", tmp_path / "trimmed.json", *options)
    assert saved.code == 0
    trimmed = library.trim(papers, budget=1, evidence=finding, potential=bool(options)).classifier
    assert trimmed.given == finding
    assert library.load_classifier(tmp_path / "trimmed.json").given == finding
    answer = json.loads(unswayed("predict", tmp_path / "trimmed.json", tmp_path / "cases.csv", "--json").out)
    assert answer["decision"] == trimmed.predict(cases)
