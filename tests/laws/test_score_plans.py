"""Laws of asking a score: expected costs against recursion by definition, proven bounds against both."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles.enumerate_score import all_forms, form_share
from oracles.plan_of_score import PlanByDefinition
from score_cases import random_answers, random_score
from unswayed.core.errors import LimitError, QueryError
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.score import Score, ScoreBand, read_answers, yes_no
from unswayed.model.scores import NAMES, example_score
from unswayed.plans import scores
from unswayed.plans.score_sums import make_terrain
from unswayed.plans.scores import plan_asking, round_robin

CLOSE = 1e-9
COSTS = (1.0, 1.0, 2.0, 3.5)


def by_definition(score, known=(), share_of=None):
    forms = list(all_forms(score, known))
    shares = {form: form_share(score, form) if share_of is None else share_of(form) for form in forms}
    return PlanByDefinition(score, shares, forms, [item.cost for item in score.items])


def cost_of(plans, name):
    return next(each for each in plans.policies if each.name == name)


def check(plans, oracle, known, turns):
    start = frozenset(known)
    assert cost_of(plans, "optimal").expected_cost == pytest.approx(oracle.best(start), abs=CLOSE)
    assert plans.bound == pytest.approx(oracle.best(start), abs=CLOSE)
    assert plans.is_proven
    for name, order in (("form", sorted(turns)), ("round robin", turns)):
        choose = lambda partial, order=order: next(k for k in order if k not in dict(partial))  # noqa: E731
        assert cost_of(plans, name).expected_cost == pytest.approx(oracle.follow(start, choose), abs=CLOSE)
        ones = [1.0] * len(oracle.costs)
        found = cost_of(plans, name).expected_items
        assert found == pytest.approx(oracle.follow(start, choose, ones), abs=CLOSE)
    greedy = cost_of(plans, "greedy").expected_cost
    assert greedy >= oracle.best(start) - CLOSE
    return greedy, oracle.follow(start, oracle.greedy_choice)


def turns_of(score, known, joint=None):
    """The order of the round robin, by place on the form."""
    places = [place for place in range(len(score.items)) if place not in known]
    if joint is None:
        shares = [np.array([a.prevalence for a in score.items[place].answers]) for place in places]
    else:
        shares = joint
    costs = np.array([score.items[place].cost for place in places])
    return [places[k] for k in round_robin(score, places, shares, costs)]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("by_table", [False, True])
def test_independent_items(seed, by_table, monkeypatch):
    """Sums and tables, both against the definition."""
    score = random_score(seed, max_items=4, plain=False, costs=COSTS)
    score = Score(score.title, score.items, score.bands, limits=score.limits, rules=score.rules)
    monkeypatch.setattr(scores, "_n_situations", lambda terrain: float("inf") if by_table else 0.0)
    answers = random_answers(score, seed, share=0.2)
    known = read_answers(score, answers)
    oracle = by_definition(score, known.items())
    greedy, wanted = check(plan_asking(score, answers), oracle, known.items(), turns_of(score, known))
    assert greedy == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("seed", [k for k in range(200) if random_score(k, max_items=4).exclusive][:20])
def test_exclusive_items(seed):
    score = random_score(seed, max_items=4)
    joint = np.zeros([len(item.answers) for item in score.items])
    for form in all_forms(score):
        joint[form] = form_share(score, form)
    axes = range(joint.ndim)
    shares = [joint.sum(axis=tuple(k for k in axes if k != axis)) for axis in axes]
    check(plan_asking(score), by_definition(score), (), turns_of(score, {}, shares))


def correlated(score, rng):
    """A network over the items in which each depends on the one before."""
    variables = [item.variable for item in score.items]
    cpts = [Cpt(variables[0], [], rng.dirichlet(np.ones(len(variables[0]))))]
    for before, here in itertools.pairwise(variables):
        cpts.append(Cpt(here, [before], rng.dirichlet(np.ones(len(here)), size=len(before))))
    return BayesianNetwork(cpts)


@pytest.mark.parametrize("seed", range(30))
def test_items_that_depend_on_each_other(seed):
    score = random_score(seed, max_items=4, costs=COSTS)
    score = Score(score.title, score.items, score.bands, limits=score.limits, rules=score.rules)
    background = correlated(score, np.random.default_rng(seed))
    tables = [cpt.table for cpt in background.cpts]

    def share_of(form):
        found = tables[0][0][form[0]]
        for table, before, here in zip(tables[1:], form, form[1:], strict=False):
            found *= table[before][here]
        return found

    answers = random_answers(score, seed, share=0.2)
    known = read_answers(score, answers)
    oracle = by_definition(score, known.items(), share_of)
    places = [place for place in range(len(score.items)) if place not in known]
    total = oracle.mass(frozenset(known.items()))
    shares = [
        np.array(
            [
                oracle.mass(frozenset({*known.items(), (p, a)})) / total
                for a in range(len(score.items[p].answers))
            ]
        )
        for p in places
    ]
    plans = plan_asking(score, answers, background=background)
    greedy, wanted = check(plans, oracle, known.items(), turns_of(score, known, shares))
    assert greedy == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_beyond_the_proven_number_of_items_the_ratio_is_certified(seed, monkeypatch):
    """The optimum lies between the bound and what is planned, and below every other way."""
    score = random_score(seed, max_items=7, plain=True, costs=COSTS)
    best = plan_asking(score).bound
    monkeypatch.setattr(scores, "MOST_ITEMS", 3)
    monkeypatch.setattr(scores, "_n_situations", lambda terrain: 0.0)
    plans = plan_asking(score)
    assert plans.bound <= best + CLOSE
    assert all(each.expected_cost >= best - CLOSE for each in plans.policies)
    assert plans.best.expected_cost <= plans.ratio * best + CLOSE


def simple(n_items, step=1):
    items = tuple(yes_no(f"q{k}", 1 + k % step, prevalence=0.1 + 0.8 * k / n_items) for k in range(n_items))
    half = sum(item.answers[1].points for item in items) // 2
    return Score("Simple", items, (ScoreBand("low", high=half), ScoreBand("high", half + 1)))


def test_fourteen_items_are_proven_and_twenty_have_a_ratio():
    assert plan_asking(simple(14)).is_proven
    plans = plan_asking(simple(20))
    assert plans.policies[0].name == "planned"
    assert 1.0 <= plans.ratio < 3.0


def test_the_round_robin_keeps_its_promise_on_items_of_one_point():
    for n_items in (5, 8, 11):
        plans = plan_asking(simple(n_items))
        assert cost_of(plans, "round robin").expected_cost <= 5.83 * plans.bound


@pytest.mark.parametrize("name", [name for name in NAMES if not example_score(name).unknown_prevalences])
def test_no_way_beats_the_proven_one_on_the_examples(name):
    plans = plan_asking(example_score(name))
    assert plans.is_proven
    assert plans.best.expected_cost == pytest.approx(plans.bound)


def test_a_certain_band_asks_nothing():
    plans = plan_asking(example_score("qsofa"), {"respiratory rate": 30, "altered mentation": "yes"})
    assert {(each.expected_cost, each.expected_items, each.first) for each in plans.policies} == {
        (0.0, 0.0, None)
    }


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(QueryError, match="no prevalences are given for 'eyes'"):
        plan_asking(example_score("glasgow_coma"))
    with pytest.raises(QueryError, match="the cost of 'age' must be a number"):
        plan_asking(example_score("curb_65"), costs={"age": -1})
    many = simple(16)
    background = correlated(many, np.random.default_rng(0))
    with pytest.raises(LimitError, match="16 unknown items that depend on each other"):
        plan_asking(many, background=background)
    assert make_terrain(example_score("glasgow_coma"), {}, np.ones(3)) is None
