"""The expected prediction of a person's own model: Pr(D, kept inputs | e), exactly where its kind allows.

- Few completions of what is missing: all of them are listed, whatever the model.
- A logistic function of a sum of terms: the mean of a smooth function of a sum, from the sum's transform.

  With sigma the logistic function and P a period of four times the largest sum (or more), the square wave

      g(s) = sum over k of  sigma(s + k P) - sigma(s + k P - P/2)  =  1/2 + (4 pi / P) sum over odd n of
             sin(2 pi n s / P) / sinh(2 pi^2 n / P)

  equals sigma(s) but for 2 exp(-P/4) wherever |s| <= P/4, and its terms fall off so fast that about P of them
  suffice. The mean of each sine is one column of an elimination over the background.
- An average of trees: the mean of each tree is a sum over its leaves, whose boxes have masses.
- One tree under any link: a leaf has one prediction.

Everything else is estimated from completions drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.memo import Topic
from unswayed.inference.input_law import InputLaw, find_input_law
from unswayed.inference.predictors import (
    MOST_COMPLETIONS,
    AdditivePredictor,
    Predictor,
    TreesPredictor,
    fill_rows,
    find_predictor,
)
from unswayed.inference.sampling import sample_states
from unswayed.model.distribution import all_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import Link, apply_link
from unswayed.model.nodes.trees import TreesCpt

ROUNDING = 1e-13
"""More than floating point changes in a mean that is called exact."""
SETTLED = 36.0
"""exp(-SETTLED) is below half a unit in the last place of 1."""
MOST_TURNS = 2.0**15
"""Half period up to which a sum has its transform taken: some 30,000 frequencies."""
MOST_LEAVES = 2**17
"""Leaves of an average of trees up to which every one has its mass found."""
N_SAMPLES, CONFIDENCE = 20_000, 0.99
"""Completions drawn where nothing is exact, and the chance that the interval made of them is right."""

UNITS_PER_STATE, UNITS_PER_PREDICTION = 0.1, 1.0
"""Of drawing one variable of a completion, and of what a model of many trees says of it."""
N_BATCHES = 10
"""Parts of them that are compared to see how much chance is in an estimate."""
DRAWS: Topic[tuple[Ints, Floats]] = Topic("completions of models", most=8)


@dataclass(frozen=True, slots=True, eq=False)
class ModelCase:
    """A model at some evidence."""

    network: BayesianNetwork
    target: int
    predictor: Predictor
    """The model; of trees what is left of them when the splits on what was observed are taken."""
    inputs: tuple[int, ...]
    """Positions of the model's inputs, in its order."""
    evidence: Mapping[int, int]
    law: InputLaw
    """Of the inputs that are not observed, and of further variables that may be kept."""

    def condition(self, states: Mapping[int, int]) -> ModelCase:
        """The case where some of the law's variables are known too: nothing is planned or read anew."""
        evidence = {**self.evidence, **states}
        predictor, inputs = _prune(self.predictor, self.inputs, evidence)
        # What is complete needs no background, however unlikely it is there.
        is_complete = evidence.keys() >= set(inputs)
        law = find_input_law(self.network, (), evidence) if is_complete else self.law.condition(states)
        return ModelCase(self.network, self.target, predictor, inputs, evidence, law)

    @property
    def n_completions(self) -> float:
        """How many instantiations the law's variables have."""
        return math.prod(map(float, self.law.n_states))

    def predict(self, states: Ints) -> Floats:  # (rows, law's variables) -> (rows, classes)
        """What the model says of completions."""
        return self.predictor.probabilities(self.fill(states))

    def fill(self, states: Ints) -> Ints:
        """The inputs of completions."""
        return fill_rows(self.inputs, self.evidence, self.law.variables, states)

    def widen(self, allowed: Bools) -> Bools:  # (boxes, law's states) -> (boxes, all states of the inputs)
        """Boxes of the law's variables as boxes of all inputs."""
        starts = np.cumsum([0, *self.law.n_states])
        parts = []
        for parent in self.inputs:
            if parent in self.evidence:
                part = np.zeros((len(allowed), len(self.network.variables[parent])), dtype=np.bool_)
                part[:, self.evidence[parent]] = True
            else:
                place = self.law.variables.index(parent)
                part = allowed[:, starts[place] : starts[place + 1]]
            parts.append(part)
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(allowed), 0), dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Pr(D = c, row | e) for rows of kept variables, and how far each may be off."""

    mass: Floats  # (rows, classes)
    doubt: float
    """Of each row's masses, in shares of the row."""
    is_sampled: bool = False
    """Whether the doubt is a matter of chance."""


