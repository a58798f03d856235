"""One search: in a table, on a grid of log-odds, or by one of the papers' own methods."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from unswayed.api.baselines import information_by_feature, maxdr, most_informative
from unswayed.api.choices import Method, SearchOptions, Selection, Terms
from unswayed.api.searching import Searchable, root_of, search_on_grid, with_table
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.problem import Problem
from unswayed.engines.log_odds import LogOddsEngine
from unswayed.search.branch_and_bound import branch_and_bound
from unswayed.search.exhaustive import exhaustive
from unswayed.search.greedy import greedy
from unswayed.search.lattice import Node, keep_only
from unswayed.search.lenses import Lens, PotentialLens, RewardLens
from unswayed.search.progress import Found, Task

_SEARCH_BY_METHOD: dict[Method, Callable[[Task], Found]] = {
    Method.BRANCH_AND_BOUND: branch_and_bound,
    Method.EXHAUSTIVE: exhaustive,
    Method.GREEDY: greedy,
}
_ON_TABLES = {Method.EXHAUSTIVE, Method.INFORMATION_GAIN}
"""Methods that look at tables alone, also where a search on a grid would be quicker."""


def searched(
    ready: Searchable, lens: Lens, terms: Terms, options: SearchOptions, started: float
) -> Selection:
    """The features that a method finds."""
    method = options.get("method", Method.BRANCH_AND_BOUND)
    if method in (Method.FS_SDD, Method.MAXDR):
        raise QueryError(f"method {method.value!r} selects by expected SDP only; use another one to trim")
    if ready.many is None or isinstance(lens, RewardLens) or method in _ON_TABLES:
        ready, found = _searched_table(ready, lens, terms, options)
    else:
        found = search_on_grid(
            ready,
            lens,
            costs=terms.costs,
            budget=terms.budget,
            limits=options.get("limits", DEFAULT_LIMITS),
            report=options.get("report"),
            prove=method is Method.BRANCH_AND_BOUND,
        )
    return _selection(ready.problem, ready.engine, found, (terms, started))


def searched_by_maxdr(problem: Problem, terms: Terms, options: SearchOptions, started: float) -> Selection:
    """The features of highest expected same-decision probability, found by MAXDR."""
    limits = options.get("limits", DEFAULT_LIMITS)
    # Values come from log-odds, so the root needs no masses.
    task = _task(
        problem, Node(problem.free, np.zeros((0, 1))), PotentialLens(len(problem.prior)), (terms, options)
    )
    return _selection(problem, LogOddsEngine().name, maxdr(problem, task, limits), (terms, started))


def _selection(problem: Problem, engine: str, found: Found, asked: tuple[Terms, float]) -> Selection:
    terms, started = asked
    variables = problem.network.variables
    return Selection(
        kept=tuple(variables[f].name for f in problem.free if f in found.kept),
        value=found.value,
        upper_bound=found.upper_bound,
        cost=math.fsum(terms.costs[f] for f in found.kept),
        evaluations=found.evaluations,
        engine=engine,
        seconds=time.perf_counter() - started,
        optimal=found.optimal,
        interrupted=found.interrupted,
    )


def _searched_table(
    ready: Searchable, lens: Lens, terms: Terms, options: SearchOptions
) -> tuple[Searchable, Found]:
    """The search in a table over all features, and what it found."""
    ready = terms.shared.setdefault("table", None) or with_table(ready, lens)
    terms.shared["table"] = ready
    if "root" not in terms.shared:
        terms.shared["root"] = root_of(ready, lens)
    task = _task(ready.problem, terms.shared["root"], lens, (terms, options))
    method = options.get("method", Method.BRANCH_AND_BOUND)
    if method is Method.INFORMATION_GAIN:
        return ready, _informed(ready.problem, task)
    return ready, _SEARCH_BY_METHOD[method](task)


def _informed(problem: Problem, task: Task) -> Found:
    """The most informative features, and how good they are; nothing is proven beyond what all can do."""
    kept = frozenset(most_informative(task, information_by_feature(problem)))
    value = task.lens.value(keep_only(task.root, kept, task.sizes).table)
    return Found(kept, value, max(value, task.lens.ceiling(task.root.table)), 1)


def _task(problem: Problem, root: Node, lens: Lens, asked: tuple[Terms, SearchOptions]) -> Task:
    terms, options = asked
    variables = problem.network.variables
    return Task(
        root=root,
        sizes={f: len(variables[f]) for f in root.features},
        costs=terms.costs,
        budget=terms.budget,
        lens=lens,
        names={f: variables[f].name for f in root.features},
        deadline=options.get("limits", DEFAULT_LIMITS).deadline(),
        report=options.get("report"),
        jobs=options.get("jobs", 1),
        memo=terms.shared,
    )
