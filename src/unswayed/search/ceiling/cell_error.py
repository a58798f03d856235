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
from functools import cache

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.search.ceiling.cells import Cell, Reference, refer
from unswayed.search.ceiling.spectra import BEYOND, UNIT, Complexes, Spectra

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
ROUNDED_UP = 1.0 + 1e-9
"""Sums of positive numbers are raised by this: more than rounding can take from them."""


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
class _Scene:
    """What all bounds on a cell share."""

    spectra: Spectra
    reference: Reference
    kept: _Functions
    """Functions of the kept features under the root,"""
    far: Floats
    """and what bounds their magnitudes, from the first frequency after 0 on."""
    sides: tuple[_Side, _Side]
    nodes: Floats  # (nodes,)
    window: Floats  # (nodes,)
    """Where errors count."""
    turn: float
    """Where one guess becomes better than the other."""
    end: float
    """How far from 0 the window reaches."""


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
    """The best of some bounds: with and without first-order changes of the decision's probability."""
    reference = refer(statistics, cell)
    far = spectra.far.at(cell.low, cell.high)
    kept = _kept_functions(spectra, reference, far[2])
    nodes = np.asarray((np.arange(N_NODES) - N_NODES // 2) * (spectra.period / N_NODES), dtype=np.float64)
    sides = _side(spectra, reference, 0, far[0], nodes), _side(spectra, reference, 1, far[1], nodes)
    turn, end, window = _window(spectra, reference, sides, nodes)
    scene = _Scene(spectra, reference, kept, far[2], sides, nodes, window, turn, end)
    low, rest = max(_bound(scene, reach) for reach in REACHES)
    return CellError(low, reference, rest)


@cache
def _alternating(n: int) -> Floats:
    """Nodes begin half a period before 0."""
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


@cache
def _taper(n_nodes: int) -> Floats:
    """What linear interpolation between nodes leaves of each frequency."""
    return np.asarray(np.sinc(np.arange(n_nodes // 2 + 1) / n_nodes) ** 2)


def _transform_error(n: int) -> float:
    """Rounding of a Fourier transform, relative to the root of the sum of squares, either way.

    With exact twiddles each of log2 n levels errs by less than 8 units; the root of n bounds sums by squares.
    """
    return 16.0 * UNIT * math.log2(n) * math.sqrt(n)


def _functions(
    logs: Complexes, doubt: Floats, reference: Reference, bounds: tuple[Floats, Floats], *, dropped: bool
) -> _Functions:
    """Functions of the kept or of the dropped features; `bounds` are on them, and what each of them weighs.

    `doubt` is what rounding can change.

    With e^d for the ratio of a subset's function to the reference's, |e^d - 1| <= |d| max(1, e^Re d) and
    |e^d - 1 - d| <= |d|^2 / 2 max(1, e^Re d). Where nothing is gained, the reference is 0 instead.
    """
    far, size = bounds
    side, sign = (1.0 - reference.weights, -1.0) if dropped else (reference.weights, 1.0)
    values = np.exp(logs @ side)
    growth, spread = np.ones(len(logs)), np.full(len(logs), np.inf)
    seen = np.flatnonzero(size * far > UNSEEN)
    growth[seen] = np.exp(np.minimum(reference.bound(sign * logs.real[seen]), LARGEST))
    most = far.copy()
    most[seen] = np.minimum(far[seen], np.abs(values[seen]) * growth[seen] + doubt[seen])
    seen = seen[size[seen] * most[seen] > UNSEEN]
    spread[seen] = reference.spread(logs[seen])
    scale = np.abs(values) * np.maximum(growth, 1.0)
    second = 0.5 * spread**2 * scale + doubt
    useful = second < most
    spread = np.where(useful, spread, 0.0)
    return _Functions(
        np.where(useful, values, 0.0),
        np.where(useful, np.minimum(spread * scale + doubt, np.abs(values) + most), most),
        np.where(useful, second, most),
        spread,
    )


def _kept_functions(spectra: Spectra, reference: Reference, far: Floats) -> _Functions:
    """Functions of the kept features under the root, from frequency 0 on."""
    bounds = np.concatenate([[1.0], far[: spectra.n_near]])
    size = 1.0 / np.maximum(spectra.period * spectra.frequencies**2, 1.0)
    return _functions(spectra.logs[2], spectra.doubt[2], reference, (bounds, size), dropped=False)


def _side(spectra: Spectra, reference: Reference, law: int, far: Floats, nodes: Floats) -> _Side:
    """The decision's probability under the lower (0) or upper class (1).

    F_c(l) = 1/2 + 2 Re sum over odd j of  chi(v_j) exp(i v_j (l - needed) - noise^2 v_j^2 / 2) / (i pi j).
    """
    step, laws = spectra.step, spectra.laws
    number = np.arange(1, len(far) + 1)
    size = np.where(
        number % 2 == 1, 2.0 / (np.pi * number) * np.exp(-0.5 * (laws.noise * step * number) ** 2), 0.0
    )
    n = spectra.n_near
    logs, doubt = spectra.logs[law][1:], spectra.doubt[law][1:]
    found = _functions(logs, doubt, reference, (far[:n], size[:n]), dropped=True)
    turned = size[:n] * np.exp(-1j * step * number[:n] * laws.needed) / 2j
    # Rounding of F_c at the nodes, and of the weights there, counts with what is beyond the frequencies.
    beyond = float((size[n:] * far[n:]).sum()) + BEYOND + _transform_error(N_NODES)
    terms = turned * found.reference
    series = np.zeros(N_NODES // 2 + 1, dtype=np.complex128)
    series[1 : n + 1] = terms
    frequencies, sizes = spectra.frequencies[1:], 2.0 * np.abs(terms)
    share, sign = (laws.share, 0.5) if law else (1.0 - laws.share, -0.5)
    return _Side(
        share,
        share * np.exp(sign * nodes),
        0.5 + np.fft.irfft(series * _alternating(len(series)), n=N_NODES) * N_NODES,
        terms,
        (float(size[:n] @ found.first) + beyond) * ROUNDED_UP,
        (float(size[:n] @ found.second) + beyond) * ROUNDED_UP,
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
    taper = _taper(N_NODES)
    # sinc^2 at all frequencies with one discrete coefficient adds up to 1.
    beyond = 2.0 * float((np.abs(terms) * (1.0 - taper)).sum())
    rounding = _transform_error(N_NODES) * math.sqrt(float((values**2).mean()))
    return _Periodic(terms * taper, beyond + rounding)


def _window(
    spectra: Spectra, reference: Reference, sides: tuple[_Side, _Side], nodes: Floats
) -> tuple[float, float, Floats]:
    """Where errors count: the turn from one guess to the other, the end, and weights falling to 0 there."""
    ahead = sum((side.weight * (2.0 * side.probability - 1.0) for side in sides), np.zeros(N_NODES))
    inside = np.abs(nodes) < 0.25 * spectra.period
    turns = nodes[inside & (ahead >= 0.0)]
    turn = float(turns[0]) if len(turns) else 0.0
    total = spectra.laws.information
    kept = float(reference.weights @ total)
    dropped = max(float(total.sum()) - kept, 0.0)
    reach = (
        0.85 * 0.5 * spectra.period - abs(turn),
        5.0 * math.sqrt(dropped) + 1.5,
        5.0 * math.sqrt(kept) + 0.5 * kept + abs(turn) + 1.5,
    )
    end = max(min(reach), 0.1)
    share = np.clip((end - np.abs(nodes - turn)) / min(RAMP, 0.5 * end), 0.0, 1.0)
    return turn, abs(turn) + end, 0.5 - 0.5 * np.cos(np.pi * share)


def _blend(scene: _Scene, reach: float) -> Floats:  # (nodes,)
    """Weight of first-order changes: the sign of what is beyond the turn, blurred, up to some deviations."""
    from scipy.special import erf

    away = scene.nodes - scene.turn
    deviation = math.sqrt(float(scene.reference.weights @ scene.spectra.laws.information)) + 1e-9
    return np.asarray(erf(away / BLUR) * np.exp(-((away / (reach * deviation)) ** 4)))


def _bound(scene: _Scene, reach: float) -> tuple[float, float]:
    """Lower bound on the error, and what second-order parts took away.

    With s = `blend` in [-1, 1], the smaller error is at least
    min(E1 - (1 - s) sum e_c w_c, E0 - (1 + s) sum e_c w_c) of the reference, less s sum w_c dF_c.
    """
    spectra, sides, window = scene.spectra, scene.sides, scene.window
    blend = _blend(scene, reach) if reach > 0.0 else np.zeros(N_NODES)
    doubt = sum((side.first * side.weight for side in sides), np.zeros(N_NODES))
    wrong_one = sum((side.weight * (1.0 - side.probability) for side in sides), np.zeros(N_NODES))
    wrong_zero = sum((side.weight * side.probability for side in sides), np.zeros(N_NODES))
    values = window * np.minimum(wrong_one - (1.0 - blend) * doubt, wrong_zero - (1.0 + blend) * doubt)
    low, linear, rest = _expect(scene, _periodic(values))
    highest = float(np.abs(values).max())
    if reach > 0.0:
        for side, law in zip(sides, (0, 1), strict=True):
            changed = window * blend * side.weight
            slope, lost = _first_order(scene, _periodic(changed), side, law)
            linear = linear + slope
            rest += lost + side.share * side.second * (1.0 + 1e-6)
            highest += float(np.abs(changed).max()) * (side.first + side.second)
    gain = float(scene.reference.bound(-linear[None, :])[0])
    rest += _between_nodes(spectra, sides, float(np.abs(np.diff(window)).max()))
    rest += highest * spectra.mass_beyond(spectra.period - scene.end) + spectra.cost
    bound = low - gain - rest * ROUNDED_UP
    return (bound, rest) if math.isfinite(bound) else (-math.inf, math.inf)


def _expect(scene: _Scene, function: _Periodic) -> tuple[float, Floats, float]:
    """Expectation of a function of l: of the reference, its linear change, and the rest at most."""
    spectra, functions = scene.spectra, scene.kept
    n = spectra.n_near
    terms = np.where(np.arange(n + 1) == 0, 1.0, 2.0) * function.terms[: n + 1]
    weighed = terms * functions.reference
    slope = np.einsum("f,fi->i", weighed, spectra.logs[2]).real
    beyond = np.abs(function.terms[n + 1 :])
    bounds = np.ones(len(beyond))
    some = scene.far[n : n + len(beyond)]
    bounds[: len(some)] = some
    rest = float(np.abs(terms) @ functions.second) + 2.0 * float(beyond @ bounds) + function.rest
    rounding = (n + 9) * UNIT * float(np.abs(weighed) @ (1.0 + spectra.sizes[2]))
    return float(weighed.real.sum()), slope, rest + rounding


def _first_order(scene: _Scene, function: _Periodic, side: _Side, law: int) -> tuple[Floats, float]:
    """Linear change of the expectation of psi F_c, and what the law of l can change of it at most.

    B_j = E[psi exp(i v_j l)] = sum over m of psi_m chi(v_j + v_m), a correlation of coefficients.
    """
    spectra, functions = scene.spectra, scene.kept
    n = spectra.n_near
    reach = min(6 * n + 200, N_NODES // 2)
    terms = np.concatenate([np.conj(function.terms[reach:0:-1]), function.terms[: reach + 1]])
    left_out = function.rest + 2.0 * float(np.abs(function.terms[reach + 1 :]).sum())
    functions_at = np.concatenate([np.conj(functions.reference[n:0:-1]), functions.reference])
    bounds = np.ones(n + reach + 1)
    some = scene.far[: n + reach]
    bounds[1 : len(some) + 1] = some
    bounds[: n + 1] = functions.first
    mean, error = _correlate(functions_at, terms)
    mean = mean[n + reach + 1 :][:n]
    distance, more = _correlate(np.concatenate([bounds[:0:-1], bounds]), np.abs(terms))
    doubt = distance.real[n + 2 * reach + 1 :][:n] + more
    # No expectation of psi exp(i v l) exceeds that of w_c.
    doubt = np.minimum(doubt, side.share * (1.0 + 1e-6) + np.abs(mean)) + left_out + error
    weighed = 2.0 * side.terms * mean
    rounding = (n + 9) * UNIT * float(np.abs(weighed) @ spectra.sizes[law][1:])
    lost = float((2.0 * np.abs(side.terms) * side.spread) @ doubt)
    return np.einsum("f,fi->i", weighed, spectra.logs[law][1:]).real, lost + rounding


def _correlate(values: Complexes | Floats, terms: Complexes | Floats) -> tuple[Complexes, float]:
    """Sums over m of terms_m values_{j + m}, and what rounding can change of each."""
    n = len(values) + len(terms) - 1
    size = 1 << (n - 1).bit_length()
    error = 48.0 * UNIT * math.log2(size) * float(np.linalg.norm(values) * np.linalg.norm(terms))
    return np.fft.ifft(np.fft.fft(values, size) * np.fft.fft(terms[::-1], size))[:n], error


def _between_nodes(spectra: Spectra, sides: tuple[_Side, _Side], rise: float) -> float:
    """How far functions can be below their linear interpolation between nodes, in expectation."""
    gap = spectra.period / N_NODES
    total = 0.0
    for side in sides:
        most, once, twice = side.slopes
        bend = (0.25 * most + once + twice) * gap * gap / 8.0
        total += side.share * (bend + rise * (0.5 * most + once) * gap + side.first * gap)
    return 1.01 * total
