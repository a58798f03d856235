"""Builders: write down Boolean operations, then run them all at once and get circuits back.

A builder holds no circuit, only a program; registers are numbers that it hands out. So no caller ever holds
anything of libsdd, and mistakes are found where they are written down.

`run_program` runs a short program here, and a long one in a worker process over libsdd. Both ways end in the
same circuits, since a compressed and trimmed circuit is canonical for its vtree. Most formulas that people
write by hand are done here before a worker would have started.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

import numpy as np

from unswayed.circuits.libsdd.client import run_in_worker
from unswayed.circuits.libsdd.program import MOST_SECONDS, CircuitProgram, Progress, run_here
from unswayed.circuits.libsdd.worker import Operation
from unswayed.circuits.sdd.apply import StepsError
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.errors import QueryError
from unswayed.core.numerics import is_whole


class SddBuilder:
    """Operations on functions of the variables of one vtree.

    >>> from unswayed.circuits.vtree import right_linear
    >>> builder = SddBuilder(right_linear("AB"))
    >>> either = builder.disjoin([builder.literal(1), builder.literal(2)])
    >>> (sdd,) = builder.build([either])
    >>> sdd.n_elements
    2
    """

    def __init__(self, vtree: Vtree) -> None:
        self.vtree = vtree
        self._rows: list[tuple[int, int, int]] = []
        self._loaded: list[Sdd] = []
        self._literals: dict[int, int] = {}
        self._leaf: list[int] = np.argsort(vtree.variable[::2]).tolist()

    def constant(self, value: bool) -> int:
        """The register of true or false."""
        return self._add(Operation.TRUE if value else Operation.FALSE)

    def literal(self, literal: int) -> int:
        """The register of a literal: 1 + variable, negative where it must not hold."""
        if literal not in self._literals:
            self._check_literal(literal)
            self._literals[literal] = self._add(Operation.LITERAL, literal)
        return self._literals[literal]

    def load(self, sdd: Sdd) -> int:
        """The register of a circuit over the same vtree."""
        if sdd.vtree != self.vtree:
            raise QueryError("the circuit to load has another vtree than the builder; use `over_vtree` first")
        self._loaded.append(_renumber(sdd, self.vtree))
        return self._add(Operation.LOAD, len(self._loaded) - 1)

    def negate(self, register: int) -> int:
        """The register of the negation."""
        return self._add(Operation.NEGATE, self._known(register))

    def conjoin(self, registers: Iterable[int]) -> int:
        """The register of the conjunction of all; true when there are none."""
        return self._join(Operation.CONJOIN, registers, True)

    def disjoin(self, registers: Iterable[int]) -> int:
        """The register of the disjunction of all; false when there are none."""
        return self._join(Operation.DISJOIN, registers, False)

    def clause(self, literals: Sequence[int]) -> int:
        """The register of a disjunction of literals."""
        # From right to left, what is joined so far stays on the right of the next literal: a short step.
        for literal in literals:
            self._check_literal(literal)
        ordered = sorted(set(literals), key=lambda x: (-self._leaf[abs(x) - 1], x))
        return self.disjoin(self.literal(literal) for literal in ordered)

    def condition(self, register: int, literals: Iterable[int]) -> int:
        """The register of what is left of a function when literals are known to hold."""
        for literal in literals:
            self._check_literal(literal)
            register = self._add(Operation.CONDITION, self._known(register), literal)
        return register

    def forget(self, register: int, variables: Iterable[int]) -> int:
        """The register of a function without variables: it holds where some value of theirs makes it hold."""
        for variable in variables:
            if not 0 <= variable < len(self.vtree.names):
                raise QueryError(f"the variable {variable} is outside 0 to {len(self.vtree.names) - 1}")
            register = self._add(Operation.FORGET, self._known(register), variable)
        return register

    def minimize(self, seconds: int = 10) -> None:
        """Search for a vtree that makes all registers still needed smaller; results come over that vtree."""
        if not 1 <= seconds <= MOST_SECONDS:
            raise QueryError(f"a search for a vtree takes 1 to {MOST_SECONDS} whole seconds, not {seconds}")
        self._add(Operation.MINIMIZE, int(seconds))

    def program(self, results: Sequence[int]) -> CircuitProgram:
        """What has been written down so far."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, 3)
        return CircuitProgram(len(self.vtree.names), len(self._loaded), rows, tuple(map(int, results)))

    @property
    def loaded(self) -> tuple[Sdd, ...]:
        """The circuits that the program loads."""
        return tuple(self._loaded)

    def build(self, results: Sequence[int], *, progress: Progress | None = None) -> tuple[Sdd, ...]:
        """Run everything and return the circuits of some registers."""
        return run_program(self.program(results), self.vtree, self.loaded, progress=progress)

    def _add(self, operation: Operation, a: int = 0, b: int = 0) -> int:
        self._rows.append((int(operation), a, b))
        return len(self._rows) - 1

    def _check_literal(self, literal: int) -> None:
        if not is_whole(literal) or not 1 <= abs(literal) <= len(self.vtree.names):
            raise QueryError(
                f"the literal {literal} is outside 1 to {len(self.vtree.names)}, with a minus for negations"
            )

    def _known(self, register: int) -> int:
        if not 0 <= register < len(self._rows) or self._rows[register][0] == Operation.MINIMIZE:
            raise QueryError(f"the builder has no register {register}")
        return register

    def _join(self, operation: Operation, registers: Iterable[int], empty: bool) -> int:
        joined: int | None = None
        for register in registers:
            self._known(register)
            joined = register if joined is None else self._add(operation, joined, register)
        return self.constant(empty) if joined is None else joined


def _renumber(sdd: Sdd, vtree: Vtree) -> Sdd:
    """The circuit over an equal vtree that may number the variables differently."""
    if sdd.names == vtree.names:
        return sdd
    literal = np.sign(sdd.literal) * (vtree.variable[sdd.vtree_node] + 1)
    return Sdd(vtree, sdd.kind, sdd.vtree_node, literal, sdd.starts, sdd.primes, sdd.subs, sdd.root)


_SHORT = 4000
"""Instructions and steps that take a few hundredths of a second here: less than starting a worker."""


def run_program(
    program: CircuitProgram, vtree: Vtree, loaded: Sequence[Sdd] = (), *, progress: Progress | None = None
) -> tuple[Sdd, ...]:
    """The results of a program.

    `LimitError` when time or memory is over; `SolverError` when libsdd died, or is needed (to minimise) but
    not installed. Without it, everything else runs in this process, several times slower.
    """
    if find_spec("pysdd") is None:
        return run_here(program, vtree, loaded, progress=progress)
    is_short = len(program) + sum(sdd.n_elements for sdd in loaded) <= _SHORT
    if is_short and not (program.instructions[:, 0] == Operation.MINIMIZE).any():
        try:
            return run_here(program, vtree, loaded, max_steps=_SHORT)
        except StepsError:
            pass
    return run_in_worker(program, vtree, loaded, progress=progress)
