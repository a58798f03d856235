"""A lower bound on the error of every subset in a cell.

For the kept features' sum l, the two guesses of the smooth decision err by

    E1(l) = sum over classes c of w_c(l) (1 - F_c(l)),  E0(l) = sum of w_c(l) F_c(l),  w_c = Pr(c) exp(+-l/2),

weighed by the root of both classes' probabilities; F_c is the probability of the decision under c. A subset's
error is the expectation of the smaller one. Both the law of l and F_c are those of the reference, and a
difference: its first-order part is linear in the subset, its second-order part is bounded at each frequency.
Letters are those of the proof, `docs/adr/0022-upper-bound-of-trimming.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.search.ceiling.cells import Cell, Reference, refer
from unswayed.search.ceiling.spectra import BEYOND, NOISE, Complexes, Spectra

N_NODES = 2**15
"""Nodes of functions of l within a period."""
BLUR = 0.1
"""Log-odds over which the weight of first-order changes passes from one guess to the other."""
REACHES = (0.0, 1.5, 2.5, 5.0)
"""Standard deviations of l up to which first-order changes are weighed; 0: nowhere."""
RAMP = 2.0
"""Log-odds over which functions of l fall to 0 at the end of their window."""
LARGEST = 30.0
"""Exponents are cut here: bounds that large are useless."""
UNSEEN = 5e-8
"""Frequencies that can add less than this are not compared."""
ARITHMETIC = 1e-8
"""More than floating point can add up to: sums of at most 2^18 terms whose sizes add up to less than 100."""


@dataclass(frozen=True, slots=True, eq=False)
class CellError:
    """What is known of the errors in a cell."""

    low: float
    """No subset of the cell errs less often."""
    reference: Reference
    rest: float
    """What bounds on second-order parts took away."""


@dataclass(frozen=True, slots=True, eq=False)
class _Functions:
    """Characteristic functions of a reference, and how far those of subsets can be from it."""

    reference: Complexes  # (frequencies,)
    """0 where nothing is gained by comparing."""
    first: Floats
    """Distance of a subset's function at most,"""
    second: Floats
    """and less the first-order part."""
    spread: Floats
    """How far the logarithm can be."""


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The decision's probability under one class, given l."""

    share: float
    weight: Floats  # (nodes,)
    """w_c."""
    probability: Floats  # (nodes,)
    """F_c of the reference."""
    terms: Complexes  # (frequencies after 0,)
    """Its coefficients."""
    first: float
    """How far a subset's F_c can be,"""
    second: float
    """and less the first-order part."""
    spread: Floats
    slopes: tuple[float, float, float]
    """Upper bounds on F_c, its first and its second derivative."""


@dataclass(frozen=True, slots=True, eq=False)
class _Periodic:
    """A piecewise linear function of l, repeated in every period, by its Fourier coefficients.

    The coefficients of the linear interpolation of nodes are those of the nodes' discrete transform times
    sinc^2, exactly and at every frequency; so the sum of all that are left out is known too.
    """

    terms: Complexes  # (nodes / 2 + 1,)
    rest: float
    """Magnitudes of all coefficients beyond, added up."""


def bound_error(spectra: Spectra, statistics: Floats, cell: Cell) -> CellError:
    """The better of two bounds: with and without first-order changes of the decision's probability."""
    reference = refer(statistics, cell)
    far = spectra.far.at(cell.low, cell.high)
    kept = _kept_functions(spectra, reference, far[2])
    sides = [_side(spectra, reference, law, far[law]) for law in (0, 1)]
    found = [_bound(spectra, reference, (kept, far[2]), sides, reach) for reach in REACHES]
    low, rest = max(found)
    return CellError(low, reference, rest)


