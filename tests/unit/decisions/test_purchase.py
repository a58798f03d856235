"""Purchases: what they refuse, what they cost, and their files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from plan_cases import plan_problems
from unswayed.core.errors import FormatError, QueryError
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.catalogue import cost_together, price_after, price_table, spent_table
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import PriceAfter, Purchase, SetUp
from unswayed.decisions.purchase_files import read_purchase, toml_text, write_purchase
from unswayed.decisions.rules import MostProbable
from unswayed.model.zoo import random_naive_bayes

WARD = Purchase(
    {"blood": 7.0, "F4": 2.0},
    groups={"blood": ("F2", "F3")},
    set_ups={"draw": SetUp(3.0, ("blood", "F4"))},
    after=(PriceAfter("F5", "F1", 0.5, "s0"),),
    needs={"F4": ("F1",)},
    mandatory=("F1",),
)


@pytest.fixture
def ward_problem():
    network = random_naive_bayes(5, np.random.default_rng(3))
    return make_problem(Classifier(network, "C", network.names[1:], MostProbable()))


def test_prices_follow_the_description(ward_problem):
    catalogue = bind_purchase(WARD, ward_problem)
    names = [offer.name for offer in catalogue.offers]
    assert names == ["F1", "blood", "F4", "F5"]
    assert price_after(catalogue, 0, 0) == 1.0
    assert math.isinf(price_after(catalogue, 0, 1)), "F1 is mandatory, so it comes first"
    assert price_after(catalogue, 0b0001, 1) == 10.0, "the panel and the set-up"
    assert price_after(catalogue, 0b0101, 1) == 7.0, "the set-up was paid with F4"
    assert math.isinf(price_after(catalogue, 0b0011, 1)), "done already"
    assert cost_together(catalogue, [0, 1, 2]) == 13.0


@settings(max_examples=30)
@given(plan_problems(max_features=4))
def test_tables_hold_what_the_functions_say(case):
    problem, purchase, _ = case
    catalogue = bind_purchase(purchase, problem)
    prices, spent = price_table(catalogue), spent_table(catalogue)
    n_tests = len(catalogue.offers)
    for done in range(1 << n_tests):
        together = cost_together(catalogue, [t for t in range(n_tests) if done >> t & 1])
        # The table leaves aside prices that depend on the order; who uses it has none.
        assert spent[done] == pytest.approx(together) or catalogue.has_conditions
        for test in range(n_tests):
            assert prices[done, test] == pytest.approx(price_after(catalogue, done, test))


def test_evidence_pays_set_ups_and_fulfils_needs(ward_problem):
    problem = make_problem(ward_problem.classifier, {"F1": ward_problem.network.variable("F1").states[0]})
    catalogue = bind_purchase(WARD, problem)
    assert catalogue.mandatory == 0
    assert [offer.needs for offer in catalogue.offers] == [0, 0, 0]
    assert next(offer.price for offer in catalogue.offers if offer.name == "F5") == 0.5


def test_skipped_tests_are_gone(ward_problem):
    classifier, purchase = leave_out_skipped(
        ward_problem.classifier, Purchase(WARD.costs, WARD.groups, WARD.set_ups, skipped=("F2",))
    )
    assert classifier.features == ("F1", "F4", "F5"), "a feature of a group stands for the group"
    catalogue = bind_purchase(purchase, make_problem(classifier))
    assert catalogue.set_ups == ((3.0, 0b010),)


@pytest.mark.parametrize(
    ("purchase", "message"),
    [
        (Purchase({"F9": 1.0}), "a cost is given for 'F9': unknown feature 'F9'; known"),
        (Purchase(groups={"F1": ("F2", "F3")}), "the group 'F1' has the name of a feature"),
        (Purchase(needs={"F1": ("F2",), "F2": ("F1",)}), "needs itself"),
        (Purchase(needs={"F1": ("F2",)}, forbidden=("F2",)), "needs 'F2', which is forbidden"),
        (Purchase(mandatory=("Fo",)), "among the mandatory tests: unknown feature 'Fo'"),
    ],
)
def test_a_purchase_that_does_not_fit_is_refused(ward_problem, purchase, message):
    with pytest.raises(QueryError, match=message):
        bind_purchase(purchase, ward_problem)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"costs": {"A": -1.0}}, "the cost of 'A' must be a number, at least 0"),
        ({"costs": {"A": math.nan}}, "must be a number"),
        ({"costs": {"A": "dear"}}, "must be a number"),
        ({"groups": {"g": ()}}, "has no features"),
        ({"groups": {"g": ("A",), "h": ("A",)}}, "is in the group 'g' and in 'h'"),
        ({"groups": {"g": ("A",)}, "costs": {"A": 1.0}}, "give one cost, for the group"),
        ({"mandatory": ("A",), "forbidden": ("A",)}, "mandatory and forbidden at once"),
    ],
)
def test_a_purchase_that_contradicts_itself_is_refused(content, message):
    with pytest.raises(QueryError, match=message):
        Purchase(**content)


@settings(max_examples=30)
@given(plan_problems(max_features=5))
def test_toml_comes_back(tmp_path_factory, case):
    _, purchase, _ = case
    path = tmp_path_factory.mktemp("purchase") / "costs.toml"
    write_purchase(purchase, path)
    again = read_purchase(path)
    assert toml_text(again) == toml_text(purchase)
    assert (again.groups, again.after, again.mandatory) == (
        purchase.groups,
        purchase.after,
        purchase.mandatory,
    )


def test_csv_holds_groups_set_ups_needs_and_rules(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(
        "feature,cost,group,set-up,set-up cost,needs,rule\n"
        "F1,1,,,,,mandatory\n"
        "F2,7,blood,draw,3,,\n"
        "F3,,blood,draw,,,\n"
        "F4,2,,draw,,F1,\n",
        encoding="utf-8",
    )
    found = read_purchase(path)
    assert found.groups == {"blood": ("F2", "F3")}
    assert found.costs == {"F1": 1.0, "blood": 7.0, "F4": 2.0}
    assert found.set_ups == {"draw": SetUp(3.0, ("blood", "F4"))}
    assert found.needs == {"F4": ("F1",)}
    assert found.mandatory == ("F1",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "feature,price\nA,1\n", "the columns may be"),
        ("a.csv", "A,1\nA,2\n", "line 2: 'A' has a second line"),
        ("a.csv", "feature,cost,rule\nA,1,must\n", "line 2: unknown rule 'must'"),
        ("a.csv", "feature,cost,set_up\nA,1,draw\n", "the set-up 'draw' has no cost"),
        ("a.csv", "A,-1\n", "line 1: the cost of 'A' must be a number, at least 0"),
        ("a.toml", "costs = 3\n", "costs must be a table"),
        ("a.toml", "[cost]\nA = 1\n", "unknown key 'cost'; did you mean 'costs'"),
        ("a.toml", "[costs]\nA = 'x'\n", "the cost of 'A' is 'x'; give a number"),
        ("a.toml", "[costs\n", "not TOML"),
        ("a.toml", "[[after]]\ntest = 'A'\ncost = 1\n", "has no given"),
        ("a.toml", "mandatory = 'A'\n", "must be a list of names"),
        ("a.toml", "[groups.g]\nfeatures = []\n", "has no features"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_purchase(path)


@given(st.sampled_from([".csv", ".json", ""]))
def test_only_toml_is_written(suffix):
    with pytest.raises(FormatError, match=r"\.toml"):
        write_purchase(Purchase(), f"costs{suffix}")
