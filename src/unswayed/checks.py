"""Checks that anyone can run on an engine of their own: where it answers, is the answer right?

An engine (`unswayed.engines.protocol.Engine`) prices a question, prepares a problem and answers for one
feature subset after another. `check_engine` puts random classifiers to it, with many-valued features, zeros,
ties, hidden variables, evidence and several classes, and compares with plain enumeration:

>>> from unswayed.engines import DenseEngine
>>> check_engine(DenseEngine(), n_problems=5).n_answered
5

An exact engine must agree to rounding, one that gives bounds must hold the truth between them, and one that
refuses must say why. `EngineFault` names the classifier that shows a fault.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import expected_agreement, maximum_potential_agreement
from unswayed.decisions.oracle import find_agreement, find_potential
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.engines.protocol import Engine, Needs, Question, Refusal
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

ROUNDING = 1e-9
"""How far an exact answer may be from the truth, and the truth outside certified bounds."""


class EngineFault(AssertionError):  # noqa: N818 - reads as what was found
    """An engine's answer is wrong; the message names the problem."""


@dataclass(frozen=True, slots=True)
class EngineReport:
    """What a check came to."""

    n_problems: int
    """Questions asked."""
    n_answered: int
    """Questions that the engine did not refuse."""
    widest: float
    """The widest interval among its answers."""


def check_engine(engine: Engine, *, n_problems: int = 200, seed: int = 0) -> EngineReport:
    """Compare an engine with enumeration on random problems; `EngineFault` at the first wrong answer."""
    rng = np.random.default_rng(seed)
    widths = []
    for number in range(n_problems):
        problem, kept = _draw_problem(rng)
        needs = Needs.POTENTIAL if number % 2 else Needs.AGREEMENT
        tolerance = 0.0 if engine.certainty is Certainty.EXACT else 1e-3
        price = engine.cost(problem, Question(kept, needs, tolerance))
        if isinstance(price, Refusal):
            if not price.reason:
                raise EngineFault(f"{engine.name} refuses without a reason: {_describe(problem, kept)}")
            continue
        low, high = _answer(engine, problem, Question(kept, needs, tolerance))
        truth = _measure(_enumerate(problem, kept), problem, needs)
        if engine.certainty is not Certainty.ESTIMATE and not low - ROUNDING <= truth <= high + ROUNDING:
            raise EngineFault(
                f"{engine.name} says {low:.12g} to {high:.12g} where the {needs.value} is {truth:.12g}: "
                f"{_describe(problem, kept)}"
            )
        if engine.certainty is Certainty.EXACT and high - low > ROUNDING:
            raise EngineFault(f"{engine.name} calls itself exact and answers {low:.12g} to {high:.12g}")
        widths.append(high - low)
    return EngineReport(n_problems, len(widths), max(widths, default=0.0))


def _answer(engine: Engine, problem: Problem, question: Question) -> tuple[float, float]:
    oracle = engine.prepare(problem)
    if question.needs is Needs.POTENTIAL:
        interval = find_potential(oracle, question.kept, question.tolerance)
    else:
        interval = find_agreement(oracle, question.kept, problem.decider, question.tolerance)
    return float(interval.low), float(interval.high)


def _measure(profile: DecisionProfile, problem: Problem, needs: Needs) -> float:
    if needs is Needs.POTENTIAL:
        return maximum_potential_agreement(profile)
    return expected_agreement(profile, problem.decider)


def _enumerate(problem: Problem, kept: frozenset[int]) -> DecisionProfile:
    """The profile by its definition: every instantiation of all variables, one after another."""
    network, sizes = problem.network, [len(variable) for variable in problem.network.variables]
    full: dict[tuple[int, ...], Floats] = {}
    for states in itertools.product(*(range(size) for size in sizes)):
        if all(states[v] == s for v, s in problem.evidence.items()):
            row = full.setdefault(tuple(states[f] for f in problem.free), np.zeros(sizes[problem.target]))
            row[states[problem.target]] += _joint(network, states)
    total = sum(float(mass.sum()) for mass in full.values())
    columns = [i for i, f in enumerate(problem.free) if f in kept]
    rows: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
    for outcome, mass in full.items():
        if not mass.sum():
            continue
        share, decided = rows.setdefault(
            tuple(outcome[i] for i in columns),
            (np.zeros(len(mass)), np.zeros(len(problem.decider.actions))),
        )
        share += mass / total
        decided[problem.decider.decide(mass[np.newaxis])[0]] += mass.sum() / total
    shares, decisions = zip(*rows.values(), strict=True)
    return profile_from_masses(np.array(shares), np.array(decisions))


