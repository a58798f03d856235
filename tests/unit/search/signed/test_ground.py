"""The ground of the compiled search: its layout, equal features, and marginals along the way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tolerances import EXACT
from unswayed.search.lattice import Node, keep_only
from unswayed.search.objectives import PotentialObjective
from unswayed.search.signed.ground import signed_column, signed_ground
from unswayed.search.signed.slices import Marginals
from unswayed.search.task import Task


def task_of(table, sizes, *, budget=2.0, costs=None):
    """Features 10, 11, ... named by letters."""
    features = tuple(range(10, 10 + len(sizes)))
    return Task(
        root=Node(features, table.reshape(1, -1)),
        sizes=dict(zip(features, sizes, strict=True)),
        costs=dict(zip(features, costs or [1.0] * len(sizes), strict=True)),
        budget=budget,
        objective=PotentialObjective(2),
        names={f: chr(ord("A") + f - 10) for f in features},
    )


def random_task(sizes, seed=0):
    rng = np.random.default_rng(seed)
    cells = math.prod(sizes)
    return task_of(rng.dirichlet(np.ones(cells)) * rng.choice([-1, 1], cells), sizes)


def ground_of(task):
    column = signed_column(task)
    assert column is not None
    return signed_ground(task, column)


@pytest.mark.parametrize("sizes", [(2, 3, 2), (3, 2, 2, 4), (2,) * 7, (2, 1, 3)])
def test_the_table_is_laid_out_in_the_order_of_the_search(sizes):
    task = random_task(sizes)
    ground = ground_of(task)
    axes = [task.root.features.index(f) for f in ground.order]
    axes += [axis for axis in range(len(sizes)) if axis not in axes]
    expected = task.root.table.reshape(sizes).transpose(axes).reshape(-1)
    assert ground.table.tolist() == expected.tolist()


def test_features_of_one_state_are_left_out():
    ground = ground_of(random_task((2, 1, 3)))
    assert set(ground.order) == {10, 12}


def test_the_most_harmful_features_come_first():
    task = random_task((2, 3, 2, 2))
    left = [
        task.objective.ceiling(keep_only(task.root, frozenset(task.root.features) - {f}, task.sizes).table)
        for f in ground_of(task).order
    ]
    assert left == sorted(left)
    assert ground_of(task).features["alone"][:-1] == pytest.approx(left, abs=EXACT)


def test_subsets_and_bits_are_one_to_one():
    ground = ground_of(random_task((2,) * 6))
    for bits in range(2**6):
        assert ground.bits(ground.kept(bits)) == bits


@pytest.mark.parametrize("turned", [False, True])
def test_equal_features_need_each_other_in_the_order_of_names(turned):
    """B and D can be exchanged, perhaps after exchanging the states of one of them; the others cannot."""
    rng = np.random.default_rng(5)
    table = rng.dirichlet(np.ones(16)).reshape(2, 2, 2, 2) * rng.choice([-1, 1], (2, 1, 2, 1))
    table = table + table.swapaxes(1, 3)
    if turned:
        table = table[:, :, :, ::-1]
    task = task_of(table / np.abs(table).sum(), (2,) * 4)
    ground = ground_of(task)
    twins = {
        task.names[f]: {task.names[k] for k in ground.kept(int(bit))}
        for f, bit in zip(ground.order, ground.features["twin"].tolist(), strict=False)
    }
    assert twins == {"A": set(), "B": set(), "C": set(), "D": {"B"}}
    assert ground.order.index(11) < ground.order.index(13)


def test_equal_features_of_different_cost_are_apart():
    table = np.array([0.4, 0.1, 0.1, -0.4])
    assert ground_of(task_of(table, (2, 2))).features["twin"].any()
    assert not ground_of(task_of(table, (2, 2), costs=[1.0, 2.0])).features["twin"].any()


def test_marginals_do_not_depend_on_what_was_asked_before():
    task = random_task((2, 3, 2, 2))
    marginals = Marginals(task, task.root, ground_of(task).order)
    rng = np.random.default_rng(1)
    for _ in range(40):
        kept = frozenset(f for f in task.root.features if rng.random() < 0.5)
        expected = keep_only(task.root, kept, task.sizes).table
        assert marginals.of(kept) == pytest.approx(expected, abs=EXACT)
