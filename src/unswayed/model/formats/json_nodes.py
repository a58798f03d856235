"""The nodes of a JSON network file: what is written for each kind, and how it is read back.

    {"variable": "X", "parents": ["A", "B"], "kind": "...", ...}

    kind         further fields
    table        rows: one list of probabilities for each instantiation of the parents, the last fastest
    noisy-or     strengths: one for each parent; leak
    noisy-max    effects: for each parent a list of distributions, one for each of its states; leak
    logistic     weights: one for each parent; bias
    perceptron   weights: a matrix a layer; biases: a vector a layer; activation
    additive     inputs, terms, bias, link (see below)
    trees        inputs, trees, bias, link (see below)
    score        form: the points score, as a TOML text (`score.py`)
    focs         columns: a distribution for each context; contexts, one of
                 {"kind": "rules", "rules": [{"A": "yes"}, ...]}
                 {"kind": "tree", "feature": [...], "cut": [...], "left": [...], "right": [...]}
                 {"kind": "steps", "weights": [[...]], "biases": [...], "outputs": [...], "thresholds": [...]}
                 {"kind": "lookup", "places": [...], "table": [...]} (an axis for each place)
                 {"kind": "scores", "perceptron": {...}, "is_ordinal": false, "splits": {a tree}}

Whatever is wrong with a node raises `ModelError`, which the reader turns into a `FormatError`.

**Fitted models** in a JSON network file: additive ones and sums of trees.

    {"variable": "D", "parents": ["age", "sex"], "kind": "additive" or "trees", "link": "logit",
     "bias": [-1.2],
     "inputs": [{"values": [31, 57.5, null]}, {"values": ["f", "m"], "words": ["f", "m"]}], ...}

    additive     terms: [{"coefficients": a list a piece of a list a power of a number a score,
                          "missing": a number a score, "cuts": [...]}, ...]
    trees        feature, cut (null at leaves and at splits of categories), categories ({node: codes that go
                 left}), missing_left, left, right, value (a list a node), roots

`values` are what the states of each parent stand for; null is what was never measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.codec import Plain as Fields, field_of, shown
from unswayed.core.errors import FormatError, ModelError
from unswayed.core.names import unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.reading.source import Source
from unswayed.model.nodes.additive import AdditiveCpt, Term
from unswayed.model.nodes.black_box import BlackBoxCpt
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
from unswayed.model.nodes.points import ScoreCpt
from unswayed.model.nodes.predictor import Input, Link, Raw
from unswayed.model.nodes.steps import StepContexts, StepNetwork
from unswayed.model.nodes.trees import Trees, TreesCpt
from unswayed.model.variable import Variable

_TREES = ("feature", "missing_left", "left", "right", "value", "roots")
MOST_CODES = 2**16
"""Most categories of an input that a file may name: a split of few nodes could ask for any memory."""


def write_predictor(cpt: AdditiveCpt | TreesCpt) -> dict[str, Any]:
    """The fields of a fitted model."""
    inputs = [_write_input(each) for each in cpt.inputs]
    shared: dict[str, Any] = {"link": cpt.link.value, "bias": cpt.bias.tolist(), "inputs": inputs}
    if cpt.takes_gaps:
        shared["takes_gaps"] = True
    if isinstance(cpt, AdditiveCpt):
        names = ("coefficients", "missing", "cuts")
        terms = [{name: getattr(term, name).tolist() for name in names} for term in cpt.functions]
        return {"kind": "additive", **shared, "terms": terms}
    trees = cpt.trees
    cuts = [None if math.isnan(cut) else cut for cut in trees.cut.tolist()]
    categories = {
        str(node): np.flatnonzero(trees.codes_left[node]).tolist()
        for node in np.flatnonzero(trees.codes_left.any(axis=1)).tolist()
    }
    arrays = {name: getattr(trees, name).tolist() for name in _TREES}
    return {"kind": "trees", **shared, **arrays, "cut": cuts, "categories": categories}


def _write_input(each: Input) -> dict[str, Any]:
    values = [None if isinstance(value, float) and math.isnan(value) else value for value in each.values]
    return {"values": values, **({"words": list(each.words)} if each.words else {})}


def read_additive(fields: Fields, child: Variable, parents: Sequence[Variable]) -> AdditiveCpt:
    """The additive model that the fields describe."""
    names = ("coefficients", "missing", "cuts")
    entries = field_of(fields, "terms", list)
    terms = [Term(*(_numbers(field_of(entry, name, list), name) for name in names)) for entry in entries]
    inputs, bias, link = _shared(fields)
    if len(terms) != len(parents):
        raise ModelError(f"{len(terms)} terms for {len(parents)} parents; there must be one for each")
    gaps = _takes_gaps(fields)
    return AdditiveCpt(child, tuple(parents), inputs, tuple(terms), bias, link, gaps)


def read_trees(fields: Fields, child: Variable, parents: Sequence[Variable]) -> TreesCpt:
    """The sum of trees that the fields describe."""
    cuts = [math.nan if cut is None else cut for cut in field_of(fields, "cut", list)]
    arrays: dict[str, Any] = {name: _numbers(field_of(fields, name, list), name) for name in _TREES}
    inputs, bias, link = _shared(fields)
    value = arrays["value"].reshape(len(cuts), len(bias)) if not cuts else arrays["value"]
    left = _read_categories(field_of(fields, "categories", dict), len(cuts))
    trees = Trees(**{**arrays, "value": value}, cut=_numbers(cuts, "cut"), codes_left=left)
    return TreesCpt(child, tuple(parents), inputs, trees, bias, link, _takes_gaps(fields))


def _takes_gaps(fields: Fields) -> bool:
    """Whether a model has a path of its own for gaps; older files do not say, and then it has none."""
    return "takes_gaps" in fields and bool(field_of(fields, "takes_gaps", bool))


def _read_categories(entries: Fields, n_nodes: int) -> Any:
    codes: list[Any] = [
        code for listed in entries.values() for code in (listed if isinstance(listed, list) else [None])
    ]
    nodes = [node for node in entries if not (node.isascii() and node.isdigit() and int(node) < n_nodes)]
    if nodes or not all(type(code) is int and 0 <= code < MOST_CODES for code in codes):
        raise ModelError(f"'categories' must list codes by node, not {shown(entries)}")
    left = np.zeros((n_nodes, max(codes, default=-1) + 1), dtype=np.bool_)
    for node, listed in entries.items():
        left[int(node), listed] = True
    return left


def _shared(fields: Fields) -> tuple[tuple[Input, ...], Floats, Link]:
    word = field_of(fields, "link", str)
    if word not in list(Link):
        raise ModelError(unknown_name("link", word, [link.value for link in Link]))
    inputs = tuple(_read_input(entry) for entry in field_of(fields, "inputs", list))
    return inputs, _numbers(field_of(fields, "bias", list), "bias"), Link(word)


def _read_input(entry: Any) -> Input:
    if not isinstance(entry, dict):
        raise ModelError(f"an input must be an object, not {shown(entry)}")
    words = tuple(field_of(entry, "words", list)) if "words" in entry else ()
    values = [math.nan if value is None else value for value in field_of(entry, "values", list)]
    kind: type | tuple[type, ...] = (str, float) if words else (int, float)
    if not all(isinstance(word, str) for word in words) or not all(isinstance(v, kind) for v in values):
        raise ModelError(f"'values' must be numbers, or texts where there are words, not {shown(values)}")
    return Input(tuple(_raw(value) for value in values), words)


def _raw(value: Any) -> Raw:
    return value if isinstance(value, str) else float(value)


def _numbers(values: list[Any], name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name!r} must be numbers, in lists of equal length, not {shown(values)}") from None


Parents = Sequence[Variable]


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
        case AdditiveCpt() | TreesCpt():
            return {**head, **write_predictor(cpt)}
        case ScoreCpt():
            from unswayed.model.formats.score import write  # which needs the writer of files

            return {**head, "kind": "score", "form": write(cpt.score)}
        case BlackBoxCpt():
            raise ModelError(
                f"the model of {cpt.child.name!r} is a function whose inside is not known, which no file can "
                "hold; save the model itself, and wrap it again where it is needed"
            )
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
    leak = field_of(fields, "leak", float)
    return NoisyOrCpt(child, parents, field_of(fields, "strengths", list), leak=leak)


def _read_noisy_max(fields: Fields, child: Variable, parents: Parents) -> NoisyMaxCpt:
    effects, leak = field_of(fields, "effects", list), field_of(fields, "leak", list)
    return NoisyMaxCpt(child, parents, effects, leak=leak)


def _read_logistic(fields: Fields, child: Variable, parents: Parents) -> LogisticCpt:
    bias = field_of(fields, "bias", float)
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


def _read_score(fields: Fields, child: Variable, parents: Parents) -> ScoreCpt:
    from unswayed.model.formats.score import read  # which needs the writer of files

    try:
        cpt = ScoreCpt(read(Source(Path("form"), field_of(fields, "form", str))))
    except FormatError as error:
        raise ModelError(f"the score of {child.name!r}: {error}") from None
    if (cpt.child, cpt.parents) != (child, tuple(parents)):
        raise ModelError(f"the score of {child.name!r} has other items, answers or bands than the variables")
    return cpt


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
    "additive": read_additive,
    "trees": read_trees,
    "score": _read_score,
}
