"""Selection and trimming by sampling, for networks whose features no table holds; estimates throughout.

Half of the work draws samples to choose by (`search/sampled.py`); the other half draws fresh ones, decides
each with exact posteriors on all and on the kept features, and counts. So the agreement reported is that of
the choice made, without the flattery of choosing, and its interval is an exact binomial one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.limits import Limits
from unswayed.decisions.measures import AchievableAgreement, best_threshold
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.sampling import SamplingEngine, SamplingOracle
from unswayed.search.progress import Report
from unswayed.search.sampled import SampledTask, Samples, Score, additive_selection, forward_selection


@dataclass(frozen=True, slots=True)
class Estimated:
    """A choice of features made on samples."""

    kept: tuple[int, ...]
    """Positions of the features to keep."""
    threshold: AchievableAgreement | None
    """The best threshold on the samples the choice was made by, where one was looked for."""
    agreement: Interval
    """How often the choice agrees with the full classifier, on fresh samples."""
    tried: int
    """Subsets valued."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be chosen, and by how many samples."""

    costs: Mapping[int, float]
    """Costs by position."""
    budget: float
    """What the kept features may cost together."""
    adapts_threshold: bool
    """Whether the threshold may change."""
    n_samples: int = 4000
    """Samples to choose by, and as many to measure by."""


def estimated_choice(
    problem: Problem, wanted: Wanted, *, limits: Limits, report: Report | None = None
) -> Estimated:
    """Features within the budget that agree well on samples, and how often they do on fresh ones."""
    rng = np.random.default_rng(0)
    engine = SamplingEngine(n_samples=wanted.n_samples, rng=rng)
    deadline = limits.deadline()
    chosen_by = engine.prepare(problem, limits)
    full = chosen_by.posteriors(problem.free)
    decisions = problem.decider.decide(full)
    positive = _positive(problem) if wanted.adapts_threshold else None
    sizes = tuple(problem.sizes(problem.free))
    columns = {problem.free.index(f): cost for f, cost in wanted.costs.items()}
    names = {i: problem.network.variables[f].name for i, f in enumerate(problem.free)}
    score = _kept_rule(problem) if positive is None else _any_threshold(problem, positive)
    # What is left after choosing is needed to measure the choice, which costs about as much as sampling did.
    until = time.monotonic() + 0.5 * (deadline - time.monotonic())
    task = SampledTask(
        Samples(chosen_by.samples, sizes, full, decisions),
        score,
        columns,
        wanted.budget,
        names,
        until,
        report,
    )
    choices = [forward_selection(task), additive_selection(task)]
    seen = {taken: chosen_by.posteriors(tuple(problem.free[i] for i in taken)) for taken, _ in choices}
    taken = max(seen, key=lambda each: (round(score(seen[each], decisions), 12), -len(each)))
    kept = tuple(sorted(problem.free[i] for i in taken))
    best = None if positive is None else _threshold(problem, seen[taken], decisions)
    measured_by = engine.prepare(problem, limits)
    return Estimated(kept, best, _measured(problem, measured_by, kept, best), sum(n for _, n in choices))


def _positive(problem: Problem) -> int:
    rule = problem.classifier.rule
    assert isinstance(rule, ThresholdRule)
    return problem.network.variables[problem.target].index(rule.positive)


def _kept_rule(problem: Problem) -> Score:
    def score(posteriors: Floats, decisions: Ints) -> float:
        return float((problem.decider.decide(posteriors) == decisions).mean())

    return score


def _any_threshold(problem: Problem, positive: int) -> Score:
    def score(posteriors: Floats, decisions: Ints) -> float:
        return best_threshold(posteriors / len(posteriors), _shares(problem, decisions), positive).value

    return score


def _threshold(problem: Problem, posteriors: Floats, decisions: Ints) -> AchievableAgreement:
    return best_threshold(posteriors / len(posteriors), _shares(problem, decisions), _positive(problem))


def _shares(problem: Problem, decisions: Ints) -> Floats:
    shares: Floats = np.eye(len(problem.decider.actions))[decisions] / len(decisions)
    return shares


def _measured(
    problem: Problem, oracle: SamplingOracle, kept: tuple[int, ...], best: AchievableAgreement | None
) -> Interval:
    decider = problem.decider
    if best is not None:
        rule = problem.classifier.rule
        assert isinstance(rule, ThresholdRule)
        threshold = min(max(best.threshold, 1e-300), 1.0 - 2**-53)
        decider = ThresholdRule(rule.positive, threshold).bind(problem.network.variables[problem.target])
    return oracle.agreement(frozenset(kept), decider, 0.0)
