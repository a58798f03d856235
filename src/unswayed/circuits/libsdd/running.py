"""Running programs: here when they are short, in a worker process over libsdd when they are not.

Both ways end in the same circuits, since a compressed and trimmed circuit is canonical for its vtree. Most
formulas that people write by hand are done here before a worker would have started.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from unswayed.circuits.io.sdd import sdd_text
from unswayed.circuits.io.vtree import parse_vtree, tree_lines
from unswayed.circuits.libsdd.client import Progress, run_job
from unswayed.circuits.libsdd.jobs import Job, Report
from unswayed.circuits.libsdd.program import Operation, Program
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.loading import canonical, load
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.sdd.table import FunctionTable, StepsError
from unswayed.circuits.sdd.validate import is_canonical
from unswayed.circuits.vtree import Vtree
from unswayed.core.errors import SolverError
from unswayed.core.extras import install_command
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.model.formats.source import Source

_SHORT = 4000
"""Instructions and steps that take a few hundredths of a second here."""


def run_program(
    program: Program,
    vtree: Vtree,
    loaded: Sequence[Sdd] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> tuple[Sdd, ...]:
    """The results of a program.

    `LimitError` when time or memory is over; `SolverError` when libsdd died, or is needed (to minimise) but
    not installed. Without it, everything else runs in this process, several times slower.
    """
    if find_spec("pysdd") is None:
        return run_here(program, vtree, loaded, limits=limits, progress=progress)
    is_short = len(program) + sum(sdd.n_elements for sdd in loaded) <= _SHORT
    if is_short and not (program.instructions[:, 0] == Operation.MINIMIZE).any():
        try:
            return run_here(program, vtree, loaded, limits=limits, max_steps=_SHORT)
        except StepsError:
            pass
    return run_in_worker(program, vtree, loaded, limits=limits, progress=progress)


def run_in_worker(
    program: Program,
    vtree: Vtree,
    loaded: Sequence[Sdd] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> tuple[Sdd, ...]:
    """The results of a program, computed by libsdd in a process of its own."""
    text = "\n".join([*tree_lines(vtree), ""]).encode()
    files = tuple(sdd_text(_fit_for_libsdd(sdd, limits)).encode() for sdd in loaded)
    job = Job(program, text, files, limits.max_bytes, limits.max_seconds)
    answer = run_job(job, limits=limits, progress=progress)
    if answer.vtree is not None:
        vtree = parse_vtree(Source(Path("the worker's vtree"), answer.vtree.decode()), vtree.names).vtree
    return tuple(arrays.with_vtree(vtree) for arrays in answer.circuits)


def _fit_for_libsdd(sdd: Sdd, limits: Limits) -> Sdd:
    """libsdd reads canonical circuits only: it follows the vtree of every prime, and constants have none."""
    return sdd if is_canonical(sdd) else canonical(sdd, limits=limits)


def run_here(
    program: Program,
    vtree: Vtree,
    loaded: Sequence[Sdd] = (),
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    max_steps: float = math.inf,
) -> tuple[Sdd, ...]:
    """The results of a program, computed in this process; `StepsError` after so many steps."""
    table = FunctionTable(vtree, limits=limits, max_steps=max_steps)
    registers: list[int] = []
    for operation, a, b in program.instructions.tolist():
        registers.append(_step(table, Operation(operation), (a, b), registers, loaded))
        if progress is not None:
            progress(Report(len(registers), len(program), table.n_elements))
    return tuple(table.export(registers[result]) for result in program.results)


def _step(
    table: FunctionTable,
    operation: Operation,
    operands: tuple[int, int],
    registers: list[int],
    loaded: Sequence[Sdd],
) -> int:
    a, b = operands
    match operation:
        case Operation.FALSE | Operation.TRUE:
            return int(operation)
        case Operation.LITERAL:
            return table.literal(a)
        case Operation.LOAD:
            return load(table, loaded[a])
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
