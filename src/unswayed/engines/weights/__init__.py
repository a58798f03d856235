"""Exact decisions from sums of weights of evidence that meet in the middle.

Where enumeration takes 2^n steps, two lists of sums take about 2^(n/2). Read `outcomes.py` first (weights and
their lists), then `../log_odds.py` (features in independent groups, two classes) and `separator.py` (features
that depend on each other, up to three classes: `separator.py` splits them, `counting.py` counts the pairs).
`engine.py` takes the cheaper way. May import `decisions`, `kernels` and the factors of the room `sums`.
"""

from unswayed.engines.weights.outcomes import WeightList as WeightList
