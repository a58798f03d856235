"""Random problems with purchases, for tests of plans."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dependent_cases import random_problem
from strategies import classifiers
from unswayed.core.errors import QueryError
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import PriceAfter, Purchase, SetUp

PRICES = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.5])
LEVELS = st.sampled_from([0.7, 0.9, 0.95, 1.0])


@st.composite
def purchases(draw: st.DrawFn, problem, *, conditional: bool = True) -> Purchase:
    """Groups, set-up costs, precedence, mandatory tests and conditional prices over a problem's features."""
    names = [problem.network.variables[f].name for f in problem.free]
    if not names:
        return Purchase()
    groups = {}
    if len(names) > 2 and draw(st.booleans()):
        groups["panel"] = tuple(draw(st.permutations(names))[:2])
    tests = [name for name in names if name not in groups.get("panel", ())] + list(groups)
    costs = {test: draw(PRICES) for test in tests if draw(st.booleans())}
    set_ups = {}
    if draw(st.booleans()):
        members = draw(st.lists(st.sampled_from(tests), min_size=1, unique=True))
        set_ups["set-up"] = SetUp(draw(PRICES), tuple(members))
    order = draw(st.permutations(tests))
    needs = {}
    if len(tests) > 1 and draw(st.booleans()):
        needs[order[1]] = (order[0],)
    after = []
    if conditional and len(tests) > 1 and draw(st.booleans()):
        given = draw(st.sampled_from(names))
        states = problem.network.variable(given).states
        after.append(
            PriceAfter(
                draw(st.sampled_from(tests)), given, draw(PRICES), draw(st.sampled_from([None, *states]))
            )
        )
    mandatory = (draw(st.sampled_from(tests)),) if draw(st.integers(0, 3)) == 0 else ()
    return Purchase(costs, groups, set_ups, tuple(after), needs, mandatory)


@st.composite
def plan_problems(draw: st.DrawFn, max_features: int = 4, *, conditional: bool = True):
    """A problem, a purchase and a level."""
    classifier = draw(classifiers(max_features=max_features))
    problem = make_problem(classifier)
    return problem, draw(purchases(problem, conditional=conditional)), draw(LEVELS)


def random_purchase(rng: np.random.Generator, problem: Problem, *, conditional: bool) -> Purchase:
    """Every kind of purchase, plainly drawn; `conditional` prices may depend on what a test told."""
    names = [problem.network.variables[f].name for f in problem.free]
    rng.shuffle(names)

    def price() -> float:
        return float(rng.choice([0.0, 0.15, 0.2, 0.5, 1.0, 1.0, 2.0, 3.0]))

    def test() -> str:
        return str(rng.choice(tests))

    def after() -> PriceAfter:
        given = str(rng.choice(names))
        state = str(rng.choice(problem.network.variable(given).states))
        return PriceAfter(test(), given, price(), state if conditional and rng.random() < 0.6 else None)

    groups = {"panel": tuple(names[:2])} if len(names) > 2 and rng.random() < 0.3 else {}
    tests = [name for name in names if name not in groups.get("panel", ())] + list(groups)
    several = len(tests) > 1
    return Purchase(
        {name: price() for name in tests if rng.random() < 0.8},
        groups,
        {"draw": SetUp(price(), tuple(dict.fromkeys((test(), test()))))} if rng.random() < 0.3 else {},
        tuple(after() for _ in range(rng.integers(0, 4))) if several else (),
        {tests[1]: (tests[0],)} if several and rng.random() < 0.25 else {},
        (test(),) if rng.random() < 0.3 else (),
        (test(),) if rng.random() < 0.25 else (),
        default=float(rng.choice([1.0, 1.0, 0.5, 0.0])),
    )


def random_purchased(
    rng: np.random.Generator, max_features: int, *, conditional: bool
) -> tuple[Problem, Purchase]:
    """A problem with a purchase that fits it; features of one state and evidence among them."""
    while True:
        problem = random_problem(rng, max_features)
        try:
            if problem.free:
                purchase = random_purchase(rng, problem, conditional=conditional)
                bind_purchase(purchase, problem)
                return problem, purchase
        except QueryError:  # such as a test that needs itself
            continue
