"""Decision profiles of structured cases, exact: every outcome of the open attributes is listed.

With a profile, every measure of `decisions/measures.py` is the same as for networks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.spaces.decisions.classifier import StructuredCase
from unswayed.spaces.decisions.outcomes import MOST_OUTCOMES, combine, merge_ratios

MOST_PAIRS = 2**24
"""Most pairs of an outcome kept and an outcome of the rest that are looked through one by one."""
_PAIRS_AT_ONCE = 2**18


def listed_profile(case: StructuredCase, kept: Iterable[str]) -> DecisionProfile | None:
    """The profile of these open attributes; None when there are too many outcomes to list."""
    chosen = checked_names(case, kept)
    seen = list_together(case, chosen)
    rest = list_together(case, [name for name in case.open_terms if name not in chosen])
    if seen is None or rest is None or len(seen) * len(rest) > MOST_PAIRS:
        return None
    n_bytes = 8.0 * 4 * seen.shape[1] * (_PAIRS_AT_ONCE + len(seen) + len(rest))
    check_bytes(n_bytes, "a list of outcomes")
    start = case.log_posterior + seen
    masses = np.exp(start)
    n_actions = len(case.classifier.decider.actions)
    decisions = np.zeros((len(seen), n_actions))
    size = max(1, _PAIRS_AT_ONCE // len(rest))
    for begin in range(0, len(seen), size):
        some = slice(begin, begin + size)
        decisions[some] = _decision_mass(case, start[some], rest, n_actions)
    total = masses.sum()
    return profile_from_masses(masses / total, decisions / decisions.sum())


def _decision_mass(case: StructuredCase, start: Floats, rest: Floats, n_actions: int) -> Floats:
    """Mass of each decision of the full classifier, for every row of what is kept."""
    logs = combine(start, rest) if len(start) > 1 else start + rest
    highest = logs.max(axis=1, keepdims=True)
    # Classes that a row excludes together leave no mass; such a row decides nothing.
    possible = highest[:, 0] > -np.inf
    actions = np.zeros(len(logs), dtype=np.int64)
    actions[possible] = case.classifier.decider.decide(np.exp(logs[possible] - highest[possible]))
    row = np.repeat(np.arange(len(start)), len(logs) // len(start))
    mass = np.exp(logs).sum(axis=1)
    found = np.bincount(row * n_actions + actions, mass, len(start) * n_actions)
    return found.reshape(len(start), n_actions).astype(np.float64)


def list_together(case: StructuredCase, names: Iterable[str]) -> Floats | None:  # (outcomes, classes)
    """The outcomes of some attributes together, those with equal ratios once; None when too many."""
    rows: Floats = np.zeros((1, len(case.log_posterior)))
    for name in names:
        more = case.open_terms[name].outcomes()
        if more is None or len(rows) * len(more) > 8 * MOST_OUTCOMES:
            return None
        rows = merge_ratios(combine(rows, more))
    return rows


def checked_names(case: StructuredCase, names: Iterable[str]) -> list[str]:
    """Attributes that are not observed whole; `QueryError` for others."""
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in case.classifier.features:
            raise QueryError(unknown_name("attribute", name, case.classifier.features))
        if name not in case.open_terms:
            raise QueryError(f"{name!r} is observed already; ask about one that is not")
    return list(dict.fromkeys(chosen))
