"""What a reader fills while it reads, and the one place where files are checked and made networks.

A `NetworkDraft` takes variables and tables in any order, each with the offset in the text it was found at.
`finish` puts them together and turns every contradiction into a `FormatError` with file and line.

Rows of probabilities as programs print them rarely sum to 1 exactly. A row is

- taken as it is within `AS_IS` of 1,
- rescaled silently within `ROUNDING` (six or seven printed digits),
- rescaled with a warning that names it up to `MOST_OFF`,
- refused beyond, unless `normalize=True`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError, ModelError, UnswayedError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.annotation import NO_ANNOTATION, Annotation
from unswayed.model.cpt import ROW_TOLERANCE, Cpt, configuration_of, rescaled
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.source import Source
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

AS_IS = ROW_TOLERANCE  # what a table may hold must come back as it was written
ROUNDING = 2e-6
MOST_OFF = 0.01
MAX_ENTRIES = 30_000_000
"""Most numbers in one table: a few lines of text must not be able to ask for all memory."""

MakeNode = Callable[[Variable, Sequence[Variable]], ConditionalDistribution]
"""From a variable and its parents to its node."""


@dataclass(frozen=True, slots=True)
class _Table:
    """One table as it was found: names, numbers in (parents..., child) order, offset."""

    child: str
    parents: tuple[str, ...]
    values: Floats
    offset: int


@dataclass(slots=True)
class NetworkDraft:
    """Variables and tables collected by a reader; `finish` makes the network."""

    source: Source
    name: str = ""
    _variables: dict[str, tuple[Variable, int]] = field(default_factory=dict)
    _tables: dict[str, _Table] = field(default_factory=dict)
    _functions: dict[str, tuple[tuple[str, ...], MakeNode, int]] = field(default_factory=dict)

    def add_variable(
        self, name: str, states: Sequence[str], offset: int, about: Annotation = NO_ANNOTATION
    ) -> None:
        """Declare a variable found at `offset`."""
        if name in self._variables:
            first = self.source.line_at(self._variables[name][1])
            self.source.fail(f"variable {name!r} is declared twice (first on line {first})", offset)
        try:
            self._variables[name] = (Variable(name, states, about), offset)
        except ModelError as error:
            self.source.fail(str(error), offset)

    def states(self, name: str, offset: int) -> tuple[str, ...]:
        """States of a variable declared before; a `FormatError` suggests names otherwise."""
        if name not in self._variables:
            self.source.fail(unknown_name("variable", name, list(self._variables)), offset)
        return self._variables[name][0].states

    def state_index(self, name: str, state: str, offset: int) -> int:
        """Position of a state of a declared variable."""
        states = self.states(name, offset)
        if state not in states:
            self.source.fail(unknown_name(f"state of {name!r}", state, states), offset)
        return states.index(state)

    def sizes(self, names: Sequence[str], offset: int) -> list[int]:
        """Numbers of states of declared variables; refuses products no table should have."""
        sizes = [len(self.states(name, offset)) for name in names]
        if math.prod(sizes) > MAX_ENTRIES:
            self.source.fail(
                f"a table over {listing(names)} would have {math.prod(sizes):.3g} numbers, "
                f"over the limit of {MAX_ENTRIES:,}",
                offset,
            )
        return sizes

    def add_table(
        self, child: str, parents: Sequence[str], values: Floats | Sequence[float], offset: int
    ) -> None:
        """Give a variable its numbers, the child fastest and the first parent slowest."""
        if child in self._functions:
            self.source.fail(f"variable {child!r} has two nodes; give each variable one", offset)
        if child in self._tables:
            first = self.source.line_at(self._tables[child].offset)
            self.source.fail(f"variable {child!r} has two tables (the first on line {first})", offset)
        flat = np.asarray(values, dtype=np.float64).reshape(-1)
        self._tables[child] = _Table(child, tuple(parents), flat, offset)

    def add_function(self, child: str, parents: Sequence[str], make: MakeNode, offset: int) -> None:
        """Give a variable a node that is a function; `make` gets its variable and its parents' variables."""
        if child in self._tables or child in self._functions:
            self.source.fail(f"variable {child!r} has two nodes; give each variable one", offset)
        for name in (child, *parents):
            self.states(name, offset)
        self._functions[child] = (tuple(parents), make, offset)

    def finish(self, *, normalize: bool = False) -> BayesianNetwork:
        """The network, all of it checked."""
        if not self._variables:
            self.source.fail("no variables found; expected at least one")
        variable_by_name = {name: variable for name, (variable, _) in self._variables.items()}
        for name, (_, offset) in self._variables.items():
            if name not in self._tables and name not in self._functions:
                self.source.fail(f"variable {name!r} has no probability table", offset)
        rescaled_rows: list[str] = []
        cpts = [
            self._function(n, variable_by_name)
            if n in self._functions
            else self._cpt(self._tables[n], variable_by_name, normalize, rescaled_rows)
            for n in variable_by_name
        ]
        self._warn(rescaled_rows)
        title = re.sub(r"\s*[\t-\r]\s*", " ", self.name).strip()  # some programs break long titles
        try:
            return BayesianNetwork(cpts, title)
        except ModelError as error:
            raise FormatError(str(error), self.source.path) from None

    def _function(self, name: str, variables: dict[str, Variable]) -> ConditionalDistribution:
        parents, make, offset = self._functions[name]
        try:
            return make(variables[name], [variables[parent] for parent in parents])
        except UnswayedError as error:
            self.source.fail(f"node of {name!r}: {error}", offset)

    def _cpt(
        self, table: _Table, variables: dict[str, Variable], normalize: bool, rescaled_rows: list[str]
    ) -> Cpt:
        names = [*table.parents, table.child]
        sizes = self.sizes(names, table.offset)
        if table.values.size != math.prod(sizes):
            self._refuse(table, f"{table.values.size} numbers found, expected {math.prod(sizes)} ({sizes})")
        rows = table.values.reshape(-1, sizes[-1])
        valid = np.isfinite(rows) & (rows >= 0)
        if not valid.all():
            self._refuse(table, f"{rows[~valid][0]} is not a probability; expected a number from 0 to 1")
        totals = rows.sum(axis=1)
        off = np.abs(totals - 1.0)
        if off.max() > AS_IS:
            self._check_sums(table, totals, sizes[:-1], normalize, rescaled_rows)
            rows = np.where((off > AS_IS)[:, np.newaxis], rescaled(rows), rows)
        try:
            return Cpt(variables[table.child], [variables[p] for p in table.parents], rows)
        except ModelError as error:
            self.source.fail(str(error), table.offset)

    def _check_sums(
        self, table: _Table, totals: Floats, sizes: list[int], normalize: bool, rescaled_rows: list[str]
    ) -> None:
        for row in np.flatnonzero(np.abs(totals - 1.0) > ROUNDING):
            where = self._row_name(table, configuration_of(int(row), sizes))
            if totals[row] <= 0 or (not normalize and abs(totals[row] - 1.0) > MOST_OFF):
                hint = "correct it" if totals[row] <= 0 else "correct it, or pass normalize=True to rescale"
                self._refuse(table, f"row {where} sums to {totals[row]:.6g}, not 1; {hint}")
            if not normalize:
                rescaled_rows.append(f"{table.child} {where} = {totals[row]:.6g}")

    def _row_name(self, table: _Table, configuration: Sequence[int]) -> str:
        pairs = zip(table.parents, configuration, strict=True)
        named = (f"{parent}={self._variables[parent][0].states[state]}" for parent, state in pairs)
        return f"({', '.join(named)})"

    def _refuse(self, table: _Table, message: str) -> NoReturn:
        self.source.fail(f"table of {table.child!r}: {message}", table.offset)

    def _warn(self, rescaled_rows: list[str]) -> None:
        if rescaled_rows:
            many = len(rescaled_rows) > 1
            count = (
                f"{len(rescaled_rows)} rows do not sum to 1 and were"
                if many
                else "1 row does not sum to 1 and was"
            )
            warnings.warn(
                f"{self.source.path}: {count} rescaled: {'; '.join(rescaled_rows[:20])}"
                + (f"; and {len(rescaled_rows) - 20} more" if len(rescaled_rows) > 20 else ""),
                UnswayedWarning,
                stacklevel=5,
            )