def _joint(network: BayesianNetwork, states: tuple[int, ...]) -> float:
    known = {variable.name: states[i] for i, variable in enumerate(network.variables)}
    tables = [cpt for cpt in network.cpts if isinstance(cpt, Cpt)]
    return float(np.prod([_row(cpt, known)[known[cpt.child.name]] for cpt in tables]))


def _row(cpt: Cpt, known: Mapping[str, int]) -> Floats:
    """The distribution of a child, its parents in these states."""
    row = 0
    for parent in cpt.parents:
        row = row * len(parent) + known[parent.name]
    distribution: Floats = cpt.table[row]
    return distribution


def _draw_problem(rng: np.random.Generator) -> tuple[Problem, frozenset[int]]:
    """A random classifier at some evidence that is possible, and features to keep."""
    n_variables = int(rng.integers(3, 8))
    variables = [_draw_variable(i, rng) for i in range(n_variables)]
    cpts = []
    for i, variable in enumerate(variables):
        naive = rng.random() < 0.5
        n_parents = min(i, int(rng.integers(0, 3)))
        chosen = [0] if naive and i else sorted(rng.choice(i, n_parents, replace=False).tolist())
        parents = [variables[p] for p in chosen]
        n_rows = int(np.prod([len(p) for p in parents], dtype=int))
        cpts.append(Cpt(variable, parents, _draw_rows(n_rows, len(variable), rng)))
    network = BayesianNetwork(cpts)
    features = [v.name for v in variables[1:] if rng.random() < 0.85] or [variables[1].name]
    classifier = Classifier(network, "C", features, _draw_rule(variables[0], rng))
    drawn = _sample(cpts, rng)
    evidence = {v.name: drawn[v.name] for v in variables[1:] if rng.random() < 0.2}
    problem = make_problem(classifier, evidence)
    return problem, frozenset(f for f in problem.free if rng.random() < 0.5)


def _draw_variable(number: int, rng: np.random.Generator) -> Variable:
    n_states = int(rng.choice([2, 2, 2, 3]))
    return Variable(f"F{number}" if number else "C", [f"s{s}" for s in range(n_states)])


def _draw_rows(n_rows: int, n_states: int, rng: np.random.Generator) -> Floats:
    """Rows in tenths half of the time: these make zeros, and posteriors that tie with thresholds."""
    rows: Floats = rng.dirichlet(np.ones(n_states), n_rows)
    if rng.random() < 0.5:
        rows = rng.multinomial(10, rows) / 10
    return rows


def _draw_rule(target: Variable, rng: np.random.Generator) -> Rule:
    kind = rng.integers(3)
    if kind == 0:
        return MostProbable()
    if kind == 1:
        return ThresholdRule(str(rng.choice(target.states)), float(rng.integers(1, 10)) / 10)
    actions = {f"a{i}": {s: float(rng.integers(-3, 4)) for s in target.states} for i in range(3)}
    return UtilityRule(actions)


def _sample(cpts: Sequence[Cpt], rng: np.random.Generator) -> dict[str, str]:
    """States of all variables, drawn parents first: evidence taken from them is possible."""
    known: dict[str, int] = {}
    for cpt in cpts:
        known[cpt.child.name] = int(rng.choice(len(cpt.child), p=_row(cpt, known)))
    return {cpt.child.name: cpt.child.states[known[cpt.child.name]] for cpt in cpts}


def _describe(problem: Problem, kept: frozenset[int]) -> str:
    """What to type to see the problem again."""
    network, classifier = problem.network, problem.classifier
    tables = {
        c.child.name: ([p.name for p in c.parents], c.table.tolist())
        for c in network.cpts
        if isinstance(c, Cpt)
    }
    evidence = {
        network.variables[v].name: network.variables[v].states[s] for v, s in problem.evidence.items()
    }
    names = sorted(network.variables[f].name for f in kept)
    return (
        f"keeping {names} of {list(classifier.features)}, given {evidence}, rule {classifier.rule}, "
        f"tables {tables}"
    )
