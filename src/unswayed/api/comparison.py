"""Where two classifiers decide differently: how often, which way, and on which instances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unswayed.api.models import takes_models
from unswayed.api.shown import Framed
from unswayed.core.anytime import bounded
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.measurement import Certainty
from unswayed.core.numerics import is_whole
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.posteriors import joint_table
from unswayed.inference.sampling import sample_states
from unswayed.model.evidence import Evidence
from unswayed.model.variable import Variable

if TYPE_CHECKING:
    from unswayed.decisions.table_classifier import TableClassifier

LARGEST_TABLE = 2.0**20
"""Most instantiations of all features that are listed one by one."""
SAMPLES = 20_000
"""Instances drawn where there are more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One instance that is decided differently."""

    states: dict[str, str]
    """The state of every feature of the full classifier that is not evidence."""
    probability: float
    """How probable the instance is, given the evidence."""
    full: str
    """What the full classifier decides."""
    other: str
    """What the other one decides."""
    posterior: dict[str, float]
    """Pr(target | the instance), all features observed."""


@dataclass(frozen=True, slots=True)
class ValueShare:
    """How often a feature has one value among the instances decided differently, and among all."""

    feature: str
    state: str
    among: float
    overall: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Framed):
    """How two classifiers decide over all instances."""

    agreement: float
    """Probability that they decide alike."""
    mass: dict[tuple[str, str], float]
    """Probability of each pair of decisions, the full classifier's first."""
    differences: tuple[Difference, ...]
    """Instances that are decided differently, the most probable ones first."""
    values: tuple[ValueShare, ...]
    """Feature values more frequent among those than among all, the most telling ones first."""
    certainty: Certainty
    """EXACT, or ESTIMATE where instances were drawn at random."""


