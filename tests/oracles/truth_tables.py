"""Boolean functions the slow way: every assignment is tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from unswayed.circuits.formulas.expressions import Connective, Expression


def all_rows(n_variables: int) -> np.ndarray:
    """Every assignment, (2^n, n)."""
    return np.array(list(itertools.product([False, True], repeat=n_variables)), dtype=bool)


def holds(expression: Expression, assignment: Mapping[str, bool]) -> bool:
    """Whether an expression holds, by reading it aloud."""
    truth = [holds(part, assignment) for part in expression.parts]
    match expression.connective:
        case Connective.VARIABLE:
            return bool(assignment[expression.name])
        case Connective.NOT:
            return not truth[0]
        case Connective.AND:
            return all(truth)
        case Connective.OR:
            return any(truth)
        case Connective.COUNT:
            return expression.bounds[0] <= sum(truth) <= expression.bounds[1]


def truth_of_expression(expression: Expression, names: Sequence[str]) -> np.ndarray:
    """The truth of an expression in every row of `all_rows`."""
    rows = all_rows(len(names))
    return np.array([holds(expression, dict(zip(names, row, strict=True))) for row in rows], dtype=bool)


def truth_of_clauses(clauses: Sequence[Sequence[int]], n_variables: int) -> np.ndarray:
    """The truth of clauses in every row of `all_rows`."""
    rows = all_rows(n_variables)
    return np.array(
        [all(any(row[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses) for row in rows],
        dtype=bool,
    )


def weight_of(truth: np.ndarray, weights: np.ndarray) -> float:
    """The sum over models of the product of their weights, added exactly."""
    n_variables = len(weights)
    rows = all_rows(n_variables)[truth].astype(int)
    return math.fsum(math.prod(weights[range(n_variables), row].tolist()) for row in rows)
