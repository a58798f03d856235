"""What would turn the decision: changed findings, or features observed next in certain states.

A *change* puts some findings into other states and leaves the rest as they are. An *observation* puts
features that were not observed into states of theirs. Either turns the decision when the classifier decides
otherwise on what is then known. Sets are tried from the cheapest up, so the first that turns it is the
cheapest there is, and the cost at which the work stops is a bound on any that was not found.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, settle, tick
from unswayed.core.arrays import Bools, Floats
from unswayed.inference.posteriors import joint_table
from unswayed.model.cpt import configuration_of
from unswayed.reasons.case import ExplainedDecision, cost_of, is_model

LARGEST_TABLE = 2**21
"""Numbers in a table from which all sets are read; beyond it each set gets an inference of its own."""
MOST_SETS = 20_000
"""Sets tried from a table before the search says how far it came."""
MOST_INFERENCES = 1_000
"""The same where each set takes an inference."""

FOR_TURNS_OF_MODEL = 0.5 * UNITS_PER_SECOND
"""Work for the turns of a person's own model, each of which takes a pass over its inputs."""
UNITS_PER_NUMBER = 1e-3
"""Measured for reading or summing one number of a table."""

Masses = Callable[[tuple[int, ...]], Floats]
"""From positions of variables to the mass of their states with each class: (instantiations, classes)."""


@dataclass(frozen=True, slots=True)
class Turn:
    """States of some variables under which the classifier decides otherwise."""

    states: dict[int, int]
    """The states, by position of the variable."""
    action: int
    """What is then decided."""
    cost: float
    """What the variables cost together."""
    probability: float
    """Probability of the states given all other findings."""


@dataclass(frozen=True, slots=True)
class FoundTurns:
    """The cheapest turns, the most probable first, and what is proven about them."""

    turns: tuple[Turn, ...]
    """Turns of lowest cost; empty when none was found."""
    cost_bound: float
    """No turn costs less than this; infinite when it is proven that there is none."""
    cut: bool = False
    """Whether there are more of this cost than are listed."""

    @property
    def proven(self) -> bool:
        """Whether nothing cheaper exists."""
        return math.isinf(self.cost_bound) if not self.turns else self.turns[0].cost <= self.cost_bound


NO_TURNS = FoundTurns((), math.inf)


@dataclass(frozen=True, slots=True)
class _Tried:
    """How far sets were tried from the cheapest up."""

    found: tuple[Turn, ...]
    """All of the lowest cost, as far as they were tried."""
    bound: float
    """Cost below which every set was tried."""
    complete: bool = False
    """Whether all of the lowest cost were tried."""


def cheapest_changes(
    explained: ExplainedDecision, fixed: frozenset[int], costs: dict[int, float], most: int
) -> FoundTurns:
    """The cheapest sets of findings in other states that turn the decision; `fixed` ones stay."""
    movable = tuple(v for v in explained.findings if v not in fixed)
    network, target = explained.network, explained.problem.target
    rest = explained.given(v for v in explained.findings if v in fixed)
    sizes = explained.whole.sizes(movable)
    n_classes = len(explained.problem.prior)
    if math.prod(map(float, sizes)) * n_classes > LARGEST_TABLE:

        def inferred(chosen: tuple[int, ...]) -> Floats:
            others = explained.given(v for v in explained.findings if v not in chosen)
            return joint_table(network, [*chosen, target], others).reshape(-1, n_classes)

        return _cheapest_first(explained, movable, costs, most, inferred, MOST_INFERENCES)
    table = joint_table(network, [*movable, target], rest).reshape([*sizes, n_classes])
    if not _turned(explained, table.reshape(-1, n_classes)).any():
        return NO_TURNS

    def read(chosen: tuple[int, ...]) -> Floats:
        at = tuple(slice(None) if v in chosen else explained.problem.evidence[v] for v in movable)
        cut: Floats = table[at].reshape(-1, n_classes)
        tick(cut.size * UNITS_PER_NUMBER, "the search for turns")
        return cut

    return _cheapest_first(explained, movable, costs, most, read, MOST_SETS)


def turns_of(
    explained: ExplainedDecision,
    changed: frozenset[int],
    costs: dict[int, float],
    most: int,
    cost_bound: float,
) -> FoundTurns:
    """The states of one set of findings that turn the decision; there may be other sets of its cost."""
    if not changed:
        return FoundTurns((), cost_bound)
    members = tuple(v for v in explained.findings if v in changed)
    others = explained.given(v for v in explained.findings if v not in changed)
    asked = [*members, explained.problem.target]
    mass = joint_table(explained.network, asked, others)
    mass = mass.reshape(-1, len(explained.problem.prior))
    turns = list(_turns(explained, members, mass, cost_of(members, costs)))
    return _listed(explained, turns, most, cost_bound, cut=True)


