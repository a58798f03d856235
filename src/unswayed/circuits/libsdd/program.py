"""Programs: Boolean operations one after another, as one array of numbers.

Instruction i makes register i. It is a row (operation, a, b): operands are earlier registers, literals,
variables or loaded circuits, as the operation wants. A program is checked when it is made, so
nothing that does not fit reaches those who run it: this process (`sdd/apply.py`) or another one over libsdd
(`worker.py`). `builder.py` writes programs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import QueryError

MOST_SECONDS = 10**6
"""Longest search for a vtree that an instruction may ask for."""


class Operation(IntEnum):
    """What an instruction does with its operands."""

    FALSE = 0
    """The function that never holds."""
    TRUE = 1
    """The function that always holds."""
    LITERAL = 2
    """The literal a."""
    LOAD = 3
    """The loaded circuit a."""
    NEGATE = 4
    """Not register a."""
    CONJOIN = 5
    """Registers a and b."""
    DISJOIN = 6
    """Registers a or b."""
    CONDITION = 7
    """Register a where the literal b holds."""
    FORGET = 8
    """Register a for some value of the variable b."""
    MINIMIZE = 9
    """Search for a better vtree for about a seconds; makes no register."""


_TAKES_REGISTER_A = (
    Operation.NEGATE,
    Operation.CONJOIN,
    Operation.DISJOIN,
    Operation.CONDITION,
    Operation.FORGET,
)
_TAKES_REGISTER_B = (Operation.CONJOIN, Operation.DISJOIN)


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
    row = np.arange(len(program))
    makes_register = operation != Operation.MINIMIZE
    for takers, operand in ((_TAKES_REGISTER_A, a), (_TAKES_REGISTER_B, b)):
        users = np.isin(operation, takers)
        _refuse(users & ((operand < 0) | (operand >= row)), "uses a register not made yet")
        _refuse(users & ~makes_register[np.where(users, operand, 0)], "uses what is no register")
    for taker, operand in ((Operation.LITERAL, a), (Operation.CONDITION, b)):
        wrong = (np.abs(operand) < 1) | (np.abs(operand) > program.n_variables)
        _refuse((operation == taker) & wrong, f"names a literal outside 1 to {program.n_variables}")
    wrong = (b < 0) | (b >= program.n_variables)
    _refuse(
        (operation == Operation.FORGET) & wrong, f"forgets a variable outside 0 to {program.n_variables - 1}"
    )
    wrong = (a < 0) | (a >= program.n_loaded)
    _refuse((operation == Operation.LOAD) & wrong, f"loads a circuit beyond the {program.n_loaded} given")
    wrong = (a < 1) | (a > MOST_SECONDS)
    _refuse(
        (operation == Operation.MINIMIZE) & wrong, "asks to minimise for less than a second, or for weeks"
    )
    for result in program.results:
        if not 0 <= result < len(program) or not makes_register[result]:
            raise QueryError(f"the program makes no register {result} to return")


def _refuse(wrong: np.ndarray, what: str) -> None:
    """`QueryError` about the first instruction marked as wrong."""
    if wrong.any():
        raise QueryError(f"instruction {int(np.argmax(wrong))} of a circuit program {what}")