def find_case(
    network: BayesianNetwork, target: int, evidence: Mapping[int, int], others: Sequence[int] = ()
) -> ModelCase | None:
    """The target's model at the evidence; None where its node is no model."""
    predictor = find_predictor(network, target)
    if predictor is None:
        return None
    model, inputs = _prune(predictor, network.parents[target], evidence)
    wanted = dict.fromkeys((*inputs, *others))
    law = find_input_law(network, [v for v in wanted if v not in evidence and v != target], evidence)
    return ModelCase(network, target, model, inputs, evidence, law)


def _prune(
    model: Predictor, inputs: tuple[int, ...], evidence: Mapping[int, int]
) -> tuple[Predictor, tuple[int, ...]]:
    """Trees without the splits that the evidence decides, and the inputs that are left of them.

    A decision at 0 stays as it is: adding up in another order could turn the last tie.
    """
    known = {place: evidence[v] for place, v in enumerate(inputs) if v in evidence}
    if not known or not isinstance(model, TreesCpt) or model.link == Link.STEP:
        return model, inputs
    pruned = model.prune({place: model.inputs[place].values[state] for place, state in known.items()})
    place_of = {parent.name: v for parent, v in zip(model.parents, inputs, strict=True)}
    return pruned, tuple(place_of[parent.name] for parent in pruned.parents)


def expect_rows(case: ModelCase, kept: tuple[int, ...] = (), *, n_samples: int = N_SAMPLES) -> Expected:
    """The expected prediction for each instantiation of the kept variables, the last of them fastest."""
    exact = _expect_certainly(case, kept)
    return expect_sampled(case, kept, n_samples) if exact is None else exact


def _expect_certainly(case: ModelCase, kept: tuple[int, ...]) -> Expected | None:
    """The expected prediction by all completions, or by what the model's kind allows; None without either."""
    is_listed = case.n_completions <= MOST_COMPLETIONS
    return expect_listed(case, kept) if is_listed else expect_exactly(case, kept)


def expect_joint(
    network: BayesianNetwork, target: int, free: Sequence[int], evidence: Mapping[int, int]
) -> Floats:
    """Pr(free variables | evidence), the target's model among them, with an axis for each.

    Raises `LimitError` where it can only be estimated.
    """
    kept = tuple(v for v in free if v != target)
    case = find_case(network, target, evidence, kept)
    assert case is not None
    found = _expect_certainly(case, kept)
    if found is None:
        raise LimitError(
            f"the expected prediction of {network.variables[target].name!r} over "
            f"{len(case.law.variables)} missing inputs can only be estimated; observe more of them, "
            "or ask for the decision, which takes the estimate"
        )
    sizes = [len(network.variables[v]) for v in (*kept, target)]
    values = found.mass.reshape(sizes) / found.mass.sum()
    return np.ascontiguousarray(values.transpose([[*kept, target].index(v) for v in free]))


def expect_exactly(case: ModelCase, kept: tuple[int, ...]) -> Expected | None:
    """The expected prediction without listing completions; None where the model does not allow that."""
    model = case.predictor
    if isinstance(model, AdditivePredictor) and model.link == "logit":
        return _expect_logistic(case, kept)
    if isinstance(model, AdditivePredictor) and model.link == "identity" and _is_share(model):
        return _expect_linear(case, kept)
    if isinstance(model, TreesPredictor):
        is_average = model.link == "identity" and _is_share(model)
        if is_average or len(model.leaves.starts) <= 1:
            return _expect_leaves(case, kept, model)
    return None


def expect_listed(case: ModelCase, kept: tuple[int, ...]) -> Expected:
    """All completions, each with its mass and prediction."""
    sizes, masses = case.law.n_states, case.law.table()
    states = all_states(sizes)
    weighted = masses[:, np.newaxis] * case.predict(states)
    return Expected(sum_rows(case.law, states, weighted, kept), ROUNDING)


