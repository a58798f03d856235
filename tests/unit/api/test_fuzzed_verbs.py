"""Verbs called with arguments that make no sense: an error that says so, never one from the inside."""

from __future__ import annotations

import warnings
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unswayed
from unswayed import circuits, learning, spaces
from unswayed.api import load_plan
from unswayed.api.plans import replan
from unswayed.core.errors import UnswayedError
from unswayed.model.zoo import printer, review
from unswayed.plans.goals import PlanObjective

JUNK = [
    None, "x", "", -1, 0, 1.5, 1e400, float("nan"), True, [], {}, (), [None], ["a", "b"], {"a": None},
    {"R1": "nosuch"}, {"nosuch": "+"}, {1: 2}, [[1, 2], [3]], np.array(3), np.array([1.0, np.nan]), object(),
    b"AC", {"R1"}, lambda *_: None, np.random.default_rng(0), "greedy", "dense", 10**30,
    "0.6", np.array([[0.5, 0.5]]), 3 + 4j, {"R1": ["+", "-"]}, {"R1": {"+": -1}},
    {"R1": np.array([1.0, 2.0])}, 2.5, -0.5, np.int64(-3), "2", "nan", float("-inf"), "\0",
    "rows\0.csv", "mdl", pd.DataFrame([["+", "-", "-"]], columns=["R1", "R1", "D"]), pd.DataFrame(),
    {"R1": float("nan")}, {"AC": "2"}, {"AC": -1}, {"AC": float("nan")}, {"": ""}, [("AC",)], range(0),
    Decimal("0.5"),
]  # fmt: skip
"""Values that hardly any argument takes: floats for counts, NaN, words for numbers, columns twice, NUL."""
NETWORK = review()
PAPERS = unswayed.Classifier(NETWORK, "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
FAULTS = unswayed.Classifier(printer(), "Fault")
ROWS = {"R1": ["+", None], "R2": ["-", "+"], "AC": [None, "+"], "D": ["+", "-"]}
GRAPH = spaces.grid(2, 3)
ORDERS = [[1, 2, 3], [2, 1, 3]]
CLAUSE = circuits.Cnf(["a", "b"], [(1, 2)])
SDD = circuits.compile_cnf(CLAUSE)
STRUCTURE = circuits.psdd_structure(SDD)
LIMITS = {"limits": unswayed.Limits()}
ENGINES = {"engine": None, "tolerance": None, "allow_estimates": False, "all_bids": False, **LIMITS}
SEARCH = {
    "costs": {"AC": 2}, "evidence": {"R1": "+"}, "method": None, "limits": unswayed.Limits(), "jobs": 1,
    "executor": None, "checkpoint": None, "report": None,
}  # fmt: skip
ASK = {"evidence": {"R1": "+"}, **ENGINES}
AUDIT = {
    "at_least": 0.9,
    "next_test": False,
    "reason": False,
    "outcome": "D",
    "costs": {"AC": 2},
    "n_jobs": 1,
}
LEARN = {"smoothing": 1.0, "discretization": None, "weights": [1, 2]}
PLAN = unswayed.plan(PAPERS)

CALLS = {
    "Classifier": (
        unswayed.Classifier,
        [NETWORK, "D", ["R1"], unswayed.MostProbable()],
        {"given": {"R2": "+"}},
    ),
    "Classifier by threshold": (unswayed.Classifier, [NETWORK, "D"], {"threshold": 0.6, "positive": "+"}),
    "ThresholdRule": (unswayed.ThresholdRule, ["+", 0.5], {}),
    "UtilityRule": (unswayed.UtilityRule, [{"go": {"+": 1.0, "-": 0.0}}], {}),
    "Variable": (unswayed.Variable, ["A", ["a", "b"], None], {}),
    "Limits": (unswayed.Limits, [], {"max_bytes": 10**9, "max_seconds": 3.0}),
    "Purchase": (
        unswayed.Purchase,
        [],
        {
            "costs": {"AC": 2},
            "groups": {},
            "set_ups": {},
            "after": (),
            "needs": {},
            "mandatory": (),
            "skipped": (),
            "forbidden": (),
            "default": 1.0,
        },
    ),
    "posterior": (unswayed.posterior, [NETWORK, {"AC": "+"}], {"of": "D", **LIMITS}),
    "posterior of all": (unswayed.posterior, [NETWORK, {"AC": "+"}], LIMITS),
    "joint": (unswayed.joint, [NETWORK, ["D", "AC"]], {"evidence": {"R1": "+"}, **LIMITS}),
    "probability": (unswayed.probability, [NETWORK, {"AC": "+"}], LIMITS),
    "sample": (
        unswayed.sample,
        [NETWORK, 3],
        {"rng": np.random.default_rng(0), "evidence": {"AC": "+"}, **LIMITS},
    ),
    "mpe": (
        unswayed.mpe,
        [NETWORK, {"AC": "+"}],
        {"method": None, **LIMITS},
    ),
    "decide": (unswayed.decide, [PAPERS, {"AC": "+"}], LIMITS),
    "sdp": (unswayed.sdp, [PAPERS], ASK),
    "esdp": (
        unswayed.esdp,
        [PAPERS],
        {"kept": ["AC"], **ASK},
    ),
    "eca": (
        unswayed.eca,
        [PAPERS, {"R1": "+"}],
        {"kept": ["AC"], "new_threshold": 0.4, **ENGINES},
    ),
    "maa": (unswayed.maa, [PAPERS], {"kept": ["AC"], **ASK}),
    "mpa": (unswayed.mpa, [PAPERS], {"kept": ["AC"], **ASK}),
    "should_stop": (unswayed.should_stop, [PAPERS, {"AC": "+"}], {"at_least": 0.9, **ENGINES}),
    "follow": (unswayed.follow, [PAPERS, {"AC": "+"}], ENGINES),
    "Case.should_stop": (unswayed.follow(PAPERS).should_stop, [0.9], {}),
    "Case.ranking": (unswayed.follow(PAPERS).ranking, [None], {"costs": {"AC": 2}, "at_least": 0.9}),
    "Case.observe": (unswayed.follow(PAPERS).observe, ["AC", "+"], {}),
    "follow with observations": (
        unswayed.follow,
        [PAPERS, {"R1": "+"}],
        {"observe": [("AC", "+")], "costs": {"AC": 2}},
    ),
    "CaseHistory.first_safe": (unswayed.follow(PAPERS, observe=[("AC", "+")]).first_safe, [0.9], {}),
    "voi together": (
        unswayed.voi,
        [PAPERS, {"R1": "+"}],
        {"kept": ["AC"], "reward": unswayed.NegativeEntropy()},
    ),
    "voi": (
        unswayed.voi,
        [PAPERS, {"R1": "+"}],
        {"costs": {"AC": 2}, "at_least": 0.9, "reward": None, **ENGINES},
    ),
    "select": (unswayed.select, [PAPERS], {"budget": 1, **SEARCH, "objective": None}),
    "trim": (unswayed.trim, [PAPERS], {"budget": 1, **SEARCH, "potential": False, "held_out": None}),
    "frontier": (unswayed.frontier, [PAPERS], {**SEARCH, "potential": False, "held_out": None}),
    "thresholds": (unswayed.thresholds, [PAPERS], {"budget": 1, "thresholds": [0.3, 0.5], **SEARCH}),
    "compare": (
        unswayed.compare,
        [PAPERS, PAPERS, {"R1": "+"}],
        {"at_most": 3, "rng": None, **LIMITS},
    ),
    "why": (
        unswayed.why,
        [PAPERS],
        {
            "evidence": {"R1": "+"},
            "at_least": 0.9,
            "costs": {"R1": 2},
            "fixed": ["R1"],
            "most": 3,
            "watch": None,
        },
    ),
    "plan": (
        unswayed.plan,
        [FAULTS],
        {
            "costs": {"Light": 2},
            "at_least": 0.9,
            "evidence": {"Light": "red"},
            "budget": 3,
            "max_depth": 2,
            "max_leaves": 4,
            "objective": PlanObjective.EXPECTED_COST,
            "stop": None,
            "report": None,
            "jobs": 1,
            "executor": None,
            "checkpoint": None,
            **LIMITS,
        },
    ),
    "replan": (replan, [PLAN, {"R1": "+"}, ["R2"]], {"report": None, **LIMITS}),
    "TestPlan.apply": (PLAN.apply, [{"R1": "+"}], {}),
    "TestPlan.apply_states": (PLAN.apply_states, [{"R1": "+"}], {}),
    "TestPlan.node_at": (PLAN.node_at, [{"R1": "+"}], {}),
    "TestPlan.next_test": (PLAN.next_test, [{"R1": "+"}], {}),
    "TestPlan.save": (PLAN.save, ["plan.json"], {}),
    "load_plan": (load_plan, ["nosuch.json"], {}),
    "audit": (unswayed.audit, [PAPERS, ROWS], {**AUDIT, "tolerance": None, "engine": None, **LIMITS}),
    "Audit.to_frame": (unswayed.audit(PAPERS, ROWS).to_frame, ["pandas"], {}),
    "Audit.write": (unswayed.audit(PAPERS, ROWS).write, ["audited.csv"], {}),
    "learn": (unswayed.learn, [ROWS, "D"], {"structure": "naive", **LEARN}),
    "learn_tan": (learning.learn_tan, [ROWS, "D"], {**LEARN, "root": "R1"}),
    "report": (
        unswayed.report,
        [PAPERS, {"R1": "+"}],
        {
            "costs": {"AC": 2},
            "at_least": 0.9,
            "held_out": None,
            "allow_estimates": True,
            "tell": None,
            **LIMITS,
        },
    ),
    "Classifier.predict": (PAPERS.predict, [ROWS], {}),
    "predict": (unswayed.predict, [PAPERS, ROWS], LIMITS),
    "ask": (unswayed.ask, [PAPERS, {"R1": "+"}], {"report": None, **LIMITS}),
    "audit to a file": (
        unswayed.audit,
        [PAPERS, ROWS],
        {"output": "audited.csv", **AUDIT, "chunk_rows": 1, "report": None},
    ),
    "predict to a file": (
        unswayed.predict,
        [PAPERS, ROWS],
        {"output": "decided.csv", "chunk_rows": 1, "report": None, **LIMITS},
    ),
    "save_classifier": (unswayed.save_classifier, [PAPERS, "papers.json"], {}),
    "load_classifier": (unswayed.load_classifier, ["nosuch.json"], {}),
    "write_network": (unswayed.write_network, [NETWORK, "review.bif"], {}),
    "learn_parameters": (
        learning.learn_parameters,
        [NETWORK, ROWS],
        {**LEARN},
    ),
    "select_by_accuracy": (
        learning.select_by_accuracy,
        [ROWS, "D", {"AC": 2}, 1],
        {"rule": None, "folds": 2, "smoothing": 1.0, "rng": np.random.default_rng(0)},
    ),
    "class_posteriors": (learning.class_posteriors, [NETWORK, "D", ROWS], {}),
    "ranking_space": (spaces.ranking_space, [3], {"top": 2}),
    "tiered_ranking_space": (spaces.tiered_ranking_space, [3, [1, 2]], {}),
    "grid": (spaces.grid, [2, 3], {}),
    "path_space": (spaces.path_space, [GRAPH, (0, 0), (1, 2)], {"order": None}),
    "path_space_between": (spaces.path_space_between, [GRAPH, [((0, 0), (1, 2))]], {}),
    "matching_space": (spaces.matching_space, [GRAPH], {"perfect": True}),
    "spanning_tree_space": (spaces.spanning_tree_space, [GRAPH], {}),
    "subset_space": (spaces.subset_space, [4, 2], {}),
    "formula_space": (spaces.formula_space, [CLAUSE, None], {}),
    "learn_mallows": (spaces.learn_mallows, [ORDERS, [1, 2]], {"center": None}),
    "learn_plackett_luce": (spaces.learn_plackett_luce, [ORDERS, [1, 2]], {"n_items": 3, "prior": 0.1}),
    "Cnf": (circuits.Cnf, [["a", "b"], [(1, 2)]], {}),
    "compile_cnf": (circuits.compile_cnf, [CLAUSE, None], {"groups": None, "progress": None}),
    "condition": (circuits.condition, [SDD, {"a": True}], {}),
    "weighted_model_count": (circuits.weighted_model_count, [SDD, {"a": (0.5, 0.5), "b": (0.1, 0.9)}], {}),
    "circuits.learn": (
        circuits.learn,
        [STRUCTURE, [[True, False], [True, True]], [1, 2]],
        {"prior": circuits.Laplace()},
    ),
    "read_network": (unswayed.read_network, ["nosuch.bif"], {"normalize": False, "format": None}),
}
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


@pytest.mark.parametrize(
    ("verb", "argument", "junk"),
    [
        ("why", "most", 1.5), ("why", "most", float("nan")),
        ("plan", "max_leaves", 2.5), ("plan", "max_depth", float("nan")),
        ("plan", "jobs", "2"),
        ("plan", "at_least", float("nan")), ("plan", "report", "yes"), ("audit", "n_jobs", "2"),
        ("audit", "n_jobs", 0), ("audit", "next_test", "yes"), ("audit to a file", "chunk_rows", 0),
        ("audit to a file", "chunk_rows", -1), ("predict to a file", "chunk_rows", 2.5),
        ("report", "tell", 3),
        ("learn", "discretization", "mdl"), ("learn_tan", "discretization", "mdl"),
        ("trim", "checkpoint", 3), ("trim", "report", "yes"),
    ],
)  # fmt: skip
def test_what_is_of_another_kind_is_refused_at_the_door(verb, argument, junk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given, named = CALLS[verb]
    with pytest.raises(UnswayedError, match=f"{argument.removeprefix('n_')}|level"):
        function(*given, **{**named, argument: junk})


@pytest.mark.parametrize("verb", ["audit", "audit to a file", "predict to a file", "learn_parameters"])
@pytest.mark.parametrize("table", ["rows\0.csv", pd.DataFrame([["+", "-"]], columns=["R1", "R1"])])
def test_tables_that_cannot_be_are_refused(verb, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given, named = CALLS[verb]
    with pytest.raises(UnswayedError, match=r"no file can be called|share a name"):
        function(
            given[0], table, *given[2:], **{k: v for k, v in named.items() if k not in ("outcome", "weights")}
        )


def test_a_plan_that_is_told_nothing_ends_at_its_first_test():
    path = PLAN.apply({})
    assert (path.tests, path.cost, path.missing) == ((), 0.0, PLAN.next_test())
    assert path == PLAN.apply_states({})
    settled = unswayed.plan(PAPERS, {"R1": "-", "R2": "-"}, at_least=0.5)
    assert settled.apply({}) == settled.apply_states({})


def test_the_guide_says_how_many_calls_are_tried():
    text = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
    n_calls = sum(1 for name in CALLS for _ in fuzz(name))
    assert f"{n_calls:,} calls of {len(CALLS)} verbs" in " ".join(text.split())
