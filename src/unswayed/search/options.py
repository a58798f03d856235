"""What a person may tell a search: the method, limits, who helps, and who hears of progress."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from enum import Enum
from typing import TypedDict

from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.names import unknown_name
from unswayed.core.parallel import Team, check_jobs

Report = Callable[[float, float, int], None]
"""Called now and then with the best value so far, the upper bound and the number of subsets evaluated."""


class CircuitVariant(Enum):
    """Where FS-SDD has its circuits from [choi2017, section 6]."""

    RECOMPILED = "1"
    """A circuit is compiled for every subset."""
    CONSTRAINED = "2"
    """One circuit is compiled that decides on the features first; then features are moved in it."""
    MOVED = "3"
    """One circuit is compiled without constraint; the features are moved up, and then in it."""


class Method(Enum):
    """How subsets are searched."""

    BRANCH_AND_BOUND = "branch-and-bound"
    """Proven best."""
    EXHAUSTIVE = "exhaustive"
    """Every subset, to compare with."""
    GREEDY = "greedy"
    """One feature at a time, then swaps; not proven."""
    INFORMATION_GAIN = "information-gain"
    """The features that say most about the target for their cost, each on its own; not proven."""
    MAXDR = "maxdr"
    """Features added one by one, each subset valued from scratch [chen2015]; as FS-SDD, for naive Bayes."""
    FS_SDD = "fs-sdd"
    """Every subset, valued by circuits alone [choi2017, Algorithm 2]; selection by expected SDP only."""


class SearchOptions(TypedDict, total=False):
    """What every search takes by keyword."""

    method: Method | str | None
    """How to search, also by name, such as "greedy"; branch and bound by default."""
    limits: Limits
    """Bounds on memory and time; when time is over, the best so far comes with its gap."""
    report: Report
    """Called now and then with incumbent, bound and number of evaluations."""
    variant: CircuitVariant
    """For FS-SDD: where its circuits come from; by default one circuit constrained to the features."""
    jobs: int
    """Processes that may search at once where it takes long; 1 by default, the answer the same."""
    executor: Executor
    """Searches where it takes long: processes, threads, a cluster; `jobs` then counts its workers."""
    checkpoint: str | os.PathLike[str]
    """File for what the search has come to; a search that was stopped goes on from there."""
    allow_estimates: bool
    """Whether to choose and measure by samples where no table holds the features."""


def method_of(options: SearchOptions) -> Method:
    """How to search; `QueryError` unless the method is one, or the name of one."""
    given = options.get("method")
    if given is None:
        return Method.BRANCH_AND_BOUND
    names = [method.value for method in Method]
    if isinstance(given, Method) or (isinstance(given, str) and given in names):
        return Method(given)
    raise QueryError(unknown_name("method", str(given), names))


def team_of(options: SearchOptions) -> Team:
    """Who searches; `QueryError` unless jobs is a positive whole number and the executor one."""
    if "jobs" in options:
        check_jobs(options["jobs"])
    return Team(options.get("executor"), options.get("jobs"))
