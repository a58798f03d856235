"""How robust is a decision that rests on objects, and what should be observed next?

Every answer is exact where the outcomes of the open attributes can be listed (engine `outcomes`), and between
certain bounds otherwise (engine `sums`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions import measures
from unswayed.decisions.profile import DecisionProfile
from unswayed.decisions.rewards import Reward, expected_reward
from unswayed.decisions.rules import TIE
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.decisions.certified import certified_agreement, refine
from unswayed.spaces.decisions.classifier import StructuredCase, structured_case, structured_classifier
from unswayed.spaces.decisions.listed import listed_profile
from unswayed.spaces.decisions.sums import TermSum

DEFAULT_TOLERANCE = 1e-3
"""Width of a certain interval that is good enough."""


def agreement_after(
    case: StructuredCase, kept: Iterable[str] = (), *, tolerance: float | None = None
) -> Measurement:
    """Probability that the decision after observing `kept` is the one that all attributes lead to.

    With nothing kept this is the same-decision probability (SDP), otherwise its expectation (E-SDP).
    """
    started, chosen = time.perf_counter(), list(kept)
    profile = listed_profile(case, chosen)
    if profile is not None:
        value = measures.expected_agreement(profile, case.classifier.decider)
        return Measurement.exact(min(value, 1.0), engine="outcomes", seconds=time.perf_counter() - started)
    found = certified_agreement(case, chosen, tolerance=tolerance or DEFAULT_TOLERANCE)
    value, seconds = 0.5 * (found.low + found.high), time.perf_counter() - started
    if found.low == found.high:
        return Measurement.exact(value, engine="sums", seconds=seconds)
    return Measurement(value, found.low, found.high, Certainty.BOUND, "sums", seconds)


def profile_after(case: StructuredCase, kept: Iterable[str]) -> DecisionProfile:
    """The decision profile of some open attributes; `LimitError` where outcomes are too many to list."""
    profile = listed_profile(case, kept)
    if profile is None:
        raise LimitError(
            "this question needs every outcome, and there are too many to list; observe more, take a smaller "
            "space, or ask for the same-decision probability, which is bounded without a list"
        )
    return profile


def value_after(case: StructuredCase, kept: Iterable[str], reward: Reward) -> Measurement:
    """Expected reward after observing `kept`, less the reward now."""
    started = time.perf_counter()
    target = case.classifier.target
    after = expected_reward(profile_after(case, kept).class_mass, reward, target)
    now = expected_reward(np.exp(case.log_posterior)[None, :], reward, target)
    return Measurement.exact(after - now, engine="outcomes", seconds=time.perf_counter() - started)


def normal_share(
    detector: StructuredAnomalyDetector, item: Any, *, tolerance: float | None = None
) -> Measurement:
    """Share of the normal objects that score no higher than this one: small for an odd object.

    The score of an object says how it compares with chance; this says how it compares with what is
    normal, as a p-value does. Ties count as no higher.
    """
    started = time.perf_counter()
    case = structured_case(structured_classifier(detector))
    observed = structured_case(case.classifier, {case.classifier.features[0]: item})
    if observed.open_terms:
        raise QueryError("the object was seen in part; ask for the same-decision probability instead")
    score = float(observed.log_posterior[0] - observed.log_posterior[1]) + TIE
    profile = listed_profile(case, case.classifier.features)
    if profile is not None:
        with np.errstate(divide="ignore"):
            odds = np.log(profile.class_mass[:, 0]) - np.log(profile.class_mass[:, 1])
        normal = profile.class_mass[:, 0]
        value = float(normal[odds < score].sum() / normal.sum())
        return Measurement.exact(value, engine="outcomes", seconds=time.perf_counter() - started)
    good_enough = tolerance or DEFAULT_TOLERANCE
    total = TermSum(tuple(case.open_terms.values()), (0, 1), good_enough / 64)

    def bound(degree: int) -> tuple[Any, Any]:
        tails = total.tails([score], total.transform(degree))
        return 1.0 - tails.high[0], 1.0 - tails.low[0]

    found = refine(bound, np.array([1.0, 0.0]), tolerance=good_enough)
    value = 0.5 * (found.low + found.high)
    return Measurement(value, found.low, found.high, Certainty.BOUND, "sums", time.perf_counter() - started)
