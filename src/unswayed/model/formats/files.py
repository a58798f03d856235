"""Reading and writing network files: the suffix says which format, `.gz` is unpacked on the way.

A file whose suffix says nothing, and what comes through a pipe (`-`), needs its format by name: that of the
module that reads it, such as `bif` or `xdsl`.
"""

from __future__ import annotations

import gzip
import importlib
import os
import tempfile
import warnings
from pathlib import Path
from types import ModuleType

from unswayed.core.errors import FormatError, QueryError, UnswayedWarning, expect
from unswayed.core.names import listing, unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.formats.reading.draft import clean_label
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import load
from unswayed.model.network import BayesianNetwork

MODULE_BY_SUFFIX = {
    ".bif": "bif",
    ".net": "net",
    ".hugin": "net",
    ".xdsl": "xdsl",
    ".uai": "uai",
    ".xml": "xmlbif",
    ".bifxml": "xmlbif",
    ".xmlbif": "xmlbif",
    ".dne": "dne",
    ".dsl": "dsl",
    ".dsc": "dsc",
    ".json": "json_network",
    ".erg": "erg",
}
FORMATS = tuple(sorted(set(MODULE_BY_SUFFIX.values())))
"""Names of the formats."""
STDIN = "-"
"""The path that means standard input."""
_NO_TITLES = frozenset({"", "unknown", "unnamed", "untitled"})
"""What programs write where nobody gave the network a name."""


def read_network(
    path: str | os.PathLike[str], *, normalize: bool = False, format: str | None = None
) -> BayesianNetwork:
    """The network in a file, its format told by the suffix (`alarm.bif`, `munin.net.gz`) or by name.

    Rows of probabilities that miss 1 by rounding are rescaled, up to 1% with a `UnswayedWarning`
    that names them; `normalize=True` rescales any row. Of an influence diagram the chance variables are the
    network, and `network.influence` has the rest.

    Raises `FormatError` with file, line and what was expected.
    """
    expect(path, (str, os.PathLike), "the path of a network")
    path = Path(path)
    advice = "; or name the format with format='bif'"
    module = _format_of(path, advice=advice) if format is None else _format_called(format)
    source = load(path)
    if not source.text or source.text.isspace():
        source.fail("the file is empty; expected a network")
    with guarded(path, "a network"):
        return module.read(source).finish(normalize=normalize)  # type: ignore[no-any-return]


def name_after_file(network: BayesianNetwork, path: Path) -> BayesianNetwork:
    """The network, called as its file is where it has no name of its own."""
    if network.name.lower() not in _NO_TITLES or str(path) == STDIN:
        return network
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return BayesianNetwork(network.cpts, clean_label(plain.stem), influence=network.influence)


def write_network(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write `network` in the format the suffix names, so that reading it gives an equal network.

    The file appears whole or not at all: an interrupted write leaves what was there before. A format
    without names (`.uai`) puts them in a second file beside the first.
    """
    expect(network, BayesianNetwork, "the network")
    expect(path, (str, os.PathLike), "the path of a network")
    path = Path(path)
    module = _format_of(path)
    if not hasattr(module, "write"):
        writable = [s for s, name in MODULE_BY_SUFFIX.items() if hasattr(_module(name), "write")]
        raise FormatError(
            f"unswayed reads this format but does not write it; use {listing(writable, at_most=20)}", path
        )
    _warn_of_tables(network, path, getattr(module, "KEEPS", ()))
    text = module.write(network)
    data = text.encode("utf-8")
    packed = path.suffix.lower() == ".gz"
    replace_file(path, gzip.compress(data, mtime=0) if packed else data)
    if hasattr(module, "companion"):
        suffix, beside = module.companion(network, text)
        plain = path.with_suffix("") if packed else path
        replace_file(plain.with_name(plain.name + suffix), beside.encode("utf-8"))


def _warn_of_tables(network: BayesianNetwork, path: Path, kept: tuple[type, ...]) -> None:
    """Say which functions a format without them writes out as tables."""
    lost = [cpt.child.name for cpt in network.cpts if not isinstance(cpt, (Cpt, *kept))]
    if lost:
        warnings.warn(
            f"{path}: this format knows tables only, so the functions of {listing(lost)} are written out as "
            "tables; a .json file keeps them",
            UnswayedWarning,
            stacklevel=3,
        )


def _format_of(path: Path, *, advice: str = "") -> ModuleType:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]
    if suffix not in MODULE_BY_SUFFIX:
        raise FormatError(
            f"cannot tell the format from the suffix {suffix!r}; expected "
            f"{listing(list(MODULE_BY_SUFFIX), at_most=20)} (and .gz after any of them){advice}",
            path,
        )
    return _module(MODULE_BY_SUFFIX[suffix])


def _format_called(name: str) -> ModuleType:
    expect(name, str, "the format")
    word = name.lower().removeprefix(".")
    word = MODULE_BY_SUFFIX.get(f".{word}", word)
    if word not in FORMATS:
        raise QueryError(unknown_name("format", name, FORMATS))
    return _module(word)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"unswayed.model.formats.{name}")


def replace_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; `FormatError` when that is not possible."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent or Path(), prefix=f".{path.name}.")
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        part.chmod(0o644)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None
