"""Questions to a PSDD: likelihoods, marginals, completions, conditions, entropy, divergence, samples.

Complete rows follow the choices they use and nothing else (`examples.py`). Partial ones take a pass
over the circuit, children first: the probability of what is known below each node; a second pass from the
root down shares the probability out among the choices. NaN, None and -1 mean "not observed".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.circuits.psdd.examples import Marks, all_marks, one_row, row_chunks, score_rows
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.core.anytime import tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, ModelError, QueryError
from unswayed.kernels.circuits.psdd_passes import COMPILED, BestRows, Draws, Flow

VALUES_AT_ONCE = 2**21
"""Values of nodes held in memory together: nodes times rows."""
UNITS_PER_VALUE = 0.01
"""Measured for a pass up and down: a part takes some 20 ms."""


def log_likelihood(psdd: Psdd, rows: Any) -> Floats:  # (rows,)
    """Logarithm of the probability of what each row observes; minus infinity when it is impossible.

    Cost: for complete rows, O(choices used); for partial ones O(choices) each.
    """
    likelihoods: Floats = log_likelihoods([psdd], rows)[:, 0]
    return likelihoods


def log_likelihoods(psdds: Sequence[Psdd], rows: Any) -> Floats:  # (rows, distributions)
    """Log-likelihoods under several distributions of one structure, in one pass over the rows."""
    structure = shared_structure(psdds)
    log_parameters = [psdd.log_parameters for psdd in psdds]
    found = [np.zeros((0, len(psdds)))]
    for marks in row_chunks(rows, structure.names):
        is_partial = (marks < 0).any(axis=1)
        if not is_partial.any():
            found.append(score_rows(structure, marks.view(np.uint8), log_parameters))
            continue
        scores = np.empty((len(marks), len(psdds)))
        scores[~is_partial] = score_rows(structure, marks[~is_partial].view(np.uint8), log_parameters)
        for k, psdd in enumerate(psdds):
            scores[is_partial, k] = _log_evidence(psdd, marks[is_partial])
        found.append(scores)
    return np.concatenate(found)


def shared_structure(psdds: Sequence[Psdd]) -> PsddStructure:
    """The structure of distributions that have the same; `ModelError` otherwise."""
    if not psdds:
        raise ModelError("at least one distribution is needed")
    if any(psdd.structure is not psdds[0].structure for psdd in psdds):
        raise ModelError("the distributions have different structures; learn them from one `PsddStructure`")
    return psdds[0].structure


def marginals(psdd: Psdd, rows: Any) -> Floats:  # (rows, variables)
    """Probability that each variable is true, given what each row observes.

    A row of NaN alone gives the marginals themselves. Raises `ImpossibleEvidence` for a row of probability
    zero.
    """
    structure = psdd.structure
    marks = all_marks(rows, structure.names)
    truths = np.flatnonzero(structure.literal > 0)
    columns = structure.literal[truths] - 1
    answer = np.zeros((len(marks), structure.n_variables))

    def take(part: slice, shares: Floats) -> None:
        answer[part, columns] = np.minimum(shares[truths].T, 1.0)

    shares_of(psdd, marks, take)
    return answer


def shares_of(
    psdd: Psdd, marks: Marks, take: Callable[[slice, Floats], None], weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Expected uses of choices, and log-likelihoods of rows; `take` sees the shares of nodes, part by part.

    Without weights, a row that is impossible raises `ImpossibleEvidence`; with weights it is left out.
    """
    structure = psdd.structure
    counts, likelihoods = np.zeros(structure.n_choices), np.empty(len(marks))
    for part in _parts(structure, len(marks)):
        tick(UNITS_PER_VALUE * structure.n_nodes * (part.stop - part.start), "the expected uses of choices")
        values = _values(psdd, marks[part])
        likelihoods[part] = values[structure.root]
        impossible = np.isneginf(likelihoods[part])
        if weights is None and impossible.any():
            raise ImpossibleEvidence(
                f"row {part.start + int(np.argmax(impossible))} has probability zero; nothing follows from it"
            )
        some = np.ones(values.shape[1]) if weights is None else np.ascontiguousarray(weights[part])
        flow = Flow(np.empty_like(values), some, counts)
        COMPILED.downward(structure.circuit, psdd.log_parameters, values, flow)
        take(part, flow.shares)
    return counts, likelihoods


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """Rows with what was not known filled in."""

    rows: Marks  # (rows, variables)
    """Complete rows of 1 and 0."""
    log_probability: Floats  # (rows,)
    """Logarithm of the probability of each complete row."""


