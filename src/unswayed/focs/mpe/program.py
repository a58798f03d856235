"""The mixed-integer program of an explanation [shen2020, section 5.2], for any solver.

    maximize  constant + sum_j objective_j y_j   subject to   lower <= A y <= upper,   0 <= y <= 1

The columns y are: for each free variable one column, 1 in its second state, or one a state where it has more
than two; one for each neuron, "on"; one for each context of a gate; and shares of the rows of larger tables,
which are determined by the others. A neuron with sum s in [least, most], whole numbers, is on exactly where
s >= 0:

    s >= least (1 - on),      s <= (most + 1) on - 1

Weights are whole numbers. As long as they are of moderate size (`SAFE_REACH`), a solver's tolerance cannot
switch a neuron, and its bound is a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.anytime import seconds_left
from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import SolverError
from unswayed.focs.mpe.problem import Answer, Gate, LogFactor, MpeProblem, ScoreMeaning, Squash

SAFE_REACH = 2.0**17
"""Solvers take 1e-6 for 0. Where a row has larger numbers than this, that may switch a neuron, whose sums are
whole numbers, so an optimum that a solver claims is no proof."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A mixed-integer program in sparse rows; all columns lie between 0 and 1."""

    constant: float
    objective: Floats  # (columns,)
    is_integer: Bools  # (columns,)
    allowed: Floats  # (columns,)
    """Upper bounds: 0 for what is impossible, else 1."""
    rows: Ints  # (entries,)
    columns: Ints  # (entries,)
    values: Floats  # (entries,)
    """The matrix, entry by entry."""
    lower: Floats  # (rows,)
    upper: Floats  # (rows,)
    state_columns: dict[int, tuple[int, ...]]
    """For each free variable the columns of its states; a two-state variable has one, for state 1."""

    @property
    def reach(self) -> float:
        """The largest number in a row: what a solver's tolerance is multiplied by."""
        return float(np.abs(self.values).max(initial=0.0))

    def states(self, solution: Floats) -> dict[int, int]:
        """The states that a solution stands for."""
        found = {}
        for variable, columns in self.state_columns.items():
            values = solution[list(columns)]
            found[variable] = int(values[0] > 0.5) if len(columns) == 1 else int(np.argmax(values))
        return found


def write_program(problem: MpeProblem) -> Program:
    """The program of a problem; `SolverError` for gates that are not linear, such as logistic functions."""
    writer = _Writer(problem)
    for factor in problem.factors:
        writer.add_factor(factor)
    for gate in problem.gates:
        writer.add_gate(gate)
    return writer.program()


