"""The seven naive Bayes networks of [choi2017, Table 5] and [choi2018, Table 6], against exhaustive search.

The oracle here shares nothing with the package but the reader: it multiplies the parameters out, decides
every instantiation, and values every subset within the budget by definition.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

import unswayed
from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.model.network import BayesianNetwork

Floats = npt.NDArray[np.float64]

TARGET_BY_NAME = {
    "bupa": "BP", "pima": "DB", "ident": "II", "anatomy": "TA", "heart": "CL", "voting": "V",
    "hepatitis": "HE",
}  # fmt: skip
SLOW = ("hepatitis",)
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TARGET_BY_NAME]
THRESHOLDS = [round(0.1 * i, 1) for i in range(1, 10)]
TIE = 1e-12
"""Log-odds closer than this are equal: the rule on ties."""
AT_ONCE = 12
"""Features whose subsets are enumerated together, which bounds the memory of the oracle."""

pytestmark = needs_shared_data


@dataclass(frozen=True)
class Best:
    """The best of all subsets within the budget, one number for each threshold."""

    maa: Floats
    esdp: Floats


def read(name: str) -> BayesianNetwork:
    return unswayed.read_network(SHARED / "networks" / "trimbn" / f"{name}.bif")


def joint(network: BayesianNetwork, target: str) -> Floats:  # (2, instantiations)
    """Pr(target, features), the last feature fastest."""
    table = network.cpts[network.index(target)].table.reshape(2, 1)
    for cpt in network.cpts:
        if cpt.child.name != target:
            table = (table[:, :, None] * cpt.table[:, None, :]).reshape(2, -1)
    return table


def signed(joint: Floats) -> Floats:  # (thresholds, instantiations)
    """The mass of each instantiation, negative where the full classifier decides against s0."""
    odds = np.log(joint[0]) - np.log(joint[1])
    positive = odds >= logit(np.array(THRESHOLDS))[:, None] - TIE
    return np.where(positive, joint.sum(axis=0), -joint.sum(axis=0))


def logit(threshold: Floats) -> Floats:
    return np.log(threshold) - np.log1p(-threshold)


def marginals(tables: Floats, n_left: int, budget: int) -> Iterator[Floats]:
    """Tables (subsets, columns, instantiations of the subset) for all subsets of at most `budget` features.

    `tables` has the shape (columns, instantiations of features kept so far, of the `n_left` to be decided).
    """
    columns, kept, _ = tables.shape
    if n_left > AT_ONCE:
        halves = tables.reshape(columns, kept, 2, -1)
        yield from marginals(halves.sum(axis=2), n_left - 1, budget)
        if budget:
            yield from marginals(halves.reshape(columns, 2 * kept, -1), n_left - 1, budget - 1)
        return
    by_number = {0: tables[None]}
    for _ in range(n_left):
        by_number = _with_one_more_decided(by_number, budget)
    yield from (table[..., 0] for table in by_number.values())


def _with_one_more_decided(by_number: dict[int, Floats], budget: int) -> dict[int, Floats]:
    """Every table twice: the next feature summed out, and kept while the budget allows."""
    decided: dict[int, list[Floats]] = {}
    for number, table in by_number.items():
        subsets, columns, kept, _ = table.shape
        halves = table.reshape(subsets, columns, kept, 2, -1)
        decided.setdefault(number, []).append(halves[:, :, :, 0] + halves[:, :, :, 1])
        if number < budget:
            keeping = halves.reshape(subsets, columns, 2 * kept, -1)
            decided.setdefault(number + 1, []).append(keeping)
    return {number: np.concatenate(tables) for number, tables in decided.items()}


def achievable(odds: Floats, signed: Floats, mass: Floats) -> Floats:  # (thresholds,)
    """The best agreement of any cut of the posteriors, over all subsets of one size."""
    order = np.argsort(odds, axis=1)
    odds, mass = np.take_along_axis(odds, order, 1), np.take_along_axis(mass, order, 1)
    signed = np.take_along_axis(signed, order[:, None], 2)
    # Below the cut the decision is negative: each row passed gains what was against and loses what was for.
    gained = -np.cumsum(signed, axis=2)
    gained[:, :, :-1][
        np.broadcast_to((np.diff(odds, axis=1) <= TIE)[:, None], gained[:, :, :-1].shape)
    ] = -1.0
    all_positive = 0.5 * (mass.sum(axis=1)[:, None] + signed.sum(axis=2))
    return (all_positive + np.maximum(gained.max(axis=2), 0.0)).max(axis=0)


def same_threshold(odds: Floats, signed: Floats) -> Floats:  # (thresholds,)
    """The best agreement of the classifier's own threshold, over all subsets of one size."""
    positive = odds[:, None] >= logit(np.array(THRESHOLDS))[None, :, None] - TIE
    return 0.5 + 0.5 * np.where(positive, signed, -signed).sum(axis=2).max(axis=0)


@functools.cache
def best_of_all_subsets(name: str) -> Best:
    network = read(name)
    n = len(network) - 1
    full = joint(network, TARGET_BY_NAME[name])
    maa, esdp = [], []
    for table in marginals(np.concatenate([full, signed(full)])[:, None], n, n // 3):
        odds = np.log(table[:, 0]) - np.log(table[:, 1])
        maa.append(achievable(odds, table[:, 2:], table[:, :2].sum(axis=1)))
        esdp.append(same_threshold(odds, table[:, 2:]))
    return Best(np.max(maa, axis=0), np.max(esdp, axis=0))


def classifiers(name: str) -> Iterator[unswayed.Classifier]:
    network = read(name)
    for threshold in THRESHOLDS:
        rule = unswayed.ThresholdRule("s0", threshold)
        yield unswayed.Classifier(network, TARGET_BY_NAME[name], None, rule)


@pytest.mark.parametrize("name", NAMES)
def test_trimming_equals_exhaustive_search(name):
    """Maximum achievable agreement with a third of the features [choi2018, section 6.2]."""
    best = best_of_all_subsets(name)
    for classifier, expected in zip(classifiers(name), best.maa, strict=True):
        found = unswayed.trim(classifier, budget=len(classifier.features) // 3)
        kept, rule = found.classifier.features, found.classifier.rule
        assert isinstance(rule, unswayed.ThresholdRule)
        assert found.selection.optimal
        assert found.selection.value == pytest.approx(expected, abs=ENGINE)
        achieved = unswayed.eca(classifier, kept=kept, new_threshold=rule.threshold).value
        assert achieved == pytest.approx(expected, abs=ENGINE)


@pytest.mark.parametrize("name", NAMES)
def test_selection_equals_exhaustive_search(name):
    """Expected same-decision probability with a third of the features [choi2017, section 6]."""
    best = best_of_all_subsets(name)
    for classifier, expected in zip(classifiers(name), best.esdp, strict=True):
        found = unswayed.select(classifier, budget=len(classifier.features) // 3)
        assert found.optimal
        assert found.value == pytest.approx(expected, abs=ENGINE)
        achieved = unswayed.esdp(classifier, kept=found.kept).value
        assert achieved == pytest.approx(expected, abs=ENGINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_free_threshold_never_agrees_less(name):
    """MAA >= E-SDP [choi2018, section 6.2]."""
    best = best_of_all_subsets(name)
    assert (best.maa >= best.esdp - ENGINE).all()


@pytest.mark.slow
def test_moving_the_threshold_helps_in_17_of_63():
    """Known from an exhaustive search by another program, in another language."""
    found = [best_of_all_subsets(name) for name in TARGET_BY_NAME]
    assert sum(int((best.maa > best.esdp + ENGINE).sum()) for best in found) == 17
