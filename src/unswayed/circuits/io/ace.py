"""Encodings that ACE wrote: a formula (.cnf) and what its literals mean (.lmap) [chavira2008].

    p cnf VARIABLES CLAUSES          in the .cnf file, then clauses of literals, each ended by 0
    cc$v$COUNT                       in the .lmap file: number of network variables
    cc$V$NAME$STATES                 a network variable and its number of states
    cc$I$LITERAL$WEIGHT$+$NAME$STATE an indicator: the literal that stands for a state, counted from 0
    cc$C$LITERAL$WEIGHT$+$           any other literal and its weight

Lines beginning with c are comments in the .cnf file; other lines of the .lmap file are passed over. The
formula says when a parameter must hold, and leaves to the compiler that it holds nowhere else; here that is
added as clauses, so that weights can be added up over all models. States have no names in these files; they
are called by their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.encode import Encoding
from unswayed.circuits.vtree import NOTHING
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.variable import Variable

MOST_CLAUSES = 10_000
"""Clauses that one parameter may need to hold nowhere else."""


def read_ace(cnf: str | Path, lmap: str | Path | None = None) -> Encoding:
    """The encoding in a .cnf file and the .lmap file beside it, which may also be named."""
    path = Path(cnf)
    with guarded(path, "an encoding"):
        meanings = _Meanings(load(path.with_suffix(".lmap") if lmap is None else Path(lmap)))
        n_variables, clauses = _formula(load(path))
        return meanings.encoding(n_variables, clauses, path)


def _formula(source: Source) -> tuple[int, list[tuple[int, ...]]]:
    """The number of variables and the clauses of a DIMACS file."""
    n_variables, n_clauses = -1, -1
    numbers: list[int] = []
    for line, text in enumerate(source.text.splitlines(), start=1):
        words = text.split()
        if not words or words[0] == "c":
            continue
        try:
            if words[0] == "p":
                n_variables, n_clauses = int(words[2]), int(words[3])
            else:
                numbers += map(int, words)
        except (ValueError, IndexError):
            raise FormatError(
                f"literals or 'p cnf VARIABLES CLAUSES' expected, found {text[:60]!r}", source.path, line
            ) from None
    clauses = list(_ended_by_zero(numbers))
    if n_variables < 1 or len(clauses) != n_clauses:
        raise FormatError(f"{len(clauses)} clauses, where 'p cnf' announces {n_clauses}", source.path)
    return n_variables, clauses


def _ended_by_zero(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    start = 0
    for place, number in enumerate(numbers):
        if number == 0:
            yield tuple(numbers[start:place])
            start = place + 1


class _Meanings:
    """What the .lmap file says."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.sizes: dict[str, int] = {}
        self.weights: dict[int, float] = {}
        self.indicators: dict[tuple[str, int], int] = {}
        for line, text in enumerate(source.text.splitlines(), start=1):
            words = text.strip().split("$")
            try:
                self._take(words)
            except (ValueError, IndexError):
                raise FormatError(f"not a line of a literal map: {text[:60]!r}", source.path, line) from None

    def _take(self, words: list[str]) -> None:
        if words[0] != "cc":
            return
        if words[1] == "V":
            self.sizes[words[2]] = int(words[3])
        elif words[1] in ("C", "I"):
            self.weights[int(words[2])] = float(words[3])
            if words[1] == "I":
                self.indicators[words[5], int(words[6])] = int(words[2])

    def encoding(self, n_variables: int, clauses: list[tuple[int, ...]], path: Path) -> Encoding:
        """The formula with these meanings."""
        variables = [Variable(name, [str(s) for s in range(size)]) for name, size in self.sizes.items()]
        try:
            literals = [tuple(self.indicators[v.name, s] for s in range(len(v))) for v in variables]
            owners = self._owners(n_variables, literals)
            completed = [*clauses, *self._only_where_implied(clauses, owners)]
            weights = [
                [self.weights.get(sign * v, 1.0) for sign in (-1, 1)] for v in range(1, n_variables + 1)
            ]
            names = self._names(n_variables, variables, literals)
            cnf = Cnf(names, completed)
            return Encoding(
                cnf, np.array(weights), tuple(variables), tuple(literals), owners, (NOTHING,) * len(completed)
            )
        except KeyError as error:
            name, state = error.args[0]
            raise FormatError(f"state {state} of variable {name!r} has no indicator", self.path) from None
        except ModelError as error:
            raise FormatError(str(error), path) from None

    def _owners(self, n_variables: int, literals: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        owners = [NOTHING] * n_variables
        for position, each in enumerate(literals):
            for literal in each:
                if not 1 <= abs(literal) <= n_variables:
                    raise ModelError(f"the indicator {literal} is not among the {n_variables} variables")
                owners[abs(literal) - 1] = position
        return tuple(owners)

    def _names(
        self, n_variables: int, variables: Sequence[Variable], literals: Sequence[tuple[int, ...]]
    ) -> list[str]:
        names = [f"parameter {number}" for number in range(1, n_variables + 1)]
        for variable, each in zip(variables, literals, strict=True):
            for state, literal in enumerate(each):
                names[abs(literal) - 1] = f"{variable.name}={state}"
        return names

    def _only_where_implied(
        self, clauses: list[tuple[int, ...]], owners: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        """Clauses that let a parameter hold only where some clause implies it."""
        implied: dict[int, list[list[int]]] = {}
        for clause in clauses:
            parameters = [x for x in clause if x > 0 and x <= len(owners) and owners[x - 1] == NOTHING]
            if len(parameters) == 1:
                implied.setdefault(parameters[0], []).append([-x for x in clause if x != parameters[0]])
        for parameter, reasons in implied.items():
            if prod(map(len, reasons)) > MOST_CLAUSES:
                raise ModelError(
                    f"parameter {parameter} is implied in {len(reasons)} ways, too many to complete"
                )
            yield from ((-parameter, *dict.fromkeys(picked)) for picked in product(*reasons))
