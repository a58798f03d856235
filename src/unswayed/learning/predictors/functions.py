"""Models that no reader takes, as functions of values: the table they expect is put together for each batch.

A model with `predict_proba` gives probabilities; one with `predict` alone gives decisions, and so may any
function of a table. A function's numbers are read by `link`; without one, columns are probabilities, and a
single number from 0 to 1 is the probability of the second class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ModelError, QueryError
from unswayed.model.data.frames import is_frame
from unswayed.model.data.tables import text_of
from unswayed.model.nodes.black_box import Batch
from unswayed.model.nodes.predictor import Link, apply_link


@dataclass(frozen=True, slots=True, eq=False)
class TableFunction:
    """From values in columns to probabilities of classes."""

    ask: Callable[[Any], Any]
    """The model's own function of a table."""
    names: tuple[str, ...]
    table: Any
    """The rows that the model was fitted on, whose kind of table is made."""
    originals: tuple[dict[str, Any], ...]
    """For each column of words, what the words were in the table."""
    classes: tuple[Any, ...]
    link: Link | None = None
    token: str = field(default_factory=lambda: uuid4().hex)
    """What it is known by: what two functions compute cannot be compared."""

    def __call__(self, batch: Batch) -> Floats:
        """The probabilities of a batch."""
        columns = [
            [known.get(value, value) if isinstance(value, str) else value for value in batch[name]]
            for name, known in zip(self.names, self.originals, strict=True)
        ]
        return as_probabilities(self.ask(make_rows(self.table, columns)), self.classes, self.link)


def make_rows(like: Any, columns: Sequence[Sequence[Any]]) -> Any:
    """A table of the same kind as `like`, with these columns."""
    if not is_frame(like):
        kind = np.asarray(like).dtype
        return np.column_stack([np.array(column, dtype=kind) for column in columns])
    import narwhals as nw

    frame = nw.from_native(like, eager_only=True)
    made = [
        nw.new_series(name, list(column), _type(frame[name].dtype), backend=frame.implementation)
        for name, column in zip(frame.columns, columns, strict=True)
    ]
    rows = made[0].to_frame().with_columns(*made[1:]).to_native()
    for name in frame.columns:  # an unseen word has no code among pandas' categories
        if hasattr(getattr(like[name], "cat", None), "categories"):
            rows[name] = rows[name].astype(like[name].dtype)
    return rows


def _type(dtype: Any) -> Any:
    """Whole numbers become floating-point ones: a value may be missing, or lie between them."""
    import narwhals as nw

    return nw.Float64() if dtype.is_numeric() else None


def ask_of(model: Any) -> Callable[[Any], Any]:
    """What a model is asked: its probabilities, else its decisions; a function is asked itself."""
    for name in ("predict_proba", "predict"):
        if hasattr(model, name):
            found: Callable[[Any], Any] = getattr(model, name)
            return found
    if callable(model):
        call: Callable[[Any], Any] = model
        return call
    raise QueryError(
        f"a model has predict_proba or predict, or is a function of a table; {model!r} is neither"
    )


def find_classes(model: Any, answers: Any, link: Link | None) -> tuple[Any, ...]:
    """The classes that a model tells apart, from itself or from its answers on the training rows."""
    if hasattr(model, "classes_"):
        return tuple(np.asarray(model.classes_).tolist())
    found = np.asarray(answers)
    if found.ndim == 2 and found.shape[1] > 1:
        return tuple(range(found.shape[1]))
    if link is not None or (found.dtype.kind == "f" and not np.isin(found, (0.0, 1.0)).all()):
        return (0, 1)
    return tuple(np.unique(found.reshape(-1)).tolist())


def as_probabilities(answers: Any, classes: tuple[Any, ...], link: Link | None) -> Floats:
    """What a model says of rows, as a distribution over its classes."""
    found = np.asarray(answers)
    if link is not None:
        return apply_link(link, found.reshape(len(found), -1).astype(np.float64))
    if found.ndim == 2 and found.shape[1] == len(classes):
        return found.astype(np.float64)
    found = found.reshape(len(found))
    if found.dtype.kind == "f" and classes == (0, 1):
        return np.column_stack([1.0 - found, found]).astype(np.float64)
    words = [text_of(each) for each in classes]
    labels = [text_of(each) for each in found.tolist()]
    if unknown := set(labels) - set(words):
        raise ModelError(f"the model decides {sorted(unknown)[0]!r}, which is none of its classes {words}")
    decided: Floats = np.eye(len(words))[[words.index(label) for label in labels]]
    return decided
