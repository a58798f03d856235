"""Which decision is meant when inputs of a person's own model are missing, and where the meanings differ.

- *expected*: by the model's prediction, averaged over what the missing inputs may be. This is the posterior
  of the paper's definitions, and what every verb speaks of.
- *native*: by the path that the model itself has for gaps, where it was made to take them.
- *impute*: by one row, in which every missing input has its median, or its most frequent category, under the
  background; what was observed does not move them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.core.names import listing
from unswayed.decisions.problem import Problem
from unswayed.inference.marginals import all_marginals
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import Input, PredictorCpt, Raw


class Missing(StrEnum):
    """How inputs that are missing are read."""

    EXPECTED = "expected"
    NATIVE = "native"
    IMPUTE = "impute"


def read_missing(word: object) -> Missing:
    """The reading that a word names.

    >>> read_missing("native").value
    'native'
    """
    if word not in list(Missing):
        raise QueryError(f"missing must be one of {listing([each.value for each in Missing])}, not {word!r}")
    return Missing(str(word))


def find_readings(problem: Problem) -> dict[Missing, Floats]:
    """What the model says under each reading that it has, a probability for each class.

    Only the expected prediction where nothing is missing, or no person's own model decides.
    """
    found = {Missing.EXPECTED: problem.prior}
    model = problem.network.cpts[problem.target]
    inputs = problem.network.parents[problem.target]
    if not isinstance(model, PredictorCpt) or set(inputs) <= problem.evidence.keys():
        return found
    if model.takes_gaps:
        found[Missing.NATIVE] = _predict(problem, model, {})
    found[Missing.IMPUTE] = _predict(problem, model, _impute(problem, model))
    return found


def _predict(problem: Problem, model: PredictorCpt, filled: Mapping[int, Raw]) -> Floats:
    """The prediction for what was observed, with values for what was not; a gap where there is none."""
    inputs = zip(problem.network.parents[problem.target], model.inputs, strict=True)
    row = [
        each.values[problem.evidence[v]] if v in problem.evidence else filled.get(v, math.nan)
        for v, each in inputs
    ]
    prediction: Floats = model.predict([[value] for value in row])[0]
    return prediction


def _impute(problem: Problem, model: PredictorCpt) -> dict[int, Raw]:
    """The value of the middle state of each missing input, or of the most frequent one of words."""
    network, target = problem.network, problem.target
    above = BayesianNetwork([cpt for place, cpt in enumerate(network.cpts) if place != target])
    marginals = all_marginals(above, {})
    return {
        v: each.values[_middle(marginals[above.index(network.names[v])], each)]
        for v, each in zip(network.parents[target], model.inputs, strict=True)
        if v not in problem.evidence
    }


def _middle(share: Floats, each: Input) -> int:
    # The state of what was never measured is no value to fill in.
    is_value = np.array([not (isinstance(value, float) and math.isnan(value)) for value in each.values])
    share = np.where(is_value, share, 0.0)
    if each.words:
        return int(share.argmax())
    return int(np.searchsorted(share.cumsum(), 0.5 * share.sum() * (1.0 - 1e-12)))
