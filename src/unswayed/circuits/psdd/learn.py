"""Learning: count, add what the prior adds, divide; and expectation maximisation where values are missing.

The parameters of greatest likelihood are relative frequencies: of the examples that use a node, the share
that takes each choice [Kisa, Van den Broeck, Choi, Darwiche 2014]. So counts are all that learning needs.
They form a monoid: `zero_counts` counts nothing, `merge` adds the counts of two sets of examples, and it
does not matter how examples were divided. Data may come in chunks, from several processes, or in a stream
(`io/streams.py`). `estimate` turns counts into parameters.

Where values are not known, one step counts how often each choice is expected to be used, given what the
examples show and the parameters so far, and estimates the parameters from these counts. No step lowers the
likelihood of what was observed (with a prior: the likelihood times the prior). The variables of a PSDD are
all observed somewhere as a rule, so there is no symmetry to break, and the start does not matter much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unswayed.circuits.psdd.examples import (
    Marks,
    all_marks,
    checked_weights,
    count_uses,
    is_complete,
    row_chunks,
)
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure, group_sums
from unswayed.circuits.psdd.query import shares_of
from unswayed.circuits.psdd.structure import uniform_parameters, uniform_uses
from unswayed.core.anytime import settle
from unswayed.core.arrays import Floats, expect_numbers, read_only
from unswayed.core.errors import ModelError, QueryError, expect


def _check_amount(amount: float) -> None:
    if not 0 <= amount < np.inf:
        raise ModelError(f"a prior adds a finite amount of at least 0, not {amount!r}")


@runtime_checkable
class Prior(Protocol):
    """What is known before the first example, as examples that were not seen."""

    def pseudo_counts(self, structure: PsddStructure) -> Floats:
        """What is added to the count of each choice."""
        ...


@dataclass(frozen=True, slots=True)
class Laplace:
    """The same number added to every count: the mode under a Dirichlet prior with exponents 1 + `added`."""

    added: float = 1.0
    """What is added; 0 gives the parameters of greatest likelihood."""

    def __post_init__(self) -> None:
        _check_amount(self.added)

    def pseudo_counts(self, structure: PsddStructure) -> Floats:
        """The same for every choice."""
        return np.full(structure.n_choices, float(self.added))


@dataclass(frozen=True, slots=True)
class UniformExamples:
    """Counts as if every object of the space had been seen equally often, `weight` examples in all.

    Unlike `Laplace`, it pulls towards the uniform distribution over objects, and its strength does not grow
    with the size of the circuit.
    """

    weight: float = 1.0
    """How many examples, in all."""

    def __post_init__(self) -> None:
        _check_amount(self.weight)

    def pseudo_counts(self, structure: PsddStructure) -> Floats:
        """Uses of each choice in that many examples."""
        return self.weight * uniform_uses(structure)


NO_PRIOR = Laplace(0.0)
"""Nothing known before: maximum likelihood."""


@dataclass(frozen=True, slots=True, eq=False)
class PsddCounts:
    """How often examples used each choice of a structure."""

    structure: PsddStructure
    """Whose choices are counted."""
    uses: Floats = field(repr=False)  # (choices,)
    """Weight of the examples that used each choice; 0 where a node has no other choice."""
    total: float
    """Weight of all examples."""


def zero_counts(structure: PsddStructure) -> PsddCounts:
    """Counts of no examples at all."""
    return PsddCounts(structure, read_only(np.zeros(structure.n_choices)), 0.0)


def count_examples(structure: PsddStructure, rows: Any, weights: Any = None) -> PsddCounts:
    """Counts of complete examples; `QueryError` names the first that is outside of the space.

    Cost: on structures with a decision diagram as many steps as it has levels for each row, slower where the
    diagram outgrows the processor's caches; otherwise O(choices) for 64 rows.
    """
    expect(structure, PsddStructure, "the structure")
    uses, n_rows = np.zeros(structure.n_choices), 0
    known = None if weights is None else expect_numbers(weights, "weights of rows")
    if known is not None and known.ndim != 1:
        raise QueryError(f"give one weight for each row, not an array of shape {known.shape}")
    for marks in row_chunks(rows, structure.names):
        if not is_complete(marks):
            raise QueryError("some values are not observed; learn from such rows with `learn_incomplete`")
        part = None if known is None else checked_weights(known[n_rows : n_rows + len(marks)], len(marks))
        found = count_uses(structure, marks.view(np.uint8), part)
        if found.outside.any():
            row = n_rows + int(np.argmax(found.outside))
            raise QueryError(f"row {row} is outside of the space: no assignment of this kind is a model")
        uses += found.counts
        n_rows += len(marks)
    if known is not None:
        checked_weights(known, n_rows)
    return PsddCounts(structure, read_only(uses), float(n_rows if known is None else known.sum()))


def merge(one: PsddCounts, other: PsddCounts) -> PsddCounts:
    """Counts of the examples of both."""
    if one.structure is not other.structure:
        raise ModelError("counts can be merged only when they are of the same structure")
    return PsddCounts(one.structure, read_only(one.uses + other.uses), one.total + other.total)


def count_stream(structure: PsddStructure, chunks: Iterable[Any]) -> PsddCounts:
    """Counts of examples that come in chunks, of which one is in memory at a time."""
    counts = zero_counts(structure)
    for chunk in chunks:
        counts = merge(counts, count_examples(structure, chunk))
    return counts


def estimate(counts: PsddCounts, prior: Prior = NO_PRIOR) -> Psdd:
    """The most probable parameters given counts and a prior; where nothing is known, the uniform ones.

    parameter of choice = (count + pseudo-count) / (the same summed over its node's choices)
    """
    if not isinstance(prior, Prior):
        raise QueryError(f"a prior is Laplace() or the like, not {prior!r}")
    structure = counts.structure
    amounts = counts.uses + prior.pseudo_counts(structure)
    totals = group_sums(structure, amounts)[structure.owner]
    is_known = totals > 0
    shares = np.divide(amounts, totals, out=np.ones_like(amounts), where=is_known)
    with np.errstate(divide="ignore"):
        logarithms = np.log(shares)
    if not is_known.all():
        logarithms = np.where(is_known, logarithms, uniform_parameters(structure))
    return Psdd(structure, logarithms)


def learn(structure: PsddStructure, rows: Any, weights: Any = None, *, prior: Prior = NO_PRIOR) -> Psdd:
    """The distribution learned from complete examples: `estimate(count_examples(...))`.

    >>> from unswayed.circuits.sdd.sdd import Sdd
    >>> from unswayed.circuits.psdd.structure import psdd_structure
    >>> from unswayed.circuits.vtree import right_linear
    >>> coin = psdd_structure(Sdd(right_linear("A"), [0, 1, 1], [-1, -1, 0], [0, 0, 0], [0] * 4, [], [], 2))
    >>> np.exp(learn(coin, [[1], [1], [0]], prior=Laplace(1)).log_parameters).round(3).tolist()
    [0.4, 0.6]
    """
    return estimate(count_examples(structure, rows, weights), prior)


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
) -> IncompleteFit:
    """The distribution learned from rows in which values may be missing (NaN, None, -1).

    Stops when a step gains less than `tolerance` nats for each example, or after `max_steps`, or when the
    time of `limits` is over. Equal rows are taken together. Raises `QueryError` when a row agrees with no
    object.

    Cost: O(choices) for each distinct row and step.
    """
    marks, amounts = _distinct(structure, rows, weights)
    first = _complete_counts(structure, marks, amounts)

    def expect(psdd: Psdd) -> tuple[PsddCounts, float]:
        return _expected_counts(psdd, marks, amounts)

    return settle(islice(_climb(expect, first, prior, tolerance), max_steps + 1)).last


def learn_incomplete_stream(
    structure: PsddStructure,
    read_chunks: Callable[[], Iterable[Any]],
    *,
    prior: Prior = NO_PRIOR,
    max_steps: int = 100,
    tolerance: float = 1e-7,
) -> IncompleteFit:
    """The same from rows that come in chunks, of which one is in memory at a time.

    Every step reads all rows once more, so `read_chunks` is called for each step and must give the same rows:
    `lambda: stream_rows("orders.parquet", structure.names)`.
    """
    first = zero_counts(structure)
    for marks, amounts in _each_distinct(structure, read_chunks()):
        first = merge(first, _complete_counts(structure, marks, amounts))

    def expect(psdd: Psdd) -> tuple[PsddCounts, float]:
        counts, value = zero_counts(structure), 0.0
        for marks, amounts in _each_distinct(structure, read_chunks()):
            more, likelihood = _expected_counts(psdd, marks, amounts)
            counts, value = merge(counts, more), value + likelihood
        return counts, value

    return settle(islice(_climb(expect, first, prior, tolerance), max_steps + 1)).last


def _climb(
    expect: Callable[[Psdd], tuple[PsddCounts, float]],
    first: PsddCounts,
    prior: Prior,
    tolerance: float,
) -> Iterator[IncompleteFit]:
    """Expectation maximisation from the counts of complete rows: the start, and what each step comes to."""
    structure = first.structure
    pseudo = prior.pseudo_counts(structure)
    weighed = pseudo > 0
    # One example spread over the whole space: nothing starts impossible.
    psdd = estimate(PsddCounts(structure, first.uses + uniform_uses(structure), first.total + 1.0))
    objective: list[float] = []
    yield IncompleteFit(psdd, (), False)
    while True:
        counts, likelihood = expect(psdd)
        objective.append(likelihood + float(pseudo[weighed] @ psdd.log_parameters[weighed]))
        if len(objective) > 1 and objective[-1] - objective[-2] <= tolerance * counts.total:
            yield IncompleteFit(psdd, tuple(objective), True)
            return
        psdd = estimate(counts, prior)
        yield IncompleteFit(psdd, tuple(objective), False)


def _each_distinct(structure: PsddStructure, chunks: Iterable[Any]) -> Iterator[tuple[Marks, Floats]]:
    for chunk in chunks:
        yield _distinct(structure, chunk, None)


def _distinct(structure: PsddStructure, rows: Any, weights: Any) -> tuple[Marks, Floats]:
    """Distinct rows of positive weight, and their weights."""
    marks = all_marks(rows, structure.names)
    amounts = np.ones(len(marks)) if weights is None else checked_weights(weights, len(marks))
    marks, amounts = marks[amounts > 0], amounts[amounts > 0]
    found, which = np.unique(marks, axis=0, return_inverse=True)
    return np.ascontiguousarray(found), np.bincount(which.reshape(-1), amounts, len(found)).astype(np.float64)


def _complete_counts(structure: PsddStructure, marks: Marks, amounts: Floats) -> PsddCounts:
    """Counts of the rows that observe everything."""
    complete = (marks >= 0).all(axis=1)
    return count_examples(structure, marks[complete], amounts[complete])


def _expected_counts(psdd: Psdd, marks: Marks, amounts: Floats) -> tuple[PsddCounts, float]:
    """Expected uses of each choice, and the log-likelihood of what was observed."""
    uses, likelihoods = shares_of(psdd, marks, lambda part, shares: None, amounts)
    if np.isneginf(likelihoods).any():
        row = marks[int(np.argmax(np.isneginf(likelihoods)))].tolist()
        raise QueryError(f"no object of the space agrees with the row {row} (-1 where not observed)")
    return PsddCounts(psdd.structure, uses, float(amounts.sum())), float(amounts @ likelihoods)
