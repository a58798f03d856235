"""Structured classifiers and detectors on disk: what `snb fit` writes and Python loads, and the other way.

    {"format": "unswayed structured naive Bayes", "version": 2, "model": "classifier" or "detector",
     "attributes": [{"kind": "structured", "name": ..., "space": {...}, "structure": checksum},
                    {"kind": "discrete", "name": ..., "labels": [...]}, {"kind": "gaussian", "name": ...}],
     "classes": [...], "options": {...}, "columns": {...}, "arrays": {...}}

A `.json` file holds its arrays as lists, with null for minus infinity; a `.npz` file holds the same JSON as
`header.json` beside its arrays, and is smaller and faster for large models. No file holds code: spaces are
made again from their description (`recipes.py`), and the checksum tells whether the circuit is still the
one that the parameters belong to.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.circuits.psdd.learn import Laplace, UniformExamples
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.core.anytime import bytes_allowed
from unswayed.core.arrays import Bools, Floats
from unswayed.core.codec import check_header, header as file_header, json_bytes
from unswayed.core.errors import FormatError, ModelError, UnswayedError
from unswayed.model.formats.files import replace_file
from unswayed.model.formats.reading.guard import guarded, json_content
from unswayed.model.formats.reading.source import Source, load, load_arrays
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.attributes import (
    Attribute,
    Conditional,
    Discrete,
    DiscreteTable,
    Gaussian,
    GaussianTable,
)
from unswayed.spaces.classifier.columns import Layout, structured_attribute
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.model import NaiveBayes
from unswayed.spaces.classifier.objects import PsddTable, Structured
from unswayed.spaces.recipes import describe_space, make_space, plain_names, restored_name

FORMAT = "unswayed structured naive Bayes"
VERSION = 2
_HEADER = "header.json"

Arrays = dict[str, Floats]
StructuredModel = StructuredNaiveBayes | StructuredAnomalyDetector


def save_structured(model: StructuredModel, path: str | os.PathLike[str]) -> None:
    """Write a learned classifier or detector to a `.json` or `.npz` file."""
    file = Path(path)
    if file.suffix.lower() not in (".json", ".npz"):
        raise FormatError("a structured model is saved as a .json or .npz file; name it so", file)
    header, arrays = _detector(model) if isinstance(model, StructuredAnomalyDetector) else _classifier(model)
    header = {**file_header(FORMAT, VERSION), **header}
    if file.suffix.lower() == ".json":
        header["arrays"] = {name: _listed(array) for name, array in arrays.items()}
        replace_file(file, json_bytes(header))
        return
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_HEADER, json_bytes(header))
            for name, array in arrays.items():
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                archive.writestr(f"{name}.npy", buffer.getvalue())
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", file) from None


def load_structured(path: str | os.PathLike[str]) -> StructuredModel:
    """The model in a file; `FormatError` when it is none, or would take more memory than allowed."""
    file = Path(path)
    header, arrays = _archive(file) if file.suffix.lower() == ".npz" else _text(load(file))
    with guarded(file, "a structured model"):
        wrong = f"expected JSON with the format {FORMAT!r}, version {VERSION}"
        try:
            check_header(header, FORMAT, VERSION, wrong=wrong, oldest=VERSION)
        except ModelError as error:
            raise FormatError(str(error), file) from None
        try:
            return _restored(header, arrays)
        except FormatError as error:
            raise FormatError(error.reason, file) from None
        except UnswayedError as error:
            raise FormatError(f"this model is damaged ({error})", file) from None


def _classifier(model: StructuredNaiveBayes) -> tuple[dict[str, Any], Arrays]:
    if not hasattr(model, "model_"):
        raise ModelError("only a classifier that has learned can be saved; call fit first")
    learned: NaiveBayes = model.model_
    arrays: Arrays = {"log_prior": learned.log_prior}
    for i, conditional in enumerate(learned.conditionals):
        arrays |= _parameters(conditional, i)
    layout: Layout = model.layout_
    header = {
        "model": "classifier",
        "attributes": [_described(each) for each in learned.attributes],
        "classes": plain_names(model.classes_.tolist()),
        "options": {
            "smoothing": _plain_prior(model.smoothing),
            "class_smoothing": float(model.class_smoothing),
            "max_categories": int(model.max_categories),
        },
        "columns": {
            "count": layout.n_columns,
            "of_attributes": [list(each) for each in layout.columns],
            "are_whole": list(layout.is_whole),
            "names": list(getattr(model, "feature_names_in_", [])),
        },
    }
    return header, arrays


def _detector(model: StructuredAnomalyDetector) -> tuple[dict[str, Any], Arrays]:
    if not hasattr(model, "psdd_"):
        raise ModelError("only a detector that has learned can be saved; call fit first")
    options = {
        "smoothing": _plain_prior(model.smoothing),
        "prior": float(model.prior),
        "contamination": model.contamination,
        "offset": float(model.offset_),
    }
    attribute = structured_attribute(model.space)
    header = {"model": "detector", "attributes": [_described(attribute)], "options": options}
    return header, _parameters(PsddTable((model.psdd_,)), 0)


def _described(attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Structured):
        space, checksum = describe_space(attribute.space), _checksum(attribute.structure)
        return {"kind": "structured", "name": attribute.name, "space": space, "structure": checksum}
    if isinstance(attribute, Discrete):
        return {"kind": "discrete", "name": attribute.name, "labels": list(attribute.labels)}
    return {"kind": "gaussian", "name": attribute.name}


def _parameters(conditional: Conditional, position: int) -> Arrays:
    if isinstance(conditional, PsddTable):
        kept = _open_choices(conditional.psdds[0].structure)
        rows = np.stack([psdd.log_parameters[kept] for psdd in conditional.psdds])
        return {f"log_parameters_{position}": rows}
    if isinstance(conditional, DiscreteTable):
        return {f"log_shares_{position}": conditional.log_shares}
    assert isinstance(conditional, GaussianTable)
    return {f"mean_{position}": conditional.mean, f"variance_{position}": conditional.variance}


def _restored(header: dict[str, Any], arrays: Arrays) -> StructuredModel:
    attributes = tuple(_attribute(each) for each in header["attributes"])
    conditionals = tuple(_conditional(each, arrays, i) for i, each in enumerate(attributes))
    options = header["options"]
    if header["model"] == "detector":
        return _restored_detector(attributes[0], conditionals[0], options)
    classes = [restored_name(each) for each in header["classes"]]
    log_prior = arrays["log_prior"]
    shapes = [len(psdds.psdds) for psdds in conditionals if isinstance(psdds, PsddTable)]
    if log_prior.shape != (len(classes),) or any(n != len(classes) for n in shapes) or not classes:
        raise FormatError("every class needs its prior and its parameters")
    learned = NaiveBayes(attributes, log_prior, conditionals)
    columns = header["columns"]
    layout = Layout(
        int(columns["count"]),
        tuple(tuple(int(c) for c in each) for each in columns["of_attributes"]),
        tuple(bool(each) for each in columns["are_whole"]),
        attributes,
    )
    return _restored_classifier(learned, classes, layout, options, columns["names"])


def _restored_classifier(
    learned: NaiveBayes, classes: list[Any], layout: Layout, options: dict[str, Any], names: list[str]
) -> StructuredNaiveBayes:
    structured: Any = [
        (attribute.space, columns[0] if whole and columns else list(columns))
        for attribute, columns, whole in zip(layout.attributes, layout.columns, layout.is_whole, strict=True)
        if isinstance(attribute, Structured)
    ]
    model = StructuredNaiveBayes(
        structured[0][0] if layout.n_columns == 0 else structured or None,
        smoothing=_prior(options["smoothing"]),
        class_smoothing=float(options["class_smoothing"]),
        max_categories=int(options["max_categories"]),
    )
    model.n_parts_ = len(classes[0]) if isinstance(classes[0], tuple) else 1
    labels = np.empty(len(classes), dtype=object)
    labels[:] = classes
    model.classes_ = labels if model.n_parts_ > 1 else np.array(classes)
    model.layout_, model.model_ = layout, learned
    if layout.n_columns:
        model.n_features_in_ = layout.n_columns
    if names:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _restored_detector(attribute: Attribute, table: Conditional, options: Any) -> StructuredAnomalyDetector:
    if not isinstance(attribute, Structured) or not isinstance(table, PsddTable):
        raise FormatError("a detector needs a structured attribute")
    model = StructuredAnomalyDetector(
        attribute.space,
        smoothing=_prior(options["smoothing"]),
        prior=float(options["prior"]),
        contamination=None if options["contamination"] is None else float(options["contamination"]),
    )
    model.psdd_, model.offset_ = table.psdds[0], float(options["offset"])
    return model


def _attribute(content: dict[str, Any]) -> Attribute:
    kind, name = content["kind"], str(content["name"])
    if kind == "discrete":
        return Discrete(name, tuple(str(label) for label in content["labels"]))
    if kind == "gaussian":
        return Gaussian(name)
    if kind != "structured":
        raise FormatError(f"unknown kind of attribute {kind!r}; known: structured, discrete, gaussian")
    attribute = structured_attribute(make_space(content["space"]), name)
    if content["structure"] != _checksum(attribute.structure):
        raise FormatError("the circuit made from this file is not the one it was learned with; learn again")
    return attribute


def _conditional(attribute: Attribute, arrays: Arrays, position: int) -> Conditional:
    if isinstance(attribute, Gaussian):
        return GaussianTable(arrays[f"mean_{position}"], arrays[f"variance_{position}"])
    if isinstance(attribute, Discrete):
        shares = arrays[f"log_shares_{position}"]
        if shares.ndim != 2 or shares.shape[1] != len(attribute.labels):
            raise FormatError(f"attribute {attribute.name!r}: one probability for each label and class")
        return DiscreteTable(shares)
    structure = attribute.structure
    kept = _open_choices(structure)
    rows = arrays[f"log_parameters_{position}"]
    if rows.ndim != 2 or rows.shape[1] != int(kept.sum()):
        raise FormatError(f"{int(kept.sum())} parameters expected for each class, found {rows.shape[1:]}")
    psdds = []
    for row in rows:
        parameters = np.zeros(structure.n_choices)
        parameters[kept] = row
        psdds.append(Psdd(structure, parameters))
    return PsddTable(tuple(psdds))


def _plain_prior(smoothing: Any) -> Any:
    if isinstance(smoothing, Laplace):
        return smoothing.added
    return {"uniform examples": smoothing.weight} if isinstance(smoothing, UniformExamples) else smoothing


def _prior(content: Any) -> Any:
    return UniformExamples(float(content["uniform examples"])) if isinstance(content, dict) else content


def _text(source: Source) -> tuple[dict[str, Any], Arrays]:
    header = _header(source)
    with guarded(source.path, "numbers in its arrays"):
        return header, {name: _array(values) for name, values in header.get("arrays", {}).items()}


def _archive(file: Path) -> tuple[dict[str, Any], Arrays]:
    text, arrays = load_arrays(file, _HEADER, bytes_allowed())
    return _header(Source(file, text)), arrays


def _header(source: Source) -> dict[str, Any]:
    try:
        content = json_content(source)
    except FormatError:
        raise FormatError(
            "this is not JSON; expected a classifier written by `snb fit`", source.path
        ) from None
    return content if isinstance(content, dict) else {}


def _open_choices(structure: PsddStructure) -> Bools:
    """Choices that have an alternative."""
    alternatives: Bools = np.diff(structure.starts)[structure.owner] > 1
    return alternatives


def _checksum(structure: PsddStructure) -> str:
    digest = hashlib.sha256()
    for array in (structure.literal, structure.starts, structure.lefts, structure.rights):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()


def _listed(array: Floats) -> list[Any]:
    if array.ndim > 1:
        return [_listed(row) for row in array]
    return [None if math.isinf(value) else value for value in array.tolist()]


def _array(values: Any) -> Floats:
    found = np.array(values, dtype=np.float64)  # null becomes NaN
    return np.where(np.isnan(found), -math.inf, found)