def sum_rows(law: InputLaw, states: Ints, values: Floats, kept: tuple[int, ...]) -> Floats:
    """Values (completions, ...) summed to the rows of the kept variables, the last of them fastest."""
    row = np.zeros(len(states), dtype=np.int64)
    for variable in kept:
        row = row * law.sizes[variable] + states[:, law.variables.index(variable)]
    n_rows = math.prod(law.sizes[variable] for variable in kept)
    return np.stack([np.bincount(row, column, n_rows) for column in values.T], axis=1)


def find_terms(case: ModelCase, model: AdditivePredictor) -> tuple[Floats, list[Floats]]:
    """The scores of what is observed, and what each of the law's variables adds (states, scores)."""
    base = np.array(model.bias, dtype=np.float64)
    terms = dict(zip(case.inputs, model.terms, strict=True))
    for parent in [v for v in case.inputs if v in case.evidence]:
        base += terms.pop(parent)[case.evidence[parent]]
    nothing = [np.zeros((size, len(base))) for size in case.law.n_states]
    return base, [terms.get(v, zero) for v, zero in zip(case.law.variables, nothing, strict=True)]


def _expect_logistic(case: ModelCase, kept: tuple[int, ...]) -> Expected | None:
    assert isinstance(case.predictor, AdditivePredictor)
    base, terms = find_terms(case, case.predictor)
    middles = [0.5 * float(term.min() + term.max()) for term in terms]
    reach = sum(0.5 * float(np.ptp(term)) for term in terms)
    offset = float(base[0]) + sum(middles)
    largest = max(abs(offset) + reach, SETTLED)
    if largest > MOST_TURNS:
        return None
    period = 4.0 * largest
    n = np.arange(1, math.ceil(SETTLED * period / (2.0 * math.pi**2)) + 2, 2, dtype=np.float64)
    turns = n / period
    by_variable = [
        np.exp(2j * np.pi * ((term[:, 0] - middle)[:, np.newaxis] * turns))
        for term, middle in zip(terms, middles, strict=True)
    ]
    total = case.law.sum_columns([np.ones((size, 1)) for size in case.law.n_states], kept)[:, 0]
    waves = (case.law.sum_columns(by_variable, kept) * np.exp(2j * np.pi * offset * turns)).imag
    share = 0.5 * total + 4.0 * math.pi / period * (waves @ (1.0 / np.sinh(2.0 * math.pi**2 * turns)))
    share = np.clip(share, 0.0, total)
    return Expected(np.stack([total - share, share], axis=1), ROUNDING)


def _is_share(model: AdditivePredictor | TreesPredictor) -> bool:
    """Whether scores are probabilities as they stand, so that the mean prediction is the mean score."""
    total = sum(len(parent) for parent in model.parents)
    bounds = model.score_bounds(np.ones((1, total), dtype=np.bool_))
    low, high = float(bounds[0].min()), float(bounds[1].max())
    is_one = bounds[0].shape[1] == 1
    return low >= -ROUNDING and high <= 1.0 + ROUNDING and (is_one or isinstance(model, TreesPredictor))


def _expect_linear(case: ModelCase, kept: tuple[int, ...]) -> Expected:
    """A sum of the means of the terms: in column i, input i is weighted by what it adds."""
    assert isinstance(case.predictor, AdditivePredictor)
    base, terms = find_terms(case, case.predictor)
    by_variable = [np.ones((len(term), len(terms) + 1)) for term in terms]
    for place, term in enumerate(terms):
        by_variable[place][:, place] = term[:, 0]
    columns = case.law.sum_columns(by_variable, kept)
    total = columns[:, -1]
    share = np.clip(base[0] * total + columns[:, :-1].sum(axis=1), 0.0, total)
    return Expected(np.stack([total - share, share], axis=1), ROUNDING)


