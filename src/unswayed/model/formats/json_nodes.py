"""The nodes of a JSON network file: what is written for each kind, and how it is read back.

    {"variable": "X", "parents": ["A", "B"], "kind": "...", ...}

    kind         further fields
    table        rows: one list of probabilities for each instantiation of the parents, the last fastest
    noisy-or     strengths: one for each parent; leak
    noisy-max    effects: for each parent a list of distributions, one for each of its states; leak
    logistic     weights: one for each parent; bias
    perceptron   weights: a matrix a layer; biases: a vector a layer; activation
    focs         columns: a distribution for each context; contexts, one of
                 {"kind": "rules", "rules": [{"A": "yes"}, ...]}
                 {"kind": "tree", "feature": [...], "cut": [...], "left": [...], "right": [...]}
                 {"kind": "steps", "weights": [[...]], "biases": [...], "outputs": [...], "thresholds": [...]}
                 {"kind": "lookup", "places": [...], "table": [...]} (an axis for each place)
                 {"kind": "scores", "perceptron": {...}, "is_ordinal": false, "splits": {a tree}}

Whatever is wrong with a node raises `ModelError`, which the reader turns into a `FormatError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from unswayed.core.errors import ModelError
from unswayed.core.names import listing, unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.nodes.contexts import (
    Contexts,
    LookupContexts,
    RuleContexts,
    ScoreContexts,
    TreeContexts,
)
from unswayed.model.nodes.focs import FocsCpt, rule_cpt
from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt, PerceptronScorer
from unswayed.model.nodes.noisy import NoisyMaxCpt, NoisyOrCpt
from unswayed.model.nodes.perceptron import Activation, Perceptron
from unswayed.model.nodes.steps import StepContexts, StepNetwork
from unswayed.model.variable import Variable

Fields = Mapping[str, Any]
Parents = Sequence[Variable]


def field_of(fields: Fields, name: str, kind: type | tuple[type, ...]) -> Any:
    """A field of the right type; `ModelError` otherwise."""
    if name not in fields:
        raise ModelError(f"{name!r} is missing; found {listing(list(fields)) or 'nothing'}")
    value = fields[name]
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise ModelError(f"{name!r} is {shown(value)}, of the wrong type")
    return value


def shown(value: object) -> str:
    """A value in at most forty characters."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def write_node(cpt: ConditionalDistribution) -> dict[str, Any]:
    """The fields of a node; `ModelError` for one that only Python code can compute."""
    head = {"variable": cpt.child.name, "parents": [parent.name for parent in cpt.parents]}
    match cpt:
        case Cpt():
            return {**head, "kind": "table", "rows": cpt.table.tolist()}
        case NoisyOrCpt():
            return {**head, "kind": "noisy-or", "strengths": cpt.strengths.tolist(), "leak": cpt.leak}
        case NoisyMaxCpt():
            effects = [effect.tolist() for effect in cpt.effects]
            return {**head, "kind": "noisy-max", "effects": effects, "leak": cpt.leak.tolist()}
        case LogisticCpt():
            return {**head, "kind": "logistic", "weights": cpt.weights.tolist(), "bias": cpt.bias}
        case PerceptronCpt():
            return {**head, "kind": "perceptron", **_write_perceptron(cpt.perceptron)}
        case FocsCpt():
            contexts = _write_contexts(cpt)
            return {**head, "kind": "focs", "contexts": contexts, "columns": cpt.columns.tolist()}
    raise ModelError(f"the node of {cpt.child.name!r} is a {type(cpt).__name__}, which no file format knows")


def _write_perceptron(perceptron: Perceptron) -> dict[str, Any]:
    return {
        "weights": [layer.tolist() for layer in perceptron.weights],
        "biases": [layer.tolist() for layer in perceptron.biases],
        "activation": perceptron.activation.value,
    }


def _write_contexts(cpt: FocsCpt) -> dict[str, Any]:
    match cpt.contexts:
        case RuleContexts(rules=rules):
            named = [
                {cpt.parents[place].name: cpt.parents[place].states[s] for place, s in rule.items()}
                for rule in rules
            ]
            return {"kind": "rules", "rules": named}
        case TreeContexts():
            return {"kind": "tree", **_write_tree(cpt.contexts)}
        case LookupContexts(places=places, table=table):
            return {"kind": "lookup", "places": list(places), "table": table.tolist()}
        case StepContexts(network=network):
            return {
                "kind": "steps",
                "weights": network.weights.tolist(),
                "biases": network.biases.tolist(),
                "outputs": network.outputs.tolist(),
                "thresholds": cpt.contexts.thresholds.tolist(),
            }
        case ScoreContexts(scorer=PerceptronScorer() as scorer):
            return {
                "kind": "scores",
                "perceptron": _write_perceptron(scorer.perceptron),
                "is_ordinal": scorer.is_ordinal,
                "splits": {"n_scores": cpt.contexts.splits.n_inputs, **_write_tree(cpt.contexts.splits)},
            }
    raise ModelError(
        f"the contexts of {cpt.child.name!r} are Python code ({type(cpt.contexts).__name__}), which a file "
        "cannot hold; learn step contexts (learn_focs_cpt), or write a table (to_tables)"
    )


