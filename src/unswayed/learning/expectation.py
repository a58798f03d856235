"""Parameters where values are missing, by expectation maximisation (EM) [dempster1977].

Leaving incomplete rows out of a family's counts is right when values are missing completely at random. When
whether a value is missing depends on what was observed (only the feverish are tested), it is not, and EM is:
each incomplete row is counted in every way it can be completed, in proportion to how probable the current
network makes it, and the counts give the next network. Each step raises

    log Pr(data | network) + smoothing * sum over all parameters of log(parameter)

until it no longer does. The result is a local maximum; a variable that is never observed needs a random
start (`rng`), for from a symmetric one nothing moves.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import UnswayedWarning
from unswayed.inference.marginals import family_marginals
from unswayed.inference.posteriors import log_probability
from unswayed.learning.counts import count_families, smoothed_cpt
from unswayed.learning.parameters import Structure, structure_families, structured_dataset, with_functions
from unswayed.model.cpt import Cpt, checked_smoothing
from unswayed.model.data.dataset import Dataset
from unswayed.model.data.discretize import Discretization
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True)
class EmOptions:
    """When to stop."""

    tolerance: float = 1e-6
    """Least rise of the objective, for each unit of weight in the data, that is worth another step."""
    max_steps: int = 200
    """Most steps; stopping there gives a warning."""


DEFAULT_EM = EmOptions()


@dataclass(frozen=True, slots=True)
class EmFit:
    """What EM found."""

    network: BayesianNetwork
    """The network of the last step."""
    objectives: tuple[float, ...]
    """The penalised log-likelihood of the network before each step; never decreasing."""
    is_converged: bool
    """Whether a further step would not have been worth it."""


def learn_parameters_em(
    structure: Structure,
    data: Any,
    *,
    smoothing: float = 1.0,
    discretization: Discretization | None = None,
    weights: Any = None,
    rng: np.random.Generator | None = None,
    options: EmOptions = DEFAULT_EM,
) -> EmFit:
    """The parameters of a structure from rows with missing values, by EM.

    Data and smoothing are as in `learn_parameters`. Without `rng` the start is what the observed parts of
    rows give, with 1 added to every count; with it, a random network.

    Cost: in each step one inference for each distinct incomplete row.
    """
    checked_smoothing(smoothing)
    rows = structured_dataset(structure, data, discretization=discretization, weights=weights)
    network = _start(structure, rows, rng)
    work = _work(network, rows)
    objectives: list[float] = []
    for _ in range(options.max_steps):
        counts, log_likelihood = _expected_counts(network, work)
        objectives.append(log_likelihood + smoothing * _log_parameters(network, smoothing))
        if len(objectives) > 1 and objectives[-1] - objectives[-2] <= options.tolerance * work.total:
            return EmFit(network, tuple(objectives), is_converged=True)
        network = _maximised(network, counts, smoothing)
    warnings.warn(
        f"EM stopped after {options.max_steps} steps without converging; raise max_steps or tolerance",
        UnswayedWarning,
        stacklevel=2,
    )
    return EmFit(network, tuple(objectives), is_converged=False)


@dataclass(frozen=True, slots=True)
class _Work:
    """The data sorted out: what is counted once and for all, and what is counted anew in each step."""

    complete: tuple[Floats, ...]
    """Counts of the rows that observe everything, one table for each family that has a table."""
    functions: float
    """Log-likelihood of those rows' other families, whose nodes are functions."""
    incomplete: tuple[tuple[dict[int, int], float], ...]
    """Distinct other rows as evidence, with their weights; rows that observe nothing are left out."""
    total: float
    """Sum of all weights."""


def _start(structure: Structure, rows: Dataset, rng: np.random.Generator | None) -> BayesianNetwork:
    families = structure_families(structure, rows)
    tables = count_families(rows, families).tables
    if rng is not None:
        tables = tuple(rng.exponential(size=table.shape) for table in tables)
    smoothing = 1.0 if rng is None else 0.0
    cpts = [smoothed_cpt(rows.variables, f, t, smoothing) for f, t in zip(families, tables, strict=True)]
    return with_functions(structure, cpts)


def _work(network: BayesianNetwork, rows: Dataset) -> _Work:
    codes = rows.codes[:, [rows.index(name) for name in network.names]]
    is_complete = (codes >= 0).all(axis=1)
    full = Dataset(network.variables, codes[is_complete], rows.weights[is_complete])
    families = [(*network.parents[child], child) for child in table_positions(network)]
    patterns, which = np.unique(codes[~is_complete], axis=0, return_inverse=True)
    weights = np.bincount(which.reshape(-1), rows.weights[~is_complete], minlength=len(patterns))
    incomplete = tuple(
        ({i: state for i, state in enumerate(pattern) if state >= 0}, weight)
        for pattern, weight in zip(patterns.tolist(), weights.tolist(), strict=True)
    )
    return _Work(
        complete=count_families(full, families).tables,
        functions=_function_log_likelihood(network, full),
        incomplete=tuple((evidence, weight) for evidence, weight in incomplete if evidence),
        total=float(rows.weights.sum()),
    )


def _expected_counts(network: BayesianNetwork, work: _Work) -> tuple[list[Floats], float]:
    """Expected counts of each family under the network, and the log-likelihood of the data."""
    counts = [table.copy() for table in work.complete]
    positions = table_positions(network)
    log_likelihood = work.functions + sum(
        float((seen * _logs(network.cpts[position].table)).sum())
        for seen, position in zip(work.complete, positions, strict=True)
    )
    for evidence, weight in work.incomplete:
        log_likelihood += weight * log_probability(network, evidence)
        families = family_marginals(network, evidence)
        for table, position in zip(counts, positions, strict=True):
            table += weight * families[position]
    return counts, log_likelihood


def table_positions(network: BayesianNetwork) -> list[int]:
    """Positions of the nodes that are tables, whose parameters are learned."""
    return [position for position, cpt in enumerate(network.cpts) if isinstance(cpt, Cpt)]


def _function_log_likelihood(network: BayesianNetwork, rows: Dataset) -> float:
    """Log-likelihood of complete rows under the nodes that are functions."""
    total = 0.0
    for position, cpt in enumerate(network.cpts):
        if not isinstance(cpt, Cpt):
            shares = cpt.probabilities(rows.codes[:, list(network.parents[position])])
            logs = _logs(shares[np.arange(len(rows.codes)), rows.codes[:, position]])
            total += float(rows.weights @ logs)
    return total


def _maximised(network: BayesianNetwork, counts: list[Floats], smoothing: float) -> BayesianNetwork:
    families = [(*network.parents[child], child) for child in table_positions(network)]
    cpts = [smoothed_cpt(network.variables, f, t, smoothing) for f, t in zip(families, counts, strict=True)]
    return with_functions(network, cpts)


def _log_parameters(network: BayesianNetwork, smoothing: float) -> float:
    tables = (cpt.table for cpt in network.cpts if isinstance(cpt, Cpt))
    return sum(float(_logs(table).sum()) for table in tables) if smoothing else 0.0


def _logs(table: Floats) -> Floats:
    """Logarithms, 0 for what has probability 0: no row is counted there."""
    logs: Floats = np.log(table, out=np.zeros_like(table), where=table > 0)
    return logs