def _nodes(spectra: Spectra) -> Floats:
    return np.asarray((np.arange(N_NODES, dtype=np.float64) - N_NODES // 2) * (spectra.period / N_NODES))


def _alternating(n: int) -> Floats:
    """Nodes begin half a period before 0."""
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _functions(
    logs: Complexes, reference: Reference, far: Floats, size: Floats, *, dropped: bool
) -> _Functions:
    """Functions of the kept or of the dropped features; `far` bounds them, `size` is what they weigh.

    With e^d for the ratio of a subset's function to the reference's, |e^d - 1| <= |d| max(1, e^Re d) and
    |e^d - 1 - d| <= |d|^2 / 2 max(1, e^Re d). Where nothing is gained, the reference is 0 instead.
    """
    side, sign = (1.0 - reference.weights, -1.0) if dropped else (reference.weights, 1.0)
    values = np.exp(logs @ side)
    growth, spread = np.ones(len(logs)), np.zeros(len(logs))
    seen = np.flatnonzero(size * far > UNSEEN)
    growth[seen] = np.exp(np.minimum(reference.bound(sign * logs.real[seen]), LARGEST))
    most = far.copy()
    most[seen] = np.minimum(far[seen], np.abs(values[seen]) * growth[seen])
    seen = seen[size[seen] * most[seen] > UNSEEN]
    spread[seen] = reference.spread(logs[seen])
    scale = np.abs(values) * np.maximum(growth, 1.0)
    second = np.where(spread > 0.0, 0.5 * spread**2 * scale, np.inf)
    useful = second < most
    return _Functions(
        np.where(useful, values, 0.0),
        np.where(useful, np.minimum(spread * scale, np.abs(values) + most), most),
        np.where(useful, second, most),
        np.where(useful, spread, 0.0),
    )


def _kept_functions(spectra: Spectra, reference: Reference, far: Floats) -> _Functions:
    """Functions of the kept features under the root, from frequency 0 on."""
    bounds = np.concatenate([[1.0], far[: spectra.n_near]])
    size = 1.0 / np.maximum(spectra.period * spectra.frequencies**2, 1.0)
    return _functions(spectra.logs[2], reference, bounds, size, dropped=False)


def _side(spectra: Spectra, reference: Reference, law: int, far: Floats) -> _Side:
    """The decision's probability under the lower (0) or upper class (1).

    F_c(l) = 1/2 + 2 Re sum over odd j of  chi(v_j) exp(i v_j (l - needed) - noise^2 v_j^2 / 2) / (i pi j).
    """
    step, laws = spectra.step, spectra.laws
    number = np.arange(1, len(far) + 1)
    size = np.where(
        number % 2 == 1, 2.0 / (np.pi * number) * np.exp(-0.5 * (NOISE * step * number) ** 2), 0.0
    )
    n = spectra.n_near
    found = _functions(spectra.logs[law][1:], reference, far[:n], size[:n], dropped=True)
    turned = size[:n] * np.exp(-1j * step * number[:n] * laws.needed) / 2j
    beyond = float((size[n:] * far[n:]).sum()) + BEYOND
    terms = turned * found.reference
    series = np.zeros(N_NODES // 2 + 1, dtype=np.complex128)
    series[1 : n + 1] = terms
    frequencies, sizes = spectra.frequencies[1:], 2.0 * np.abs(terms)
    share, sign = (laws.share, 0.5) if law else (1.0 - laws.share, -0.5)
    return _Side(
        share,
        share * np.exp(sign * _nodes(spectra)),
        0.5 + np.fft.irfft(series * _alternating(len(series)), n=N_NODES) * N_NODES,
        terms,
        float(size[:n] @ found.first) + beyond,
        float(size[:n] @ found.second) + beyond,
        found.spread,
        (
            0.5 + float(sizes.sum()),
            float((sizes * frequencies).sum()),
            float((sizes * frequencies**2).sum()),
        ),
    )


def _periodic(values: Floats) -> _Periodic:
    """The coefficients of the function with these nodes."""
    terms = np.fft.rfft(values) / N_NODES
    terms *= _alternating(len(terms))
    taper = np.sinc(np.arange(len(terms)) / N_NODES) ** 2
    # sinc^2 at all frequencies with one discrete coefficient adds up to 1.
    return _Periodic(terms * taper, 2.0 * float((np.abs(terms) * (1.0 - taper)).sum()))


def _window(
    spectra: Spectra, reference: Reference, sides: list[_Side]
) -> tuple[Floats, float, float]:  # (nodes,)
    """Where errors count: 1 around the turn from one guess to the other, falling to 0; the turn, the end."""
    nodes = _nodes(spectra)
    ahead = sum((side.weight * (2.0 * side.probability - 1.0) for side in sides), np.zeros(N_NODES))
    inside = np.abs(nodes) < 0.25 * spectra.period
    turns = nodes[inside & (ahead >= 0.0)]
    turn = float(turns[0]) if len(turns) else 0.0
    total = spectra.laws.information
    kept = float(reference.weights @ total)
    dropped = float(total.sum()) - kept
    reach = (
        0.85 * 0.5 * spectra.period - abs(turn),
        5.0 * math.sqrt(dropped) + 1.5,
        5.0 * math.sqrt(kept) + 0.5 * kept + abs(turn) + 1.5,
    )
    end = max(min(reach), 0.1)
    share = np.clip((end - np.abs(nodes - turn)) / min(RAMP, 0.5 * end), 0.0, 1.0)
    return 0.5 - 0.5 * np.cos(np.pi * share), turn, abs(turn) + end


def _bound(
    spectra: Spectra, reference: Reference, kept: tuple[_Functions, Floats], sides: list[_Side], reach: float
) -> tuple[float, float]:
    """Lower bound on the error, and what second-order parts took away.

    With s = `blend` in [-1, 1], the smaller error is at least
    min(E1 - (1 - s) sum e_c w_c, E0 - (1 + s) sum e_c w_c) of the reference, less s sum w_c dF_c.
    """
    from scipy.special import erf

    window, turn, end = _window(spectra, reference, sides)
    away = _nodes(spectra) - turn
    if reach > 0.0:
        deviation = math.sqrt(float(reference.weights @ spectra.laws.information))
        blend = erf(away / BLUR) * np.exp(-((away / (reach * deviation)) ** 4))
    else:
        blend = np.zeros(N_NODES)
    doubt = sum((side.first * side.weight for side in sides), np.zeros(N_NODES))
    wrong_one = sum((side.weight * (1.0 - side.probability) for side in sides), np.zeros(N_NODES))
    wrong_zero = sum((side.weight * side.probability for side in sides), np.zeros(N_NODES))
    values = window * np.minimum(wrong_one - (1.0 - blend) * doubt, wrong_zero - (1.0 + blend) * doubt)
    low, linear, rest = _expect(spectra, _periodic(values), kept)
    highest = float(np.abs(values).max())
    if reach > 0.0:
        for side, logs in zip(sides, spectra.logs[:2], strict=True):
            changed = window * blend * side.weight
            slope, lost = _first_order(spectra, _periodic(changed), kept, side, logs)
            linear = linear + slope
            rest += lost + side.share * side.second * (1.0 + 1e-6)
            highest += float(np.abs(changed).max()) * (side.first + side.second)
    gain = float(reference.bound(-linear[None, :])[0])
    rest += _between_nodes(spectra, sides, float(np.abs(np.diff(window)).max()))
    rest += highest * spectra.mass_beyond(spectra.period - end) + spectra.cost + ARITHMETIC
    bound = low - gain - rest
    return (bound, rest) if math.isfinite(bound) else (-math.inf, math.inf)


def _expect(
    spectra: Spectra, function: _Periodic, kept: tuple[_Functions, Floats]
) -> tuple[float, Floats, float]:
    """Expectation of a function of l: of the reference, its linear change, and the rest at most."""
    functions, far = kept
    n = spectra.n_near
    terms = np.where(np.arange(n + 1) == 0, 1.0, 2.0) * function.terms[: n + 1]
    weighed = terms * functions.reference
    slope = np.einsum("f,fi->i", weighed, spectra.logs[2]).real
    beyond = np.abs(function.terms[n + 1 :])
    bounds = np.ones(len(beyond))
    some = far[n : n + len(beyond)]
    bounds[: len(some)] = some
    rest = float(np.abs(terms) @ functions.second) + 2.0 * float(beyond @ bounds) + function.rest
    return float(weighed.real.sum()), slope, rest


def _first_order(
    spectra: Spectra, function: _Periodic, kept: tuple[_Functions, Floats], side: _Side, logs: Complexes
) -> tuple[Floats, float]:
    """Linear change of the expectation of psi F_c, and what the law of l can change of it at most.

    B_j = E[psi exp(i v_j l)] = sum over m of psi_m chi(v_j + v_m), a correlation of coefficients.
    """
    functions, far = kept
    n = spectra.n_near
    reach = min(6 * n + 200, N_NODES // 2)
    terms = np.concatenate([np.conj(function.terms[reach:0:-1]), function.terms[: reach + 1]])
    left_out = function.rest + 2.0 * float(np.abs(function.terms[reach + 1 :]).sum())
    functions_at = np.concatenate([np.conj(functions.reference[n:0:-1]), functions.reference])
    bounds = np.ones(n + reach + 1)
    some = far[: n + reach]
    bounds[1 : len(some) + 1] = some
    bounds[: n + 1] = functions.first
    mean = _correlate(functions_at, terms)[n + reach + 1 :][:n]
    both = np.concatenate([bounds[:0:-1], bounds])
    doubt = _correlate(both, np.abs(terms)).real[n + 2 * reach + 1 :][:n] + left_out
    # No expectation of psi exp(i v l) exceeds that of w_c.
    doubt = np.minimum(doubt, side.share * (1.0 + 1e-6) + np.abs(mean) + left_out)
    weighed = 2.0 * side.terms * mean
    return np.einsum("f,fi->i", weighed, logs[1:]).real, float(
        (2.0 * np.abs(side.terms) * side.spread) @ doubt
    )


def _correlate(values: Complexes | Floats, terms: Complexes | Floats) -> Complexes:
    """Sums over m of terms_m values_{j + m}."""
    n = len(values) + len(terms) - 1
    size = 1 << (n - 1).bit_length()
    return np.asarray(np.fft.ifft(np.fft.fft(values, size) * np.fft.fft(terms[::-1], size))[:n])


def _between_nodes(spectra: Spectra, sides: list[_Side], rise: float) -> float:
    """How far functions can be below their linear interpolation between nodes, in expectation."""
    gap = spectra.period / N_NODES
    total = 0.0
    for side in sides:
        most, once, twice = side.slopes
        bend = (0.25 * most + once + twice) * gap * gap / 8.0
        total += side.share * (bend + rise * (0.5 * most + once) * gap + side.first * gap)
    return 1.01 * total
