"""Names for UAI files, kept beside them in `FILE.uai.names.json`.

{
  "sha256": checksum of the text of the UAI file, so that names are never given to another network,
  "network": name,
  "variables": [{"name": name, "states": [name, ...]}, ...]    in the order of the file
}
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unswayed.core.errors import UnswayedWarning
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable, check_name

SUFFIX = ".names.json"


@dataclass(frozen=True, slots=True)
class Names:
    """What the UAI format leaves out."""

    network: str
    """Name of the network."""
    variables: tuple[Variable, ...]
    """The variables with their states, in the order of the file."""


def companion(network: BayesianNetwork, text: str) -> tuple[str, str]:
    """Suffix and text of the file that keeps the names of a network written as `text`."""
    content = {
        "sha256": _checksum(text),
        "network": network.name,
        "variables": [{"name": v.name, "states": v.states} for v in network.variables],
    }
    return SUFFIX, json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def names_beside(source: Source, sizes: Sequence[int]) -> Names:
    """The names kept beside the file, or V0, V1, ... and s0, s1, ... with a warning where they do not fit."""
    path = source.path.with_suffix("") if source.path.suffix.lower() == ".gz" else source.path
    path = path.with_name(path.name + SUFFIX)
    if path.is_file():
        try:
            return _fitting(json.loads(load(path).text), _checksum(source.text), sizes)
        except (ValueError, RecursionError) as error:
            warnings.warn(
                f"{path} is ignored ({error}); variables are called V0, V1, ...; write the network again to "
                "renew it, or delete it",
                UnswayedWarning,
                stacklevel=5,
            )
    variables = [Variable(f"V{i}", (f"s{state}" for state in range(size))) for i, size in enumerate(sizes)]
    return Names("", tuple(variables))


def _fitting(content: Any, checksum: str, sizes: Sequence[int]) -> Names:
    """The names in `content`; `ValueError` when they are not for this file."""
    try:
        name = content["network"]
        if name != "":
            check_name(name, "the network's name")
        variables = tuple(Variable(each["name"], each["states"]) for each in content["variables"])
        fits = content["sha256"] == checksum and list(map(len, variables)) == list(sizes)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a file of names: {error}") from None
    if not fits:
        raise ValueError("it was written for another file")
    if len({variable.name for variable in variables}) < len(variables):
        raise ValueError("it gives two variables one name")
    return Names(name, variables)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
