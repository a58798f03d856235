"""A classifier with evidence, in positions: what engines are given."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import QueryError, expect, expect_list
from unswayed.core.memo import Memo, Topic
from unswayed.core.names import listing, unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rounding import bound_lost_share, bound_rounding
from unswayed.decisions.rules import Decider
from unswayed.inference.expected import expect_rows, find_case
from unswayed.inference.posteriors import joint_table
from unswayed.inference.predictors import is_large_model
from unswayed.model.evidence import join_findings, observe, read_evidence
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import PredictorCpt

T = TypeVar("T")
MOST_STRUCTURES = 64
"""How many sets of observed and free variables a network remembers what its graph tells about."""
PRIORS: Topic[tuple[Floats, float]] = Topic("posteriors of targets", most=64)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is observed, what may still be, and how the decision falls."""

    classifier: Classifier
    """The classifier as the person gave it; with soft findings, on the network that `observe` extended."""
    evidence: Mapping[int, int]
    """Observed states by position; may include variables that are no features."""
    free: tuple[int, ...]
    """Positions of the features not observed yet."""
    prior: Floats = field(repr=False)
    """Pr(target | evidence), a number for each class."""
    prior_doubt: float = 0.0
    """How far a probability of a person's own model may be off where it was estimated, at 99% confidence."""
    memo: Memo = field(init=False, default_factory=Memo, repr=False, compare=False)
    """What engines remember about this problem; what `replace` makes of it begins with nothing."""

    @property
    def network(self) -> BayesianNetwork:
        """The network behind the classifier."""
        return self.classifier.network

    @property
    def target(self) -> int:
        """Position of the target."""
        return self.classifier.target_index

    @property
    def decider(self) -> Decider:
        """The rule, bound to the target."""
        return self.classifier.decider

    @property
    def rounding(self) -> float:
        """How far rounding can move the log-odds that an engine finds; see `bound_rounding`."""
        return bound_rounding(self.network)

    @property
    def lost_share(self) -> float:
        """Share of a row that may have been lost to underflow; see `bound_lost_share`."""
        return bound_lost_share(self.network)

    def sizes(self, variables: Iterable[int]) -> list[int]:
        """Numbers of states of variables given by position."""
        every = self.classifier.network.variables
        return [len(every[v].states) for v in variables]

    def kept(self, names: Iterable[str]) -> frozenset[int]:
        """Positions of features to be observed next; `QueryError` when they cannot be."""
        chosen = expect_list(names, "the features")
        for name in chosen:
            expect(name, str, "the name of a feature")
            if name not in self.classifier.features:
                hint = unknown_name("feature", name, self.classifier.features)
                raise QueryError(f"{name!r} cannot be kept, it is not among the features: {hint}")
        positions = [self.network.index(name) for name in chosen]
        observed = [self.network.variables[p].name for p in positions if p in self.evidence]
        if observed:
            raise QueryError(f"{listing(observed)} cannot be kept: observed already, part of the evidence")
        return frozenset(positions)


def forget_answers(problem: Problem) -> Problem:
    """The problem without what engines remember about it: nothing depends on what was asked before."""
    return replace(problem)


def remember_structure(problem: Problem, topic: Topic[T], find: Callable[[], T], *more: Hashable) -> T:
    """What `find` tells from the graph and what is observed, whatever the states; kept with the network."""
    key = (problem.free, problem.target, frozenset(problem.evidence), *more)
    return problem.network.memo.get(topic, key, find)


def join_evidence(classifier: Classifier, evidence: Mapping[str, Any] | None) -> dict[str, str]:
    """Findings that hold for every case with those of this one; `QueryError` where they contradict.

    A soft finding leaves its variable open, so that a case may observe it; the same finding twice is one.
    """
    joined, here = dict(classifier.given), read_evidence(classifier.network, evidence)
    for name, value in here.items():
        given = joined.get(name, value)
        both = given if given == value else join_findings(classifier.network.variable(name), given, value)
        if both is None:
            raise QueryError(
                f"{name!r} is {value!r} here, but this classifier is for cases where it is {given!r}"
            )
        joined[name] = both
    return joined


def make_problem(classifier: Classifier, evidence: Mapping[str, Any] | None = None) -> Problem:
    """The classifier at this evidence, checked; `ImpossibleEvidence` when Pr(evidence) = 0.

    A feature with a soft finding, such as one of several states, may still be observed (`model/evidence.py`).
    """
    expect(classifier, Classifier, "the classifier")
    seen = observe(classifier.network, join_evidence(classifier, evidence) if classifier.given else evidence)
    network, observed = seen.network, seen.states
    if network is not classifier.network or classifier.given:
        classifier = Classifier(network, classifier.target, classifier.features, classifier.rule)
    if classifier.target_index in observed:
        raise QueryError(
            f"the target {classifier.target!r} is part of the evidence; once it is known, "
            "there is nothing to decide"
        )
    free = tuple(p for p in map(network.index, classifier.features) if p not in observed)
    prior, doubt = _find_prior(network, classifier.target_index, observed)
    return Problem(classifier, observed, free, prior, doubt)


def _find_prior(network: BayesianNetwork, target: int, observed: Mapping[int, int]) -> tuple[Floats, float]:
    """Pr(target | evidence) and how far it may be off, remembered: one case is asked about in many ways."""
    key = (target, tuple(sorted(observed.items())))

    def find() -> tuple[Floats, float]:
        cpt = network.cpts[target]
        if isinstance(cpt, PredictorCpt) and all(parent in observed for parent in network.parents[target]):
            # Complete rows are decided by the model itself, also where the background excludes them.
            row = np.array([[observed[parent] for parent in network.parents[target]]])
            return read_only(cpt.probabilities(row)[0].copy()), 0.0
        case = find_case(network, target, observed) if is_large_model(network, target, observed) else None
        if case is None:
            return read_only(joint_table(network, [target], observed)), 0.0
        found = expect_rows(case)
        return read_only(found.mass[0] / found.mass[0].sum()), found.doubt if found.is_sampled else 0.0

    return network.memo.get(PRIORS, key, find)
