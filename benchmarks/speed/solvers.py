"""CP-SAT and Gurobi as methods for explanations, to compare with: both are optional, Gurobi needs a licence.

They get the same `Program` as HiGHS, which comes with SciPy and is part of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.anytime import seconds_left
from unswayed.core.arrays import Floats
from unswayed.core.errors import SolverError
from unswayed.focs.mpe.problem import Answer, MpeProblem
from unswayed.focs.mpe.program import (
    Program,
    answer_without_columns,
    constraint_matrix,
    doubt_large_numbers,
    write_program,
)

SCALE = 2.0**40
"""CP-SAT takes whole numbers: logarithms are rounded to this many parts."""


@dataclass(frozen=True, slots=True)
class CpSat:
    """CP-SAT of OR-tools, which wants whole numbers throughout."""

    n_workers: int = 1
    """Threads; the time to answer, not the answer, depends on them."""
    name: str = "CP-SAT"
    table_cells: int = 2**6

    def solve(self, problem: MpeProblem) -> Answer:
        """The optimum, or the incumbent with its bound when time runs out."""
        cp_model = _imported("ortools.sat.python.cp_model", "OR-tools", "ortools")
        program = write_program(problem)
        model = cp_model.CpModel()
        # Continuous columns are shares of table rows, which whole states leave at 0 or 1.
        columns = [model.new_int_var(0, int(top), f"y{j}") for j, top in enumerate(program.allowed)]
        for terms, lower, upper in _rows(program):
            low = cp_model.INT_MIN if lower == -np.inf else round(lower)
            high = cp_model.INT_MAX if upper == np.inf else round(upper)
            total = sum(round(value) * columns[column] for column, value in terms)
            model.add_linear_constraint(total, low, high)
        worth = [round(value * SCALE) for value in program.objective.tolist()]
        # The bound is one for the logarithms themselves with what rounding took from all of them.
        taken = np.abs(program.objective - np.array(worth) / SCALE) @ program.allowed
        model.maximize(sum(w * column for w, column in zip(worth, columns, strict=True)))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self.n_workers
        solver.parameters.max_time_in_seconds = max(seconds_left(), 0.0)
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return doubt_large_numbers(program, Answer(None, -np.inf, finished=True))
        finished = status == cp_model.OPTIMAL
        bound = program.constant + solver.best_objective_bound / SCALE + float(taken)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(None, bound, finished=False)
        solution = np.array([solver.value(column) for column in columns], dtype=np.float64)
        answer = Answer(program.states(solution), bound, finished, int(solver.num_branches))
        return doubt_large_numbers(program, answer)


@dataclass(frozen=True, slots=True)
class Gurobi:
    """Gurobi, the solver of [shen2020]; it needs a licence for programs that are not small."""

    n_threads: int = 1
    name: str = "Gurobi"
    table_cells: int = 2**6

    def solve(self, problem: MpeProblem) -> Answer:
        """The optimum, or the incumbent with its bound when time runs out."""
        gurobipy = _imported("gurobipy", "Gurobi", "gurobipy")
        program = write_program(problem)
        if not len(program.objective):
            return answer_without_columns(program)
        try:
            return doubt_large_numbers(program, self._solved(gurobipy, program))
        except gurobipy.GurobiError as error:
            raise SolverError(f"Gurobi could not solve the program: {error}") from None

    def _solved(self, gurobipy: Any, program: Program) -> Answer:
        codes = gurobipy.GRB
        with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.Model(env=environment) as model:
            model.Params.Threads = self.n_threads
            model.Params.MIPGap = 0.0
            model.Params.TimeLimit = min(max(seconds_left(), 0.0), codes.INFINITY)
            kinds = np.where(program.is_integer, codes.INTEGER, codes.CONTINUOUS)
            y = model.addMVar(len(kinds), lb=0.0, ub=program.allowed, vtype=kinds)
            matrix = constraint_matrix(program)
            for sense, side in (("<", program.upper), (">", program.lower)):
                rows = np.flatnonzero(np.isfinite(side))
                if len(rows):
                    model.addMConstr(matrix[rows], y, sense, side[rows])
            model.setObjective(program.objective @ y, codes.MAXIMIZE)
            model.optimize()
            if model.Status in (codes.INFEASIBLE, codes.INF_OR_UNBD):
                return Answer(None, -np.inf, finished=True)
            states = program.states(y.X) if model.SolCount else None
            bound = program.constant + model.ObjBound
            return Answer(states, bound, model.Status == codes.OPTIMAL, int(model.NodeCount))


def _rows(program: Program) -> list[tuple[list[tuple[int, float]], float, float]]:
    """The rows one by one: weighted columns and the two sides."""
    terms: list[list[tuple[int, float]]] = [[] for _ in program.lower]
    entries: list[Floats] = [program.rows, program.columns, program.values]  # type: ignore[list-item]
    for row, column, value in zip(*(each.tolist() for each in entries), strict=True):
        terms[row].append((column, value))
    return list(zip(terms, program.lower.tolist(), program.upper.tolist(), strict=True))


def _imported(module: str, title: str, package: str) -> Any:
    """A module by name; `SolverError` says what to install."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise SolverError(f"{title} is not installed; install it with: pip install {package}") from None
