"""`print(result)` shows what the command line shows, and `--json` what the result's object holds."""

from __future__ import annotations

import json

import pytest

import unswayed as library
from unswayed.api import replay, sweep_thresholds
from unswayed.model.zoo import review
from unswayed.view.json import to_json

PAPERS = library.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
LINE = ("review", "--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC")
CASES = {
    "voi": ((), lambda: library.rank_observations(PAPERS)),
    "voi of priced tests": (("--cost", "AC=2"), lambda: library.rank_observations(PAPERS, costs={"AC": 2})),
    "follow": (("--observe", "AC=-,R1=+"), lambda: replay(PAPERS, [("AC", "-"), ("R1", "+")])),
    "thresholds": (("--budget", "1"), lambda: sweep_thresholds(PAPERS, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_print_shows_what_the_command_line_shows(unswayed, name):
    options, ask = CASES[name]
    assert unswayed(name.split()[0], *LINE, *options).out == f"{ask()}\n"


@pytest.mark.parametrize("name", CASES)
def test_json_ends_with_the_object_of_the_result(unswayed, name):
    options, ask = CASES[name]
    answer = json.loads(unswayed(name.split()[0], *LINE, *options, "--json").out)
    found = json.loads(json.dumps(to_json(ask())))
    assert without_times({key: answer[key] for key in found}) == without_times(found)


def without_times(value):
    """The value without how long anything took."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key != "seconds"}
    return [without_times(each) for each in value] if isinstance(value, list) else value
