"""From the transform of a sum to certain bounds on the probability that it reaches a cut.

Let x be a sum on a circle of circumference 1, known by phi_n = E exp(2 pi i n x) for n up to N. The sawtooth
psi(x) = x - floor(x) - 1/2 has a trigonometric polynomial V of degree N with

    |psi(x) - V(x)|  <=  Fejer(x) / (2 N + 2)

[vaaler1985, Theorem 18], and the indicator of an arc [a, 1) is 1 - a + psi(x) - psi(x - a). So the
expectations of two polynomials enclose the probability of the arc, and both are dot products with phi. They
differ by the mean of Fejer's kernel around both ends of the arc, over N + 1: about the density there, over N.
Nothing is rounded to a grid, so the number of terms of the sum does not matter.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats

Complexes = npt.NDArray[np.complex128]


def enclosing_coefficients(start: float, degree: int) -> tuple[Complexes, Complexes]:
    """Coefficients, for n = 0 to `degree`, of polynomials below and above the indicator of [start, 1).

    The expectation of either is the real part of its dot product with phi.
    """
    n = np.arange(1, degree + 1, dtype=np.float64)
    # exp(-2 pi i n start), from the fraction of a turn so that large n lose no digits twice.
    turned = np.exp(-2j * np.pi * np.remainder(n * start, 1.0))
    middle = _sawtooth(n / (degree + 1)) / (np.pi * n) * 1j * (1.0 - turned)
    spread = (1.0 - n / (degree + 1)) * (1.0 + turned) / (degree + 1)
    constant = np.array([1.0 - start]), np.array([1.0 / (degree + 1)])
    low = np.concatenate([constant[0] - constant[1], middle - spread])
    high = np.concatenate([constant[0] + constant[1], middle + spread])
    return low, high


def _sawtooth(u: Floats) -> Floats:
    """Vaaler's multipliers: what the sawtooth's coefficients are damped by, 1 at u = 0 and 0 at u = 1."""
    multipliers: Floats = np.pi * u * (1.0 - u) / np.tan(np.pi * u) + u
    return multipliers


def rounding_bound(degree: int, n_operations: float, turns: float) -> float:
    """What floating point can change in a dot product with `enclosing_coefficients`, in shares of the mass.

    A phi_n is a sum of products of masses and numbers of size 1. Every operation errs by at most 4 units of
    what it adds up in absolute values, which never exceeds the mass: so `n_operations` operations one after
    another err by as many times 4 units of the mass. The phases n w / P of the weights w that make one sum
    are rounded three times each, by units of themselves, and add up to at most n times `turns`, the turns of
    the largest sum. The coefficients, at most 2 / (pi n) + 2 / (N + 1), weigh both; what they themselves err
    by, a few units, is part of the 8 operations more. Weights are logarithms that err too: for those the cut
    is moved (`Pair.blur`), by more than all of them together.
    """
    unit = 2.0**-52
    per_number = 4.0 * unit * (n_operations + 8.0) * coefficient_sum(degree)
    per_phase = 4.0 * math.pi * unit * turns * degree
    return per_number + per_phase


def coefficient_sum(degree: int) -> float:
    """More than the absolute values of a polynomial's coefficients sum to."""
    return 2.0 / math.pi * (1.0 + math.log(degree)) + 3.0
