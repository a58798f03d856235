"""Posteriors in batches equal posteriors one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import networks
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.core.limits import Limits
from unswayed.inference import batches
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.posteriors import joint_table
from unswayed.inference.sampling import sample_states
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


@given(networks(max_variables=6), st.integers(0, 99))
def test_large_tables_one_by_one_equal_small_ones_side_by_side(network, seed):
    rng = np.random.default_rng(seed)
    observed = list(range(1, len(network)))
    codes = sample_states(network, 12, {}, rng)[:, 1:]
    with pytest.MonkeyPatch.context() as patch:
        together = batch_posteriors(network, 0, observed, codes, {})
        patch.setattr(batches, "LARGE", 0)
        alone = batch_posteriors(network, 0, observed, codes, {})
        # With little room tables make way for others, without any each is made anew.
        little, keep = seed % 7 * 16.0, batches.KeptBuffers.keep

        def keep_few(kept, *buffer):
            kept.most_bytes = little
            keep(kept, *buffer)

        patch.setattr(batches.KeptBuffers, "keep", keep_few)
        anew = batch_posteriors(network, 0, observed, codes, {})
    np.testing.assert_allclose(alone, together, atol=1e-12)
    np.testing.assert_array_equal(alone, anew)


def test_kept_buffers_hold_no_more_than_their_bytes():
    kept = batches.KeptBuffers(100.0)
    for number in range(5):
        kept.keep((number, b""), np.full(5, float(number)))
        assert kept.n_bytes <= 100.0
    assert [number for number in range(5) if kept.get((number, b"")) is not None] == [3, 4]
    kept.keep((9, b""), np.zeros(100))
    assert kept.get((9, b"")) is None


@pytest.mark.parametrize("large", [0, 2**18])
def test_a_batch_ends_with_the_time(large, monkeypatch):
    monkeypatch.setattr(batches, "LARGE", large)
    network = binary_network({"A": ((), [0.5]), "B": (("A",), [0.2, 0.7])})
    codes = np.zeros((10_000, 1), dtype=np.int64)
    with pytest.raises(LimitError, match="the time was over"), within(Limits(max_seconds=1e-9)):
        batch_posteriors(network, 0, [1], codes, {})
