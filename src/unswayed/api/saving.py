"""Classifiers and learned estimators on disk, without pickle: no file holds code.

A classifier is a network file and a small JSON file that says how it decides. Estimators are one JSON file
(`saved_estimators.py`), structured ones a JSON or npz file (`spaces/classifier/files.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unswayed.core.arguments import expect_path
from unswayed.core.codec import check_header, from_plain, json_bytes, to_plain
from unswayed.core.errors import FormatError, ModelError, QueryError, UnswayedError, expect
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.inference.relevance import ancestors_of
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import read_network, replace_file, write_network
from unswayed.model.formats.reading.guard import guarded, json_content
from unswayed.model.formats.reading.source import load
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import PredictorCpt

if TYPE_CHECKING:
    from unswayed.api.saved_estimators import Estimator
    from unswayed.spaces.classifier.files import StructuredModel

    Saved: TypeAlias = Classifier | TableClassifier | Estimator | StructuredModel
    """Everything that can be saved."""

KIND = "unswayed classifier"
RULES: dict[str, type[Rule]] = {
    "threshold": ThresholdRule,
    "utility": UtilityRule,
    "most probable": MostProbable,
}
VERSION = 2
"""Version 1 knew no `given`; it is read as well."""


def save_classifier(classifier: Saved, path: str | os.PathLike[str]) -> None:
    """Write a classifier or a learned estimator to `path`, a `.json` file, so that it can be loaded anywhere.

    The network of a `Classifier` is written beside it: as `.bif`, or as `.network.json` where some node is a
    function. Variables that no decision depends on are left out. The file of a wrapped model holds the values
    that intervals stand for, which are values of training rows unless it was wrapped with
    `representatives="quantiles"`, and a fingerprint of the model (`is_same_model`). Structured classifiers
    and detectors may be saved as `.npz` too, which is smaller.
    """
    expect(path, (str, os.PathLike), "the path of a classifier")
    path = Path(path)
    if not isinstance(classifier, Classifier | TableClassifier):
        _save_estimator(classifier, path)
        return
    if path.suffix.lower() != ".json":
        raise FormatError("a classifier is saved as a .json file with its network beside it", path)
    network = needed_network(classifier)
    has_functions = any(not isinstance(cpt, Cpt) for cpt in network.cpts)
    network_path = path.with_suffix(".network.json" if has_functions else ".bif")
    # A network without its classifier was not written here: it is somebody's own, and must not be lost.
    if network_path.exists() and not path.exists():
        raise FormatError(
            f"{network_path.name} stands beside it already and would be replaced; choose another name", path
        )
    write_network(network, network_path)
    content = {
        "kind": KIND,
        "version": VERSION,
        "network": network_path.name,
        "target": classifier.target,
        "features": list(classifier.features),
        "rule": rule_as_data(classifier),
        "given": dict(classifier.given),
    }
    model = network.cpts[network.index(classifier.target)]
    if isinstance(model, PredictorCpt):
        content["model"] = {"fingerprint": model.fingerprint}
    replace_file(path, json_bytes(content, indent=2))


def load_classifier(path: str | os.PathLike[str]) -> Saved:
    """What `save_classifier` wrote; `FormatError` says what is wrong with the file.

    Nothing in a file is executed, so that a file from a stranger is safe to load.
    """
    path = expect_path(path, "the path of a classifier")
    if path.suffix.lower() == ".npz":
        return _load_structured(path)
    content = _read(path)
    if "format" in content:
        return _load_estimator(content, path)
    with guarded(path, "a classifier"):
        try:
            check_header(
                content, KIND, VERSION, wrong="not a classifier; expected what save_classifier writes"
            )
            network = read_network(path.parent / Path(str(content["network"])).name)
            _check_fingerprint(network, content)
            return _classifier(network, content)
        except (ModelError, QueryError) as error:
            raise FormatError(str(error), path) from None


def _check_fingerprint(network: BayesianNetwork, content: Mapping[str, Any]) -> None:
    """Refuse a model that is not the one that was saved, such as that of a later training."""
    known = content.get("model", {}).get("fingerprint")
    model = network.cpts[network.index(str(content["target"]))]
    if known is not None and getattr(model, "fingerprint", None) != known:
        raise ModelError(
            f"the model in {content['network']} is not the one that this classifier was saved with; wrap and "
            "save the model again"
        )


def is_saved_classifier(path: Path) -> bool:
    """Whether a file holds a classifier on a network that `save_classifier` wrote."""
    return path.suffix.lower() == ".json" and path.is_file() and _read(path).get("kind") == KIND


def _save_estimator(estimator: Any, path: Path) -> None:
    # scikit-learn takes a second to import; a classifier on a network does without it.
    from unswayed.api.saved_estimators import write_estimator
    from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
    from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
    from unswayed.spaces.classifier.files import save_structured

    if isinstance(estimator, StructuredNaiveBayes | StructuredAnomalyDetector):
        save_structured(estimator, path)
        return
    if path.suffix.lower() != ".json":
        raise FormatError("an estimator is saved as a .json file; name it so", path)
    replace_file(path, json_bytes(write_estimator(estimator), indent=2))


def _load_estimator(content: dict[str, Any], path: Path) -> Estimator | StructuredModel:
    from unswayed.api.saved_estimators import FORMAT, read_estimator

    if content["format"] != FORMAT:
        return _load_structured(path)
    with guarded(path, "an estimator"):
        try:
            return read_estimator(content)
        except UnswayedError as error:
            raise FormatError(f"this estimator is damaged: {error}", path) from None


def _load_structured(path: Path) -> StructuredModel:
    from unswayed.spaces.classifier.files import load_structured

    return load_structured(path)


def _classifier(network: BayesianNetwork, content: dict[str, Any]) -> Classifier | TableClassifier:
    target, features, rule = content["target"], content["features"], content["rule"]
    given = dict(content.get("given", {}))
    if rule["kind"] != "table":
        return Classifier(network, target, features, rule_from_data(rule), given=given)
    network.index(target)
    masses = np.asarray(rule["decision_mass"], dtype=np.float64)
    return TableClassifier(network, target, tuple(features), tuple(rule["actions"]), masses, given)


def _read(path: Path) -> dict[str, Any]:
    content = json_content(load(path))
    if not isinstance(content, dict):
        raise FormatError("expected one JSON object", path)
    return content


def needed_network(classifier: Classifier | TableClassifier) -> BayesianNetwork:
    """The network without the variables that no decision depends on."""
    network = classifier.network
    names = [classifier.target, *classifier.features, *classifier.given]
    wanted = list(map(network.index, names))
    return BayesianNetwork([network.cpts[i] for i in ancestors_of(network, wanted)], network.name)


def rule_as_data(classifier: Classifier | TableClassifier) -> dict[str, Any]:
    """How a classifier decides, ready for JSON; `FormatError` for rules of other people's making."""
    if isinstance(classifier, TableClassifier):
        masses = classifier.decision_mass.tolist()
        return {"kind": "table", "actions": list(classifier.actions), "decision_mass": masses}
    for word, kind in RULES.items():
        if isinstance(classifier.rule, kind):
            return {"kind": word, **to_plain(classifier.rule, "a rule")}
    name = type(classifier.rule).__name__
    raise FormatError(f"a rule of type {name} cannot be saved; use one of unswayed's own")


def rule_from_data(data: Mapping[str, Any]) -> Rule:
    """The rule that `rule_as_data` wrote; `KeyError` where there is none."""
    if data["kind"] not in RULES:
        raise KeyError(f"rule kind {data['kind']!r}")
    rule: Rule = from_plain(
        RULES[data["kind"]], {name: value for name, value in data.items() if name != "kind"}, "rule"
    )
    return rule
