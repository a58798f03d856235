"""Posteriors in batches equal posteriors one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import networks
from unswayed.core.errors import ImpossibleEvidence
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.posteriors import joint_table
from unswayed.model.zoo import binary_network


@given(networks(max_variables=6), st.data())
def test_batches_equal_one_by_one(network, data):
    positions = list(range(len(network)))
    target = data.draw(st.sampled_from(positions))
    others = [v for v in positions if v != target]
    observed = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    fixed = [v for v in others if v not in observed and data.draw(st.booleans())]
    evidence = {v: data.draw(st.integers(0, len(network.variables[v]) - 1)) for v in fixed}
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    codes = (
        np.stack([rng.integers(0, len(network.variables[v]), 20) for v in observed], axis=1)
        if observed
        else None
    )
    codes = np.zeros((3, 0), dtype=np.int64) if codes is None else codes
    kept, expected = [], []
    for row in codes:
        try:
            expected.append(
                joint_table(
                    network, [target], {**evidence, **dict(zip(observed, map(int, row), strict=True))}
                )
            )
        except ImpossibleEvidence:
            continue
        kept.append(row)
    if kept:
        found = batch_posteriors(network, target, observed, np.array(kept), evidence)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_impossible_case_is_named():
    network = binary_network({"A": ((), [1.0]), "B": (("A",), [0.5, 0.5])})
    with pytest.raises(ImpossibleEvidence, match="A=-"):
        batch_posteriors(network, 1, [0], np.array([[0], [1]]), {})


def test_cases_too_unlikely_for_products_are_answered():
    tables = {"C": ((), [0.5]), **{f"F{i}": (("C",), [1e-9, 2e-9]) for i in range(40)}}
    network = binary_network(tables)
    features = list(range(1, 41))
    found = batch_posteriors(network, 0, features, np.zeros((1, 40), dtype=np.int64), {})
    expected = joint_table(network, [0], dict.fromkeys(features, 0))
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)
