"""A problem as a product of factors over the free features, one product for each class.

    Pr(c, f, e)  =  product over k of  factor_k(c, f)

Tables that mention only target, features and evidence are factors as they stand. Hidden variables that share
tables are summed out together, for each class; they leave one factor over the features around them.
The log-odds of two classes are then a sum over the factors of the logarithms of ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import LimitError
from unswayed.core.limits import readable_bytes
from unswayed.core.memo import Topic
from unswayed.core.names import listing
from unswayed.decisions.problem import MOST_STRUCTURES, Problem, remember_structure
from unswayed.engines.protocol import Refusal, refuse_lost
from unswayed.engines.sums.passes import KeptRows
from unswayed.inference.plan import Plan, Scope, make_plan
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of
from unswayed.model.cpt import Cpt

PASSES: Topic[Plan] = Topic("passes of certified sums")
FACTOR_PIECES: Topic[tuple[Piece, ...]] = Topic("factor pieces", most=MOST_STRUCTURES)
LARGEST_FACTOR = 2**20
"""Numbers in one factor beyond which the hidden variables around it are not summed out."""
LEAST_LOG = -300.0
"""Logarithm of the least total that a factor is given."""
SMALLEST_TOTAL = 1e-200
"""Sums of products below this have lost digits on the way."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Tables that become one factor."""

    tables: tuple[int, ...]
    """Positions of the tables to multiply."""
    scope: Scope
    """The free features that are left when the hidden variables are summed out."""
    has_target: bool
    """Whether the factor depends on the class."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One factor of the product."""

    scope: Scope
    """Its features."""
    mass: Floats  # (classes, states of each feature); one class stands for all where they are equal
    """At least 0; read-only."""


def find_pieces(problem: Problem) -> tuple[Piece, ...]:
    """How the tables fall into factors."""
    return remember_structure(
        problem,
        FACTOR_PIECES,
        lambda: tuple(_piece(problem, tables) for tables in _joined_by_hidden(problem)),
    )


def refuse_pieces(problem: Problem, pieces: Iterable[Piece]) -> Refusal | None:
    """A refusal when hidden variables would leave a factor too large for a table, or products underflow."""
    for piece in pieces:
        size = _size(problem, piece)
        if size > LARGEST_FACTOR:
            names = [problem.network.variables[v].name for v in piece.scope]
            return Refusal(
                f"hidden variables tie {len(names)} features together ({listing(names)}): a table of "
                f"{readable_bytes(8 * size)} once they are summed out"
            )
    return refuse_lost(problem)


def make_factors(problem: Problem) -> tuple[Factor, ...]:
    """All factors; `LimitError` when summing out hidden variables needs more than the limits allow.

    Those that mention no feature are multiplied into the first, which also scales the product of all to
    sum 1.
    """
    made = [_factor(problem, piece) for piece in find_pieces(problem)]
    with np.errstate(divide="ignore"):
        logs = sum((np.log(each.mass) for each in made if not each.scope), np.zeros(len(problem.prior)))
    constant = np.exp(logs - logs.max())
    others = [_scaled(each) for each in made if each.scope]
    layout = KeptRows(plan_passes(problem, frozenset()), ())
    total = float(
        layout.run([constant[:, np.newaxis], *(each.mass[..., np.newaxis] for each in others)]).sum()
    )
    if not SMALLEST_TOTAL < total < 1.0 / SMALLEST_TOTAL:
        raise LimitError(
            "the evidence is so unlikely that sums over the features underflow; observe less, or use "
            "another engine"
        )
    return (Factor((), read_only(constant / total)), *others)


def factor_scopes(problem: Problem) -> list[Scope]:
    """The scopes of the factors that `make_factors` gives, in their order."""
    return [(), *(piece.scope for piece in find_pieces(problem) if piece.scope)]


def plan_passes(problem: Problem, kept: frozenset[int]) -> Plan:
    """How to sum the features out of the product of all factors, but for the kept ones; remembered."""

    def plan() -> Plan:
        return make_plan(factor_scopes(problem), [len(v) for v in problem.network.variables], kept)

    return problem.memo.get(PASSES, kept, plan)


def _joined_by_hidden(problem: Problem) -> list[tuple[int, ...]]:
    """The relevant tables in groups: those that share a hidden variable, directly or through others."""
    network = problem.network
    visible = {problem.target, *problem.free, *problem.evidence}
    relevant = ancestors_of(network, visible)
    group = {v: v for v in relevant}

    def leader(v: int) -> int:
        while group[v] != v:
            group[v] = group[group[v]]
            v = group[v]
        return v

    for child in relevant:
        for parent in network.parents[child]:
            if parent not in visible:
                # The hidden parent's own table and this one both mention it.
                group[leader(parent)] = leader(child)
    groups: dict[int, list[int]] = {}
    for v in relevant:
        groups.setdefault(leader(v), []).append(v)
    return [tuple(tables) for tables in groups.values()]


def _piece(problem: Problem, tables: tuple[int, ...]) -> Piece:
    mentioned = {v for table in tables for v in (*problem.network.parents[table], table)}
    scope = tuple(sorted(mentioned.intersection(problem.free)))
    return Piece(tables, scope, problem.target in mentioned)


def _size(problem: Problem, piece: Piece) -> float:
    return math.prod(map(float, problem.sizes(piece.scope))) * len(problem.prior)


def _factor(problem: Problem, piece: Piece) -> Factor:
    network = problem.network
    if len(piece.tables) > 1 or not isinstance(network.cpts[piece.tables[0]], Cpt):
        table, order = _sum_hidden(problem, piece)
    else:
        order = (*network.parents[piece.tables[0]], piece.tables[0])
        table = network.cpts[piece.tables[0]].table.reshape(problem.sizes(order))
        table = table[tuple(problem.evidence.get(v, slice(None)) for v in order)]
        order = tuple(v for v in order if v not in problem.evidence)
    keep = [problem.target, *piece.scope] if piece.has_target else piece.scope
    table = np.array(table.transpose([order.index(v) for v in keep]), order="C")
    return Factor(piece.scope, read_only(table if piece.has_target else table[np.newaxis]))


def _sum_hidden(problem: Problem, piece: Piece) -> tuple[Floats, Scope]:
    keep = [problem.target, *piece.scope] if piece.has_target else piece.scope
    summing = contraction(problem.network, piece.tables, problem.evidence, keep)
    check_bytes(summing.plan.peak_bytes, "summing out hidden variables")
    values, log_total = summing.answer()
    # What all classes share changes no ratio; so a tiny total may stay out.
    return values * math.exp(max(log_total, LEAST_LOG)), summing.plan.scopes[summing.plan.root]


def _scaled(factor: Factor) -> Factor:
    """A factor that speaks of findings alone, scaled to a largest entry of 1: many then do not underflow."""
    totals = factor.mass.reshape(len(factor.mass), -1).sum(axis=1)
    return factor if totals.max() > 0.5 else Factor(factor.scope, read_only(factor.mass / factor.mass.max()))
