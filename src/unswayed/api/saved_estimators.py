"""Learned estimators as JSON: what they are made of, no code, so that a stranger's file is safe to load.

    {"format": "unswayed estimator", "version": 1, "estimator": "BayesNetClassifier",
     "parameters": {...}, "classes": [...], "columns": {"count": 3, "names": [...] or null}, "learned": {...}}

`learned` has, of a `BayesNetClassifier`, its variables and counts; of a `FocsClassifier`, the node of a
network that it would be; of a `TrimmedClassifier`, the estimator that was trimmed and what was chosen. The
rest is made again from these, by the same code that made it first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from unswayed.api.estimators import TrimmedClassifier
from unswayed.api.results.choices import Selection, Trimming
from unswayed.core.arrays import Floats, read_only
from unswayed.core.codec import Plain, check_header, field_of, from_plain, header, shown, to_plain
from unswayed.core.errors import ModelError, expect
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.learning.augmented import naive_families, tan_families
from unswayed.learning.counts import FamilyCounts, zero_counts
from unswayed.learning.estimator import STRUCTURES, BayesNetClassifier
from unswayed.model.data.estimator_rows import feature_names
from unswayed.model.formats.json_network import read_variable, write_variable
from unswayed.model.formats.json_nodes import read_node, write_node
from unswayed.model.nodes.contexts import ScoreContexts
from unswayed.model.nodes.families import checked_numbers
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import PerceptronScorer
from unswayed.model.variable import Variable

FORMAT, VERSION = "unswayed estimator", 1

Estimator = BayesNetClassifier | FocsClassifier | TrimmedClassifier


@dataclass(frozen=True, slots=True)
class _Columns:
    """What an estimator knows of its columns."""

    count: int
    names: tuple[str, ...] | None = None


def write_estimator(estimator: Estimator) -> dict[str, Any]:
    """A learned estimator as plain data; `ModelError` for one that only Python code can describe."""
    expect(estimator, (BayesNetClassifier, FocsClassifier, TrimmedClassifier), "an estimator to be saved")
    if not hasattr(estimator, "classes_"):
        raise ModelError(
            f"this {type(estimator).__name__} has learned nothing yet; call fit before saving it"
        )
    names = getattr(estimator, "feature_names_in_", None)
    return {
        **header(FORMAT, VERSION),
        "estimator": type(estimator).__name__,
        "parameters": _write_parameters(estimator),
        "classes": [to_plain(label, "a class") for label in estimator.classes_.tolist()],
        "columns": to_plain(
            _Columns(int(estimator.n_features_in_), None if names is None else tuple(map(str, names)))
        ),
        "learned": _write_learned(estimator),
    }


def read_estimator(content: Plain) -> Estimator:
    """The estimator that `write_estimator` described; `ModelError` says what is wrong."""
    check_header(content, FORMAT, VERSION)
    name = field_of(content, "estimator", str)
    if name not in _READERS:
        raise ModelError(unknown_name("estimator", name, list(_READERS)))
    kind, read_learned = _READERS[name]
    estimator: Estimator = kind(**_read_parameters(kind, field_of(content, "parameters", dict)))
    estimator.classes_ = _read_classes(field_of(content, "classes", list))
    columns: _Columns = from_plain(_Columns, content.get("columns"), "columns")
    estimator.n_features_in_ = columns.count
    if columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    if len(feature_names(estimator)) != columns.count or columns.count < 1:
        raise ModelError(f"{columns.count} columns, but {shown(columns.names)} are their names")
    read_learned(estimator, field_of(content, "learned", dict))
    return estimator


def _write_parameters(estimator: Estimator) -> dict[str, Any]:
    found = estimator.get_params(deep=False)
    # Objects that learn are parts of what was learned, and stand there.
    for name in ("scorer", "estimator"):
        found.pop(name, None)
    return {name: to_plain(value, f"the parameter {name!r}") for name, value in found.items()}


def _read_parameters(kind: type[Any], given: Plain) -> dict[str, Any]:
    known = [name for name in kind().get_params(deep=False) if name not in ("scorer", "estimator")]
    for name in given:
        if name not in known:
            raise ModelError(unknown_name("parameter", name, known))
    return dict(given)


def _read_classes(labels: list[Any]) -> np.ndarray[Any, Any]:
    if len({type(label) for label in labels}) != 1 or not isinstance(labels[0], str | bool | int | float):
        raise ModelError(f"classes must be labels of one kind, not {shown(labels)}")
    found = np.array(labels)
    if len(found) < 2 or not np.array_equal(np.unique(found), found):
        raise ModelError(f"classes must be two labels or more, ascending, not {shown(labels)}")
    return found


def _write_learned(estimator: Estimator) -> dict[str, Any]:
    if isinstance(estimator, BayesNetClassifier):
        return _write_counts(estimator)
    return _write_node(estimator) if isinstance(estimator, FocsClassifier) else _write_trimming(estimator)


def _write_counts(estimator: BayesNetClassifier) -> dict[str, Any]:
    counts: FamilyCounts = estimator.counts_
    return {
        "variables": [write_variable(variable) for variable in counts.variables],
        "counts": [table.tolist() for table in counts.tables],
        "cut_points": {name: list(map(float, cuts)) for name, cuts in estimator.discretization_.items()},
    }


def _read_counts(estimator: BayesNetClassifier, learned: Plain) -> None:
    variables = [Variable(*read_variable(entry)) for entry in field_of(learned, "variables", list)]
    names = [variable.name for variable in variables]
    labels = tuple(map(str, estimator.classes_))
    if (
        names[:-1] != feature_names(estimator)
        or len(set(names)) < len(names)
        or variables[-1].states != labels
    ):
        raise ModelError("the variables must be the columns, in order, and then the class with its labels")
    if estimator.structure not in STRUCTURES:
        raise ModelError(unknown_name("structure", str(estimator.structure), STRUCTURES))
    families = naive_families if estimator.structure == "naive" else tan_families
    empty = zero_counts(variables, families(len(variables), len(variables) - 1))
    tables = [_counted(table) for table in field_of(learned, "counts", list)]
    if [table.shape for table in tables] != [table.shape for table in empty.tables]:
        raise ModelError(
            f"the counts do not fit a {estimator.structure} classifier of {len(names)} variables"
        )
    estimator.target_name_ = names[-1]
    estimator.discretization_ = {
        name: checked_numbers(cuts, f"the cut points of {name!r}")
        for name, cuts in field_of(learned, "cut_points", dict).items()
    }
    estimator._finish(FamilyCounts(empty.variables, empty.families, tuple(tables)))


def _counted(table: Any) -> Floats:
    found = checked_numbers(table, "a table of counts")
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise ModelError("counts must be finite and at least 0")
    return read_only(found)


def _write_node(estimator: FocsClassifier) -> dict[str, Any]:
    contexts = estimator.contexts_
    if isinstance(contexts, ScoreContexts) and not isinstance(contexts.scorer, PerceptronScorer):
        scorer = type(estimator.scorer).__name__
        raise ModelError(
            f"the scores of a {scorer} need the library it is from, which a file cannot hold; learn with "
            "scorer=None, or with a linear scorer"
        )
    node = write_node(FocsCpt(*_family(estimator), contexts, estimator.columns_))
    return {"node": node, "fill": estimator.fill_.tolist()}


def _read_focs(estimator: FocsClassifier, learned: Plain) -> None:
    estimator._check_parameters()
    child, parents = _family(estimator)
    node = read_node(field_of(learned, "node", dict), child, parents)
    if not isinstance(node, FocsCpt):
        raise ModelError("the node of a FocsClassifier must be of the kind 'focs'")
    estimator.contexts_, estimator.columns_ = node.contexts, node.columns
    estimator.fill_ = checked_numbers(field_of(learned, "fill", list), "the fill of missing values")
    if estimator.fill_.shape != (len(parents),) or not np.isfinite(estimator.fill_).all():
        raise ModelError("every column needs one finite number that stands for its missing values")


def _family(estimator: FocsClassifier) -> tuple[Variable, list[Variable]]:
    """The class as a variable, and one for each column; the columns' values are numbers, not states."""
    columns = [Variable(f"x{place}", ["0", "1"]) for place in range(estimator.n_features_in_)]
    return Variable("class", [str(label) for label in estimator.classes_.tolist()]), columns


