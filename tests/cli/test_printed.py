"""`print(result)` shows what the command line shows, and `--json` what the result's object holds."""

from __future__ import annotations

import json
import re

import pytest

import unswayed
import unswayed as library
from unswayed.model.zoo import review
from unswayed.view.json import to_json

PAPERS = library.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
LINE = ("--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC")
SEEN, WORD = {"AC": "-"}, ("--evidence", "AC=-")
ROWS = {"R1": ["+", "-", "+"], "R2": ["-", "+", ""]}
CASES = {
    "decide": (LINE, lambda: library.decide(PAPERS)),
    "decide on evidence": ((*LINE, *WORD), lambda: library.decide(PAPERS, SEEN)),
    "sdp": ((*LINE, *WORD), lambda: library.should_stop(PAPERS, SEEN)),
    "sdp of soft evidence": (
        (*LINE, "-e", "AC=+:0.7|-:0.2"),
        lambda: library.should_stop(PAPERS, {"AC": {"+": 0.7, "-": 0.2}}),
    ),
    "sdp of a row": ((*LINE, *WORD), lambda: library.should_stop(PAPERS, [None, None, "-"])),
    "why": ((*LINE, *WORD), lambda: library.why(PAPERS, SEEN)),
    "voi": (LINE, lambda: library.voi(PAPERS)),
    "voi of priced tests": ((*LINE, "--cost", "AC=2"), lambda: library.voi(PAPERS, costs={"AC": 2})),
    "follow": (
        (*LINE, "--observe", "AC=-,R1=+"),
        lambda: unswayed.follow(PAPERS, observe=[("AC", "-"), ("R1", "+")]),
    ),
    "plan": ((*LINE, *WORD, "--at-least", "0.99"), lambda: library.plan(PAPERS, SEEN, at_least=0.99)),
    "select": ((*LINE, "--budget", "1"), lambda: library.select(PAPERS, budget=1)),
    "select by entropy": (
        (*LINE, "--budget", "1", "--objective", "entropy"),
        lambda: library.select(PAPERS, budget=1, objective=library.NegativeEntropy()),
    ),
    "trim": ((*LINE, *WORD, "--budget", "1"), lambda: library.trim(PAPERS, SEEN, budget=1)),
    "frontier": (LINE, lambda: library.frontier(PAPERS)),
    "thresholds": ((*LINE, "--budget", "1"), lambda: unswayed.thresholds(PAPERS, budget=1)),
    "mpe": (WORD, lambda: library.mpe(review(), SEEN)),
    "audit": (("TABLE", *LINE), lambda: library.audit(PAPERS, ROWS)),
    "predict": (("TABLE", *LINE), lambda: library.predict(PAPERS, ROWS)),
}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    rows = zip(*ROWS.values(), strict=True)
    path.write_text("\n".join([",".join(ROWS), *map(",".join, rows)]) + "\n")
    return path


@pytest.mark.parametrize("name", CASES)
def test_print_shows_what_the_command_line_shows(unswayed, name, table):
    options, ask = CASES[name]
    words = [str(table) if word == "TABLE" else word for word in options]
    printed = unswayed(name.split()[0], "review", *words)
    assert printed.code == 0, printed.err
    assert without_wrapping(printed.out) == without_wrapping(str(ask()))


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0][0] != "TABLE"])
def test_json_ends_with_the_object_of_the_result(unswayed, name):
    options, ask = CASES[name]
    answer = json.loads(unswayed(name.split()[0], "review", *options, "--json").out)
    found = json.loads(json.dumps(to_json(ask()), default=list))
    assert without_times({key: answer[key] for key in found}) == without_times(found)


def without_wrapping(text):
    """The text without line breaks between words, and without how long anything took."""
    return re.sub(r"\b[\d.e-]+ s\b", "T s", " ".join(text.split()))


def without_times(value):
    """The value without how long anything took."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key != "seconds"}
    return [without_times(each) for each in value] if isinstance(value, list) else value
