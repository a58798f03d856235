"""What to add to counts: a prior given, or the one that explains examples held out best.

Rows are counted fold by fold. Counts add up, so the counts of all folds but one are at hand, and a candidate
is learned from them and scored on the fold left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from unswayed.circuits.psdd.learn import Laplace, UniformExamples
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.spaces.classifier.attributes import Attribute, Prior, Values, values_taken

HELD_OUT: Final = "held-out"
"""The word that asks for the prior to be chosen."""
CANDIDATES: Final[tuple[Prior, ...]] = (
    *(Laplace(added) for added in (0.01, 0.1, 0.3, 1.0, 3.0)),
    *(UniformExamples(weight) for weight in (0.1, 1.0, 10.0, 100.0)),
)
"""From next to nothing to a strong pull, towards equal choices and towards equal objects."""
_FOLDS: Final = 5


def checked_smoothing(smoothing: Any) -> Prior | str:
    """A prior, or `HELD_OUT`; a number is added to every count. `ModelError` for anything else."""
    if isinstance(smoothing, Laplace | UniformExamples) or smoothing == HELD_OUT:
        return smoothing  # type: ignore[no-any-return]
    if not isinstance(smoothing, int | float | np.number) or not 0 <= smoothing < math.inf:
        raise ModelError(
            "what is added to counts must be a number of at least 0, a prior (Laplace, UniformExamples) or "
            f"{HELD_OUT!r}, not {smoothing!r}"
        )
    return Laplace(float(smoothing))


def choose_prior(
    attribute: Attribute,
    values: Values,
    labels: Ints,
    *,
    weights: Floats,
    n_classes: int,
    candidates: Sequence[Prior] = CANDIDATES,
) -> Prior:
    """The candidate under which rows held out, five times a fifth, are most probable given their class.

    Rows are dealt out in turn, so the same rows give the same choice; of equal candidates the first.
    """
    known: Any = attribute
    folds = [np.arange(start, len(labels), _FOLDS) for start in range(min(_FOLDS, len(labels)))]
    if len(folds) < 2:
        return Laplace(1.0)
    parts = [values_taken(values, fold) for fold in folds]
    counts = [
        known.count(part, labels[fold], weights[fold], n_classes)
        for part, fold in zip(parts, folds, strict=True)
    ]
    totals = np.zeros(len(candidates))
    for held, (part, fold) in enumerate(zip(parts, folds, strict=True)):
        others = known.zero(n_classes)
        for k, each in enumerate(counts):
            others = others if k == held else known.merge(others, each)
        for c, prior in enumerate(candidates):
            scores = known.fitted(others, prior).log_likelihoods(part)
            totals[c] += weights[fold] @ scores[np.arange(len(fold)), labels[fold]]
    return candidates[int(np.argmax(totals))]
