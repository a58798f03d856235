"""One search: in a table, or on a grid of log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from unswayed.core.anytime import bytes_allowed, settle
from unswayed.core.errors import QueryError
from unswayed.core.parallel import Team
from unswayed.decisions.checkpoint import Checkpoint, open_checkpoint
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import CustomReward
from unswayed.engines.naive_bayes import Agreement, cut_question, search_grid
from unswayed.search.branch_and_bound import branch_and_bound
from unswayed.search.ceiling.spectra import feature_laws
from unswayed.search.driver import save_now_and_then, save_search
from unswayed.search.exhaustive import exhaustive
from unswayed.search.greedy import greedy, information_by_feature, most_informative
from unswayed.search.lattice import Node, keep_only
from unswayed.search.naive_bayes.grid_search import (
    bytes_needed,
    search_by_dropping,
)
from unswayed.search.naive_bayes.incumbent import GridTask
from unswayed.search.objectives import (
    PotentialObjective,
    RewardObjective,
    SameDecisionObjective,
    SearchObjective,
)
from unswayed.search.options import Method, SearchOptions, method_of, team_of
from unswayed.search.plan import SearchPlan, plan_table
from unswayed.search.task import Found, Task, Terms, check_method, until_limit

_SEARCH_BY_METHOD: dict[Method, Callable[[Task], Iterator[Found]]] = {
    Method.BRANCH_AND_BOUND: branch_and_bound,
    Method.EXHAUSTIVE: exhaustive,
    Method.GREEDY: greedy,
}
_ON_TABLES = {Method.EXHAUSTIVE, Method.INFORMATION_GAIN}
"""Methods that need a table, also where a search on a grid would be quicker."""


def run_search(
    plan: SearchPlan, objective: SearchObjective, terms: Terms, options: SearchOptions
) -> tuple[Found, SearchPlan]:
    """The features that a method finds, and the ground it found them on."""
    method = method_of(options)
    if method in (Method.FS_SDD, Method.MAXDR):
        raise QueryError(f"method {method.value!r} selects by expected SDP only; use another one to trim")
    check_method(terms, method)
    on_table = method in _ON_TABLES or terms.catalogue is not None
    if plan.grid is None or isinstance(objective, RewardObjective) or on_table:
        plan = plan_table(plan, objective)
    checkpoint = _open_checkpoint(plan.problem, objective, terms, options)
    if plan.table is not None:
        return settle_search(
            _search_table(plan, objective, terms, options, checkpoint), options, checkpoint
        ), plan
    task = _make_grid_task(plan, objective, terms, options, checkpoint)
    states = search_by_dropping(task, prove=method is Method.BRANCH_AND_BOUND)
    return settle_search(states, options, checkpoint, plan.units), plan


def settle_search(
    states: Iterator[Found],
    options: SearchOptions,
    checkpoint: Checkpoint | None = None,
    units: float = math.inf,
) -> Found:
    """The best that a search comes to, within so much work where no limit was given."""
    report = options.get("report")

    def tell(found: Found) -> None:
        if report is not None:
            report(found.value, found.upper_bound, found.evaluations)

    if checkpoint is not None:
        states = save_now_and_then(checkpoint, states)
    settled = settle(until_limit(states), units=units, tell=tell, heeds_interrupts=True)
    if checkpoint is not None:
        save_search(checkpoint, settled.last)
    return replace(settled.last, interrupted=settled.interrupted, left=None)


def make_bare_task(problem: Problem, terms: Terms) -> Task:
    """A task for a method with values of its own, which needs no masses."""
    root = Node(problem.free, np.zeros((0, 1)))
    return _make_task(problem, root, PotentialObjective(len(problem.prior)), terms)


def _search_table(
    plan: SearchPlan,
    objective: SearchObjective,
    terms: Terms,
    options: SearchOptions,
    checkpoint: Checkpoint | None,
) -> Iterator[Found]:
    assert plan.table is not None
    if not isinstance(objective, RewardObjective):
        key = (type(objective), tuple(terms.costs.items()))
        terms = replace(terms, workspace=plan.table.searched.setdefault(key, terms.workspace))
    workspace = terms.workspace
    if workspace.root is None:
        everything = plan.masses()
        workspace.root = replace(everything, table=objective.columns(everything.table))
    task = _make_task(plan.problem, workspace.root, objective, terms, team_of(options), checkpoint)
    method = method_of(options)
    if method is Method.INFORMATION_GAIN:
        return iter([_take_most_informative(plan.problem, task)])
    return _SEARCH_BY_METHOD[method](task)


def _make_grid_task(
    plan: SearchPlan,
    objective: SearchObjective,
    terms: Terms,
    options: SearchOptions,
    checkpoint: Checkpoint | None,
) -> GridTask:
    many = plan.grid
    assert many is not None
    agreement = Agreement(many, own_rule=isinstance(objective, SameDecisionObjective))
    variables = plan.problem.network.variables
    most_bytes = 0.5 * bytes_allowed()
    costs, budget = terms.costs, terms.budget
    steps = search_grid(many, lambda steps: bytes_needed(costs.values(), budget, steps.width) <= most_bytes)
    laws = feature_laws(many.weights, cut_question(plan.problem))
    return GridTask(
        grid=steps.grid,
        disagreement=steps.disagreement,
        width=steps.width,
        features=many.features,
        kinds=many.kinds,
        terms=terms,
        names={f: variables[f].name for f in many.features},
        own_rule=agreement.own_rule,
        between=agreement.between,
        closer=agreement.closer,
        laws=laws,
        team=team_of(options),
        checkpoint=checkpoint,
    )


def _take_most_informative(problem: Problem, task: Task) -> Found:
    """The most informative features and their value; nothing is proven beyond the value of all features."""
    kept = frozenset(most_informative(task, information_by_feature(problem)))
    value = task.objective.value(keep_only(task.root, kept, task.sizes).table)
    return Found(kept, value, max(value, task.objective.ceiling(task.root.table)), 1)


def _make_task(
    problem: Problem,
    root: Node,
    objective: SearchObjective,
    terms: Terms,
    team: Team | None = None,
    checkpoint: Checkpoint | None = None,
) -> Task:
    variables = problem.network.variables
    return Task(
        root=root,
        sizes={f: len(variables[f]) for f in root.features},
        costs=terms.costs,
        budget=terms.budget,
        objective=objective,
        names={f: variables[f].name for f in root.features},
        team=team or Team(),
        checkpoint=checkpoint,
        workspace=terms.workspace,
        catalogue=terms.catalogue,
    )


def _open_checkpoint(
    problem: Problem, objective: SearchObjective, terms: Terms, options: SearchOptions
) -> Checkpoint | None:
    """The file to keep the search in, where the person named one."""
    path = options.get("checkpoint")
    if path is None:
        return None
    reward = objective.reward if isinstance(objective, RewardObjective) else None
    if isinstance(reward, CustomReward):
        raise QueryError(
            f"the reward {reward.name!r} is code, which no checkpoint can recognise; leave out the checkpoint"
        )
    asked = (type(objective).__name__, reward, sorted(terms.costs.items()), terms.catalogue)
    return open_checkpoint(path, problem, asked)
