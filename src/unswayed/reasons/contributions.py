"""What drove the decision: the weight of each finding, Shapley values, and findings in conflict.

The *leaning* of a posterior is how far it leans towards the decision: its log-odds for rules on
probabilities, the lead of the action in expected utility for rules on utilities. A finding's weight is the
leaning on all findings less the leaning without it: above 0 it speaks for the decision, below 0 against it.
Where the findings are independent given the class, weights of evidence add up; elsewhere the Shapley value
shares the leaning out over the findings, averaging over all orders in which they may have come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.decisions.rules import ThresholdRule, UtilityRule, log_odds
from unswayed.inference.expected import expect_rows, find_case
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table, log_probability
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.reasons.case import ExplainedDecision, is_model

MOST_SHARED = 20
"""Findings over which the leaning is shared out exactly: there are 2^20 subsets of them."""
SAMPLES_WITHOUT = 4096
"""Completions for the expected prediction without a finding, where it can only be estimated."""
MOST_SHARED_OF_MODEL = 6
"""The same for a person's own model, whose expected prediction is a pass over all inputs for each subset."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How far class masses lean towards the decision, and what that number is called."""

    explained: ExplainedDecision
    name: str
    """What the leaning measures."""

    def of(self, class_mass: Floats) -> Floats:  # (rows, classes) -> (rows,)
        """The leaning of each row; infinite where a state is certain."""
        rule, action = self.explained.problem.classifier.rule, self.explained.action
        target = self.explained.network.variables[self.explained.problem.target]
        if isinstance(rule, UtilityRule):
            worth = class_mass @ rule.matrix(target).T / class_mass.sum(axis=1, keepdims=True)
            others = np.delete(worth, action, axis=1)
            best: Floats = others.max(axis=1) if others.shape[1] else np.zeros(len(worth))
            lead: Floats = worth[:, action] - best
            return lead
        if isinstance(rule, ThresholdRule):
            odds = log_odds(class_mass, target.index(rule.positive))
            return odds if action == 0 else -odds
        return log_odds(class_mass, action)


def make_leaning(explained: ExplainedDecision) -> Leaning:
    """The leaning that fits the classifier's rule."""
    rule, decided = explained.problem.classifier.rule, explained.problem.decider.actions[explained.action]
    target = explained.problem.classifier.target
    if isinstance(rule, UtilityRule):
        return Leaning(explained, f"lead of {decided!r} in expected utility")
    return Leaning(explained, f"log-odds of {target} = {decided}")


@dataclass(frozen=True, slots=True)
class FindingWeight:
    """What one finding adds to the others."""

    finding: int
    """Position of the variable."""
    weight: float
    """Leaning with it less leaning without it."""
    posterior_without: Floats
    """Pr(target | all other findings)."""
    action_without: int
    """What is decided without it."""


def finding_weights(explained: ExplainedDecision, leaning: Leaning) -> list[FindingWeight]:
    """Each finding left out, one after another."""
    problem = explained.problem
    now = float(leaning.of(problem.prior[np.newaxis])[0])
    weights = []
    for finding in explained.findings:
        others = explained.given(v for v in explained.findings if v != finding)
        posterior = _posterior(explained, others)
        before = float(leaning.of(posterior[np.newaxis])[0])
        # A state that is certain either way stays so: the finding adds nothing.
        weight = 0.0 if now == before else now - before
        action = int(problem.decider.decide(posterior[np.newaxis])[0])
        weights.append(FindingWeight(finding, weight, posterior, action))
    return weights


def _posterior(explained: ExplainedDecision, findings: dict[int, int]) -> Floats:
    """Pr(target | findings); of a person's own model an estimate where there is no more."""
    network, target = explained.network, explained.problem.target
    if not is_model(explained):
        return joint_table(network, [target], findings)
    case = find_case(network, target, findings)
    assert case is not None
    mass = expect_rows(case, n_samples=SAMPLES_WITHOUT).mass[0]
    shares: Floats = mass / mass.sum()
    return shares


def shapley_values(explained: ExplainedDecision, leaning: Leaning) -> Floats | None:
    """The Shapley value of each finding, exactly [shapley1953].

        phi_i = sum_S |S|! (k - |S| - 1)! / k!  (leaning(S and i) - leaning(S)),  S over subsets without i

    None for more than `MOST_SHARED` findings, and where some subset makes a state certain: then a leaning is
    infinite, and there is nothing to share out. Cost: O(k 2^k).
    """
    n_findings = len(explained.findings)
    if n_findings > MOST_SHARED:
        return None
    if n_findings > MOST_SHARED_OF_MODEL and is_model(explained):
        raise LimitError(
            f"they need the expected prediction of the model for each subset of {n_findings} findings, and "
            f"{MOST_SHARED_OF_MODEL} findings are the most that it is found for"
        )
    values = leaning.of(subset_class_masses(explained).T)
    if not np.isfinite(values).all():
        return None
    sizes = np.zeros(1, dtype=np.int64)
    for _ in range(n_findings):
        sizes = np.add.outer(sizes, [0, 1]).reshape(-1)
    share = [
        math.factorial(s) * math.factorial(n_findings - s - 1) / math.factorial(n_findings)
        for s in range(n_findings)
    ]
    found = np.empty(n_findings)
    for i in range(n_findings):
        by_finding = values.reshape(2**i, 2, -1)
        before = sizes.reshape(2**i, 2, -1)[:, 0]
        found[i] = (np.array(share)[before] * (by_finding[:, 1] - by_finding[:, 0])).sum()
    return found


def subset_class_masses(explained: ExplainedDecision) -> Floats:  # (classes, subsets)
    """Pr(class, the findings of a subset) for all subsets, the first finding the highest bit.

    Each finding gets a child that tells only whether the finding is as observed. One inference over these
    children gives the masses of all patterns; summing over "either" gives those of all subsets.
    """
    network = explained.network
    cpts = [
        _indicator(network, finding, state, number)
        for number, (finding, state) in enumerate(zip(explained.findings, explained.states, strict=True))
    ]
    extended = BayesianNetwork([*network.cpts, *cpts])
    target = extended.index(network.variables[explained.problem.target].name)
    asked = [target, *(extended.index(cpt.child.name) for cpt in cpts)]
    masses = joint_table(extended, asked, {}).reshape(len(explained.problem.prior), -1)
    for i in range(len(cpts)):
        pattern = masses.reshape(len(masses) * 2**i, 2, -1)
        pattern[:, 0] += pattern[:, 1]
    return masses


def _indicator(network: BayesianNetwork, finding: int, state: int, number: int) -> Cpt:
    variable = network.variables[finding]
    # A name that no variable of the network has, whatever the network's names are.
    longest = max(len(name) for name in network.names)
    child = Variable(f"{'x' * longest}{number}", ["other", "as observed"])
    rows = np.array([[1.0, 0.0]] * len(variable))
    rows[state] = [0.0, 1.0]
    return Cpt(child, [variable], rows)


def conflict_of(explained: ExplainedDecision) -> float:
    """How much less probable the findings are together than if they were unrelated, in bits.

        log2 prod_i Pr(e_i) - log2 Pr(e)

    Above 0 the findings surprise each other [jensen1991].
    """
    network = explained.network
    together = log_probability(network, explained.problem.evidence)
    marginals = all_marginals(network, {})
    alone = math.fsum(math.log(marginals[v][s]) for v, s in explained.problem.evidence.items())
    return (alone - together) / math.log(2.0)
