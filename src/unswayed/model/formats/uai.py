"""Files of the UAI inference competitions (.uai).

    BAYES
    N                      number of variables
    SIZE ...               number of states of each
    N                      number of factors: one for each variable
    K VARIABLE ... CHILD   for each factor the number of its variables, then these, from 0; the child last
    COUNT NUMBER ...       for each factor its numbers, the last variable fastest, the first slowest

White space and line breaks mean nothing; `#` and `//` begin comments. Factors may come in any order. Some
programs do not put the child last, so which variable a factor is the table of is found from the numbers.

The format has no names. Variables are called V0, V1, ... and states s0, s1, ..., unless
`FILE.uai.names.json` is beside the file, where `write_network` puts them:

    {
      "sha256": checksum of the text of the UAI file, so that names are never given to another network,
      "network": name,
      "variables": [{"name": name, "states": [name, ...]}, ...]    in the order of the file
    }

**Children.** By convention a factor is the conditional table of its last variable. Files that break it are
recognised by the numbers: a factor can be Pr(v | the others) only if it sums to 1 over v, and each variable
has exactly one factor, so the choice is a perfect matching between factors and variables. Last for all
factors is tried first, then first for all, then any matching. When none fits, the convention stands, and the
check of the rows says what is wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import UnswayedWarning
from unswayed.model.formats.reading.draft import MAX_ENTRIES, MOST_OFF, NetworkDraft
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.formats.reading.tokens import decimal_number
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


@dataclass(frozen=True, slots=True)
class UaiFactor:
    """A table over some variables, the last of them fastest."""

    scope: tuple[int, ...]
    """The variables, from the slowest to the fastest."""
    shape: tuple[int, ...]
    """Their numbers of states."""
    values: Floats
    """The numbers, flat."""
    offset: int
    """Where the numbers begin in the file."""

    def around(self, variable: int) -> Floats:
        """The values as (slower variables, states of `variable`, faster variables)."""
        position = self.scope.index(variable)
        # Three axes whatever the number of variables: numpy has few axes, files may have many variables.
        before, after = math.prod(self.shape[:position]), math.prod(self.shape[position + 1 :])
        return self.values.reshape(before, self.shape[position], after)

    def rows_of(self, child: int) -> Floats:
        """The values with `child` made fastest, the others in their order."""
        return np.moveaxis(self.around(child), 1, 2)

    def may_be_table_of(self, variable: int) -> bool:
        """Whether the values sum to 1 over `variable`."""
        return bool((np.abs(self.around(variable).sum(axis=1) - 1.0) <= MOST_OFF).all())


def find_children(source: Source, factors: Sequence[UaiFactor]) -> list[int]:
    """The child of each factor, a different one for each; there are as many variables as factors."""
    by_convention = [[factor.scope[-1] for factor in factors], [factor.scope[0] for factor in factors]]
    conventional = [children for children in by_convention if len(set(children)) == len(factors)]
    for children in conventional:
        if all(factor.may_be_table_of(child) for factor, child in zip(factors, children, strict=True)):
            return children
    matching = _matching([_candidates(factor) for factor in factors])
    if matching is None and not conventional:
        twice = next(f for i, f in enumerate(factors) if f.scope[-1] in by_convention[0][:i])
        source.fail(
            f"cannot tell whose tables the factors are: variable {twice.scope[-1]} is the last of two of "
            "them, and no other choice makes every factor sum to 1 over one variable of its own",
            twice.offset,
        )
    return conventional[0] if matching is None else matching


def _candidates(factor: UaiFactor) -> list[int]:
    """Variables the factor may be the table of: the last first, then from the first on."""
    order = [factor.scope[-1], *factor.scope[:-1]]
    return [variable for variable in order if factor.may_be_table_of(variable)]


def _matching(candidates: Sequence[Sequence[int]]) -> list[int] | None:
    """A different candidate for each factor, or None; augmenting paths, breadth first."""
    child_by_factor: dict[int, int] = {}
    factor_by_child: dict[int, int] = {}
    for start in range(len(candidates)):
        reached_from: dict[int, int] = {}
        free = _free_variable(candidates, start, factor_by_child, reached_from)
        if free is None:
            return None
        # Give it to the factor that reached it, whose former child becomes free, and so on back to the start.
        factor, variable = reached_from[free], free
        while True:
            former = child_by_factor.get(factor, -1)
            child_by_factor[factor], factor_by_child[variable] = variable, factor
            if factor == start:
                break
            factor, variable = reached_from[former], former
    return [child_by_factor[factor] for factor in range(len(candidates))]


def _free_variable(
    candidates: Sequence[Sequence[int]],
    start: int,
    factor_by_child: Mapping[int, int],
    reached_from: dict[int, int],
) -> int | None:
    """The nearest variable without a factor, from factors to candidates and from these to their factors."""
    queue = [start]
    for factor in queue:  # grows while it is walked
        for variable in candidates[factor]:
            if variable in reached_from:
                continue
            reached_from[variable] = factor
            if variable not in factor_by_child:
                return variable
            queue.append(factor_by_child[variable])
    return None
