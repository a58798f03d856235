"""Learning from examples with values that are not known: expectation maximisation.

One step counts how often each choice is expected to be used, given what the examples show and the
parameters so far, and estimates the parameters from these counts as if they had been counted. No step
lowers the likelihood of what was observed (with a prior: the likelihood times the prior). The variables of
a PSDD are all observed somewhere as a rule, so there is no symmetry to break, and the start does not matter
much.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.circuits.psdd.learn import NO_PRIOR, Prior, PsddCounts, count_examples, estimate
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.query import shares_of
from unswayed.circuits.psdd.rows import Marks, all_marks, checked_weights
from unswayed.circuits.psdd.uniform import uniform_uses
from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteFit:
    """What was learned from incomplete examples, and how it went."""

    psdd: Psdd
    """The distribution after the last step."""
    objective: tuple[float, ...]
    """Before each step: log-likelihood of what was observed, plus the logarithm of the prior."""
    is_converged: bool
    """Whether it stopped because a step gained next to nothing; otherwise steps or time ran out."""


def learn_incomplete(
    structure: PsddStructure,
    rows: Any,
    weights: Any = None,
    *,
    prior: Prior = NO_PRIOR,
    max_steps: int = 100,
    tolerance: float = 1e-7,
    limits: Limits = DEFAULT_LIMITS,
) -> IncompleteFit:
    """The distribution learned from rows in which values may be missing (NaN, None, -1).

    Stops when a step gains less than `tolerance` nats for each example, or after `max_steps`, or when the
    time of `limits` is over. Equal rows are taken together. Raises `QueryError` when a row agrees with no
    object.

    Cost: O(choices) for each distinct row and step.
    """
    marks, amounts = _distinct(structure, rows, weights)
    deadline = limits.deadline()
    psdd = _start(structure, marks, amounts)
    objective: list[float] = []
    for _ in range(max_steps):
        counts, value = _expected_counts(psdd, marks, amounts, prior)
        objective.append(value)
        if len(objective) > 1 and value - objective[-2] <= tolerance * amounts.sum():
            return IncompleteFit(psdd, tuple(objective), True)
        psdd = estimate(counts, prior)
        if time.monotonic() >= deadline:
            break
    return IncompleteFit(psdd, tuple(objective), False)


def _distinct(structure: PsddStructure, rows: Any, weights: Any) -> tuple[Marks, Floats]:
    """Distinct rows of positive weight, and their weights."""
    marks = all_marks(rows, structure.n_variables)
    amounts = np.ones(len(marks)) if weights is None else checked_weights(weights, len(marks))
    marks, amounts = marks[amounts > 0], amounts[amounts > 0]
    found, which = np.unique(marks, axis=0, return_inverse=True)
    return np.ascontiguousarray(found), np.bincount(which.reshape(-1), amounts, len(found)).astype(np.float64)


def _start(structure: PsddStructure, marks: Marks, amounts: Floats) -> Psdd:
    """What the complete rows say, and one example spread over the whole space: nothing starts impossible."""
    complete = (marks >= 0).all(axis=1)
    counts = count_examples(structure, marks[complete], amounts[complete])
    spread = PsddCounts(structure, counts.uses + uniform_uses(structure), counts.total + 1.0)
    return estimate(spread)


def _expected_counts(psdd: Psdd, marks: Marks, amounts: Floats, prior: Prior) -> tuple[PsddCounts, float]:
    """Expected uses of each choice, and the objective of the parameters they were computed with."""
    uses, likelihoods = shares_of(psdd, marks, lambda part, shares: None, amounts)
    if np.isneginf(likelihoods).any():
        row = marks[int(np.argmax(np.isneginf(likelihoods)))].tolist()
        raise QueryError(f"no object of the space agrees with the row {row} (-1 where not observed)")
    pseudo = prior.pseudo_counts(psdd.structure)
    weighed = pseudo > 0
    value = float(amounts @ likelihoods + pseudo[weighed] @ psdd.log_parameters[weighed])
    return PsddCounts(psdd.structure, uses, float(amounts.sum())), value