class _Writer:
    """Collects columns and rows; dies when the program is made."""

    def __init__(self, problem: MpeProblem) -> None:
        self.constant = 0.0
        self.objective: list[float] = []
        self.is_integer: list[bool] = []
        self.allowed: list[float] = []
        self.entries: list[tuple[int, int, float]] = []
        self.limits: list[tuple[float, float]] = []
        self.state_columns: dict[int, tuple[int, ...]] = {}
        for variable in problem.free:
            size = problem.sizes[variable]
            columns = tuple(self.column(integer=True) for _ in range(1 if size == 2 else size))
            self.state_columns[variable] = columns
            if size != 2:
                self.row([(column, 1.0) for column in columns], 1.0, 1.0)

    def column(self, worth: float = 0.0, *, integer: bool = False) -> int:
        """A new column; one that is worth minus infinity is kept at 0."""
        impossible = worth == -np.inf
        self.objective.append(0.0 if impossible else worth)
        self.is_integer.append(integer)
        self.allowed.append(0.0 if impossible else 1.0)
        return len(self.objective) - 1

    def row(self, terms: list[tuple[int, float]], lower: float, upper: float) -> None:
        """A new row: the weighted columns lie between two numbers."""
        number = len(self.limits)
        self.entries += [(number, column, weight) for column, weight in terms if weight]
        self.limits.append((lower, upper))

    def literal(self, variable: int, state: int) -> tuple[list[tuple[int, float]], float]:
        """ "The variable is in this state" as a weighted sum of columns plus a constant."""
        columns = self.state_columns[variable]
        if len(columns) > 1:
            return [(columns[state], 1.0)], 0.0
        return ([(columns[0], 1.0)], 0.0) if state else ([(columns[0], -1.0)], 1.0)

    def add_factor(self, factor: LogFactor) -> None:
        if not factor.scope:
            self._add_constant(float(factor.logs))
        elif len(factor.scope) == 1 and np.isfinite(factor.logs).all() and factor.logs.shape == (2,):
            self.constant += float(factor.logs[0])
            self.objective[self.state_columns[factor.scope[0]][0]] += float(factor.logs[1] - factor.logs[0])
        else:
            shares = {index: self.column(float(log)) for index, log in np.ndenumerate(factor.logs)}
            self._match(shares, dict(enumerate(factor.scope)))

    def _add_constant(self, log: float) -> None:
        if log == -np.inf:
            self.row([], 1.0, 1.0)  # nothing can satisfy it: the evidence is impossible
        else:
            self.constant += log

    def _match(self, shares: dict[tuple[int, ...], int], variable_by_axis: dict[int, int]) -> None:
        """Shares of table rows sum to each variable's state: whole states leave exactly one row."""
        for axis, variable in variable_by_axis.items():
            for state in sorted({index[axis] for index in shares}):
                terms, constant = self.literal(variable, state)
                parts = [(column, -1.0) for index, column in shares.items() if index[axis] == state]
                self.row([*terms, *parts], -constant, -constant)

    def add_gate(self, gate: Gate) -> None:
        if gate.squash is not Squash.STEP or gate.meaning is not ScoreMeaning.CONTEXTS:
            raise SolverError(
                "only step networks can be written as a mixed-integer program, and this network has a "
                "logistic, noisy-or or smooth node with many parents; use branch and bound"
            )
        neurons = [self._neuron(gate, h) for h in range(len(gate.outputs))]
        contexts = self._contexts(gate)
        total = list(zip(neurons, gate.outputs.tolist(), strict=True))
        low = float(np.minimum(gate.outputs, 0).sum())
        high = float(np.maximum(gate.outputs, 0).sum())
        for number, column in enumerate(contexts):
            if number < len(gate.cuts):  # score <= cut, unless in another context
                slack = high - float(gate.cuts[number])
                self.row([*total, (column, slack)], -np.inf, high)
            if number > 0:  # score >= the cut below + 1
                slack = float(gate.cuts[number - 1]) + 1.0 - low
                self.row([*total, (column, -slack)], low, np.inf)

    def _neuron(self, gate: Gate, neuron: int) -> int:
        """A column that is 1 exactly where the neuron is on."""
        weights, bias = gate.weights[neuron], float(gate.biases[neuron])
        least = bias + float(np.minimum(weights, 0).sum())
        most = bias + float(np.maximum(weights, 0).sum())
        on = self.column(integer=True)
        terms = [(self.state_columns[v][0], float(w)) for v, w in zip(gate.inputs, weights, strict=True)]
        self.row([*terms, (on, least)], least - bias, np.inf)
        self.row([*terms, (on, -(most + 1.0))], -np.inf, -1.0 - bias)
        return on

    def _contexts(self, gate: Gate) -> list[int]:
        """One column for each context, of which one is 1; worth what it is with the child's state."""
        n_contexts, n_states = gate.worth.shape
        if gate.child is None:
            columns = [self.column(float(worth), integer=True) for worth in gate.worth[:, 0]]
        else:
            columns = [self.column(integer=True) for _ in range(n_contexts)]
            shares = {index: self.column(float(log)) for index, log in np.ndenumerate(gate.worth)}
            self._match(shares, {1: gate.child})
            for context, column in enumerate(columns):
                parts = [(shares[context, state], -1.0) for state in range(n_states)]
                self.row([(column, 1.0), *parts], 0.0, 0.0)
        self.row([(column, 1.0) for column in columns], 1.0, 1.0)
        return columns

    def program(self) -> Program:
        entries = np.array(self.entries, dtype=np.float64).reshape(-1, 3)
        limits = np.array(self.limits, dtype=np.float64).reshape(-1, 2)
        return Program(
            constant=self.constant,
            objective=np.array(self.objective),
            is_integer=np.array(self.is_integer, dtype=bool),
            allowed=np.array(self.allowed),
            rows=entries[:, 0].astype(np.int64),
            columns=entries[:, 1].astype(np.int64),
            values=entries[:, 2],
            lower=limits[:, 0],
            upper=limits[:, 1],
            state_columns=self.state_columns,
        )


@dataclass(frozen=True, slots=True)
class Highs:
    """HiGHS through SciPy."""

    name: str = "HiGHS"
    table_cells: int = 2**6
    """Above this a gate is far smaller than a column for each row of a table."""

    def __post_init__(self) -> None:
        expect_count(self.table_cells, "table_cells")

    def solve(self, problem: MpeProblem) -> Answer:
        """The optimum, or the incumbent with its bound when time runs out."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        program = write_program(problem)
        if not len(program.objective):
            return answer_without_columns(program)
        options: dict[str, float] = {"mip_rel_gap": 0.0}
        if seconds_left() < math.inf:
            options["time_limit"] = max(seconds_left(), 0.0)
        constraints = LinearConstraint(constraint_matrix(program), program.lower, program.upper)
        done = milp(
            -program.objective,
            integrality=program.is_integer.astype(np.int64),
            bounds=Bounds(0.0, program.allowed),
            constraints=constraints if len(program.lower) else None,
            options=options,
        )
        if done.status not in (0, 1, 2):
            raise SolverError(f"HiGHS could not solve the program: {done.message}")
        states = None if done.x is None else program.states(done.x)
        n_nodes = int(done.get("mip_node_count") or 0)
        bound = -np.inf if done.status == 2 else _bound(program, done)
        return doubt_large_numbers(program, Answer(states, bound, done.status != 1, n_nodes))


def _bound(program: Program, done: Any) -> float:
    given = done.get("mip_dual_bound")
    if given is None:
        return float(program.constant - done.fun) if done.status == 0 else math.inf
    return float(program.constant - given)


def doubt_large_numbers(program: Program, answer: Answer) -> Answer:
    """A solver's answer; no bound and no proof where its tolerance may have switched a neuron."""
    if program.reach <= SAFE_REACH:
        return answer
    return Answer(answer.states, math.inf, finished=False, n_nodes=answer.n_nodes)


def answer_without_columns(program: Program) -> Answer:
    """A program without columns: all variables are observed, and what contradicts them is a row."""
    contradicted = bool((program.lower > 0).any())
    return Answer(None if contradicted else {}, -np.inf if contradicted else program.constant, finished=True)


def constraint_matrix(program: Program) -> Any:
    """The matrix A of a program, sparse."""
    from scipy.sparse import csr_array

    shape = (len(program.lower), len(program.objective))
    return csr_array((program.values, (program.rows, program.columns)), shape=shape)