def _expect_leaves(case: ModelCase, kept: tuple[int, ...], model: TreesPredictor) -> Expected | None:
    """The masses of all leaves that the evidence leaves open, times what they say."""
    boxes, values, _ = open_leaves(case, model)
    if len(boxes) > MOST_LEAVES:
        return None
    total = case.law.box_masses(np.ones((1, sum(case.law.n_states)), dtype=np.bool_), kept)[:, 0]
    if not len(boxes):  # the evidence has taken every split
        return Expected(total[:, np.newaxis] * apply_link(model.link, model.bias[np.newaxis]), ROUNDING)
    masses = case.law.box_masses(boxes, kept)
    if len(model.leaves.starts) <= 1:
        return Expected(masses @ apply_link(model.link, model.bias + values), ROUNDING)
    score = total[:, np.newaxis] * model.bias + masses @ values
    if score.shape[1] == 1:
        score = np.concatenate([total[:, np.newaxis] - score, score], axis=1)
    score = np.maximum(score, 0.0)
    share = total / np.maximum(score.sum(axis=1), 1e-300)
    return Expected(score * share[:, np.newaxis], ROUNDING)


def open_leaves(case: ModelCase, model: TreesPredictor) -> tuple[Bools, Floats, Ints]:
    """The leaves that the evidence allows: boxes of the law's variables, values, and each one's tree."""
    nodes, starts, boxes = model.leaves.nodes, model.leaves.starts, model.leaves.boxes
    trees = np.searchsorted(starts, np.arange(len(nodes)), side="right") - 1
    parents = case.inputs
    ends = np.cumsum([0, *(len(parent) for parent in model.parents)])
    is_open = np.ones(len(nodes), dtype=np.bool_)
    for place, parent in enumerate(parents):
        if parent in case.evidence:
            is_open &= boxes[:, ends[place] + case.evidence[parent]]
    parts = [
        boxes[is_open][:, ends[parents.index(v)] : ends[parents.index(v) + 1]]
        if v in parents and v not in case.evidence  # a known one has taken its splits
        else np.ones((int(is_open.sum()), size), dtype=np.bool_)
        for v, size in zip(case.law.variables, case.law.n_states, strict=True)
    ]
    joined = np.concatenate(parts, axis=1) if parts else np.zeros((int(is_open.sum()), 0), dtype=np.bool_)
    return joined, model.value[nodes[is_open]], trees[is_open]


def expect_sampled(case: ModelCase, kept: tuple[int, ...], n_samples: int = N_SAMPLES) -> Expected:
    """The mean over completions drawn at random; every row's share has an interval of its own."""
    states, predictions = _drawn(case, n_samples)
    found = sum_rows(case.law, states, predictions, kept)
    counts = sum_rows(case.law, states, np.ones((n_samples, 1)), kept)
    total = case.law.sum_columns([np.ones((size, 1)) for size in case.law.n_states], kept)[:, :1]
    uniform = np.full(found.shape[1], 1.0 / found.shape[1])
    shares = np.where(counts > 0, found / np.maximum(counts, 1.0), uniform)
    # A mean of numbers between 0 and 1 varies no more than a share does.
    spread = NormalDist().inv_cdf(0.5 + 0.5 * CONFIDENCE) * 0.5 / math.sqrt(max(float(counts.min()), 1.0))
    return Expected(shares * total, min(spread, 1.0), is_sampled=True)


def sample_batches(case: ModelCase, kept: tuple[int, ...]) -> list[Floats]:  # each (rows, classes)
    """The masses that `expect_sampled` finds, from each of a few parts of its completions by itself."""
    states, predictions = _drawn(case, N_SAMPLES)
    each = N_SAMPLES // N_BATCHES
    parts = [slice(start, start + each) for start in range(0, N_SAMPLES, each)]
    return [sum_rows(case.law, states[part], predictions[part], kept) / each for part in parts]


def _drawn(case: ModelCase, n_samples: int) -> tuple[Ints, Floats]:
    """Completions and what the model says of them, once for all questions about a case."""

    def draw() -> tuple[Ints, Floats]:
        tick(n_samples * (UNITS_PER_STATE * len(case.network) + UNITS_PER_PREDICTION), "the completions")
        states = draw_completions(case, n_samples, np.random.default_rng(0))
        return states, case.predict(states)

    key = (case.target, case.law.variables, n_samples, tuple(sorted(case.evidence.items())))
    return case.network.memo.get(DRAWS, key, draw)


def draw_completions(
    case: ModelCase, n_samples: int, rng: np.random.Generator
) -> Ints:  # (samples, law's variables)
    """Completions of what is missing, independent, from their law given the evidence.

    The model itself stays out: its node comes after all others and costs more than all of them.
    """
    drawn = sample_states(case.network, n_samples, case.evidence, rng, without=case.target)
    return drawn[:, list(case.law.variables)]
