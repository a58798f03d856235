"""Learned estimators as JSON: what they are made of, no code, so that a stranger's file is safe to load.

    {"format": "unswayed estimator", "version": 1, "estimator": "BayesNetClassifier",
     "parameters": {...}, "classes": [...], "columns": {"count": 3, "names": [...] or null}, "learned": {...}}

`learned` has, of a `BayesNetClassifier`, its variables and counts; of a `FocsClassifier`, the node of a
network that it would be; of a `TrimmedClassifier`, the estimator that was trimmed and what was chosen. The
rest is made again from these, by the same code that made it first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from unswayed.api.estimators import TrimmedClassifier
from unswayed.api.results.choices import Selection, Trimming
from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import ModelError, expect
from unswayed.core.measurement import Certainty
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.learning.augmented import naive_families, tan_families
from unswayed.learning.counts import FamilyCounts, zero_counts
from unswayed.learning.estimator import STRUCTURES, BayesNetClassifier, feature_names
from unswayed.model.formats.json_network import check_header, read_variable, write_variable
from unswayed.model.formats.json_nodes import field_of, read_node, shown, write_node
from unswayed.model.nodes.contexts import ScoreContexts
from unswayed.model.nodes.families import checked_numbers
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import PerceptronScorer
from unswayed.model.variable import Variable

FORMAT, VERSION = "unswayed estimator", 1

Estimator = BayesNetClassifier | FocsClassifier | TrimmedClassifier
Fields = Mapping[str, Any]


def write_estimator(estimator: Estimator) -> dict[str, Any]:
    """A learned estimator as plain data; `ModelError` for one that only Python code can describe."""
    expect(estimator, (BayesNetClassifier, FocsClassifier, TrimmedClassifier), "an estimator to be saved")
    if not hasattr(estimator, "classes_"):
        raise ModelError(
            f"this {type(estimator).__name__} has learned nothing yet; call fit before saving it"
        )
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "parameters": _write_parameters(estimator),
        "classes": [_plain(label, "a class") for label in estimator.classes_.tolist()],
        "columns": {
            "count": int(estimator.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
        },
        "learned": _write_learned(estimator),
    }


def read_estimator(content: Fields) -> Estimator:
    """The estimator that `write_estimator` described; `ModelError` says what is wrong."""
    check_header(content, FORMAT, VERSION)
    name = field_of(content, "estimator", str)
    if name not in _READERS:
        raise ModelError(unknown_name("estimator", name, list(_READERS)))
    kind, read_learned = _READERS[name]
    estimator: Estimator = kind(**_read_parameters(kind, field_of(content, "parameters", dict)))
    estimator.classes_ = _read_classes(field_of(content, "classes", list))
    columns = field_of(content, "columns", dict)
    estimator.n_features_in_ = field_of(columns, "count", int)
    names = columns.get("names")
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise ModelError(f"the columns' names must be texts, not {shown(names)}")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if len(feature_names(estimator)) != estimator.n_features_in_ or estimator.n_features_in_ < 1:
        raise ModelError(f"{estimator.n_features_in_} columns, but {shown(names)} are their names")
    read_learned(estimator, field_of(content, "learned", dict))
    return estimator


def _write_parameters(estimator: Estimator) -> dict[str, Any]:
    found = estimator.get_params(deep=False)
    # Objects that learn are parts of what was learned, and stand there.
    for name in ("scorer", "estimator"):
        found.pop(name, None)
    return {name: _plain(value, f"the parameter {name!r}") for name, value in found.items()}


def _read_parameters(kind: type[Any], given: Fields) -> dict[str, Any]:
    known = [name for name in kind().get_params(deep=False) if name not in ("scorer", "estimator")]
    for name in given:
        if name not in known:
            raise ModelError(unknown_name("parameter", name, known))
    return dict(given)


def _plain(value: Any, what: str) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each, what) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each, what) for each in value]
    raise ModelError(
        f"{what} is a {type(value).__name__}, which a file cannot hold; use text, numbers, or lists of them"
    )


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


def _read_counts(estimator: BayesNetClassifier, learned: Fields) -> None:
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


def _read_focs(estimator: FocsClassifier, learned: Fields) -> None:
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
    chosen = {field.name: getattr(selection, field.name) for field in fields(Selection)}
    chosen["certainty"] = selection.certainty.value
    return {
        "estimator": write_estimator(fitted),
        "is_frozen": frozen,
        "selection": _plain(chosen, "a selection"),
        "threshold": estimator.threshold_,
        "threshold_interval": _plain(estimator.trimming_.threshold_interval, "an interval"),
    }


def _read_trimming(estimator: TrimmedClassifier, learned: Fields) -> None:
    fitted = read_estimator(field_of(learned, "estimator", dict))
    if not isinstance(fitted, BayesNetClassifier) or feature_names(fitted) != feature_names(estimator):
        raise ModelError("what was trimmed must be a BayesNetClassifier of the same columns")
    if field_of(learned, "is_frozen", bool):
        estimator.estimator = estimator.estimator_ = FrozenEstimator(fitted)
    else:
        estimator.estimator, estimator.estimator_ = BayesNetClassifier(**fitted.get_params()), fitted
    full = Classifier(fitted.network_, fitted.target_name_, feature_names(fitted), estimator._rule())
    selection = _read_selection(field_of(learned, "selection", dict))
    rule, threshold = full.rule, learned.get("threshold")
    if isinstance(rule, ThresholdRule):
        rule = ThresholdRule(rule.positive, field_of(learned, "threshold", float))
    trimmed = Classifier(full.network, full.target, selection.kept, rule)
    estimator.classifier_ = full
    estimator.trimming_ = Trimming(trimmed, selection, _read_pair(learned.get("threshold_interval")))
    estimator.agreement_, estimator.threshold_ = selection.value, threshold


def _read_selection(given: Fields) -> Selection:
    kinds: dict[str, type | tuple[type, ...]] = {
        "kept": list,
        "value": (int, float),
        "upper_bound": (int, float),
        "cost": (int, float),
        "evaluations": int,
        "engine": str,
        "seconds": (int, float),
        "optimal": bool,
        "interrupted": bool,
        "certainty": str,
        "confidence": (int, float),
    }
    found = {name: field_of(given, name, kind) for name, kind in kinds.items()}
    levels = {level.value: level for level in Certainty}
    if found["certainty"] not in levels or not all(isinstance(name, str) for name in found["kept"]):
        raise ModelError(f"{shown(found['certainty'])} and {shown(found['kept'])} are no selection")
    found |= {"kept": tuple(found["kept"]), "certainty": levels[found["certainty"]]}
    return Selection(interval=_read_pair(given.get("interval")), **found)


def _read_pair(ends: Any) -> tuple[float, float] | None:
    if ends is None:
        return None
    numbers = checked_numbers(ends, "an interval")
    if numbers.shape != (2,):
        raise ModelError(f"an interval has two ends, not {shown(ends)}")
    return float(numbers[0]), float(numbers[1])


_READERS: dict[str, tuple[type[Any], Callable[[Any, Fields], None]]] = {
    "BayesNetClassifier": (BayesNetClassifier, _read_counts),
    "FocsClassifier": (FocsClassifier, _read_focs),
    "TrimmedClassifier": (TrimmedClassifier, _read_trimming),
}