@bounded
@takes_models
def compare(
    full: Classifier,
    other: Classifier | TableClassifier,
    evidence: Evidence | None = None,
    *,
    at_most: int = 10,
    rng: np.random.Generator | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Comparison:
    """How often `other`, which sees some of the features of `full`, decides as it does, and where not.

    Where there are few enough instances, all are compared; otherwise `rng` draws some, and without it a
    `QueryError` says so.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> chair = Classifier(review(), "D", ["AC"], ThresholdRule("+", 0.37))
    >>> found = compare(papers, chair)
    >>> round(found.agreement, 2), found.differences[0].states
    (0.92, {'R1': '+', 'R2': '-', 'AC': '+'})
    """
    if not hasattr(other, "predict"):
        raise QueryError(f"the other classifier must be a Classifier or a TableClassifier, not {other!r}")
    if not is_whole(at_most) or at_most < 0:
        raise QueryError(f"at_most must be a whole number from 0 on, not {at_most!r}")
    problem = make_problem(full, evidence)
    full, network, observed, free = problem.classifier, problem.network, problem.evidence, list(problem.free)
    sizes = [len(network.variables[p]) for p in free]
    if compares_all(problem):
        states: Ints = np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T
        table = joint_table(network, [*free, full.target_index], observed)
        class_mass = table.reshape(len(states), -1)
        certainty = Certainty.EXACT
    elif rng is None:
        raise QueryError(
            f"{len(free)} features have too many instances to go through; give an rng to draw some"
        )
    else:
        states, class_mass = _drawn(full, observed, free, rng=rng)
        certainty = Certainty.ESTIMATE
    possible = class_mass.sum(axis=1) > 0
    rows = _Rows(tuple(free), states[possible], class_mass[possible])
    return _compared(full, other, rows, observed, at_most=at_most, certainty=certainty)


def compares_all(problem: Problem) -> bool:
    """Whether there are few enough instances to compare every one; else some are drawn."""
    return math.prod(map(float, problem.sizes(problem.free))) <= LARGEST_TABLE


@dataclass(frozen=True, slots=True)
class _Rows:
    """Instances with Pr(class, instance | evidence)."""

    features: tuple[int, ...]
    states: Ints  # (instances, features)
    class_mass: Floats  # (instances, classes)


def _drawn(
    full: Classifier,
    observed: Mapping[int, int],
    free: list[int],
    *,
    rng: np.random.Generator,
) -> tuple[Ints, Floats]:
    """Distinct instances by how often they were drawn, their mass split by the exact posterior."""
    drawn = sample_states(full.network, SAMPLES, observed, rng)[:, free]
    states, counts = np.unique(drawn, axis=0, return_counts=True)
    posterior = batch_posteriors(full.network, full.target_index, free, states, observed)
    return states.astype(np.int64), posterior * (counts / counts.sum())[:, np.newaxis]


def _compared(
    full: Classifier,
    other: Classifier | TableClassifier,
    rows: _Rows,
    observed: Mapping[int, int],
    *,
    at_most: int,
    certainty: Certainty,
) -> Comparison:
    ours = np.array(full.actions, dtype=object)[full.decider.decide(rows.class_mass)]
    theirs = np.array(_decisions(other, full, rows, observed), dtype=object)
    mass = rows.class_mass.sum(axis=1)
    pairs = {
        (a, b): float(mass[(ours == a) & (theirs == b)].sum()) for a in full.actions for b in full.actions
    }
    differ = np.flatnonzero(ours != theirs)
    top = differ[np.argsort(-mass[differ], kind="stable")][:at_most]
    return Comparison(
        agreement=float(mass[ours == theirs].sum()),
        mass={pair: share for pair, share in pairs.items() if share > 0},
        differences=tuple(_difference(full, rows, int(i), (str(ours[i]), str(theirs[i]))) for i in top),
        values=_telling_values(full, rows, mass, ours != theirs),
        certainty=certainty,
    )


def _telling_values(full: Classifier, rows: _Rows, mass: Floats, differ: Bools) -> tuple[ValueShare, ...]:
    """Values by how much they tell: their share of the relative entropy of the differing instances to all."""
    if not mass[differ].sum() > 0:
        return ()
    found = []
    for column, position in enumerate(rows.features):
        variable = full.network.variables[position]
        codes, n_states = rows.states[:, column], len(variable)
        overall = np.bincount(codes, mass, n_states) / mass.sum()
        among = np.bincount(codes[differ], mass[differ], n_states) / mass[differ].sum()
        found += [
            ValueShare(variable.name, state, float(among[s]), float(overall[s]))
            for s, state in enumerate(variable.states)
            if among[s] > overall[s] + 1e-9
        ]
    return tuple(sorted(found, key=lambda each: -each.among * math.log(each.among / each.overall)))


def _decisions(
    other: Classifier | TableClassifier, full: Classifier, rows: _Rows, observed: Mapping[int, int]
) -> list[str]:
    """What the other classifier decides on each instance, given the evidence."""
    network = full.network
    kept = [i for i, p in enumerate(rows.features) if network.variables[p].name in other.features]
    distinct, which = np.unique(rows.states[:, kept], axis=0, return_inverse=True)
    positions = [rows.features[i] for i in kept]
    if isinstance(other, Classifier):
        posteriors = batch_posteriors(network, full.target_index, positions, distinct, observed)
        actions = [other.actions[a] for a in other.decider.decide(posteriors)]
    else:
        actions = _looked_up(other, [network.variables[p] for p in positions], distinct)
    return [actions[i] for i in which.reshape(-1)]


def _looked_up(other: TableClassifier, kept: list[Variable], distinct: Ints) -> list[str]:
    if not kept:
        return [other.decisions[0]]
    return other.predict({v.name: [v.states[s] for s in distinct[:, i].tolist()] for i, v in enumerate(kept)})


def _difference(full: Classifier, rows: _Rows, row: int, decisions: tuple[str, str]) -> Difference:
    variables = full.network.variables
    mass = rows.class_mass[row]
    target = variables[full.target_index]
    return Difference(
        states={
            variables[p].name: variables[p].states[int(rows.states[row, i])]
            for i, p in enumerate(rows.features)
        },
        probability=float(mass.sum()),
        full=decisions[0],
        other=decisions[1],
        posterior=dict(zip(target.states, (mass / mass.sum()).tolist(), strict=True)),
    )
