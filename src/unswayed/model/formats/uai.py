"""Files of the UAI inference competitions (.uai).

    BAYES
    N                      number of variables
    SIZE ...               number of states of each
    N                      number of factors: one for each variable
    K VARIABLE ... CHILD   for each factor the number of its variables, then these, from 0; the child last
    COUNT NUMBER ...       for each factor its numbers, the last variable fastest, the first slowest

White space and line breaks mean nothing; `#` and `//` begin comments. Factors may come in any order. Some
programs do not put the child last, so which variable a factor is the table of is found from the numbers
(`uai_children.py`).

The format has no names. Variables are called V0, V1, ... and states s0, s1, ..., unless
`FILE.uai.names.json` is beside the file, where `write_network` puts them:

    {
      "sha256": checksum of the text of the UAI file, so that names are never given to another network,
      "network": name,
      "variables": [{"name": name, "states": [name, ...]}, ...]    in the order of the file
    }
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from unswayed.core.errors import UnswayedWarning
from unswayed.model.formats.reading.decimals import decimal_number
from unswayed.model.formats.reading.draft import MAX_ENTRIES, NetworkDraft
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.formats.uai_children import UaiFactor, find_children
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable, check_name

__all__ = ["companion", "read", "write"]

MAX_VARIABLES = 100_000
"""Most variables read."""
MAX_STATES = 1_000_000
"""Most states read, of all variables together."""
MAX_SCOPE = 100
"""Most variables of one factor; with two states each, 25 fill the largest table."""
SUFFIX = ".names.json"
"""Added to the name of a file: its names are there."""

_WORD = re.compile(r"(?:\#|//)[^\r\n]*|[^\s\#/]+|/")


def read(source: Source) -> NetworkDraft:
    """The network in a UAI file of type BAYES; Markov networks are refused."""
    words = _Words(source)
    _check_type(words)
    sizes = [words.integer("a number of states", 1, MAX_STATES) for _ in range(words.count("variables"))]
    if sum(sizes) > MAX_STATES:
        words.fail(f"{sum(sizes)} states in all; unswayed reads at most {MAX_STATES:,}")
    n_factors = words.count("factors")
    if n_factors != len(sizes):
        words.fail(f"{n_factors} factors for {len(sizes)} variables; a Bayesian network has one for each")
    scopes = [_scope(words, len(sizes)) for _ in range(n_factors)]
    factors = [_factor(words, scope, sizes) for scope in scopes]
    words.end()
    return _draft(source, sizes, factors)


def write(network: BayesianNetwork) -> str:
    """`network` as a UAI file; its names go to a file beside it (`companion`)."""
    lines = ["BAYES", str(len(network)), " ".join(str(len(v)) for v in network.variables), str(len(network))]
    for child, parents in enumerate(network.parents):
        lines.append(" ".join(map(str, [len(parents) + 1, *parents, child])))
    for cpt in network.cpts:
        lines += ["", str(cpt.table.size)]
        lines += [" " + " ".join(map(repr, row)) for row in cpt.table.tolist()]
    return "\n".join([*lines, ""])


class _Words:
    """The words of the file one after another, each with its place."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.offset = 0
        self._found = (m for m in _WORD.finditer(source.text) if not m[0].startswith(("#", "//")))

    def next(self, expected: str) -> str:
        """The next word."""
        found = next(self._found, None)
        if found is None:
            self.offset = len(self.source.text)
            self.fail(f"the file ends where {expected} was expected; it may be cut off")
        self.offset = found.start()
        return found[0]

    def integer(self, expected: str, low: int, high: int) -> int:
        """The next word as a whole number in a range."""
        word = self.next(expected)
        # The length is checked first: converting a million digits would take minutes.
        if len(word) > 20 or not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
            self.fail(f"{word[:40]!r} found, expected {expected} from {low} to {high:,}")
        return int(word)

    def count(self, what: str) -> int:
        """The next word as a number of things that follow, each at least two characters long."""
        count = self.integer(f"the number of {what}", 1, MAX_VARIABLES)
        if 2 * count > len(self.source.text) - self.offset:
            self.fail(f"{count} {what} announced, but the file is too short for them")
        return count

    def numbers(self, count: int) -> Iterator[float]:
        """The next `count` words as numbers."""
        for word in (self.next("a probability") for _ in range(count)):
            try:
                yield decimal_number(word)
            except ValueError as error:
                self.fail(f"{error}, expected a probability")

    def end(self) -> None:
        """Check that nothing follows."""
        for match in islice(self._found, 1):
            self.offset = match.start()
            self.fail(
                f"{match[0][:40]!r} after the last table; evidence belongs in the query, not in this file"
            )

    def fail(self, message: str) -> NoReturn:
        """Raise `FormatError` at the last word."""
        self.source.fail(message, self.offset)


def _check_type(words: _Words) -> None:
    kind = words.next("BAYES")
    if kind.upper() == "MARKOV":
        words.fail(
            "this is a Markov network (type MARKOV), whose factors are no probability tables; unswayed reads "
            "Bayesian networks: look for the BAYES edition of the file, or export the network again as one"
        )
    if kind.upper() != "BAYES":
        words.fail(f"{kind[:40]!r} found, expected BAYES, the type of a UAI file")


def _scope(words: _Words, n_variables: int) -> list[int]:
    size = words.integer("the number of variables of a factor", 1, min(n_variables, MAX_SCOPE))
    scope = [words.integer("a variable", 0, n_variables - 1) for _ in range(size)]
    if len(set(scope)) < len(scope):
        words.fail(f"the factor over {scope[:10]} names a variable twice")
    return scope


def _factor(words: _Words, scope: Sequence[int], sizes: Sequence[int]) -> UaiFactor:
    shape = [sizes[variable] for variable in scope]
    count = words.integer("the number of entries of a table", 1, MAX_ENTRIES)
    offset = words.offset
    expected = 1
    for size in shape:
        expected = min(expected * size, MAX_ENTRIES + 1)
    if count != expected:
        words.fail(f"a table of {count} numbers for variables {list(scope)[:10]} with {shape[:10]} states")
    return UaiFactor(tuple(scope), tuple(shape), np.fromiter(words.numbers(count), np.float64), offset)


def _draft(source: Source, sizes: Sequence[int], factors: Sequence[UaiFactor]) -> NetworkDraft:
    children = find_children(source, factors)
    names = names_beside(source, sizes)
    draft = NetworkDraft(source, names.network)
    for variable in names.variables:
        draft.add_variable(variable.name, variable.states, 0)
    for factor, child in zip(factors, children, strict=True):
        parents = [names.variables[parent].name for parent in factor.scope if parent != child]
        draft.add_table(names.variables[child].name, parents, factor.rows_of(child), factor.offset)
    return draft


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
            return _fitting(json_content(load(path)), _checksum(source.text), sizes)
        except ValueError as error:
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