def _write_tree(tree: TreeContexts) -> dict[str, Any]:
    return {name: getattr(tree, name).tolist() for name in ("feature", "cut", "left", "right")}


def read_node(fields: Fields, child: Variable, parents: Parents) -> ConditionalDistribution:
    """The node that the fields describe; tables are left to the reader, which mends their sums."""
    kind = field_of(fields, "kind", str)
    if kind not in _READERS:
        raise ModelError(unknown_name("kind of node", kind, ["table", *_READERS]))
    return _READERS[kind](fields, child, parents)


def _read_noisy_or(fields: Fields, child: Variable, parents: Parents) -> NoisyOrCpt:
    leak = field_of(fields, "leak", (int, float))
    return NoisyOrCpt(child, parents, field_of(fields, "strengths", list), leak=leak)


def _read_noisy_max(fields: Fields, child: Variable, parents: Parents) -> NoisyMaxCpt:
    effects, leak = field_of(fields, "effects", list), field_of(fields, "leak", list)
    return NoisyMaxCpt(child, parents, effects, leak=leak)


def _read_logistic(fields: Fields, child: Variable, parents: Parents) -> LogisticCpt:
    bias = field_of(fields, "bias", (int, float))
    return LogisticCpt(child, parents, field_of(fields, "weights", list), bias=bias)


def _read_perceptron_node(fields: Fields, child: Variable, parents: Parents) -> PerceptronCpt:
    return PerceptronCpt(child, tuple(parents), _read_perceptron(fields))


def _read_perceptron(fields: Fields) -> Perceptron:
    word = field_of(fields, "activation", str)
    known = {activation.value: activation for activation in Activation}
    if word not in known:
        raise ModelError(unknown_name("activation", word, list(known)))
    layers, biases = field_of(fields, "weights", list), field_of(fields, "biases", list)
    if layers and layers[0] == [] and biases and isinstance(biases[0], list):
        layers = [np.zeros((0, len(biases[0]))), *layers[1:]]  # no inputs: no row that tells the outputs
    return Perceptron(layers, biases, known[word])


def _read_focs(fields: Fields, child: Variable, parents: Parents) -> FocsCpt:
    columns, inside = field_of(fields, "columns", list), field_of(fields, "contexts", dict)
    kind = field_of(inside, "kind", str)
    if kind == "rules":
        rules = field_of(inside, "rules", list)
        if len(rules) != len(columns):
            raise ModelError(
                f"{len(rules)} rules and {len(columns)} columns; there must be one column for each"
            )
        return rule_cpt(child, parents, list(zip(rules, columns, strict=True)))
    return FocsCpt(child, parents, _read_contexts(kind, inside, len(parents)), columns)


def _read_contexts(kind: str, fields: Fields, n_inputs: int) -> Contexts:
    match kind:
        case "tree":
            return _read_tree(fields, n_inputs)
        case "lookup":
            table = fields.get("table", [])
            return LookupContexts(n_inputs, _positions(field_of(fields, "places", list)), table)
        case "steps":
            parts = [field_of(fields, name, list) for name in ("weights", "biases", "outputs")]
            # A network without neurons has no row that could tell the number of inputs.
            weights = parts[0] if parts[0] else [[0] * n_inputs]
            network = StepNetwork(weights, parts[1] or [-1], parts[2] or [0])
            return StepContexts(network, field_of(fields, "thresholds", list))
        case "scores":
            perceptron = _read_perceptron(field_of(fields, "perceptron", dict))
            splits = field_of(fields, "splits", dict)
            scorer = PerceptronScorer(perceptron, field_of(fields, "is_ordinal", bool))
            return ScoreContexts(n_inputs, scorer, _read_tree(splits, field_of(splits, "n_scores", int)))
    raise ModelError(unknown_name("kind of contexts", kind, ["rules", "tree", "steps", "lookup", "scores"]))


def _positions(places: list[Any]) -> list[int]:
    if not all(type(place) is int for place in places):
        raise ModelError(f"'places' must be positions of parents, not {shown(places)}")
    return places


def _read_tree(fields: Fields, n_inputs: int) -> TreeContexts:
    arrays = {name: field_of(fields, name, list) for name in ("feature", "cut", "left", "right")}
    return TreeContexts(n_inputs, **arrays)


_READERS: dict[str, Callable[[Fields, Variable, Parents], ConditionalDistribution]] = {
    "noisy-or": _read_noisy_or,
    "noisy-max": _read_noisy_max,
    "logistic": _read_logistic,
    "perceptron": _read_perceptron_node,
    "focs": _read_focs,
}
