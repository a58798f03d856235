"""What a plan was made from: enough to plan anew when a test cannot be done, also from a saved plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unswayed.api.saving import needed_network, rule_as_data, rule_from_data
from unswayed.core.errors import UnswayedError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.purchase_files import parse_toml, toml_text
from unswayed.model.formats import json_network
from unswayed.model.formats.reading.source import Source
from unswayed.plans.goals import PlanObjective, PosteriorLimits, SameDecisionLevel, StopRule


@dataclass(frozen=True, slots=True)
class PlanOrigin:
    """The question that a plan answers."""

    classifier: Classifier
    """What decides."""
    purchase: Purchase
    """What tests cost."""
    objective: PlanObjective
    """What the plan has least of, or most of."""
    stop: StopRule
    """When enough is known."""
    budget: float | None = None
    """What a path may cost."""
    max_depth: int | None = None
    """How many tests a path may have."""
    max_leaves: int | None = None
    """How many ends the plan may have."""

    def to_dict(self) -> dict[str, Any] | None:
        """The question as plain data; None where something in it cannot be written, such as Python code."""
        stop = _stop_as_data(self.stop)
        try:
            network = json.loads(json_network.write(needed_network(self.classifier)))
            rule = rule_as_data(self.classifier)
        except UnswayedError:
            return None
        return stop and {
            "network": network,
            "target": self.classifier.target,
            "features": list(self.classifier.features),
            "rule": rule,
            "given": dict(self.classifier.given),
            "purchase": toml_text(self.purchase),
            "objective": self.objective.value,
            "stop": stop,
            "bounds": [self.budget, self.max_depth, self.max_leaves],
        }


def origin_from_data(content: Mapping[str, Any], path: Path) -> PlanOrigin:
    """The question in plain data; `KeyError`, `TypeError` or `ValueError` when something is missing."""
    network = json_network.read(Source(path, json.dumps(content["network"]))).finish()
    classifier = Classifier(
        network,
        content["target"],
        content["features"],
        rule_from_data(content["rule"]),
        given=dict(content["given"]),
    )
    purchase = parse_toml(content["purchase"], path)
    budget, max_depth, max_leaves = content["bounds"]
    objective, stop = PlanObjective(content["objective"]), _stop_from_data(content["stop"])
    return PlanOrigin(classifier, purchase, objective, stop, budget, max_depth, max_leaves)


def _stop_as_data(stop: StopRule) -> dict[str, Any] | None:
    if isinstance(stop, SameDecisionLevel):
        return {"sdp": stop.level}
    if isinstance(stop, PosteriorLimits):
        return {"state": stop.state, "low": stop.low, "high": stop.high}
    return None


def _stop_from_data(content: Mapping[str, Any]) -> StopRule:
    if "sdp" in content:
        return SameDecisionLevel(float(content["sdp"]))
    return PosteriorLimits(str(content["state"]), float(content["low"]), float(content["high"]))