def most_probable_completion(psdd: Psdd, rows: Any) -> Completion:
    """The most probable object that agrees with what each row observes; of equal ones, always the same.

    Raises `ImpossibleEvidence` for a row that no object agrees with.
    """
    structure = psdd.structure
    marks = all_marks(rows, structure.names)
    found = BestRows(marks.copy(), np.empty(len(marks)))
    COMPILED.best(structure.circuit, psdd.log_parameters, marks, found)
    if np.isneginf(found.scores).any():
        row = int(np.argmax(np.isneginf(found.scores)))
        raise ImpossibleEvidence(f"row {row} has probability zero; no object agrees with it")
    return Completion(found.completed, found.scores)


def condition_psdd(psdd: Psdd, observed: Any) -> Psdd:
    """The distribution given what one row observes, or values by name, over the same structure.

        parameter of choice, given e = parameter * Pr(e below the choice) / Pr(e below its node)

    Nodes that cannot be used any more keep their parameters. Raises `ImpossibleEvidence` when the row has
    probability zero.
    """
    structure = psdd.structure
    marks = one_row(observed, structure.names)
    values = _values(psdd, marks)[:, 0]
    if np.isneginf(values[structure.root]):
        raise ImpossibleEvidence("what was observed has probability zero; nothing can be conditioned on it")
    below = values[structure.lefts] + values[structure.rights]
    above = values[structure.owner]
    is_possible = above > -np.inf
    given = psdd.log_parameters.copy()
    given[is_possible] += below[is_possible] - above[is_possible]
    return Psdd(structure, np.minimum(given, 0.0))


def entropy(psdd: Psdd) -> float:
    """Entropy in nats: the expected negative log-probability of an object."""
    return _expect(psdd, -psdd.log_parameters)


def kl_divergence(one: Psdd, other: Psdd) -> float:
    """Kullback-Leibler divergence of `one` from `other`, in nats, over one structure.

        sum over objects x of one(x) log(one(x) / other(x))

    Infinite when an object is possible under `one` alone.
    """
    shared_structure([one, other])
    possible = one.log_parameters > -np.inf
    terms = np.zeros_like(one.log_parameters)
    terms[possible] = one.log_parameters[possible] - other.log_parameters[possible]
    return max(_expect(one, terms), 0.0)


def _expect(psdd: Psdd, terms: Floats) -> float:
    """Expected sum of the terms of the choices that an object uses; impossible choices are left out."""
    values = np.empty(psdd.structure.n_nodes)
    COMPILED.expect(psdd.structure.circuit, np.exp(psdd.log_parameters), terms, values)
    return float(values[psdd.structure.root])


def _log_evidence(psdd: Psdd, marks: Marks) -> Floats:
    found = np.empty(len(marks))
    for part in _parts(psdd.structure, len(marks)):
        found[part] = _values(psdd, marks[part])[psdd.structure.root]
    return found


def _values(psdd: Psdd, marks: Marks) -> Floats:  # (nodes, rows)
    """Log-probability of what the rows know below each node."""
    values = np.empty((psdd.structure.n_nodes, len(marks)))
    known = np.ascontiguousarray(marks)
    COMPILED.upward(psdd.structure.circuit, psdd.log_parameters, known, values)
    return values


def _parts(structure: PsddStructure, n_rows: int) -> list[slice]:
    size = max(1, VALUES_AT_ONCE // structure.n_nodes)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


ROWS_AT_ONCE = 4096


def sample(psdd: Psdd, n_samples: int, rng: np.random.Generator, *, given: Any = None) -> Bools:
    """Rows drawn independently, (samples, variables); `given` is a row with what is known about all of them.

    Cost: O(choices used) for each sample.
    """
    if n_samples < 0:
        raise QueryError(f"cannot draw {n_samples} samples")
    if given is not None:
        psdd = condition_psdd(psdd, given)
    structure = psdd.structure
    parameters = np.exp(psdd.log_parameters)
    last = _last_possible(structure, parameters)
    rows = np.zeros((n_samples, structure.n_variables), dtype=np.uint8)
    for start in range(0, n_samples, ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        uniforms = rng.random((len(part), len(structure.vtree)))
        draws = Draws(structure.vtree_node, parameters, last, uniforms)
        COMPILED.sample(structure.circuit, draws, part)
    return rows.view(np.bool_)


def _last_possible(structure: PsddStructure, parameters: Floats) -> Ints:  # (nodes,)
    """The last choice of each node that is not impossible."""
    last = np.zeros(structure.n_nodes, dtype=np.int64)
    possible = np.flatnonzero(parameters > 0)
    last[structure.owner[possible]] = possible  # of several for one node, the last one stays
    return last
