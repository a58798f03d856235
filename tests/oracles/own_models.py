"""People's own models as leaves, small and random, with every decision by plain enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.families import FunctionalCpt
from unswayed.model.nodes.predictor import apply_link
from unswayed.model.variable import Variable


class _Model(FunctionalCpt):
    """What the models here share."""

    has_zeros = True

    def probabilities(self, states):
        return apply_link(self.link, self.scores(np.asarray(states)))

    def unroll(self, known):
        return None

    def _parts(self):
        ends = np.cumsum([0, *map(len, self.parents)]).tolist()
        return [slice(a, b) for a, b in itertools.pairwise(ends)]


@dataclass(frozen=True, eq=False)
class Additive(_Model):
    """A link of a sum of one term a parent."""

    child: Variable
    parents: tuple
    terms: tuple
    bias: np.ndarray
    link: str

    def scores(self, states):
        total = np.tile(self.bias, (len(states), 1))
        for place, term in enumerate(self.terms):
            total = total + term[states[:, place]]
        return total

    def score_bounds(self, allowed):
        low, high = (np.tile(self.bias, (len(allowed), 1)) for _ in range(2))
        for term, part in zip(self.terms, self._parts(), strict=True):
            may = allowed[:, part, np.newaxis]
            low += np.where(may, term, np.inf).min(axis=1)
            high += np.where(may, term, -np.inf).max(axis=1)
        return low, high


class Leaves(NamedTuple):
    nodes: np.ndarray
    starts: np.ndarray
    boxes: np.ndarray


@dataclass(frozen=True, eq=False)
class TreeSum(_Model):
    """A link of a sum of trees, each given by its leaves."""

    child: Variable
    parents: tuple
    leaves: Leaves
    value: np.ndarray
    bias: np.ndarray
    link: str

    def scores(self, states):
        total = np.tile(self.bias, (len(states), 1))
        ends = [*self.leaves.starts.tolist(), len(self.leaves.nodes)]
        offsets = np.cumsum([0, *map(len, self.parents)])[:-1]
        met = np.ones((len(states), len(self.leaves.nodes)), dtype=bool)
        for place, offset in enumerate(offsets):
            met &= self.leaves.boxes[:, offset + states[:, place]].T
        for start, end in itertools.pairwise(ends):
            total = total + self.value[start + met[:, start:end].argmax(axis=1)]
        return total

    def score_bounds(self, allowed):
        low, high = (np.tile(self.bias, (len(allowed), 1)) for _ in range(2))
        met = np.ones((len(allowed), len(self.leaves.nodes)), dtype=bool)
        for part in self._parts():
            met &= (allowed[:, np.newaxis, part] & self.leaves.boxes[:, part]).any(axis=2)
        ends = [*self.leaves.starts.tolist(), len(self.leaves.nodes)]
        for start, end in itertools.pairwise(ends):
            values, may = self.value[start:end], met[:, start:end, np.newaxis]
            low += np.where(may, values, np.inf).min(axis=1)
            high += np.where(may, values, -np.inf).max(axis=1)
        return low, high


@dataclass(frozen=True, eq=False)
class Function(_Model):
    """A function whose inside is not known; counts the rows that it was asked for."""

    child: Variable
    parents: tuple
    inside: object
    link: str = "identity"
    asked: list = field(default_factory=list)

    def probabilities(self, states):
        self.asked.append(len(states))
        return self.inside.probabilities(states)

    def scores(self, states):
        found = self.probabilities(states)
        return found[:, 1:] if len(self.child) == 2 else found


def random_trees(rng, parents, n_trees, depth, n_scores, draw):
    """Trees that split a random parent's states in two, down to a depth."""
    sizes = [len(parent) for parent in parents]
    offsets = np.cumsum([0, *sizes])
    boxes, values, starts = [], [], []

    def grow(box, left):
        free = [i for i in range(len(sizes)) if box[offsets[i] : offsets[i + 1]].sum() > 1]
        if not left or not free or rng.random() < 0.1:
            boxes.append(box)
            values.append(draw(n_scores))
            return
        place = int(rng.choice(free))
        part = slice(offsets[place], offsets[place + 1])
        allowed = np.flatnonzero(box[part])
        n_left = int(rng.integers(1, len(allowed)))
        below, above = box.copy(), box.copy()
        below[part][allowed[n_left:]] = False
        above[part][allowed[:n_left]] = False
        grow(below, left - 1)
        grow(above, left - 1)

    for _ in range(n_trees):
        starts.append(len(boxes))
        grow(np.ones(offsets[-1], dtype=bool), depth)
    return Leaves(np.arange(len(boxes)), np.array(starts), np.array(boxes)), np.array(values)


def random_background(rng, sizes, kind):
    """A tree, a forest, a mixture of trees, or a network with two parents, over inputs of these sizes."""
    inputs = [Variable(f"x{i}", [f"s{k}" for k in range(size)]) for i, size in enumerate(sizes)]
    hidden = Variable("z", ["a", "b", "c"]) if kind == "mixture" else None
    cpts = []

    def rows(child, parents):
        n_rows = math.prod(len(p) for p in parents)
        table = rng.dirichlet(np.ones(len(child)), n_rows)
        if rng.random() < 0.1 and len(child) > 1:  # an impossible state
            table[int(rng.integers(n_rows)), 0] = 0.0
            table /= table.sum(axis=1, keepdims=True)
        return Cpt(child, parents, table)

    if hidden is not None:
        cpts.append(rows(hidden, []))
    for i, child in enumerate(inputs):
        n_parents = {"independent": 0, "network": 2}.get(kind, 1)
        chosen = rng.choice(i, min(i, n_parents), replace=False).tolist() if i else []
        parents = [inputs[j] for j in chosen]
        cpts.append(rows(child, [*parents, *([hidden] if hidden else [])]))
    return inputs, cpts


