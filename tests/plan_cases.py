"""Random problems with purchases, for tests of plans."""

from __future__ import annotations

from hypothesis import strategies as st

from strategies import classifiers
from unswayed.decisions.problem import make_problem
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
