"""The walk of FS-SDD: every subset once, one move from the last, and an answer whenever it is stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest

from unswayed.core.errors import LimitError
from unswayed.search.fs_sdd import search_arrangements
from unswayed.search.lattice import Node
from unswayed.search.objectives import PotentialObjective
from unswayed.search.task import Task


@dataclass
class Recorded:
    """An arrangement that values subsets by a list, and notes what it is asked."""

    order: tuple[int, ...]
    asked: list[frozenset[int]] = field(default_factory=list)
    fail_after: int = 10**6
    error: type[BaseException] = LimitError

    def include(self, feature: int, place: int) -> Recorded:
        others = [f for f in self.order if f != feature]
        moved = (*others[:place], feature, *others[place:])
        return Recorded(moved, self.asked, self.fail_after, self.error)

    def value(self, n_kept: int, best: float) -> float:
        if len(self.asked) >= self.fail_after:
            raise self.error
        kept = frozenset(self.order[:n_kept])
        self.asked.append(kept)
        return worth(kept)


def worth(kept: frozenset[int]) -> float:
    return sum(f * f for f in kept) / 1000 - 0.01 * (3 in kept)


def task(budget: float = 3.0, costs: dict[int, float] | None = None, **more) -> Task:
    features = (0, 1, 2, 3, 4)
    return Task(
        root=Node(features, np.zeros((0, 1))),
        sizes=dict.fromkeys(features, 2),
        costs=costs or dict.fromkeys(features, 1.0),
        budget=budget,
        objective=PotentialObjective(2),
        names={f: f"F{f}" for f in features},
        **more,
    )


def test_every_subset_within_the_budget_is_valued_once():
    start = Recorded((0, 1, 2, 3, 4))
    found = search_arrangements(task(), lambda: start)
    expected = {frozenset(c) for k in range(4) for c in combinations(range(5), k)}
    assert len(start.asked) == len(expected) == found.evaluations
    assert set(start.asked) == expected


def test_the_best_subset_is_found_and_proven():
    costs = {0: 1.0, 1: 2.0, 2: 0.5, 3: 1.0, 4: 2.5}
    found = search_arrangements(task(3.0, costs), lambda: Recorded((0, 1, 2, 3, 4)))
    best = max(
        (c for k in range(6) for c in combinations(range(5), k) if sum(costs[f] for f in c) <= 3.0),
        key=lambda c: worth(frozenset(c)),
    )
    assert found.kept == frozenset(best)
    assert found.value == pytest.approx(worth(frozenset(best)))
    assert found.optimal


def test_equal_values_go_to_the_cheaper_subset():
    @dataclass
    class Constant(Recorded):
        def include(self, feature: int, place: int) -> Constant:
            return Constant(super().include(feature, place).order)

        def value(self, n_kept: int, best: float) -> float:
            return 1.0

    found = search_arrangements(task(), lambda: Constant((0, 1, 2, 3, 4)))
    assert found.kept == frozenset()
    # Nothing exceeds full agreement, and every further feature costs: the empty subset ends the search.
    assert found.evaluations == 1
    assert found.optimal


def test_time_over_leaves_the_best_so_far_without_proof():
    found = search_arrangements(task(deadline=time.monotonic() - 1), lambda: Recorded((0, 1, 2, 3, 4)))
    assert (found.evaluations, found.kept, found.optimal) == (1, frozenset(), False)


@pytest.mark.parametrize(("error", "interrupted"), [(LimitError, False), (KeyboardInterrupt, True)])
def test_what_was_found_before_an_end_stands(error, interrupted):
    found = search_arrangements(task(), lambda: Recorded((0, 1, 2, 3, 4), fail_after=4, error=error))
    assert found.evaluations == 4
    assert found.interrupted is interrupted
    assert found.upper_bound == 1.0
    with pytest.raises(error):
        search_arrangements(task(), lambda: Recorded((0, 1, 2, 3, 4), fail_after=0, error=error))


def test_progress_is_told():
    told = []
    search_arrangements(task(report=lambda *words: told.append(words)), lambda: Recorded((0, 1, 2, 3, 4)))
    assert told
    assert told[0][1:] == (1.0, 1)