def random_model(rng, child, parents, kind):
    """A model of a kind over these parents."""
    n_classes = len(child)
    integers = rng.random() < 0.4

    def draw(shape):
        if integers:
            return rng.integers(-3, 4, shape).astype(float)
        return rng.normal(size=shape)

    if kind == "additive":
        link = ["logit", "step"][int(rng.random() < 0.15)] if n_classes == 2 else "softmax"
        n_scores = 1 if n_classes == 2 else n_classes
        terms = tuple(draw((len(p), n_scores)) for p in parents)
        return Additive(child, parents, terms, draw(n_scores), link)
    if kind == "linear":
        n_scores = 1
        terms = tuple(rng.random((len(p), 1)) / (len(parents) + 1) for p in parents)
        return Additive(child, parents, terms, rng.random(1) / (len(parents) + 1), "identity")
    if kind == "forest":
        n_trees = int(rng.integers(1, 6))
        n_scores = 1 if n_classes == 2 else n_classes

        def share(n):
            return (rng.random(1) if n == 1 else rng.dirichlet(np.ones(n))) / n_trees

        leaves, value = random_trees(rng, parents, n_trees, 3, n_scores, share)
        return TreeSum(child, parents, leaves, value, np.zeros(n_scores), "identity")
    n_scores = 1 if n_classes == 2 else n_classes
    n_trees = 1 if kind == "tree" else int(rng.integers(2, 7))
    leaves, value = random_trees(rng, parents, n_trees, 3, n_scores, draw)
    return TreeSum(child, parents, leaves, value, draw(n_scores), "logit" if n_scores == 1 else "softmax")


KINDS = ("additive", "linear", "tree", "boosting", "forest")
BACKGROUNDS = ("independent", "tree", "mixture", "network")


def random_wrap(seed, *, max_inputs=12, most_completions=3000, kind=None):
    """A classifier whose target is a model, with evidence on some inputs (by name)."""
    rng = np.random.default_rng(seed)
    kind = KINDS[int(rng.integers(len(KINDS)))] if kind is None else kind
    n_inputs = int(rng.integers(1, max_inputs + 1))
    sizes = rng.integers(2, 5, n_inputs)
    inputs, cpts = random_background(rng, sizes, BACKGROUNDS[int(rng.integers(len(BACKGROUNDS)))])
    n_classes = 2 if kind == "linear" else int(rng.choice([2, 2, 3]))
    child = Variable("D", ["no", "yes", "maybe"][:n_classes])
    used = [inputs[i] for i in rng.permutation(n_inputs)]
    model = random_model(rng, child, tuple(used), kind)
    classifier = Classifier(
        BayesianNetwork([*cpts, model]), "D", [v.name for v in inputs], random_rule(rng, child)
    )
    order, left = rng.permutation(n_inputs).tolist(), math.prod(sizes.tolist())
    n_observed = int(rng.integers(0, n_inputs + 1))
    evidence = {}
    for place in order:
        if len(evidence) >= n_observed and left <= most_completions:
            break
        evidence[inputs[place].name] = inputs[place].states[int(rng.integers(sizes[place]))]
        left //= sizes[place]
    return classifier, evidence


def random_rule(rng, child):
    """Thresholds, the most probable class, or utilities."""
    kind = rng.random()
    if kind < 0.5:
        threshold = float(rng.choice([0.5, 0.5, 0.2, 0.7, round(float(rng.uniform(0.05, 0.95)), 3)]))
        return ThresholdRule(child.states[int(rng.integers(len(child)))], threshold)
    if kind < 0.75:
        return MostProbable()
    worth = {a: {s: float(rng.integers(-3, 4)) for s in child.states} for a in ("act", "wait", "ask")}
    return UtilityRule(worth)


def enumerate_model(problem, kept=frozenset()):
    """Rows of the kept inputs by states: (class masses, decision masses), every completion by itself."""
    network, target = problem.network, problem.target
    cpt, others = network.cpts[target], [v for v in range(len(network)) if v != target]
    open_ = [v for v in others if v not in problem.evidence]
    sizes = [len(network.variables[v]) for v in open_]
    grid = np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), dtype=int)
    states = np.zeros((len(grid), len(network)), dtype=int)
    states[:, open_] = grid
    for v, state in problem.evidence.items():
        states[:, v] = state
    mass = np.ones(len(states))
    for v in others:
        table = network.cpts[v].probabilities(states[:, list(network.parents[v])])
        mass *= table[np.arange(len(states)), states[:, v]]
    if set(network.parents[target]) <= set(problem.evidence):  # complete rows need no background
        mass = np.ones(len(states))
    mass /= mass.sum()
    shares = cpt.probabilities(states[:, list(network.parents[target])])
    actions = problem.decider.decide(shares)
    rows = {}
    for row, weight, share, action in zip(
        map(tuple, states[:, sorted(kept)]), mass, shares, actions, strict=True
    ):
        classes, decided = rows.setdefault(
            row, (np.zeros(shares.shape[1]), np.zeros(len(problem.decider.actions)))
        )
        classes += weight * share
        decided[action] += weight
    return rows


def agreement_by_enumeration(problem, kept, decider):
    """How often the expected prediction given the kept inputs decides as the model does on complete rows."""
    found = 0.0
    for classes, decided in enumerate_model(problem, kept).values():
        if classes.sum() > 0:
            found += decided[decider.decide(classes[np.newaxis])[0]]
    return float(found)


def problem_of(classifier, evidence):
    """The problem, or None where the evidence is impossible."""
    from unswayed.core.errors import ImpossibleEvidence

    try:
        return make_problem(classifier, evidence)
    except ImpossibleEvidence:
        return None
