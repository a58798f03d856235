"""What a reader fills while it reads, and the one place where files are checked and made networks.

A `NetworkDraft` takes variables and tables in any order, each with the offset in the text it was found at.
`finish` puts them together and turns every contradiction into a `FormatError` with file and line.

Rows of probabilities as programs print them rarely sum to 1 exactly. A row is

- taken as it is within `AS_IS` of 1,
- rescaled silently within `ROUNDING` (six or seven printed digits),
- rescaled with a warning that names it up to `MOST_OFF`,
- refused beyond, unless `normalize=True`.

A number below 0 by no more than `BELOW_ZERO`, left over from another program's arithmetic, counts as 0 with a
warning. Blanks around names do not count.

An influence diagram also has a decision and utilities. `finish` keeps them beside the network where the
decision changes no probability (`model/influence.py`), and refuses other diagrams by name.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import FormatError, ModelError, UnswayedError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.core.numerics import format_distinct
from unswayed.model.annotation import NO_ANNOTATION, Annotation
from unswayed.model.cpt import ROW_TOLERANCE, Cpt, configuration_of, rescaled
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.reading.source import Source
from unswayed.model.influence import Influence, UtilityTable
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable, check_name

AS_IS = ROW_TOLERANCE  # what a table may hold must come back as it was written
ROUNDING = 2e-6
MOST_OFF = 0.01
BELOW_ZERO = 1e-6
MAX_ENTRIES = 30_000_000
"""Most numbers in all tables together: a few lines of text must not be able to ask for all memory."""

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
    _entries: dict[str, int] = field(default_factory=dict)
    _n_entries: int = 0
    _decisions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _utilities: dict[str, _Table] = field(default_factory=dict)

    def add_variable(
        self, name: str, states: Sequence[str], offset: int, about: Annotation = NO_ANNOTATION
    ) -> None:
        """Declare a variable found at `offset`."""
        name, states = name.strip(), [state.strip() for state in states]
        if name in self._variables:
            first = self.source.line_at(self._variables[name][1])
            self.source.fail(f"variable {name!r} is declared twice (first on line {first})", offset)
        try:
            self._variables[name] = (Variable(name, states, about), offset)
        except ModelError as error:
            self.source.fail(str(error), offset)

    def states(self, name: str, offset: int) -> tuple[str, ...]:
        """States of a variable declared before; a `FormatError` suggests names otherwise."""
        found = self._variables.get(name) or self._variables.get(name.strip())
        if found is None:
            self.source.fail(unknown_name("variable", name, list(self._variables)), offset)
        return found[0].states

    def state_index(self, name: str, state: str, offset: int) -> int:
        """Position of a state of a declared variable."""
        states, state = self.states(name, offset), state.strip()
        if state not in states:
            self.source.fail(unknown_name(f"state of {name!r}", state, states), offset)
        return states.index(state)

    def sizes(self, names: Sequence[str], offset: int) -> list[int]:
        """Numbers of states of a table's variables, the child last; refuses what would not fit in memory.

        Readers ask before they make a table, so that the file's own numbers decide, not its memory.
        """
        sizes = [len(self.states(name, offset)) for name in names]
        self._reserve(names, math.prod(sizes), offset)
        return sizes

    def _reserve(self, names: Sequence[str], n_entries: int, offset: int) -> None:
        # Asked twice about one child, the later answer counts.
        self._n_entries += n_entries - self._entries.get(names[-1], 0)
        self._entries[names[-1]] = n_entries
        if n_entries > MAX_ENTRIES:
            self.source.fail(
                f"a table over {listing(names)} would have {_about(n_entries)} numbers, "
                f"over the limit of {MAX_ENTRIES:,}",
                offset,
            )
        if self._n_entries > MAX_ENTRIES:
            self.source.fail(
                f"the tables up to {names[-1]!r} have {_about(self._n_entries)} numbers together, "
                f"over the limit of {MAX_ENTRIES:,}",
                offset,
            )

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
        names = [name.strip() for name in (child, *parents)]
        self._tables[names[0]] = _Table(names[0], tuple(names[1:]), flat, offset)

    def add_decision(
        self, name: str, actions: Sequence[str], offset: int, about: Annotation = NO_ANNOTATION
    ) -> None:
        """Declare a decision node; `inform_decision` says what is known when deciding."""
        self.add_variable(name, actions, offset, about)
        self._decisions[name.strip()] = ()

    def is_decision(self, name: str) -> bool:
        """Whether a decision of this name was declared."""
        return name.strip() in self._decisions

    def has_utility(self, name: str) -> bool:
        """Whether the numbers of this utility were added."""
        return name in self._utilities

    def inform_decision(self, name: str, parents: Sequence[str], offset: int) -> None:
        """Note the variables that are known when deciding."""
        for parent in parents:
            self.states(parent, offset)
        self._decisions[name.strip()] = tuple(parent.strip() for parent in parents)

    def count_worths(self, parents: Sequence[str], offset: int) -> int:
        """How many numbers a utility of these parents has."""
        return math.prod(len(self.states(parent, offset)) for parent in parents)

    def add_utility(
        self, name: str, parents: Sequence[str], values: Floats | Sequence[float], offset: int
    ) -> None:
        """Give the worth of each configuration of the parents, the last fastest."""
        flat, expected = np.array(values, dtype=np.float64).reshape(-1), self.count_worths(parents, offset)
        if flat.size != expected:
            self.source.fail(f"utility {name!r}: {flat.size} numbers found, expected {expected}", offset)
        if not np.isfinite(flat).all():
            self.source.fail(f"utility {name!r}: every worth must be a finite number", offset)
        self._utilities[name] = _Table(name, tuple(parent.strip() for parent in parents), flat, offset)

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
        influence = self._influence()
        variable_by_name = {n: v for n, (v, _) in self._variables.items() if n not in self._decisions}
        for name in variable_by_name:
            if name not in self._tables and name not in self._functions:
                self.source.fail(f"variable {name!r} has no probability table", self._variables[name][1])
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
            return BayesianNetwork(cpts, title, influence=influence)
        except ModelError as error:
            raise FormatError(str(error), self.source.path) from None

    def _function(self, name: str, variables: dict[str, Variable]) -> ConditionalDistribution:
        parents, make, offset = self._functions[name]
        try:
            return make(variables[name], [variables[parent] for parent in parents])
        except UnswayedError as error:
            self.source.fail(f"node of {name!r}: {error}", offset)

    def _influence(self) -> Influence | None:
        """Decision and utilities, where they are of the kind that a classifier can follow."""
        if len(self._decisions) > 1:
            self._refuse_diagram(f"it has the decisions {listing(list(self._decisions))}")
        parents = [(table.child, table.parents, table.offset) for table in self._tables.values()]
        parents += [(child, given, offset) for child, (given, _, offset) in self._functions.items()]
        for child, given, offset in parents:
            for name in self._decisions.keys() & set(given):
                self._refuse_diagram(f"{child!r} depends on the decision {name!r}", offset)
        for name in self._decisions:
            if not self._utilities:
                self._refuse_diagram(f"{name!r} is a decision without utilities", self._variables[name][1])
        for table in self._utilities.values():
            if not self._decisions:
                self._refuse_diagram(f"{table.child!r} is a utility without a decision", table.offset)
        if not self._decisions:
            return None
        ((name, observed),) = self._decisions.items()
        tables = [UtilityTable(t.child, t.parents, read_only(t.values)) for t in self._utilities.values()]
        return Influence(self._variables[name][0], observed, tuple(tables))

    def _refuse_diagram(self, reason: str, offset: int | None = None) -> NoReturn:
        self.source.fail(
            f"this influence diagram cannot be read: {reason}. unswayed reads one decision that changes no "
            "probability, with utilities; solve others in the program that made them",
            offset,
        )

    def _cpt(
        self, table: _Table, variables: dict[str, Variable], normalize: bool, rescaled_rows: list[str]
    ) -> Cpt:
        names = [*table.parents, table.child]
        sizes = self.sizes(names, table.offset)
        if table.values.size != math.prod(sizes):
            self._refuse(table, f"{table.values.size} numbers found, expected {math.prod(sizes)} ({sizes})")
        rows = table.values.reshape(-1, sizes[-1])
        # Most tables are right as they stand, and are checked once, when they are made; NaN fails here too.
        if not (rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1.0).max() <= AS_IS):
            rows = self._mended(table, rows, sizes, normalize, rescaled_rows)
        try:
            return Cpt(variables[table.child], [variables[p] for p in table.parents], rows)
        except ModelError as error:
            self.source.fail(str(error), table.offset)

    def _mended(
        self, table: _Table, rows: Floats, sizes: list[int], normalize: bool, rescaled_rows: list[str]
    ) -> Floats:
        """The rows with rounding errors removed, or a refusal."""
        valid = np.isfinite(rows) & (rows >= 0)
        if not valid.all() and bool((np.isfinite(rows) & (rows >= -BELOW_ZERO)).all()):
            self.tell(f"table of {table.child!r}: {rows.min():.3g} counts as 0")
            rows, valid = np.maximum(rows, 0.0), np.ones_like(rows, dtype=bool)
        if not valid.all():
            self._refuse(table, f"{rows[~valid][0]} is not a probability; expected a number from 0 to 1")
        totals = rows.sum(axis=1)
        off = np.abs(totals - 1.0)
        if off.max() > AS_IS:
            self._check_sums(table, totals, sizes[:-1], normalize, rescaled_rows)
            rows = np.where((off > AS_IS)[:, np.newaxis], rescaled(rows), rows)
        return rows

    def _check_sums(
        self, table: _Table, totals: Floats, sizes: list[int], normalize: bool, rescaled_rows: list[str]
    ) -> None:
        for row in np.flatnonzero(np.abs(totals - 1.0) > ROUNDING):
            where = self._row_name(table, configuration_of(int(row), sizes))
            if totals[row] <= 0 or (not normalize and abs(totals[row] - 1.0) > MOST_OFF):
                hint = "correct it" if totals[row] <= 0 else "correct it, or pass normalize=True to rescale"
                self._refuse(table, f"row {where} sums to {format_distinct(totals[row], 1.0)}, not 1; {hint}")
            if not normalize:
                rescaled_rows.append(f"{table.child} {where} = {format_distinct(totals[row], 1.0)}")

    def _row_name(self, table: _Table, configuration: Sequence[int]) -> str:
        pairs = zip(table.parents, configuration, strict=True)
        named = (f"{parent}={self._variables[parent][0].states[state]}" for parent, state in pairs)
        return f"({', '.join(named)})"

    def _refuse(self, table: _Table, message: str) -> NoReturn:
        self.source.fail(f"table of {table.child!r}: {message}", table.offset)

    def _warn(self, rescaled_rows: list[str]) -> None:
        if not rescaled_rows:
            return
        count = len(rescaled_rows)
        which = f"{count} rows do not sum to 1 and were" if count > 1 else "1 row does not sum to 1 and was"
        more = f"; and {count - 20} more" if count > 20 else ""
        self.tell(f"{which} rescaled: {'; '.join(rescaled_rows[:20])}{more}")

    def tell(self, message: str) -> None:
        """Warn about something in this file that was read otherwise than it stands."""
        warnings.warn(f"{self.source.path}: {message}", UnswayedWarning, stacklevel=6)


def clean_label(text: str) -> str:
    """A label as one line of printable characters; empty where it cannot be one."""
    line = " ".join(text.split())
    try:
        check_name(line, "a label")
    except ModelError:
        return ""
    return line


def _about(count: int) -> str:
    # Two thousand parents make a number that no float holds.
    return f"{count:.3g}" if count < 10**300 else "more than 1e+300"
