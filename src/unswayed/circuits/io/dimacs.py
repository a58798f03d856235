"""Files of formulas in conjunctive normal form (.cnf, DIMACS).

    c ANYTHING                comments
    p cnf VARIABLES CLAUSES   how many there are
    1 -2 3 0                  a clause: literals, then 0; it may go on over several lines
    %                         ends the file in some collections

The format has no names: variables are called x1, x2, ... unless comments `c name 1 "Rain"` name them, which
is how `write_cnf` keeps them. Model counters put more into comments and lines of their own: a file with
weights is refused, and a projection is warned of, since an answer without them would be another one.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.io.lines import Lines, name_lines, write_text
from unswayed.core.errors import FormatError, ModelError, UnswayedWarning
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import Source, load

_WEIGHTS = re.compile(r"\s*(?:c\s+p\s+weight\s|c\s+weights\s+[-+.0-9]|w\s|p\s+wcnf\s)")
_PROJECTION = re.compile(r"\s*c\s+(?:p\s+show|ind)\s+[0-9]")
MAX_VARIABLES = 10_000_000
"""Most variables read."""


def read_cnf(path: str | Path) -> Cnf:
    """The formula in a file."""
    with guarded(Path(path), "a formula"):
        return parse_cnf(load(Path(path)))


def write_cnf(cnf: Cnf, path: str | Path) -> None:
    """Write a formula, with the names of its variables in comments."""
    write_text(path, cnf_text(cnf))


def cnf_text(cnf: Cnf) -> str:
    """The contents of a DIMACS file."""
    lines = name_lines(cnf.names)
    lines.append(f"p cnf {len(cnf.names)} {len(cnf.clauses)}")
    lines += [" ".join(map(str, [*clause, 0])) for clause in cnf.clauses]
    return "\n".join([*lines, ""])


def parse_cnf(source: Source) -> Cnf:
    """The formula in the text of a file; `FormatError` names the line where it goes wrong."""
    reader = _DimacsReader(Lines(source))
    n_variables = reader.read()
    names = [reader.names.get(i, f"x{i}") for i in range(1, n_variables + 1)]
    try:
        return Cnf(names, reader.clauses)
    except ModelError as error:
        raise FormatError(str(error), source.path) from None


class _DimacsReader:
    """The clauses read so far."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.sizes: list[int] | None = None
        self.names: dict[int, str] = {}
        self.clauses: list[list[int]] = []
        self.open: list[int] = []
        self.is_projected = False

    def read(self) -> int:
        """Take in all lines; the number of variables."""
        for words in self.lines:
            if words[0] == "%":
                break
            if _WEIGHTS.match(self.lines.text):
                self.lines.fail(
                    f"{self.lines.text.strip()[:40]!r} gives weights, which are not read; take such lines "
                    "out, and give the weights to weighted_model_count"
                )
            self._line(words)
        if self.sizes is None:
            self.lines.fail("no formula found; expected a line 'p cnf VARIABLES CLAUSES'")
        if self.open:
            self.lines.fail("the last clause has no 0 at its end; the file may be cut off")
        n_variables, n_clauses = self.sizes
        if len(self.clauses) != n_clauses:
            self.lines.fail(f"{len(self.clauses)} clauses read where {n_clauses} were announced")
        return n_variables

    def _line(self, words: list[str]) -> None:
        if words[0] == "c":
            self._look_for_projection()
            self.names.update([named] if (named := self.lines.named()) else [])
        elif words[0] == "p":
            self._header(words)
        elif self.sizes is None:
            self.lines.fail(f"{self.lines.text[:40]!r} found, expected 'p cnf VARIABLES CLAUSES' first")
        else:
            for literal in self.lines.numbers(words, "LITERAL ... 0"):
                self._literal(literal, self.sizes[0])

    def _look_for_projection(self) -> None:
        if not self.is_projected and _PROJECTION.match(self.lines.text):
            self.is_projected = True
            place = f"{self.lines.path}, line {self.lines.number}"
            message = f"{place}: the projection is not read; every variable counts"
            warnings.warn(message, UnswayedWarning, stacklevel=2)

    def _header(self, words: list[str]) -> None:
        if self.sizes is not None:
            self.lines.fail("a second line 'p'; a file holds one formula")
        if words[1:2] != ["cnf"]:
            self.lines.fail(f"{self.lines.text[:40]!r} found, expected 'p cnf VARIABLES CLAUSES'")
        self.sizes = self.lines.numbers(words[2:], "p cnf VARIABLES CLAUSES", count=2)
        if not 1 <= self.sizes[0] <= MAX_VARIABLES or self.sizes[1] < 0:
            self.lines.fail(
                f"{self.sizes[0]} variables and {self.sizes[1]} clauses announced; unswayed reads "
                f"formulas of 1 to {MAX_VARIABLES:,} variables"
            )

    def _literal(self, literal: int, n_variables: int) -> None:
        if literal == 0:
            self.clauses.append(self.open)
            self.open = []
        elif abs(literal) > n_variables:
            self.lines.fail(f"the literal {literal} where {n_variables} variables were announced")
        else:
            self.open.append(literal)
