"""Plans as people use them: what comes next, what happens in a case, files, and what is refused."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import unswayed
from oracles.plan_by_definition import Case, best_within
from unswayed import Classifier, Limits, Purchase, ThresholdRule, UtilityRule
from unswayed.api.plans import replan
from unswayed.core.anytime import limits
from unswayed.core.errors import FormatError, LimitError, QueryError
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import purchase_for
from unswayed.model.zoo import printer, random_naive_bayes, review
from unswayed.plans import PlanObjective
from unswayed.plans.engine_states import EngineTerrain
from unswayed.plans.terrain import UNDONE
from unswayed.plans.tree import PlanLeaf, PlanStep, leaves
from unswayed.view.plans import describe_proof

PAPERS = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))


def test_a_plan_beats_the_test_of_highest_value():
    """The chair gains most at once; the reviewers, asked one after the other, cost less in the end.

    The second reviewer says + on 0.2 * 0.6 + 0.8 * 0.1 = 20% of papers, and only then the first is needed.
    """
    plan = unswayed.plan(PAPERS, at_least=0.95)
    assert plan.expected_cost == pytest.approx(1.2)
    assert plan.worst_cost == 2.0
    assert plan.optimal
    costs = {each.name: each.expected_cost for each in plan.comparisons}
    assert costs["everything"] == 3.0
    assert costs["greedy by sdp per cost"] == pytest.approx(1.28)


def test_next_test_follows_the_results():
    plan = unswayed.plan(PAPERS)
    assert plan.next_test() == "R2"
    assert plan.next_test({"R2": "+"}) == "R1"
    assert plan.next_test({"R2": "-"}) is None
    assert plan.next_test({"R1": "+"}) == "R2", "what the plan did not ask for does not matter"
    with pytest.raises(QueryError, match=r"no outcome 'maybe' of 'R2'.*known: '\+', '-'"):
        plan.next_test({"R2": "maybe"})


def test_apply_gives_the_path_of_a_row_and_of_a_table():
    plan = unswayed.plan(PAPERS, costs={"R2": 2.0, "R1": 3.0, "AC": 9.0})
    path = plan.apply({"R2": "+", "R1": "-", "AC": "+"})
    assert (path.tests, path.cost, path.decision) == ((("R2", ("+",)), ("R1", ("-",))), 5.0, "not +")
    rows = plan.apply({"R2": ["-", "+", None], "R1": ["+", None, "+"]})
    assert [row.missing for row in rows] == [None, "R1", "R2"]
    assert [row.cost for row in rows] == [2.0, 2.0, 0.0]


@pytest.mark.parametrize("finding", [["red", "yellow"], "!green", {"red": 0.9, "green": 0.1}])
def test_a_plan_from_soft_findings_is_made_anew(finding, tmp_path):
    faults = Classifier(printer(), "Fault")
    plan = unswayed.plan(faults, {"Light": finding}, at_least=0.8)
    plan.save(tmp_path / "plan.json")
    expected = unswayed.plan(faults, {"Light": finding, "Ping": "silent"}, at_least=0.8).to_text()
    for each in (plan, unswayed.api.load_plan(tmp_path / "plan.json")):
        assert replan(each, {"Ping": "silent"}).to_text() == expected


def test_a_group_is_bought_together():
    panel = Purchase({"votes": 1.5}, groups={"votes": ("R1", "R2")})
    plan = unswayed.plan(PAPERS, costs=panel, at_least=1.0)
    assert isinstance(plan.tree, PlanStep)
    assert plan.tree.features == ("R1", "R2")
    assert plan.expected_cost == pytest.approx(1.5)
    assert plan.apply({"R1": "+", "R2": "+"}).decision == "+"


def test_forbidden_tests_may_leave_the_level_out_of_reach():
    plan = unswayed.plan(PAPERS, costs=Purchase(forbidden=("R1", "R2")), at_least=0.98)
    assert plan.chance_reached < 1.0
    assert {leaf.reached for leaf in leaves(plan.tree)} == {True, False}


def test_skipped_tests_are_not_waited_for():
    plan = unswayed.plan(PAPERS, costs=Purchase(skipped=("R1", "R2")), at_least=1.0)
    assert plan.chance_reached == 1.0
    assert {step for step, _ in plan.apply({"AC": "+"}).tests} == {"AC"}


def test_a_decision_that_is_safe_needs_no_test():
    plan = unswayed.plan(PAPERS, at_least=0.9)
    assert isinstance(plan.tree, PlanLeaf)
    assert plan.expected_cost == 0.0
    assert plan.next_test() is None
    assert plan.apply({"R1": "+"}).decision == "not +"


def test_net_utility_stops_where_tests_cost_more_than_they_gain():
    rule = UtilityRule({"accept": {"+": 10.0, "-": -8.0}, "reject": {"+": 0.0, "-": 0.0}})
    papers = Classifier(review(), "D", ["R1", "R2", "AC"], rule)
    for price in (0.01, 50.0):
        costs = dict.fromkeys(papers.features, price)
        plan = unswayed.plan(papers, costs=costs, objective=PlanObjective.NET_UTILITY)
        assert (plan.expected_cost > 0.0) == (price < 1.0)

    def lost(case, seen):
        _, _, classes = case.standing(seen)
        worth = [classes[0] * w["+"] + classes[1] * w["-"] for w in rule.utilities.values()]
        return 10.0 - max(worth) / sum(classes)

    problem = make_problem(papers)
    costs = Purchase(dict.fromkeys(papers.features, 0.3))
    best, _ = best_within(Case(problem, costs, 1.0), 0.65, 3, lost)
    plan = unswayed.plan(papers, costs=costs, objective=PlanObjective.UTILITY, budget=0.65)
    assert plan.expected_loss == pytest.approx(best, abs=1e-9)


def test_posterior_limits_stop_by_the_posterior():
    stop = unswayed.plans.PosteriorLimits("+", 0.1, 0.8)
    plan = unswayed.plan(PAPERS, stop=stop)

    def failing(case, seen):
        _, _, classes = case.standing(seen)
        return float(0.1 + 1e-9 < classes[0] / sum(classes) < 0.8 - 1e-9)

    missed, cost = best_within(Case(make_problem(PAPERS), Purchase(), 1.0), 3.0, 3, failing)
    assert plan.chance_reached == pytest.approx(1.0 - missed)
    assert plan.expected_cost == pytest.approx(cost)
    assert plan.until == "Pr(+) <= 0.1 or >= 0.8"


def test_a_plan_comes_back_from_its_file(tmp_path):
    costs = Purchase({"votes": 1.5}, groups={"votes": ("R1", "R2")})
    plan = unswayed.plan(PAPERS, costs=costs, at_least=0.97, evidence={"AC": "+"})
    plan.save(tmp_path / "plan.json")
    assert unswayed.api.load_plan(tmp_path / "plan.json") == plan
    content = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert content["tree"]["test"] == "votes"
    assert content["optimal"] is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[]", "not a plan"),
        ('{"kind": "unswayed plan", "version": 1}', "incomplete: 'tree'"),
        ('{"kind": "unswayed plan", "version": 1, "tree": {"decision": 1}}', "incomplete: 'sdp'"),
    ],
)
def test_a_broken_plan_file_says_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        unswayed.api.load_plan(path)


def test_a_plan_is_saved_under_known_suffixes_only(tmp_path):
    with pytest.raises(FormatError, match=r"\.json, \.txt, \.html, \.dot, not '\.doc'"):
        unswayed.plan(PAPERS).save(tmp_path / "plan.doc")


def test_graphviz_and_html_escape_what_people_name(tmp_path):
    plan = unswayed.plan(PAPERS)
    for suffix in (".txt", ".html", ".dot"):
        plan.save(tmp_path / f"plan{suffix}")
        assert "R2" in (tmp_path / f"plan{suffix}").read_text(encoding="utf-8")
    edges = re.findall(r"n\d+ -> n\d+", plan.to_dot())
    assert len(edges) == 4, "a tree with five nodes"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"at_least": 1.5}, "the level must lie between 0 and 1"),
        ({"budget": -1.0}, "the budget must be at least 0"),
        ({"max_depth": -1}, "max_depth must be a whole number, at least 0"),
        ({"objective": PlanObjective.UTILITY}, "needs a utility rule"),
        ({"costs": {"R9": 1.0}}, "a cost is given for 'R9'"),
        ({"costs": Purchase(mandatory=("AC",)), "max_depth": 0}, "the mandatory tests alone exceed"),
        ({"costs": Purchase(forbidden=("R1", "R2")), "at_least": 0.99, "objective": PlanObjective.WORST_COST},
         "no plan meets the stopping rule on every path"),
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(question, message):
    with pytest.raises(QueryError, match=message):
        unswayed.plan(PAPERS, **question)


def test_a_price_that_falls_after_another_test_fits_a_budget_that_the_full_price_exceeds():
    costs = Purchase({"R1": 2.0}, after=(unswayed.decisions.PriceAfter("R1", "R2", 0.5),))
    plan = unswayed.plan(PAPERS, costs=costs, budget=1.5)
    assert [plan.next_test(), plan.next_test({"R2": "+"})] == ["R2", "R1"]
    assert plan.optimal
    assert plan.worst_cost == 1.5
    assert plan.expected_cost == pytest.approx(1 + 0.2 * 0.5)  # Pr(R2 = +) = .2
    dear = unswayed.plan(PAPERS, costs=Purchase({"R1": 2.0}), budget=1.5)
    assert dear.chance_reached < plan.chance_reached == pytest.approx(1.0)


def test_more_features_than_a_table_holds_get_a_plan_whose_leaves_are_safe_and_its_gap():
    network = random_naive_bayes(40, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    plan = unswayed.plan(classifier, limits=Limits(max_seconds=3))
    assert plan.chance_reached == pytest.approx(1.0)
    assert 0.0 <= plan.gap < plan.expected_cost < 40.0
    for path in _paths(plan.tree):
        safe = unswayed.sdp(classifier, path, tolerance=1e-5)
        assert safe.high >= 0.95


def test_an_sdp_that_is_known_from_below_is_called_so(tmp_path):
    network = random_naive_bayes(40, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    plan = unswayed.plan(classifier, at_least=0.7, limits=Limits(max_seconds=3))
    node, seen = plan.tree, {}
    while not isinstance(node, PlanLeaf):
        states, child = max(node.outcomes.items(), key=lambda each: each[1].probability)
        seen, node = {**seen, **dict(zip(node.features, states, strict=True))}, child
    truth = unswayed.sdp(classifier, seen, tolerance=1e-6)
    assert node.is_bound
    assert node.sdp <= truth.high
    assert "(SDP at least " in str(plan)
    assert "with probability at least " in " ".join(describe_proof(plan))
    plan.save(tmp_path / "plan.json")
    assert unswayed.api.load_plan(tmp_path / "plan.json").tree == plan.tree
    assert "at least" not in unswayed.plan(PAPERS).to_text()


def _paths(node, seen=None):
    """The findings at the leaves that the plan stops at for being safe, the first twenty."""
    found = []
    waiting = [(node, {})]
    while waiting and len(found) < 20:
        node, seen = waiting.pop()
        if isinstance(node, PlanLeaf):
            if not node.rest:
                found.append(seen)
        else:
            for states, child in node.outcomes.items():
                waiting.append((child, {**seen, **dict(zip(node.features, states, strict=True))}))
    return found


def test_short_time_gives_a_plan_with_a_gap():
    network = random_naive_bayes(14, np.random.default_rng(5))
    classifier = Classifier(network, "C", None, ThresholdRule(network.variable("C").states[0], 0.5))
    started = time.monotonic()
    plan = unswayed.plan(classifier, at_least=0.99, limits=Limits(max_seconds=0.3))
    assert time.monotonic() - started < 15
    best = unswayed.plan(classifier, at_least=0.99)
    assert best.optimal
    assert plan.expected_cost - plan.gap <= best.expected_cost + 1e-9
    assert plan.expected_cost >= best.expected_cost - 1e-9


def test_a_plan_that_takes_too_many_tests_gives_way_to_the_closest_of_a_few(monkeypatch):
    """As close as the definition allows within two tests; the whole plan stands beside it, and on request."""
    network = random_naive_bayes(6, np.random.default_rng(2))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    whole = unswayed.plan(classifier, at_least=0.999)
    assert 2.0 < whole.expected_tests <= 8.0
    monkeypatch.setattr("unswayed.api.plans.MOST_TESTS", 2)
    short = unswayed.plan(classifier, at_least=0.999)
    case = Case(make_problem(classifier), purchase_for(classifier, None), 0.999)
    lost, cost = best_within(
        case, np.inf, 2, lambda case, seen: 0.0 if case.stops(seen) else 1.0 - case.standing(seen)[1]
    )
    assert short.objective is PlanObjective.CLOSEST
    assert short.optimal
    assert (short.expected_loss, short.expected_cost) == pytest.approx((lost, cost))
    longer = {each.name: each for each in short.comparisons}["until it is safe"]
    assert longer.expected_cost == pytest.approx(whole.expected_cost)
    assert "max_depth=6 (--max-depth 6) asks for that plan." in " ".join(describe_proof(short))
    on_request = unswayed.plan(classifier, at_least=0.999, max_depth=6)
    assert on_request.tree == whole.tree
    assert on_request.objective is PlanObjective.EXPECTED_COST


def test_ctrl_c_gives_the_best_so_far(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("unswayed.plans.parts.compiled_fill_values", interrupt)
    plan = unswayed.plan(PAPERS)
    assert plan.expected_cost == pytest.approx(1.2)
    assert not plan.optimal


@pytest.mark.parametrize("n_features", [18, 40])
def test_a_plan_that_is_stopped_from_outside_is_the_best_so_far(n_features):
    """On a table and by engines: soon after somebody stops the budget, with a bound that holds."""
    network = random_naive_bayes(n_features, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    with limits() as budget:
        stop = threading.Timer(1.0, setattr, (budget, "stopped", True))
        stop.start()
        started = time.monotonic()
        plan = unswayed.plan(classifier, at_least=0.999)
        took = time.monotonic() - started
        stop.cancel()
    assert 0.9 < took < 4.0
    assert plan.chance_reached == pytest.approx(1.0)
    assert 0.0 < plan.gap < plan.expected_cost < n_features


def test_a_plan_that_ctrl_c_ends_is_the_best_so_far(monkeypatch):
    """What a state of the search was about to become is not lost, and what is known stays true."""
    network = random_naive_bayes(40, np.random.default_rng(1))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    whole = unswayed.plan(classifier, limits=Limits(max_seconds=3))
    asked, ask = itertools.count(), EngineTerrain._ask

    def interrupt(*question):
        if next(asked) == 300:
            raise KeyboardInterrupt
        return ask(*question)

    monkeypatch.setattr(EngineTerrain, "_ask", interrupt)
    plan = unswayed.plan(classifier)
    assert plan.chance_reached == pytest.approx(1.0)
    assert plan.expected_cost < 40.0
    assert plan.expected_cost - plan.gap <= whole.expected_cost + 1e-9


def test_a_plan_that_was_cut_before_its_first_test_says_so():
    leaf = PlanLeaf("not +", 0.9, 1.0, True, 0.0, ("R1", "R2"), 2.0)
    cut = replace(unswayed.plan(PAPERS), tree=leaf, gap=1.0)
    assert describe_proof(cut)[0] == "No test was found in time."


def test_a_table_that_takes_too_long_leaves_the_plan_to_engines(monkeypatch):
    """Within a limit on time the plan is made all the same; without one the refusal stands."""

    def too_long(*_):
        raise LimitError("exact inference takes longer than there is time")

    monkeypatch.setattr("unswayed.api.plans.lay_ground", too_long)
    plan = unswayed.plan(PAPERS, at_least=0.95, limits=Limits(max_seconds=600))
    assert plan.expected_cost == pytest.approx(1.2)
    with pytest.raises(LimitError):
        unswayed.plan(PAPERS, at_least=0.95)


def test_no_engine_is_asked_when_the_time_is_over_and_no_answer_is_kept():
    """What the posterior alone says stands, within what engines would say; asked later, they still do."""
    problem = make_problem(PAPERS)
    catalogue = bind_purchase(purchase_for(PAPERS, None), problem)
    terrain = EngineTerrain(problem, catalogue, None)
    start = (UNDONE,) * 3
    with pytest.raises(LimitError), limits(max_seconds=1e-9):
        terrain.look(start)
    assert not terrain.answers.found
    cut, exact = terrain.look(start, closely=False), terrain.look(start)
    assert exact.least[0] == pytest.approx(exact.most[0])
    assert cut.least[0] <= exact.least[0] <= exact.most[0] <= cut.most[0]
    assert cut.least[0] < cut.most[0]


def test_an_engine_that_times_out_is_asked_again():
    """A time-out is no refusal, and no answer."""
    problem = make_problem(PAPERS)
    catalogue = bind_purchase(purchase_for(PAPERS, None), problem)
    terrain = EngineTerrain(problem, catalogue, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unswayed.plans.engine_states.SECONDS_PER_STATE", 0.0)
        cut = terrain.look((UNDONE,) * 3)
    assert cut.least[0] < cut.most[0]
    assert not terrain.answers.found
    assert not terrain._memo.refused
    exact = terrain.look((UNDONE,) * 3)
    assert exact.least[0] == pytest.approx(exact.most[0])
