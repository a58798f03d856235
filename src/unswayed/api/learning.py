"""The verb `learn`: a network from a table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from unswayed.core.anytime import bounded
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.names import unknown_name
from unswayed.learning.classifiers import as_rows, learn_naive_bayes, learn_tan
from unswayed.model.data.census import Census, read_coded
from unswayed.model.data.dataset import join_datasets
from unswayed.model.data.discretize import Discretization
from unswayed.model.network import BayesianNetwork

Structure = Literal["naive", "tan", "focs"]
STRUCTURES = ("naive", "tan", "focs")


@bounded
def learn(
    table: Any,
    target: str,
    *,
    structure: Structure = "naive",
    smoothing: float = 1.0,
    discretization: Discretization | None = None,
    weights: Any = None,
    limits: Limits = DEFAULT_LIMITS,
) -> BayesianNetwork:
    """The network that classifies `target`, from a table: a file, a dataframe, or columns by name.

    `structure` is naive Bayes, naive Bayes with a tree over the features ("tan"), or the target as a function
    of all features by contexts ("focs"). `smoothing` is added to every count, `discretization` says where
    numbers are cut, and `weights` how much each row counts. `unswayed.learning` has each learner by itself.

    >>> network = learn({"fever": ["yes", "yes", "no", "no"], "flu": ["yes", "yes", "yes", "no"]}, "flu")
    >>> network.names
    ('flu', 'fever')
    """
    if structure == "focs":
        return _learn_contexts(table, target, smoothing, discretization, weights)
    learners = {"naive": learn_naive_bayes, "tan": learn_tan}
    if not isinstance(structure, str) or structure not in learners:
        raise QueryError(unknown_name("structure", str(structure), STRUCTURES))
    return learners[structure](
        table, target, smoothing=smoothing, discretization=discretization, weights=weights
    )


def _learn_contexts(
    table: Any, target: str, smoothing: float, discretization: Discretization | None, weights: Any
) -> BayesianNetwork:
    from unswayed.focs.learn.cpts import learn_context_network  # which needs more than counts

    rows = as_rows(table, target, discretization=discretization, weights=weights)
    whole = join_datasets(list(read_coded(rows))) if isinstance(rows, Census) else rows
    return learn_context_network(whole, target, smoothing=smoothing, rng=np.random.default_rng(0))
