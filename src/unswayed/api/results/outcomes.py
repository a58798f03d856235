"""What single observations would do: each state of a feature, the decision then, and how safe it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unswayed.api.decisions import Decision, decision_of
from unswayed.api.observations import Case
from unswayed.core.anytime import settle, within
from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.core.measurement import Measurement
from unswayed.decisions.problem import Problem
from unswayed.inference.posteriors import joint_table


@dataclass(frozen=True, slots=True)
class Finding:
    """What one single observation would do."""

    feature: str
    state: str
    probability: float
    """Pr(feature = state | evidence)."""
    decision: Decision
    effect: float
    """Total variation between the posterior with this finding and the one without."""
    sdp: Measurement | None = None
    """None when it was not computed, or no engine finds it within the limits."""


def list_outcomes(case: Case, feature: str) -> tuple[Finding, ...]:
    """What each possible state of a feature would do, with the same-decision probability then.

    The limit on time is for all states together: those for which none is left have no such probability.

    >>> from unswayed.api.history import follow
    >>> from unswayed.decisions.classifier import Classifier
    >>> from unswayed.model.zoo import review
    >>> paper = follow(Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+"))
    >>> [(each.state, each.decision.action, round(each.sdp.value, 2)) for each in list_outcomes(paper, "R1")]
    [('+', 'not +', 0.67), ('-', 'not +', 1.0)]
    """
    with within(case.options.get("limits")):
        return measure_findings(case, outcomes_of(case.problem, case.problem.network.index(feature)))


def measure_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings with the same-decision probability after each, for as many as the time allows."""

    def measuring() -> Iterator[list[Finding]]:
        measured = list(findings)
        yield measured
        for place, each in enumerate(findings):
            measured[place] = replace(each, sdp=sdp_after(case, each))
            yield measured

    return tuple(settle(measuring()).last)


def outcomes_of(problem: Problem, position: int) -> list[Finding]:
    """What each possible state of a feature would do, from one small table."""
    network, prior, now = problem.network, problem.prior, decision_of(problem)
    pair = joint_table(network, [position, problem.target], problem.evidence)
    table = pair.reshape(-1, len(prior))
    variable = network.variables[position]
    shares = table.sum(axis=1)
    found = []
    for state in np.flatnonzero(shares > 0):
        posterior = table[state] / shares[state]
        action = problem.decider.actions[int(problem.decider.decide(posterior[np.newaxis])[0])]
        states = dict(zip(now.posterior, posterior.tolist(), strict=True))
        later = Decision(action, states, now.threshold)
        effect = float(np.abs(posterior - prior).sum()) / 2
        found.append(Finding(variable.name, variable.states[state], float(shares[state]), later, effect))
    return found


def sdp_after(case: Case, finding: Finding) -> Measurement | None:
    """The same-decision probability after a finding; None where no engine finds it within the limits."""
    try:
        return case.observe(finding.feature, finding.state).sdp()
    except (LimitError, ImpossibleEvidence):
        return None