def cheapest_observations(explained: ExplainedDecision, costs: dict[int, float], most: int) -> FoundTurns:
    """The cheapest sets of features not observed yet, in states that turn the decision."""
    free, network, target = explained.problem.free, explained.network, explained.problem.target
    evidence, n_classes = explained.problem.evidence, len(explained.problem.prior)
    sizes = explained.problem.sizes(free)
    if math.prod(map(float, sizes)) * n_classes > LARGEST_TABLE:

        def inferred(chosen: tuple[int, ...]) -> Floats:
            return joint_table(network, [*chosen, target], evidence).reshape(-1, n_classes)

        return _cheapest_first(explained, free, costs, most, inferred, MOST_INFERENCES)
    table = joint_table(network, [*free, target], evidence).reshape([*sizes, n_classes])
    # Masses of fewer features are sums of these, and the masses on which a rule decides alike are closed
    # under sums: where no instantiation of all features turns the decision, none of some does.
    if not _turned(explained, table.reshape(-1, n_classes)).any():
        return NO_TURNS

    def read(chosen: tuple[int, ...]) -> Floats:
        tick(table.size * UNITS_PER_NUMBER, "the search for turns")
        summed = tuple(i for i, v in enumerate(free) if v not in chosen)
        total: Floats = table.sum(axis=summed).reshape(-1, n_classes)
        return total

    return _cheapest_first(explained, free, costs, most, read, MOST_SETS)


def _cheapest_first(
    explained: ExplainedDecision,
    variables: Sequence[int],
    costs: dict[int, float],
    most: int,
    masses: Masses,
    most_sets: int,
) -> FoundTurns:
    def trying() -> Iterator[_Tried]:
        found: tuple[Turn, ...] = ()
        for count, (cost, chosen) in enumerate(subsets_by_cost([costs[v] for v in variables])):
            if found and cost > found[0].cost * (1 + 1e-12):
                break
            # All cheaper sets were tried, so what was found already is among the cheapest.
            yield _Tried(found, cost)
            if count > most_sets:
                return
            members = tuple(variables[i] for i in chosen)
            found += tuple(_turns(explained, members, masses(members), cost))
        yield _Tried(found, found[0].cost if found else math.inf, True)

    tried = settle(trying(), units=FOR_TURNS_OF_MODEL if is_model(explained) else math.inf).last
    return _listed(explained, tried.found, most, tried.bound, cut=not tried.complete)


def _turns(
    explained: ExplainedDecision, members: tuple[int, ...], mass: Floats, cost: float
) -> Iterator[Turn]:
    """The instantiations of a set that turn the decision; findings among them must change."""
    turned = np.flatnonzero(_turned(explained, mass))
    sizes, now = explained.whole.sizes(members), explained.problem.evidence
    for row in map(int, turned):
        states = dict(zip(members, configuration_of(row, sizes), strict=True))
        if all(now.get(v) != s for v, s in states.items()):
            action = int(explained.problem.decider.decide(mass[row][np.newaxis])[0])
            yield Turn(states, action, cost, float(mass[row].sum() / mass.sum()))


def _turned(explained: ExplainedDecision, mass: Floats) -> Bools:  # (rows,)
    """Which possible rows of class masses are decided otherwise."""
    turned = np.zeros(len(mass), dtype=np.bool_)
    possible = np.flatnonzero(mass.sum(axis=1) > 0)
    turned[possible] = explained.problem.decider.decide(mass[possible]) != explained.action
    return turned


def _listed(
    explained: ExplainedDecision, found: Sequence[Turn], most: int, cost_bound: float, *, cut: bool
) -> FoundTurns:
    variables = explained.network.variables

    def rank(turn: Turn) -> tuple[float, list[tuple[str, int]]]:
        return -round(turn.probability, 12), sorted((variables[v].name, s) for v, s in turn.states.items())

    return FoundTurns(tuple(sorted(found, key=rank)[:most]), cost_bound, cut or len(found) > most)


def subsets_by_cost(costs: Sequence[float], fewest: int = 1) -> Iterator[tuple[float, tuple[int, ...]]]:
    """All subsets of at least `fewest` items, by position, the cheapest first.

    >>> [chosen for _, chosen in subsets_by_cost([1.0, 3.0, 1.5])]
    [(0,), (2,), (0, 2), (1,), (0, 1), (1, 2), (0, 1, 2)]
    """
    if len(set(costs)) <= 1:
        for size in range(fewest, len(costs) + 1):
            for chosen in combinations(range(len(costs)), size):
                yield size * costs[0], chosen
        return
    order = sorted(range(len(costs)), key=lambda i: costs[i])
    waiting: list[tuple[float, tuple[int, ...]]] = [(costs[order[0]], (0,))]
    while waiting:
        cost, ranks = heapq.heappop(waiting)
        if len(ranks) >= fewest:
            yield cost, tuple(sorted(order[rank] for rank in ranks))
        following = ranks[-1] + 1
        if following < len(order):
            for longer in ((*ranks, following), (*ranks[:-1], following)):
                total = math.fsum(costs[order[rank]] for rank in longer)
                heapq.heappush(waiting, (total, longer))