def _write_trimming(estimator: TrimmedClassifier) -> dict[str, Any]:
    frozen = isinstance(estimator.estimator_, FrozenEstimator)
    fitted = estimator.estimator_.estimator if frozen else estimator.estimator_
    if not isinstance(fitted, BayesNetClassifier):
        raise ModelError(
            f"a trimmed {type(fitted).__name__} cannot be saved whole; save its decisions: "
            "save_classifier(trimmed.trimming_.classifier, ...)"
        )
    selection: Selection = estimator.trimming_.selection
    return {
        "estimator": write_estimator(fitted),
        "is_frozen": frozen,
        "selection": to_plain(selection, "a selection"),
        "threshold": estimator.threshold_,
        "threshold_interval": to_plain(estimator.trimming_.threshold_interval, "an interval"),
    }


def _read_trimming(estimator: TrimmedClassifier, learned: Plain) -> None:
    fitted = read_estimator(field_of(learned, "estimator", dict))
    if not isinstance(fitted, BayesNetClassifier) or feature_names(fitted) != feature_names(estimator):
        raise ModelError("what was trimmed must be a BayesNetClassifier of the same columns")
    if field_of(learned, "is_frozen", bool):
        estimator.estimator = estimator.estimator_ = FrozenEstimator(fitted)
    else:
        estimator.estimator, estimator.estimator_ = BayesNetClassifier(**fitted.get_params()), fitted
    full = Classifier(fitted.network_, fitted.target_name_, feature_names(fitted), estimator._rule())
    selection: Selection = from_plain(Selection, learned.get("selection"), "the selection")
    interval: tuple[float, float] | None = from_plain(
        tuple[float, float] | None, learned.get("threshold_interval"), "the interval"
    )
    rule, threshold = full.rule, learned.get("threshold")
    if isinstance(rule, ThresholdRule):
        rule = ThresholdRule(rule.positive, field_of(learned, "threshold", float))
    trimmed = Classifier(full.network, full.target, selection.kept, rule)
    estimator.classifier_ = full
    estimator.trimming_ = Trimming(trimmed, selection, interval)
    estimator.agreement_, estimator.threshold_ = selection.value, threshold


_READERS: dict[str, tuple[type[Any], Callable[[Any, Plain], None]]] = {
    "BayesNetClassifier": (BayesNetClassifier, _read_counts),
    "FocsClassifier": (FocsClassifier, _read_focs),
    "TrimmedClassifier": (TrimmedClassifier, _read_trimming),
}
