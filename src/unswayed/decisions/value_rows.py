"""Rows of a table for a classifier that is somebody's own model: by their values, never by intervals alone.

A row that observes every input is decided by the model itself, all such rows at once, and needs no
background. Any other row is a case of its own: two rows of equal intervals and different values may be
decided differently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import join_evidence, make_problem
from unswayed.model.data.tables import LabelColumn, Table
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import Input, PredictorCpt, Raw
from unswayed.model.states import find_state
from unswayed.model.variable import Variable

Findings = Mapping[str, Raw]
"""What a row observes: values by name."""


def decides_by_values(classifier: Classifier) -> bool:
    """Whether the classifier is a fitted model below a distribution of its inputs."""
    return isinstance(classifier.network.cpts[classifier.target_index], PredictorCpt)


def row_findings(network: BayesianNetwork, table: Table) -> Sequence[Findings]:
    """What each row observes; a gap is a finding only where the model was trained on it."""
    found: list[dict[str, Raw]] = [{} for _ in range(table.n_rows)]
    for column in table.columns:
        if isinstance(column, LabelColumn):
            words: list[Raw | None] = [*column.labels, None]
            cells = [words[code] for code in column.codes.tolist()]
        else:
            cells = [None if math.isnan(value) else value for value in column.values.tolist()]
        gap = _state_of_gaps(network, column.name)
        for row, cell in zip(found, cells, strict=True):
            if cell is not None or gap is not None:
                row[column.name] = gap if cell is None else cell  # type: ignore[assignment]
    return found


def _state_of_gaps(network: BayesianNetwork, name: str) -> str | None:
    """The state of what was never measured, where an input of the model has one."""
    for cpt in network.cpts:
        if isinstance(cpt, PredictorCpt):
            for parent, each in zip(cpt.parents, cpt.inputs, strict=True):
                last = each.values[-1]
                if parent.name == name and isinstance(last, float) and math.isnan(last):
                    return parent.states[-1]
    return None


def value_posteriors(classifier: Classifier, rows: Sequence[Findings]) -> Floats:  # (rows, classes)
    """Pr(target | row) of each row: the model's prediction, or the expected one where inputs are missing."""
    model = classifier.network.cpts[classifier.target_index]
    assert isinstance(model, PredictorCpt)
    found = np.empty((len(rows), len(model.child)))
    full: dict[int, list[Raw]] = {}
    for place, row in enumerate(rows):
        values = _model_values(model, join_evidence(classifier, row) if classifier.given else row)
        if values is None:
            found[place] = make_problem(classifier, row).prior
        else:
            full[place] = values
    if full:
        columns = list(zip(*full.values(), strict=True)) if model.parents else []
        found[list(full)] = model.predict(columns)
    return found


def _model_values(model: PredictorCpt, row: Mapping[str, Raw]) -> list[Raw] | None:
    """The values of all inputs; None where one is missing or is not a single value."""
    if any(parent.name not in row for parent in model.parents):
        return None
    values = [_as_value(p, each, row[p.name]) for p, each in zip(model.parents, model.inputs, strict=True)]
    return (
        None if any(value is None for value in values) else [value for value in values if value is not None]
    )


def _as_value(variable: Variable, each: Input, cell: Raw) -> Raw | None:
    read = each.read(cell, variable)
    state = find_state(variable, cell)
    if read is not None and (state is None or not each.words):
        return read
    return None if state is None else each.values[state]
