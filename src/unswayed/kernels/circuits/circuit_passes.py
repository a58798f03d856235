"""Passes over a circuit in flat arrays, children before parents: sums of products, their logarithms, bits.

Every decision node is the sum over its elements of prime times sub. A trimmed circuit leaves variables out;
what they contribute is a factor on the element, one for its prime and one for its sub, found through
`prime_gap` and `sub_gap` in a list of factors whose first is 1.

The loops are plain Python; compiled they take a few nanoseconds for an element and a column.
Columns are independent of each other (other weights, other rows), and run innermost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

UNITS_PER_ELEMENT = 5e-3
"""Estimated for an element and a column."""


class Elements(NamedTuple):
    """The decision nodes of a circuit."""

    starts: Ints
    """The elements of node i are those from starts[i] to before starts[i + 1]."""
    primes: Ints
    """Node of each element's prime."""
    subs: Ints
    """Node of each element's sub."""


def sum_products(elements: Elements, prime_gap: Ints, sub_gap: Ints, factors: Floats, values: Floats) -> None:
    """Fill in `values` (nodes, columns) at nodes with elements; `factors` are (gaps, columns)."""
    starts, primes, subs = elements
    n_columns = values.shape[1]
    for node in range(len(starts) - 1):
        if starts[node] == starts[node + 1]:
            continue
        for column in range(n_columns):
            values[node, column] = 0.0
        for e in range(starts[node], starts[node + 1]):
            prime, sub = primes[e], subs[e]
            before, after = prime_gap[e], sub_gap[e]
            for column in range(n_columns):
                left = values[prime, column] * factors[before, column]
                values[node, column] += left * (values[sub, column] * factors[after, column])


def log_sum_products(
    elements: Elements, prime_gap: Ints, sub_gap: Ints, factors: Floats, values: Floats
) -> None:
    """As `sum_products`, with logarithms of everything; minus infinity stands for zero."""
    starts, primes, subs = elements
    n_columns = values.shape[1]
    for node in range(len(starts) - 1):
        if starts[node] == starts[node + 1]:
            continue
        for column in range(n_columns):
            largest = -math.inf
            for e in range(starts[node], starts[node + 1]):
                term = values[primes[e], column] + factors[prime_gap[e], column]
                term += values[subs[e], column] + factors[sub_gap[e], column]
                largest = max(largest, term)
            if largest == -math.inf:
                values[node, column] = largest
                continue
            total = 0.0
            for e in range(starts[node], starts[node + 1]):
                term = values[primes[e], column] + factors[prime_gap[e], column]
                term += values[subs[e], column] + factors[sub_gap[e], column]
                total += math.exp(term - largest)
            values[node, column] = largest + math.log(total)


def any_of_both(elements: Elements, bits: Words) -> None:
    """Fill in `bits` (nodes, words) at nodes with elements: each bit is one row's truth value."""
    starts, primes, subs = elements
    n_words = bits.shape[1]
    for node in range(len(starts) - 1):
        for e in range(starts[node], starts[node + 1]):
            prime, sub = primes[e], subs[e]
            for word in range(n_words):
                bits[node, word] |= bits[prime, word] & bits[sub, word]


COMPILED = {loop: Kernel(loop, slower=300.0) for loop in (sum_products, log_sum_products, any_of_both)}


def fastest(loop: Callable[..., None], work: int) -> Callable[..., None]:
    """The loop as it is done soonest, for work counted in elements times columns."""
    return partial(COMPILED[loop].run, UNITS_PER_ELEMENT * work)
