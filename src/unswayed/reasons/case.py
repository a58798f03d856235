"""A decision to be explained, and what a subset of its findings is worth.

Findings e were observed, and on all of them the classifier decides d. Some features may still be unobserved.
Take a subset S of the findings and forget the others: they may then come out otherwise, as may the features
not observed yet. The full classifier sees them all. How often would it decide d?

    SDP(S) = sum_x [the full classifier decides d on x and e_S] Pr(x | e_S)

where x runs over the states of everything that is not in S. With all findings in S this is the same-decision
probability of [chen2014]. S is a reason at level p when SDP(S) >= p; at level 1 it is what logic calls a
sufficient reason (a prime implicant, when nothing can be left out of it).

SDP(S) may fall when S grows: a finding that speaks against the decision lowers it. At level 1 it cannot:
once nothing else can turn the decision, knowing more of the findings changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.constant import always_decide
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import Decider
from unswayed.inference.predictors import is_large_model
from unswayed.model.network import BayesianNetwork

ALMOST_ONE = float(np.nextafter(1.0, 0.0))
LEVEL_SLACK = 1e-12
"""A sum of millions of masses may miss a level that it equals by this much."""


@dataclass(frozen=True, slots=True)
class ExplainedDecision:
    """A decision with the findings that led to it."""

    problem: Problem
    """The classifier at all findings."""
    whole: Problem
    """The same classifier before any finding: the features not observed first, then the findings."""
    findings: tuple[int, ...]
    """Positions of the observed variables."""
    action: int
    """What is decided on all findings."""

    @property
    def network(self) -> BayesianNetwork:
        """The network behind the classifier."""
        return self.problem.network

    @property
    def states(self) -> tuple[int, ...]:
        """The state that each finding is in."""
        return tuple(self.problem.evidence[v] for v in self.findings)

    def given(self, subset: Iterable[int]) -> dict[int, int]:
        """These findings alone, as evidence."""
        return {v: self.problem.evidence[v] for v in subset}

    def named(self, evidence: dict[int, int]) -> dict[str, str]:
        """Evidence in names."""
        variables = self.network.variables
        return {variables[v].name: variables[v].states[s] for v, s in evidence.items()}

    def at(self, subset: Iterable[int]) -> Problem:
        """The classifier when these findings alone are known."""
        return make_problem(self.whole.classifier, self.named(self.given(subset)))


def explained_decision(problem: Problem) -> ExplainedDecision:
    """The decision that a problem stands at."""
    classifier, network = problem.classifier, problem.network
    findings = tuple(problem.evidence)
    names = [network.variables[v].name for v in (*problem.free, *findings)]
    whole = make_problem(Classifier(network, classifier.target, names, classifier.rule))
    action = int(problem.decider.decide(problem.prior[np.newaxis])[0])
    return ExplainedDecision(problem, whole, findings, action)


def is_model(explained: ExplainedDecision) -> bool:
    """Whether a person's own model decides, of so many inputs that no table holds it."""
    return is_large_model(explained.network, explained.problem.target, {})


def reaches(sdp: Interval, level: float) -> bool:
    """Whether a same-decision probability is known to be at least `level`; 1 means 1."""
    return sdp.low >= level or (level < 1.0 and sdp.low >= level - LEVEL_SLACK)


def fails(sdp: Interval, level: float) -> bool:
    """Whether a same-decision probability is known to be below `level`."""
    return sdp.high < level and not reaches(Interval(sdp.high, sdp.high), level)


def kept_share(turned: float) -> float:
    """1 - turned, but never 1 while anything turns: level 1 means that nothing does."""
    return 1.0 - turned if turned <= 0.0 else min(max(1.0 - turned, 0.0), ALMOST_ONE)


def decider_of(explained: ExplainedDecision, action: int | None = None) -> Decider:
    """A decider that always takes one action, that to be explained by default, as engines work with it."""
    return always_decide(explained.problem.decider, explained.action if action is None else action)


@dataclass(frozen=True, slots=True)
class SufficientSet:
    """A subset of the findings, and how well it alone keeps the decision."""

    findings: tuple[int, ...]
    """Positions, in the order of the findings."""
    sdp: Interval
    """SDP of the subset."""
    cost: float
    """What its findings cost together."""


@dataclass(frozen=True, slots=True)
class FoundReasons:
    """The cheapest reasons, and what is proven about them."""

    reasons: tuple[SufficientSet, ...]
    """Reasons of lowest cost found, the highest SDP first; empty when there is none."""
    cost_bound: float
    """No reason costs less than this; infinite when it is proven that there is none."""
    proven: bool
    """Whether nothing cheaper exists (or nothing at all, when there are no reasons)."""
    cut: bool = False
    """Whether there may be more reasons of this cost than are listed."""
    in_every: frozenset[int] | None = None
    """Findings in every reason; None where this is not known."""
    closest: SufficientSet | None = None
    """Where no reason was found, the subset of highest SDP that was."""
    closest_bound: float = 1.0
    """No subset has a higher SDP than this, where no reason was found."""
    evaluations: int = field(default=0, compare=False)
    """Subsets whose SDP was computed."""
    refusal: str = ""
    """Why no engine knew the SDP of some subset; empty when all were known."""

    @property
    def closest_proven(self) -> bool:
        """Whether no subset has a higher SDP than the closest."""
        if self.closest is None or self.closest.sdp.certainty is Certainty.ESTIMATE:
            return False
        return self.closest.sdp.low >= self.closest_bound - LEVEL_SLACK


def cost_of(subset: Sequence[int], costs: dict[int, float]) -> float:
    """What findings cost together, in an order that does not depend on how they were found."""
    return float(np.sum(np.sort([costs[v] for v in subset])))
