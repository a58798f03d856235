"""A points score as a node: D is the band, its parents are the items, and rows are zeros and a one.

The chain of the node carries the sum so far, so a network of any shape below thirty items needs no table over
all of them; limits and rules are digits of the same sum (`score_sums.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.core.names import listing
from unswayed.model.chain import Chain, deterministic_chain
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.families import FunctionalCpt, checked_rows
from unswayed.model.score import Score, ScoreItem
from unswayed.model.score_laws import blocks_of
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCpt(FunctionalCpt):
    """The band of a score as a function of its items."""

    child: Variable
    """The band; its states are named as the bands are."""
    parents: tuple[Variable, ...]
    """The items, in the order of the form; their states are the answers."""
    score: Score
    """What is computed."""

    def __init__(self, score: Score) -> None:
        object.__setattr__(self, "child", Variable(score.title, [band.name for band in score.bands]))
        object.__setattr__(self, "parents", tuple(item.variable for item in score.items))
        object.__setattr__(self, "score", score)

    def probabilities(self, states: Ints) -> Floats:
        """One for the band of each row."""
        rows = checked_rows(states, len(self.parents), f"the score {self.child.name!r}").astype(np.int64)
        sums = self.score.sums
        codes = np.zeros(len(rows), dtype=np.int64)
        for place, term in enumerate(sums.terms):
            codes += term[rows[:, place]]
        found: Floats = np.eye(len(self.child))[sums.bands(codes)]
        return found

    @property
    def has_zeros(self) -> bool:
        """Always: a form has one band."""
        return True

    def unroll(self, known: Mapping[int, int]) -> Chain:
        """The chain of sums so far."""
        sums = self.score.sums
        codes = np.array([sum(int(sums.terms[place][state]) for place, state in known.items())])
        places = [place for place in range(len(self.parents)) if place not in known]
        moves = []
        for place in places:
            after = np.add.outer(codes, sums.terms[place])
            codes, move = np.unique(after, return_inverse=True)
            moves.append(move.reshape(after.shape))
        return deterministic_chain(places, moves, np.eye(len(self.child))[sums.bands(codes)])


@dataclass(frozen=True, slots=True, eq=False)
class ScoreInputs:
    """A score without limits and rules as a model that adds one term an input and takes the largest score."""

    band: Variable
    """What is decided; its states are the bands."""
    inputs: tuple[Variable, ...]
    """The items; their states are the answers."""
    terms: tuple[Floats, ...]  # each (answers, scores)
    """What each answer adds to the scores: one a band, or one that is above 0 for the second of two bands."""
    bias: Floats  # (scores,)
    """The scores of a form on which every term is 0."""
    cuts: tuple[Floats | None, ...]
    """For items that are numbers, the ends between ranges; a value equal to a cut is below it."""
    pieces: tuple[tuple[int, ...], ...]
    """For items that are numbers, the answer of each range in ascending order."""


def score_inputs(score: Score) -> ScoreInputs | None:
    """The terms of a score that is additive; None where limits or rules make it more than a sum (`ScoreCpt`).

    With cuts c_1 < c_2 < ... between the bands, the scores k s - (c_1 + ... + c_k) of band k are straight
    lines in the sum s, and the largest is that of the band that holds s.
    """
    sums = score.sums
    if not sums.is_additive:
        return None
    bands = sums.bands(sums.codes)
    # Halves between whole numbers: no sum ties. A band that no sum reaches begins where the next does.
    first = [np.searchsorted(bands, band) for band in range(1, len(score.bands))]
    codes = [*sums.codes.tolist(), int(sums.codes[-1]) + 1]
    thresholds = np.array([codes[place] - 0.5 for place in first])
    slopes = np.arange(1.0, 2.0) if len(score.bands) == 2 else np.arange(float(len(score.bands)))
    bias = -np.cumsum([0.0, *thresholds])[-len(slopes) :]
    tables = [_ranges(item) for item in score.items]
    return ScoreInputs(
        Variable(score.title, [band.name for band in score.bands]),
        tuple(item.variable for item in score.items),
        tuple(np.multiply.outer(term.astype(np.float64), slopes) for term in sums.terms),
        bias,
        tuple(cuts for cuts, _ in tables),
        tuple(pieces for _, pieces in tables),
    )


def _ranges(item: ScoreItem) -> tuple[Floats | None, tuple[int, ...]]:
    """Cuts between the ranges of a number, and the answer of each range."""
    if not item.is_number:
        return None, ()
    ranges = [(answer.when, k) for k, answer in enumerate(item.answers) if answer.when is not None]
    ordered = sorted(ranges, key=lambda each: (each[0].low, not each[0].holds_low))
    cuts = []
    for (below, _), (above, _) in pairwise(ordered):
        is_gap = below.high < above.low  # a value between them is refused elsewhere
        end = (below.high + above.low) / 2 if is_gap else below.high
        cuts.append(end if is_gap or below.holds_high else np.nextafter(end, -np.inf))
    return np.array(cuts), tuple(k for _, k in ordered)


def score_network(score: Score, background: BayesianNetwork | None = None) -> BayesianNetwork:
    """The network of a score: its band below a distribution of its items.

    Without a background the items are as the prevalences of the form say: independent, but for exclusive
    groups. `ModelError` where prevalences are missing, or where the background knows an item otherwise.
    """
    if background is None:
        cpts: list[ConditionalDistribution] = [
            cpt
            for places, rows, shares in _prior_blocks(score)
            for cpt in _priors(score, places, rows, shares)
        ]
    else:
        check_background(score, background)
        cpts = list(background.cpts)
    return BayesianNetwork([*cpts, ScoreCpt(score)], name=score.title)


def _prior_blocks(score: Score) -> list[tuple[tuple[int, ...], Ints, Floats]]:
    found = []
    for block in blocks_of(score, {}):
        if block.shares is None:
            names = listing(score.unknown_prevalences)
            raise ModelError(f"no prevalences are given for {names}; give them, or a network of the items")
        found.append((block.places, block.rows, block.shares))
    return found


def _priors(score: Score, places: tuple[int, ...], rows: Ints, shares: Floats) -> list[Cpt]:
    """Pr(item | the items of its group before it), for each item of a group."""
    variables = [score.items[place].variable for place in places]
    check_bytes(
        32.0 * math.prod(len(each) for each in variables), f"a table over {len(places)} exclusive items"
    )
    joint = np.zeros(tuple(map(len, variables)))
    joint[tuple(rows.T)] = shares
    marginals = list(
        accumulate(reversed(range(1, len(places))), lambda table, axis: table.sum(axis=axis), initial=joint)
    )
    return [
        Cpt(variable, variables[:number], _conditional(marginals[len(places) - 1 - number]))
        for number, variable in enumerate(variables)
    ]


def _conditional(table: Floats) -> Floats:
    """Pr(last | others) of a joint table, as rows; what cannot happen is at its first answer."""
    rows = table.reshape(-1, table.shape[-1])
    total = rows.sum(axis=1, keepdims=True)
    first = np.eye(rows.shape[1])[np.zeros(len(rows), dtype=np.int64)]
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), first)


def check_background(score: Score, background: BayesianNetwork) -> None:
    """Raise `ModelError` unless the background knows every item with the answers of the form."""
    for item in score.items:
        found = background.variable(item.name)
        if found.states != item.variable.states:
            raise ModelError(
                f"the background has the states {listing(found.states)} for {item.name!r}, the score "
                f"{listing(item.variable.states)}; they must be the same"
            )
