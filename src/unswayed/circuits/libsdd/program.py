"""Programs: Boolean operations one after another, as one array of numbers.

Instruction i makes register i. It is a row (operation, a, b): operands are earlier registers, literals,
variables or loaded circuits, as the operation wants. A program is checked when it is made, so
nothing that does not fit reaches those who run it: this process (`run_here`) or another one over libsdd
(`client.py`). `builder.py` writes programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unswayed.circuits.libsdd.worker import Operation
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.apply import FunctionTable
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import QueryError, SolverError
from unswayed.core.extras import install_command

MOST_SECONDS = 10**6
"""Longest search for a vtree that an instruction may ask for."""


class Report(NamedTuple):
    """How far a program is."""

    done: int
    """Instructions carried out."""
    total: int
    """Instructions in all."""
    size: int
    """Elements of the circuits held at the moment."""


Progress = Callable[[Report], None]
"""Called now and then while a program runs."""

_TAKES_REGISTER_B = (Operation.CONJOIN, Operation.DISJOIN)
_TAKES_REGISTER_A = (Operation.NEGATE, Operation.CONDITION, Operation.FORGET, *_TAKES_REGISTER_B)


@dataclass(frozen=True, slots=True)
class CircuitProgram:
    """Checked instructions over a fixed number of variables."""

    n_variables: int
    """How many variables there are."""
    n_loaded: int
    """How many circuits come along."""
    instructions: Ints = field(repr=False)  # (instructions, 3)
    """Rows of operation and two operands."""
    results: tuple[int, ...] = ()
    """Registers wanted in the end."""

    def __post_init__(self) -> None:
        rows = np.asarray(self.instructions, dtype=np.int64).reshape(-1, 3)
        object.__setattr__(self, "instructions", read_only(rows))
        _check(self)

    def __len__(self) -> int:
        """Number of instructions."""
        return len(self.instructions)

    def last_uses(self) -> Ints:
        """The last instruction that reads each register; one past the end for results."""
        operation, a, b = self.instructions.T
        last = np.arange(len(self), dtype=np.int64)
        for takers, operand in ((_TAKES_REGISTER_A, a), (_TAKES_REGISTER_B, b)):
            users = np.flatnonzero(np.isin(operation, takers))
            np.maximum.at(last, operand[users], users)
        last[list(self.results)] = len(self)
        return last


def _check(program: CircuitProgram) -> None:
    operation, a, b = program.instructions.T
    if not np.isin(operation, list(Operation)).all():
        raise QueryError("a program holds an operation that does not exist")
    makes_register = operation != Operation.MINIMIZE
    for takers, operand in ((_TAKES_REGISTER_A, a), (_TAKES_REGISTER_B, b)):
        users = np.isin(operation, takers)
        _refuse(
            users & ((operand < 0) | (operand >= np.arange(len(program)))), "uses a register not made yet"
        )
        _refuse(users & ~makes_register[np.where(users, operand, 0)], "uses what is no register")
    n = program.n_variables
    ranges = (
        (Operation.LITERAL, np.abs(a), 1, n, f"names a literal outside 1 to {n}"),
        (Operation.CONDITION, np.abs(b), 1, n, f"names a literal outside 1 to {n}"),
        (Operation.FORGET, b, 0, n - 1, f"forgets a variable outside 0 to {n - 1}"),
        (Operation.LOAD, a, 0, program.n_loaded - 1, f"loads a circuit beyond the {program.n_loaded} given"),
        (Operation.MINIMIZE, a, 1, MOST_SECONDS, "asks to minimise for less than a second, or for weeks"),
    )
    for taker, operand, least, most, what in ranges:
        _refuse((operation == taker) & ((operand < least) | (operand > most)), what)
    for result in program.results:
        if not 0 <= result < len(program) or not makes_register[result]:
            raise QueryError(f"the program makes no register {result} to return")


def _refuse(wrong: np.ndarray, what: str) -> None:
    """`QueryError` about the first instruction marked as wrong."""
    if wrong.any():
        raise QueryError(f"instruction {int(np.argmax(wrong))} of a circuit program {what}")


def run_here(
    program: CircuitProgram,
    vtree: Vtree,
    loaded: Sequence[Sdd] = (),
    *,
    progress: Progress | None = None,
    max_steps: float = math.inf,
) -> tuple[Sdd, ...]:
    """The results of a program, computed in this process; `StepsError` after so many steps."""
    table = FunctionTable(vtree, max_steps=max_steps)
    registers: list[int] = []
    for operation, a, b in program.instructions.tolist():
        registers.append(_step(table, Operation(operation), a, b, registers, loaded))
        if progress is not None:
            progress(Report(len(registers), len(program), table.n_elements))
    return tuple(table.export(registers[result]) for result in program.results)


def _step(
    table: FunctionTable, operation: Operation, a: int, b: int, registers: list[int], loaded: Sequence[Sdd]
) -> int:
    match operation:
        case Operation.FALSE | Operation.TRUE:
            return int(operation)
        case Operation.LITERAL:
            return table.literal(a)
        case Operation.LOAD:
            return apply.load(table, loaded[a])
        case Operation.NEGATE:
            return apply.negate(table, registers[a])
        case Operation.CONJOIN:
            return apply.conjoin(table, registers[a], registers[b])
        case Operation.DISJOIN:
            return apply.disjoin(table, registers[a], registers[b])
        case Operation.CONDITION:
            return apply.condition(table, registers[a], b)
        case Operation.FORGET:
            return apply.forget(table, registers[a], b)
        case Operation.MINIMIZE:
            raise SolverError(
                f"searching for a better vtree needs PySDD; install it with: {install_command('circuits')}"
            )
