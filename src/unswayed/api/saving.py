"""A classifier on disk: a network file and a small JSON file that says how it decides."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.errors import FormatError, UnswayedError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.inference.relevance import ancestors_of
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork

KIND = "unswayed classifier"
VERSION = 2
"""Version 1 knew no `given`; it is read as well."""


def save_classifier(classifier: Classifier | TableClassifier, path: str | os.PathLike[str]) -> None:
    """Write `path` (a `.json` file) and, beside it, the network it needs as `.bif`.

    Variables that no decision depends on are left out of the network.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise FormatError("a classifier is saved as a .json file with its network beside it", path)
    network_path = path.with_suffix(".bif")
    # A network without its classifier was not written here: it is somebody's own, and must not be lost.
    if network_path.exists() and not path.exists():
        raise FormatError(
            f"{network_path.name} stands beside it already and would be replaced; choose another name", path
        )
    write_network(_needed(classifier), network_path)
    content = {
        "kind": KIND,
        "version": VERSION,
        "network": network_path.name,
        "target": classifier.target,
        "features": list(classifier.features),
        "rule": _rule_as_data(classifier),
        "given": dict(classifier.given),
    }
    try:
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None


def load_classifier(path: str | os.PathLike[str]) -> Classifier | TableClassifier:
    """The classifier that `save_classifier` wrote; `FormatError` says what is wrong with the file."""
    path = Path(path)
    content = _read(path)
    if content.get("kind") != KIND or content.get("version") not in (1, VERSION):
        raise FormatError(
            f"not a classifier of version {VERSION}; expected what save_classifier writes", path
        )
    try:
        network = read_network(path.parent / Path(str(content["network"])).name)
        return _classifier(network, content)
    except FormatError:
        raise
    except UnswayedError as error:
        raise FormatError(str(error), path) from None
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"incomplete: {error} is missing or of the wrong kind", path) from None


def _classifier(network: BayesianNetwork, content: dict[str, Any]) -> Classifier | TableClassifier:
    target, features, rule = content["target"], content["features"], content["rule"]
    given = dict(content.get("given", {}))
    if rule["kind"] != "table":
        return Classifier(network, target, features, _rule_from_data(rule), given=given)
    network.index(target)
    masses = np.asarray(rule["decision_mass"], dtype=np.float64)
    return TableClassifier(network, target, tuple(features), tuple(rule["actions"]), masses, given)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror or error})", path) from None
    except ValueError as error:
        raise FormatError(f"not JSON ({error})", path) from None
    if not isinstance(content, dict):
        raise FormatError("expected one JSON object", path)
    return content


def _needed(classifier: Classifier | TableClassifier) -> BayesianNetwork:
    network = classifier.network
    names = [classifier.target, *classifier.features, *classifier.given]
    wanted = list(map(network.index, names))
    return BayesianNetwork([network.cpts[i] for i in ancestors_of(network, wanted)], network.name)


def _rule_as_data(classifier: Classifier | TableClassifier) -> dict[str, Any]:
    if isinstance(classifier, TableClassifier):
        masses = classifier.decision_mass.tolist()
        return {"kind": "table", "actions": list(classifier.actions), "decision_mass": masses}
    rule = classifier.rule
    if isinstance(rule, ThresholdRule):
        return {"kind": "threshold", "positive": rule.positive, "threshold": rule.threshold}
    if isinstance(rule, UtilityRule):
        return {"kind": "utility", "utilities": {a: dict(w) for a, w in rule.utilities.items()}}
    if isinstance(rule, MostProbable):
        return {"kind": "most probable"}
    raise FormatError(f"a rule of type {type(rule).__name__} cannot be saved; use one of unswayed's own")


def _rule_from_data(data: dict[str, Any]) -> Rule:
    if data["kind"] == "threshold":
        return ThresholdRule(data["positive"], float(data["threshold"]))
    if data["kind"] == "utility":
        return UtilityRule({a: {s: float(v) for s, v in w.items()} for a, w in data["utilities"].items()})
    if data["kind"] == "most probable":
        return MostProbable()
    raise KeyError(f"rule kind {data['kind']!r}")
