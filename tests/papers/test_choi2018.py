"""The worked examples of [choi2018]: the quiz of section 2 and the table of section 5.3."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from tolerances import paper
from unswayed.decisions.measures import maximum_achievable_agreement
from unswayed.decisions.profile import DecisionProfile
from unswayed.model.zoo import binary_network


def test_table_4():
    """Rows (posterior, + mass, - mass): MAA .56, with thresholds from above 0 up to .50."""
    posterior = np.array([0.75, 0.69, 0.50, 0.0])
    decisions = np.array([[0.04, 0.04], [0.20, 0.27], [0.30, 0.13], [0.0, 0.02]])
    mass = decisions.sum(axis=1)
    profile = DecisionProfile(np.column_stack([posterior * mass, (1 - posterior) * mass]), decisions)
    best = maximum_achievable_agreement(profile, positive=0)
    assert best.value == pytest.approx(0.56, abs=paper(2))
    assert (best.threshold_low, best.threshold_high) == pytest.approx((0.0, 0.50))
    assert 0.0 < best.threshold <= 0.50


def test_the_smallest_case_where_sorting_by_joint_mass_goes_wrong():
    """Prior .5; Pr(0 | c0), Pr(0 | c1) = F1 .3/.1, F2 .4/.6, F3 .6/.5; T = .5: MAA of F1 is .784."""
    network = binary_network(
        {
            "C": ((), [0.5]),
            "F1": (("C",), [0.3, 0.1]),
            "F2": (("C",), [0.4, 0.6]),
            "F3": (("C",), [0.6, 0.5]),
        },
        states=("c0", "c1"),
    )
    classifier = unswayed.Classifier(network, "C", None, unswayed.ThresholdRule("c0", 0.5))
    agreements = {f: unswayed.maa(classifier, kept=[f]).value for f in ("F1", "F2", "F3")}
    assert max(agreements, key=agreements.__getitem__) == "F1"
    assert agreements["F1"] == pytest.approx(0.784, abs=paper(3))
    assert agreements["F2"] == pytest.approx(0.736, abs=paper(3))


def test_thresholds_of_the_interval_achieve_what_is_promised():
    """Any threshold inside the interval gives the agreement; just outside gives no more."""
    network = binary_network(
        {
            "C": ((), [0.3]),
            "A": (("C",), [0.8, 0.3]),
            "B": (("C", "A"), [0.6, 0.2, 0.9, 0.4]),
            "D": (("C", "B"), [0.7, 0.5, 0.1, 0.2]),
        }
    )
    classifier = unswayed.Classifier(network, "C", ["A", "B", "D"], unswayed.ThresholdRule("+", 0.35))
    for kept in (["A"], ["B"], ["A", "B"], ["B", "D"]):
        best = unswayed.maa(classifier, kept=kept)
        low, high = best.thresholds
        for threshold in (low + 1e-6, 0.5 * (low + high), high):
            found = unswayed.eca(classifier, kept=kept, new_threshold=min(threshold, 1 - 1e-9))
            assert found.value == pytest.approx(best.value, abs=1e-12)
        for threshold in (low - 1e-6, high + 1e-6):
            if 0 < threshold < 1:
                found = unswayed.eca(classifier, kept=kept, new_threshold=threshold)
                assert found.value <= best.value + 1e-12
