"""The best subset by branch and bound, with a certified gap at any moment [choi2018, Algorithm 1].

A node allows a set of features, of which some are forced in. Its ceiling bounds every subset within it;
when the ceiling does not exceed the best subset known, the node is left. A good subset is needed early: it
comes from the same search among the features that hurt most.

Two searches do the same: node by node with numpy, for any objective and purchase (`nodes.py`), and compiled,
over one signed column, where there are two decisions (`signed/slices.py`). Both go in slices (`driver.py`),
which may be searched elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from unswayed.core.errors import QueryError
from unswayed.decisions.catalogue import cost_together
from unswayed.search.exhaustive import are_few, offer_all
from unswayed.search.lattice import keep_only
from unswayed.search.nodes import search_nodes
from unswayed.search.signed.ground import signed_column
from unswayed.search.signed.slices import search_signed
from unswayed.search.task import Found, Incumbent, Task


def branch_and_bound(task: Task) -> Iterator[Found]:
    """The best subset so far with its bound; at the end it is proven."""
    incumbent = Incumbent(task)
    _offer_least(task, incumbent)
    incumbent.bound = task.objective.ceiling(task.root.table)
    yield incumbent.found()
    for _ in _search(task, incumbent):
        yield incumbent.found()
    yield incumbent.found()


def _offer_least(task: Task, incumbent: Incumbent) -> None:
    """Begin with the mandatory tests alone, or with nothing: so there always is an answer."""
    catalogue = task.catalogue
    if catalogue is None:
        incumbent.offer_nothing()
        return
    tests = [test for test in range(len(catalogue.offers)) if catalogue.mandatory >> test & 1]
    if not task.affordable(cost_together(catalogue, tests)):
        raise QueryError("the mandatory tests alone exceed the budget; raise it")
    features = frozenset(f for test in tests for f in catalogue.offers[test].features)
    incumbent.evaluations += 1
    incumbent.offer(features, task.objective.value(keep_only(task.root, features, task.sizes).table))


def _search(task: Task, incumbent: Incumbent) -> Iterator[None]:
    column = None if task.catalogue is not None else signed_column(task)
    if column is None:
        yield from search_nodes(task, incumbent)
        return
    if are_few(task, column):
        offer_all(task, column, incumbent)
        return
    yield from search_signed(task, column, incumbent)
