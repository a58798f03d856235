"""Features split into groups that are independent given the target and the evidence [chen2014, section 5.2].

Cut the arcs out of the target and out of the observed variables, drop what lies below nothing of
interest, and the connected pieces of the rest are independent given target and evidence. A naive Bayes
classifier is the case of one feature a group. Each group gets a table of Pr(its states | class,
evidence).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, read_only
from unswayed.core.memo import Topic
from unswayed.decisions.problem import MOST_STRUCTURES, Problem, remember_structure
from unswayed.inference.posteriors import joint_table
from unswayed.inference.relevance import ancestors_of
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork

GROUPS: Topic[list[Group]] = Topic("groups")
CHILDREN: Topic[Group] = Topic("children of targets", most=2**12)
"""Features whose tables are kept as the engines want them."""
PIECES: Topic[list[Piece]] = Topic("pieces", most=MOST_STRUCTURES)
Piece = tuple[tuple[int, ...], set[int]]
"""Free features, and all variables that connect them."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Features that depend on each other, and their distribution given each class."""

    features: tuple[int, ...]
    """Positions, in the order of the table's axes."""
    likelihood: Floats  # (instantiations of the features, classes)
    """Pr(features | class, evidence), the last feature fastest; read-only."""
    lists: dict[Any, Any] = field(default_factory=dict, repr=False)
    """Weights made of it so far (`weights.py`): used again, never in an answer."""


def independent_groups(problem: Problem) -> list[tuple[int, ...]]:
    """The free features, split into independent groups; each and all in the order of the classifier."""
    return [features for features, _ in _pieces(problem)]


def group_tables(problem: Problem) -> list[Group]:
    """The groups with their class-conditional tables; remembered with the problem."""
    return problem.memo.get(GROUPS, None, lambda: [_group(problem, *piece) for piece in _pieces(problem)])


def _group(problem: Problem, features: tuple[int, ...], members: set[int]) -> Group:
    if len(members) == 1:
        return _single(problem, features[0])
    return Group(features, read_only(_by_inference(problem, features)))


def _single(problem: Problem, feature: int) -> Group:
    """A feature alone; where only the target is its parent, remembered with the network."""

    def make() -> Group:
        return Group((feature,), read_only(_from_table(problem, feature)))

    if problem.network.parents[feature] != (problem.target,):
        return make()
    return problem.network.memo.get(CHILDREN, (problem.target, feature), make)


def _pieces(problem: Problem) -> list[Piece]:
    """The pieces between target and evidence."""
    find = partial(connected_pieces, problem.network, problem.free, {problem.target, *problem.evidence})
    return remember_structure(problem, PIECES, find)


def connected_pieces(network: BayesianNetwork, free: Sequence[int], separating: Set[int]) -> list[Piece]:
    """Connected pieces that hold free features: those features, and all variables of the piece."""
    relevant = ancestors_of(network, {*free, *separating})
    link = {v: v for v in relevant}

    def root(v: int) -> int:
        while link[v] != v:
            link[v] = link[link[v]]
            v = link[v]
        return v

    for child in relevant:
        for parent in network.parents[child]:
            if parent not in separating:
                link[root(parent)] = root(child)
    features: dict[int, list[int]] = {}
    for feature in free:
        features.setdefault(root(feature), []).append(feature)
    members: dict[int, set[int]] = {piece: set() for piece in features}
    for v in relevant:
        if root(v) in members:
            members[root(v)].add(v)
    return [(tuple(found), members[piece]) for piece, found in features.items()]


def _by_inference(problem: Problem, group: tuple[int, ...]) -> Floats:
    table = joint_table(problem.network, [problem.target, *group], problem.evidence)
    joint = table.reshape(len(problem.prior), -1)
    likelihood = np.empty((joint.shape[1], len(joint)), order="F")  # each class is read by itself
    for column, (mass, prior) in enumerate(zip(joint, problem.prior.tolist(), strict=True)):
        # An impossible class has no distribution of its own; any serves, since its weight is zero.
        likelihood[:, column] = mass / prior if prior > 0 else joint.sum(axis=0)
    return likelihood


def _from_table(problem: Problem, feature: int) -> Floats:  # (feature states, classes)
    """Pr(feature | class, evidence) for a feature whose parents are the target or observed: some rows."""
    parents, cpt = problem.network.parents[feature], problem.network.cpts[feature]
    if parents == (problem.target,) and isinstance(cpt, Cpt):
        return np.ascontiguousarray(cpt.table.T)
    rows = np.zeros((len(problem.prior), len(parents)), dtype=np.int64)
    for place, parent in enumerate(parents):
        rows[:, place] = np.arange(len(rows)) if parent == problem.target else problem.evidence[parent]
    return np.ascontiguousarray(cpt.probabilities(rows).T)
