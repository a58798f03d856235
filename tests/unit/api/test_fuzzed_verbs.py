"""Verbs called with arguments that make no sense: an error that says so, never one from the inside."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import unswayed
from unswayed import circuits, learning, spaces
from unswayed.api import replay, sweep_thresholds
from unswayed.core.errors import UnswayedError
from unswayed.model.zoo import printer, review

JUNK = [
    None, "x", "", -1, 0, 1.5, 1e400, float("nan"), True, [], {}, (), [None], ["a", "b"], {"a": None},
    {"R1": "nosuch"}, {"nosuch": "+"}, {1: 2}, [[1, 2], [3]], np.array(3), np.array([1.0, np.nan]), object(),
    b"AC", {"R1"}, lambda: None, np.random.default_rng(0), "greedy", "dense", 10**30,
    "0.6", np.array([[0.5, 0.5]]), 3 + 4j, {"R1": ["+", "-"]}, {"R1": {"+": -1}},
    {"R1": np.array([1.0, 2.0])},
]  # fmt: skip
"""Values that hardly any argument takes."""
NETWORK = review()
PAPERS = unswayed.Classifier(NETWORK, "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
FAULTS = unswayed.Classifier(printer(), "Fault")
ROWS = {"R1": ["+", None], "R2": ["-", "+"], "AC": [None, "+"], "D": ["+", "-"]}
GRAPH = spaces.grid(2, 3)
ORDERS = [[0, 1, 2], [1, 0, 2]]
CLAUSE = circuits.Cnf(["a", "b"], [(1, 2)])
SDD = circuits.compile_cnf(CLAUSE)
STRUCTURE = circuits.psdd_structure(SDD)
SEARCH = {"costs": {"AC": 2}, "evidence": {"R1": "+"}, "method": None, "limits": unswayed.Limits(), "jobs": 1}
ASK = {"evidence": {"R1": "+"}, "engine": None, "tolerance": None, "limits": unswayed.Limits()}

CALLS = {
    "Classifier": (unswayed.Classifier, [NETWORK, "D", ["R1"], unswayed.MostProbable()], {}),
    "Classifier by threshold": (unswayed.Classifier, [NETWORK, "D"], {"threshold": 0.6, "positive": "+"}),
    "ThresholdRule": (unswayed.ThresholdRule, ["+", 0.5], {}),
    "UtilityRule": (unswayed.UtilityRule, [{"go": {"+": 1.0, "-": 0.0}}], {}),
    "Variable": (unswayed.Variable, ["A", ["a", "b"]], {}),
    "Limits": (unswayed.Limits, [], {"max_bytes": 10**9, "max_seconds": 3.0}),
    "Purchase": (unswayed.Purchase, [], {"costs": {"AC": 2}, "groups": {}, "mandatory": (), "skipped": ()}),
    "posterior": (unswayed.posterior, [NETWORK, "D", {"AC": "+"}], {"limits": unswayed.Limits()}),
    "all_marginals": (unswayed.all_marginals, [NETWORK, {"AC": "+"}], {}),
    "joint": (unswayed.joint, [NETWORK, ["D", "AC"]], {"evidence": {"R1": "+"}}),
    "probability": (unswayed.probability, [NETWORK, {"AC": "+"}], {}),
    "sample": (unswayed.sample, [NETWORK, 3], {"rng": np.random.default_rng(0), "evidence": {"AC": "+"}}),
    "most_probable_explanation": (unswayed.most_probable_explanation, [NETWORK, {"AC": "+"}], {}),
    "decide": (unswayed.decide, [PAPERS, {"AC": "+"}], {}),
    "same_decision_probability": (unswayed.same_decision_probability, [PAPERS], ASK),
    "expected_same_decision_probability": (
        unswayed.expected_same_decision_probability, [PAPERS, ["AC"]], ASK,
    ),
    "expected_classification_agreement": (
        unswayed.expected_classification_agreement, [PAPERS, ["AC"], 0.4, {"R1": "+"}], {},
    ),
    "maximum_achievable_agreement": (unswayed.maximum_achievable_agreement, [PAPERS, ["AC"]], ASK),
    "maximum_potential_agreement": (unswayed.maximum_potential_agreement, [PAPERS, ["AC"]], ASK),
    "should_stop": (unswayed.should_stop, [PAPERS, {"AC": "+"}], {"at_least": 0.9}),
    "start_case": (unswayed.start_case, [PAPERS, {"AC": "+"}], {}),
    "Case.observe": (unswayed.start_case(PAPERS).observe, ["AC", "+"], {}),
    "replay": (replay, [PAPERS, [("AC", "+")]], {"evidence": {"R1": "+"}}),
    "value_of_information": (unswayed.value_of_information, [PAPERS, ["AC"], {"R1": "+"}], {}),
    "rank_observations": (
        unswayed.rank_observations,
        [PAPERS, {"R1": "+"}],
        {"costs": {"AC": 2}, "at_least": 0.9, "reward": None},
    ),
    "select_features": (unswayed.select_features, [PAPERS, 1], SEARCH),
    "trim": (unswayed.trim, [PAPERS, 1], {**SEARCH, "potential": False}),
    "frontier": (unswayed.frontier, [PAPERS], SEARCH),
    "sweep_thresholds": (sweep_thresholds, [PAPERS, 1, [0.3, 0.5]], {"costs": {"AC": 2}}),
    "compare_decisions": (unswayed.compare_decisions, [PAPERS, PAPERS, {"R1": "+"}], {"at_most": 3}),
    "explain_decision": (
        unswayed.explain_decision,
        [PAPERS],
        {"evidence": {"R1": "+"}, "at_least": 0.9, "costs": {"R1": 2}, "fixed": ["R1"]},
    ),
    "plan_tests": (
        unswayed.plan_tests,
        [FAULTS],
        {"costs": {"Light": 2}, "at_least": 0.9, "evidence": {"Light": "red"}, "budget": 3, "max_depth": 2,
         "max_leaves": 4, "objective": None},
    ),
    "audit": (unswayed.audit, [PAPERS, ROWS], {"at_least": 0.9}),
    "learn_naive_bayes": (unswayed.learn_naive_bayes, [ROWS, "D"], {}),
    "learn_tan": (unswayed.learn_tan, [ROWS, "D"], {}),
    "examine": (unswayed.examine, [PAPERS, {"R1": "+"}], {"costs": {"AC": 2}, "at_least": 0.9}),
    "predict": (PAPERS.predict, [ROWS], {}),
    "audit_file": (unswayed.audit_file, [PAPERS, "rows.csv", "audited.csv"], {"at_least": 0.9}),
    "save_classifier": (unswayed.save_classifier, [PAPERS, "papers.json"], {}),
    "load_classifier": (unswayed.load_classifier, ["nosuch.json"], {}),
    "write_network": (unswayed.write_network, [NETWORK, "review.bif"], {}),
    "learn_parameters": (
        learning.learn_parameters,
        [NETWORK, ROWS],
        {"smoothing": 1.0, "weights": [1, 2], "limits": unswayed.Limits()},
    ),
    "select_by_accuracy": (
        learning.select_by_accuracy,
        [ROWS, "D", {"AC": 2}, 1],
        {"rule": None, "folds": 2, "smoothing": 1.0, "rng": np.random.default_rng(0)},
    ),
    "class_posteriors": (learning.class_posteriors, [NETWORK, "D", ROWS], {}),
    "ranking_space": (spaces.ranking_space, [3], {"top": 2, "limits": unswayed.Limits()}),
    "tiered_ranking_space": (spaces.tiered_ranking_space, [3, [1, 2]], {}),
    "grid": (spaces.grid, [2, 3], {}),
    "path_space": (spaces.path_space, [GRAPH, (0, 0), (1, 2)], {"order": None, "limits": unswayed.Limits()}),
    "path_space_between": (spaces.path_space_between, [GRAPH, [((0, 0), (1, 2))]], {}),
    "matching_space": (spaces.matching_space, [GRAPH], {"perfect": True}),
    "spanning_tree_space": (spaces.spanning_tree_space, [GRAPH], {}),
    "subset_space": (spaces.subset_space, [4, 2], {}),
    "formula_space": (spaces.formula_space, [CLAUSE, None], {}),
    "learn_mallows": (spaces.learn_mallows, [ORDERS, [1, 2]], {"center": None}),
    "learn_plackett_luce": (spaces.learn_plackett_luce, [ORDERS, [1, 2]], {"n_items": 3, "prior": 0.1}),
    "Cnf": (circuits.Cnf, [["a", "b"], [(1, 2)]], {}),
    "compile_cnf": (circuits.compile_cnf, [CLAUSE, None], {"limits": unswayed.Limits()}),
    "condition": (circuits.condition, [SDD, {"a": True}], {}),
    "weighted_model_count": (circuits.weighted_model_count, [SDD, {"a": (0.5, 0.5), "b": (0.1, 0.9)}], {}),
    "learn": (circuits.learn, [STRUCTURE, [[True, False], [True, True]], [1, 2]], {}),
    "read_network": (unswayed.read_network, ["nosuch.bif"], {"normalize": False, "format": None}),
}  # fmt: skip
"""A sensible call of each verb: its positional and its named arguments."""


def fuzz(name):
    """The call with one argument after the other replaced by each piece of junk."""
    function, given, named = CALLS[name]
    for place, junk in product(range(len(given)), JUNK):
        yield function, [*given[:place], junk, *given[place + 1 :]], named
    for key, junk in product(named, JUNK):
        yield function, given, {**named, key: junk}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_senseless_argument_is_refused_by_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some calls write files
    wrong = []
    for function, given, named in fuzz(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function(*given, **named)
            except UnswayedError:
                continue
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{given!r}, {named!r}: {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)} calls\n" + "\n".join(wrong[:20])


def test_the_guide_says_how_many_calls_are_tried():
    text = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
    n_calls = sum(1 for name in CALLS for _ in fuzz(name))
    assert f"{n_calls:,} calls of {len(CALLS)} verbs" in " ".join(text.split())
