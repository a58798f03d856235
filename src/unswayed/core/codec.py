"""One way to and from plain data for all that is saved: JSON values in, checked Python values out.

`to_plain` turns frozen dataclasses, enums, tuples, mappings and arrays into what JSON can hold; `from_plain`
makes a value of a declared type again, and refuses everything else with the place where it stands. Every
saved file begins with a title and a version (`header`, `check_header`). No file holds code or names of code:
which class is made is always decided by the reader.

    >>> from unswayed.core.measurement import Certainty
    >>> to_plain((Certainty.EXACT, {"a": 1.5}))
    ['exact', {'a': 1.5}]
    >>> from_plain(tuple[float, ...], [1, 2.5])
    (1.0, 2.5)
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from unswayed.core.errors import ModelError
from unswayed.core.names import listing, unknown_name

Plain = Mapping[str, Any]
"""A JSON object."""


def to_plain(value: Any, what: str = "a value") -> Any:
    """A value as JSON has it; `ModelError` for what only Python can hold, `what` says what it is."""
    if isinstance(value, Enum):
        return to_plain(value.value, what)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_plain(getattr(value, each.name), what) for each in fields(value) if each.init}
    if isinstance(value, Mapping):
        return {str(key): to_plain(each, what) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return value.tolist()
    if isinstance(value, list | tuple | np.ndarray):
        return [to_plain(each, what) for each in value]
    raise ModelError(
        f"{what} is a {type(value).__name__}, which a file cannot hold; use text, numbers, or lists of them"
    )


def from_plain(kind: Any, data: Any, where: str = "the value") -> Any:
    """A value of type `kind` from plain data; `ModelError` says where something else was found.

    Types are those that annotations of saved dataclasses use: texts, truth values, numbers, enums,
    dataclasses, `tuple[X, ...]`, `tuple[X, Y]`, mappings from texts, arrays, and unions of these. A dataclass
    that is made already is taken as it is.
    """
    origin = get_origin(kind)
    if kind is Any or (is_dataclass(kind) and isinstance(data, kind)):  # type: ignore[arg-type]
        return data
    if origin is np.ndarray:
        return _read_array(get_args(kind)[1], _expect(data, list, where), where)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(kind), data, where)
    if origin in (tuple, list):
        return _read_sequence(origin, get_args(kind), data, where)
    if origin is not None and issubclass(origin, Mapping):
        entries = _expect(data, dict, where)
        return {key: from_plain(get_args(kind)[1], each, f"{where}.{key}") for key, each in entries.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        known = {each.value: each for each in kind}
        if not isinstance(data, str | int) or data not in known:
            raise ModelError(f"{where}: {unknown_name('word', str(data), list(map(str, known)))}")
        return known[data]
    if is_dataclass(kind):
        return _read_fields(kind, data, where)
    return _expect(data, kind, where)


def _read_union(kinds: Sequence[Any], data: Any, where: str) -> Any:
    if data is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    for kind in rest[:-1]:
        try:
            return from_plain(kind, data, where)
        except ModelError:
            continue
    return from_plain(rest[-1], data, where)


def _read_sequence(origin: type, kinds: Sequence[Any], data: Any, where: str) -> Any:
    values = _expect(data, list, where)
    if origin is tuple and kinds[-1] is not Ellipsis:
        if len(values) != len(kinds):
            raise ModelError(f"{where}: {len(values)} values found, expected {len(kinds)}")
        pairs = zip(kinds, values, strict=True)
    else:
        pairs = zip([kinds[0]] * len(values), values, strict=True)
    return origin(from_plain(kind, each, f"{where}[{place}]") for place, (kind, each) in enumerate(pairs))


def _read_array(dtype: Any, values: list[Any], where: str) -> Any:
    """An array of numbers or truth values; of objects where the annotation names no kind."""
    kinds = get_args(dtype) or (object,)
    kind = kinds[0] if isinstance(kinds[0], type) else np.int64  # integers of any size
    try:
        return np.array(values, dtype=kind)
    except (TypeError, ValueError):
        raise ModelError(f"{where} must be numbers, in lists of equal length, not {shown(values)}") from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    given, hints = _expect(data, dict, where), _hints(kind)
    known = {each.name: each for each in fields(kind) if each.init}
    for name in given:
        if name not in known:
            raise ModelError(f"{where}: {unknown_name('field', name, list(known))}")
    for name, each in known.items():
        if name not in given and each.default is MISSING and each.default_factory is MISSING:
            raise ModelError(f"{where} is {_lacking(name, given)}")
    return kind(**{name: from_plain(hints[name], each, f"{where}.{name}") for name, each in given.items()})


def _lacking(name: str, given: Plain) -> str:
    return f"incomplete: {name!r} is missing; found {listing(list(given)) or 'nothing'}"


def _expect(value: Any, kind: Any, where: str) -> Any:
    """The value, if it is of a plain type: a whole number may stand for a float, a truth value for none."""
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or isinstance(value, bool) is not (kind is bool):
        raise ModelError(f"{where} is {shown(value)}, of the wrong type")
    return float(value) if kind is float else value


def field_of(content: Plain, name: str, kind: Any) -> Any:
    """A field of the right type; `ModelError` otherwise."""
    if name not in content:
        raise ModelError(_lacking(name, content))
    return from_plain(kind, content[name], repr(name))


def shown(value: object) -> str:
    """A value in at most forty characters."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def header(title: str, version: int) -> dict[str, Any]:
    """How a saved file begins."""
    return {"format": title, "version": version}


def check_header(
    content: Any, title: str, version: int, *, wrong: str | None = None, oldest: int = 1
) -> None:
    """Raise `ModelError` unless the file says it is of this format, in a version known here.

    `wrong` says so of a file of another format. Plans and classifiers call their format a kind.
    """
    found = content if isinstance(content, Mapping) else {}
    says = found.get("format", found.get("kind"))
    if says != title:
        raise ModelError(wrong or f'the file does not say "format": {title!r}, but {shown(says)}')
    given = field_of(content, "version", int)
    if given > version:
        raise ModelError(
            f"the file is of version {given}, not {version}; this version of unswayed reads up to {version}: "
            "read it with a newer one"
        )
    if given < oldest:
        raise ModelError(
            f"the file is of version {given}, and this version of unswayed reads from {oldest} on; read it "
            "with the one that wrote it, or make it again"
        )


def json_bytes(content: Any, *, indent: int | None = None, allow_nan: bool = False) -> bytes:
    """Content as a JSON file, names as they are; `ValueError` for numbers that JSON has not.

    What JSON cannot hold goes through `to_plain`, wherever it stands. `allow_nan` is for files that Python
    alone reads, which may hold infinite numbers.
    """
    text = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=allow_nan, default=to_plain)
    return f"{text}\n".encode()
