"""The agreement of kept features whose instantiations are too many to list.

Rows of a *part* of the kept features are listed. In each row, under each class, bounds tell how much all
features decide for an action a (P_a) and how much the kept ones do (Q_a). However the two hang together,

    max(0, P_a + Q_a - mass)  <=  Pr(both decide a, row, class)  <=  min(P_a, Q_a).

Where the part says most of what the kept features say, both decide alike in nearly every row and the bounds
are close. Q comes from the class masses of all instantiations of the kept features where a table holds them
(`decide_listed`), or from sums over the network in which the other features are hidden (`decide_hidden`).

Hidden features may tie the kept ones together so that neither works. Then the rule itself helps: no rule on
the kept features loses less than the classifier's own, so any rule whose loss sums can bound (`score_kept`)
bounds the loss of that one, and two rules disagree only where one of them is wrong (`bound_by_losses`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import Decider, MostProbable, ThresholdRule
from unswayed.engines.sums.decisions import decide_rows, doubtful_rows
from unswayed.engines.sums.factors import Factor, plan_passes
from unswayed.engines.sums.pairs import mass_allowing
from unswayed.engines.sums.passes import KeptRows, SingleRows
from unswayed.engines.sums.profile_bounds import MASS_ROUNDING, DecidedMass, Span, make_span


def order_by_information(problem: Problem, factors: Sequence[Factor], kept: frozenset[int]) -> list[int]:
    """The kept features, those first that say most about the class when seen alone."""
    if not kept:
        return []
    layout = SingleRows(plan_passes(problem, frozenset()), tuple(sorted(kept)))
    mass = mass_allowing(layout, factors, ()).T  # (rows, classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = mass * np.log(mass / mass.sum(axis=1, keepdims=True))
    gains = np.nan_to_num(terms).sum(axis=1)
    starts = layout.starts()
    information = {v: gains[starts[i] : starts[i + 1]].sum() for i, v in enumerate(layout.features)}
    return sorted(kept, key=lambda v: (-round(float(information[v]), 12), v))


def decide_listed(
    problem: Problem, factors: Sequence[Factor], kept: frozenset[int], part: frozenset[int], decider: Decider
) -> DecidedMass:
    """What the kept features decide, by the class masses of all their instantiations: exact but for ties."""
    features = tuple(sorted(kept))
    mass = mass_allowing(KeptRows(plan_passes(problem, kept), features), factors, ())
    decisions = decide_rows(decider, mass.T)
    rows = _rows_of_part(problem, features, part)
    n_rows = int(rows.max(initial=0)) + 1
    n_actions = len(decider.actions)
    cells = rows * n_actions + decisions
    exact: Floats = np.array(
        [np.bincount(cells, weights=each, minlength=n_rows * n_actions) for each in mass], dtype=np.float64
    ).reshape(len(mass), n_rows, n_actions)
    doubt = float(mass[:, doubtful_rows(decider, mass.T, problem.rounding)].sum())
    return DecidedMass(exact.sum(axis=2), exact, exact, MASS_ROUNDING + doubt)


def _rows_of_part(problem: Problem, features: tuple[int, ...], part: frozenset[int]) -> Ints:
    """For every instantiation of the features, which row of the part it belongs to."""
    sizes = problem.sizes(features)
    strides = np.zeros(len(features), dtype=np.int64)
    stride = 1
    for i in reversed(range(len(features))):
        if features[i] in part:
            strides[i], stride = stride, stride * sizes[i]
    rows = np.zeros(1, dtype=np.int64)
    for size, step in zip(sizes, strides, strict=True):
        rows = (rows[:, np.newaxis] + step * np.arange(size)).reshape(-1)
    return rows


def hide_others(problem: Problem, kept: frozenset[int]) -> Problem:
    """The problem of a classifier that sees the kept features alone."""
    full = problem.classifier
    names = [problem.network.variables[v].name for v in sorted(kept)]
    classifier = Classifier(full.network, full.target, names, full.rule)
    return replace(problem, classifier=classifier, free=tuple(sorted(kept)))


def bound_both(full: DecidedMass, kept: DecidedMass) -> Span:
    """Bounds on the mass that both decide alike, whatever the dependence within a row and class."""
    mass = full.mass[:, :, np.newaxis]
    low = np.maximum(full.low + kept.low - mass, 0.0).sum()
    high = np.minimum(full.high, kept.high).sum()
    return make_span(float(low), float(high), full.stray + kept.stray)


def score_kept(problem: Problem, factors: Sequence[Factor], kept: frozenset[int]) -> tuple[Factor, ...]:
    """Factors on the kept features alone whose product is near their distribution under each class.

    One for each factor of the problem, over the same features but constant in those that are hidden: the
    marginal of its kept features over the product of their single marginals. Each single marginal is
    multiplied in once. In a tree that is the distribution without the arcs that come from hidden features.
    """
    layout = SingleRows(plan_passes(problem, frozenset()), tuple(sorted(kept)))
    leaves = [factor.mass[..., np.newaxis] for factor in factors]
    marginals = [each[..., 0] for each in layout.leaf_marginals(leaves)]
    prior = marginals[0]
    single: dict[int, Floats] = {}
    scores = [Factor((), read_only(np.array(prior)))]
    for factor, marginal in zip(factors[1:], marginals[1:], strict=True):
        hidden = tuple(i + 1 for i, v in enumerate(factor.scope) if v not in kept)
        share = marginal.sum(axis=hidden, keepdims=True)
        score = _divide(share, prior.reshape(-1, *[1] * len(factor.scope)))
        for i, v in enumerate(factor.scope):
            if v in kept:
                others = tuple(j for j in range(1, share.ndim) if j != i + 1)
                alone = _divide(
                    share.sum(axis=others, keepdims=True), prior.reshape(-1, *[1] * len(factor.scope))
                )
                if v in single:
                    score = _divide(score, alone)
                single[v] = alone
        scores.append(Factor(factor.scope, read_only(np.broadcast_to(score, marginal.shape).copy())))
    return tuple(scores)


def _divide(one: Floats, other: Floats) -> Floats:
    return np.divide(one, other, out=np.zeros(np.broadcast_shapes(one.shape, other.shape)), where=other > 0)


def right_actions(problem: Problem) -> tuple[Ints, Floats] | None:
    """For each class the action that is right, and what missing it costs; None where a rule has none.

    A threshold T decides as if missing the positive state cost 1 - T and calling another one so cost T.
    """
    rule, n_classes = problem.classifier.rule, len(problem.prior)
    if isinstance(rule, MostProbable):
        return np.arange(n_classes), np.ones(n_classes)
    if isinstance(rule, ThresholdRule):
        positive = problem.network.variables[problem.target].index(rule.positive)
        is_positive = np.arange(n_classes) == positive
        return np.where(is_positive, 0, 1), np.where(is_positive, 1.0 - rule.threshold, rule.threshold)
    return None


def bound_by_losses(full: DecidedMass, scored: DecidedMass, right: Ints, costs: Floats) -> Span:
    """Bounds on how often the kept features decide as all do, from another rule on the kept features.

    In each row the classifier's own rule on the kept features loses no more than the scored one.
    """
    classes = np.arange(len(right))
    missed = (full.mass - full.low[classes, :, right]).sum(axis=0)
    loss = (costs[:, np.newaxis] * (scored.mass - scored.low[classes, :, right])).sum(axis=0)
    mass = full.mass.sum(axis=0)
    low = np.maximum(mass - missed - loss / costs.min(), 0.0).sum()
    # A tie may go to the dearer side, by as little as rounding.
    stray = full.stray + (scored.stray + MASS_ROUNDING) * float(costs.max() / costs.min())
    return make_span(float(low), 1.0, stray)
