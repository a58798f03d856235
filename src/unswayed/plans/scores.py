"""Ways to ask the items of a points score until the band is certain, and what each costs on average.

The problem is *stochastic score classification* [ghuge2022]. Four ways stand beside each other:

    optimal       by dynamic programming, proven: `score_sums.py` where items are independent,
                  `score_tables.py` where a network or an exclusive group makes them depend on each other
    greedy        each time the item with the most information about the band per cost
    round robin   a fixed order that takes turns between the items that are likely to add points, those that
                  are likely not to, and the cheap ones [plank2022]: at most 5.83 times the optimum where
                  every item is yes or no for one point; for other points the same idea, and no promise
    form          the items in the order in which they are printed

Beyond `MOST_ITEMS` unknown items, the best known way asks the `MOST_ITEMS` that move the points most, in the
best way before a fixed order of the others; a bound below all ways reveals those others for free. The ratio
of the two is certified.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError, QueryError, expect_number
from unswayed.core.names import listing
from unswayed.inference.posteriors import joint_table
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.points import check_background
from unswayed.model.score import Score, read_answers
from unswayed.model.score_laws import ItemBlock, Known, blocks_of
from unswayed.plans.score_sums import SumTerrain, Tail, in_order, make_terrain, nothing_left, plan_sums
from unswayed.plans.score_tables import make_table, plan_best, plan_greedy, plan_order

MOST_ITEMS = 14
"""Unknown items up to which the best way is proven; 2^14 sets take about a second."""
MOST_CELLS = 6_000_000
"""Forms with gaps that are tabulated: 14 items of yes or no have 3^14 = 4.8 million."""
OPTIMAL, PLANNED = "optimal", "planned"
GREEDY, ROUND_ROBIN, FORM = "greedy", "round robin", "form"


@dataclass(frozen=True, slots=True)
class AskingPolicy:
    """One way to ask, until the band is certain."""

    name: str
    """`optimal`, `planned` (beyond `MOST_ITEMS` items), `greedy`, `round robin` or `form`."""
    expected_cost: float
    """What it costs on average."""
    expected_items: float
    """How many items it asks on average."""
    first: str | None
    """What it asks first; None where the band is certain."""


@dataclass(frozen=True, slots=True)
class AskingPlans:
    """Ways to ask, side by side."""

    policies: tuple[AskingPolicy, ...]
    """The ways, the planned one first."""
    bound: float
    """No way to ask costs less than this, on average."""

    @property
    def best(self) -> AskingPolicy:
        """The cheapest way."""
        return min(self.policies, key=lambda each: each.expected_cost)

    @property
    def is_proven(self) -> bool:
        """Whether no way costs less than the best of these."""
        return self.best.expected_cost <= self.bound * (1 + 1e-9) + 1e-12

    @property
    def ratio(self) -> float:
        """What the best of these costs, at most, in terms of the optimum."""
        if self.is_proven:
            return 1.0
        return self.best.expected_cost / self.bound if self.bound > 0 else math.inf


def plan_asking(
    score: Score,
    answers: Mapping[str, Any] | None = None,
    *,
    background: BayesianNetwork | None = None,
    costs: Mapping[str, float] | None = None,
) -> AskingPlans:
    """Ways to ask what is unknown until the band is certain, whatever the rest is.

    Items are as their prevalences say, or as the `background` does; an item costs what the form says unless
    `costs` names it. `QueryError` where neither prevalences nor a background are given; `LimitError` beyond
    `MOST_ITEMS` items that depend on each other.

    >>> from unswayed.model.scores import example_score
    >>> plans = plan_asking(example_score("qsofa"))
    >>> plans.best.name, round(plans.best.expected_cost, 2), plans.best.first, plans.is_proven
    ('optimal', 2.26, 'systolic pressure', True)
    """
    known = read_answers(score, answers or {})
    prices = _prices(score, costs or {})
    terrain = make_terrain(score, known, prices) if background is None else None
    if terrain is not None and _n_cells(score, known) > _n_situations(terrain):
        return _sum_plans(score, terrain)
    return _table_plans(score, known, prices, background)


def _n_cells(score: Score, known: Known) -> float:
    """How many forms with gaps there are."""
    sizes = [len(item.answers) + 1 for place, item in enumerate(score.items) if place not in known]
    n_cells = math.prod(map(float, sizes))
    return n_cells if n_cells <= MOST_CELLS else math.inf


def _n_situations(terrain: SumTerrain) -> float:
    """How many sets of items, each with its sums, are planned for."""
    return 2.0 ** min(MOST_ITEMS, len(terrain.places)) * terrain.n_sums


def _prices(score: Score, costs: Mapping[str, float]) -> Floats:
    prices = np.array([item.cost for item in score.items], dtype=np.float64)
    for name, cost in costs.items():
        expect_number(cost, f"the cost of {name!r}")
        if not 0 <= cost < math.inf:
            raise QueryError(f"the cost of {name!r} must be a number, at least 0, not {cost!r}")
        prices[score.place(name)] = cost
    return prices


def _sum_plans(score: Score, terrain: SumTerrain) -> AskingPlans:
    """All ways where items are independent."""
    n_items = len(terrain.places)
    turns = round_robin(score, terrain.places, terrain.shares, terrain.costs)
    fixed = [
        _fixed(score, terrain, FORM, range(n_items)),
        _fixed(score, terrain, ROUND_ROBIN, turns),
    ]
    if n_items > MOST_ITEMS:
        return _planned(score, terrain, fixed, turns)
    plans = [
        plan_sums(terrain, range(n_items), nothing_left(terrain), greedy=greedy) for greedy in (False, True)
    ]
    found = [
        AskingPolicy(
            name,
            float(plan.cost[0, terrain.start]),
            float(plan.count[0, terrain.start]),
            _name_of(score, terrain.places, int(plan.choice[0, terrain.start])),
        )
        for name, plan in zip((OPTIMAL, GREEDY), plans, strict=True)
    ]
    return AskingPlans((*found, *reversed(fixed)), found[0].expected_cost)


def _planned(
    score: Score, terrain: SumTerrain, fixed: Sequence[AskingPolicy], turns: Sequence[int]
) -> AskingPlans:
    """A plan of the items that move the points most, then the others in turn; and a bound below all ways."""
    first = sorted(_by_worth(score, terrain)[:MOST_ITEMS])
    others = [item for item in turns if item not in first]
    plan = plan_sums(terrain, first, in_order(terrain, others))
    asked = int(plan.choice[0, terrain.start])
    start = (0, terrain.start)
    place = None if asked < 0 else terrain.places[plan.items[asked]]
    best = AskingPolicy(
        PLANNED,
        float(plan.cost[start]),
        float(plan.count[start]),
        None if place is None else score.items[place].name,
    )
    told = plan_sums(terrain, first, nothing_left(terrain))
    bound = float(_law(terrain, others) @ told.cost[0])
    return AskingPlans((best, *reversed(fixed)), bound)


def _law(terrain: SumTerrain, items: Sequence[int]) -> Floats:
    """The law of the sum once some items are known."""
    law = np.zeros(terrain.n_sums)
    law[terrain.start] = 1.0
    for item in items:
        after = np.zeros(terrain.n_sums)
        for move, share in zip(terrain.moves[item], terrain.shares[item], strict=True):
            np.add.at(after, move[law > 0], share * law[law > 0])
        law = after
    return law


def _by_worth(score: Score, terrain: SumTerrain) -> list[int]:
    """Items by the spread of their points per cost, the largest first."""
    worth = []
    for item, place in enumerate(terrain.places):
        points = np.array([answer.points for answer in score.items[place].answers], dtype=np.float64)
        mean = float(points @ terrain.shares[item])
        spread = math.sqrt(float((points - mean) ** 2 @ terrain.shares[item]))
        worth.append(spread / max(float(terrain.costs[item]), 1e-9))
    return sorted(range(len(worth)), key=lambda item: (-worth[item], item))


def _fixed(score: Score, terrain: SumTerrain, name: str, order: Sequence[int]) -> AskingPolicy:
    tail: Tail = in_order(terrain, order)
    cost = float(tail.cost[terrain.start])
    is_open = tail.low[terrain.start] < tail.high[terrain.start]
    first = _name_of(score, terrain.places, order[0] if is_open else -1)
    return AskingPolicy(name, cost, float(tail.count[terrain.start]), first)


def _name_of(score: Score, places: Sequence[int], item: int) -> str | None:
    return None if item < 0 else score.items[places[item]].name


def round_robin(
    score: Score, places: Sequence[int], shares: Sequence[Floats], costs: Floats
) -> tuple[int, ...]:
    """The order of items by taking turns between three lists, whichever has spent least [plank2022].

    The lists are by cost per expected points above the least, by cost per expected points below the most
    (for one point: cost/p and cost/(1 - p)), and by cost.
    """
    points = [np.array([a.points for a in score.items[place].answers], dtype=np.float64) for place in places]
    up = [float((each - each.min()) @ share) for each, share in zip(points, shares, strict=True)]
    down = [float((each.max() - each) @ share) for each, share in zip(points, shares, strict=True)]
    numbers = range(len(places))
    lists = [
        sorted(numbers, key=lambda k: (costs[k] / max(gain[k], 1e-12), k))
        for gain in (up, down, [1.0] * len(places))
    ]
    spent, order = [0.0] * len(lists), list[int]()
    while len(order) < len(places):
        heads = [next(k for k in each if k not in order) for each in lists]
        turn = min(range(len(lists)), key=lambda k: (spent[k] + costs[heads[k]], k))
        spent[turn] += float(costs[heads[turn]])
        order.append(heads[turn])
    return tuple(order)


def _table_plans(
    score: Score, known: Known, prices: Floats, background: BayesianNetwork | None
) -> AskingPlans:
    """All ways where items depend on each other."""
    places = [place for place in range(len(score.items)) if place not in known]
    if math.isinf(_n_cells(score, known)):
        raise LimitError(
            f"{len(places)} unknown items that depend on each other have too many forms to plan for; answer "
            "some first, or ask for a plan of the classifier (plan)"
        )
    joint = _joint(score, known, places, background)
    table = make_table(joint, _form_bands(score, known, places), prices[places])
    shares = [joint.sum(axis=tuple(k for k in range(joint.ndim) if k != axis)) for axis in range(joint.ndim)]
    turns = round_robin(score, places, shares, prices[places])
    found = {
        OPTIMAL: plan_best(table),
        GREEDY: plan_greedy(table),
        ROUND_ROBIN: plan_order(table, turns),
        FORM: plan_order(table, range(len(places))),
    }
    policies = tuple(
        AskingPolicy(name, plan.cost, plan.count, _name_of(score, places, int(plan.choice[-1])))
        for name, plan in found.items()
    )
    return AskingPlans(policies, policies[0].expected_cost)


def _joint(score: Score, known: Known, places: Sequence[int], background: BayesianNetwork | None) -> Floats:
    """Pr(unknown items | known ones), an axis an item."""
    shape = [len(score.items[place].answers) for place in places]
    if background is not None:
        check_background(score, background)
        where = [background.index(score.items[place].name) for place in places]
        seen = {background.index(score.items[place].name): answer for place, answer in known.items()}
        return joint_table(background, where, seen).reshape(shape)
    joint = np.ones(shape)
    for block in blocks_of(score, known):
        if block.shares is None:
            unsaid = listing([score.items[place].name for place in block.places])
            raise QueryError(f"no prevalences are given for {unsaid}; give them, or a background")
        joint = joint * _spread(block, block.shares, places, shape, missing=0.0)
    return joint


def _form_bands(score: Score, known: Known, places: Sequence[int]) -> Ints:
    """The band of every form that agrees with what is known; -1 for what exclusive groups forbid."""
    shape = [len(score.items[place].answers) for place in places]
    codes, is_allowed = np.zeros(shape, dtype=np.int64), np.ones(shape, dtype=np.bool_)
    for block in blocks_of(score, known):
        placed = _spread(block, block.added, places, shape, missing=-1)
        codes = codes + placed
        is_allowed &= placed >= 0
    found: Ints = np.where(is_allowed, score.sums.bands(np.maximum(codes, 0)), -1)
    return found


def _spread(
    block: ItemBlock, values: Floats | Ints, places: Sequence[int], shape: Sequence[int], *, missing: float
) -> Any:
    """What a block says of each pattern, on the axes of its unknown items among those of all."""
    columns = [k for k, place in enumerate(block.places) if place in places]
    if not columns:  # all known: one pattern is left
        return values[0]
    axes = [places.index(block.places[k]) for k in columns]
    part = np.full([shape[axis] for axis in axes], missing, dtype=values.dtype)
    part[tuple(block.rows[:, columns].T)] = values
    return part.transpose(np.argsort(axes)).reshape([shape[k] if k in axes else 1 for k in range(len(shape))])
