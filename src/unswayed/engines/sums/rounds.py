"""Finer and finer bounds on the decisions of a problem, until a measure of them is good enough.

A round sweeps the log-odds of every pair of classes that the rule compares, or of two such pairs together
where several classes are ahead of the one decided (`corners.py`). The width of what comes out shrinks with
the number of frequencies, so one coarse round tells how many a fine one needs. Only classes and rows whose
decisions are still open are swept again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, settle, units_left
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import Decider, TestedDecider
from unswayed.engines.sums.corners import (
    SweepGround,
    SweptCorner,
    SweptPair,
    find_sole_cuts,
    start_corner,
    start_pair,
)
from unswayed.engines.sums.decisions import Cut, bound_actions, doubt_cut, needed_cuts
from unswayed.engines.sums.factors import Factor, plan_passes
from unswayed.engines.sums.pairs import mass_allowing, take_classes
from unswayed.engines.sums.passes import KeptRows, PassLayout
from unswayed.engines.sums.profile_bounds import MASS_ROUNDING, DecidedMass
from unswayed.engines.sums.sweeps import SweptCut, price_columns, sweep
from unswayed.engines.sums.unions import Bounds, Corner, span_tree

FIRST_DEGREE, COARSE_DEGREE = 256, 32
"""Frequencies of the first round, for one pair of classes and for several."""
LAST_DEGREE = 2**21
"""Frequencies at most."""
GROWTH = 4, 8
"""How many times more frequencies the next round takes, at least and at most."""
SPARE = 1.15
"""Frequencies more than a proportion would ask for."""
STALLED = 0.9
"""A round of four times the frequencies should narrow the interval by more than this factor."""
MOST_STALLS = 2
STRAY_SHARE = 1 / 64
"""Share of the tolerance that mass outside the windows may take."""
SETTLED_SHARE = 1 / 8
"""A pair that leaves less than this share of the tolerance undecided is not swept again."""
SAFETY, LEAST_GROWTH = 0.7, 1.5
"""Share of what is left that a round may be planned for, and the growth below which none is begun."""
FIRST_PLANE, LAST_PLANE = 16, 1024
"""Frequencies either way of the first and of the last round over two sums; each round doubles them."""
PLANE_UNITS = 10.0 * UNITS_PER_SECOND
"""Work that rounds over two sums may take in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is to be bounded, and how well."""

    problem: Problem
    factors: tuple[Factor, ...]
    layout: PassLayout
    decider: Decider
    """Whose decisions are bounded."""
    wanted: Bools  # (rows, actions)
    """Actions to be bounded in each row; others may be left between nothing and everything."""
    tolerance: float
    scores: tuple[Factor, ...] | None = None
    """Factors by which decisions are made, where those are not the problem's own."""
    in_planes: bool = True
    """Whether to sweep two pairs of classes together where single ones leave too much open."""

    @property
    def actions(self) -> tuple[int, ...]:
        """Actions to be bounded in some row."""
        return tuple(map(int, np.flatnonzero(self.wanted.any(axis=0))))


@dataclass(slots=True, eq=False)
class _Rounds:
    """Rounds of one kind."""

    degree: int
    """Frequencies of the next round; 0 when there is no need for one or too little is left."""
    units: float = 0.0
    """What all of them took."""
    gain: float = 0.0
    """Mass that more of them could decide."""
    stalls: int = 0
    """How many rounds one after another have narrowed little."""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What was swept, as bounds; or as if sweeping were over, with everything in the middle of its bounds."""

    pairs: Mapping[tuple[int, int], SweptPair]
    corners: Mapping[frozenset[Cut], SweptCorner]
    pairs_settled: bool = False
    corners_settled: bool = False

    def reached(self, cut: Cut) -> Bounds:
        """Mass of outcomes that allow the class and, unless they exclude the other, reach the cut."""
        one, other, odds = cut
        bounds = self.pairs[min(one, other), max(one, other)].reached(one, odds)
        return _settle(bounds) if self.pairs_settled else bounds

    def corner(self, cut: Cut, other: Cut) -> Corner | None:
        """Mass of outcomes that reach neither cut, and both, where it was bounded."""
        swept = self.corners.get(frozenset((cut, other)))
        if swept is None or not self.corners_settled:
            return None if swept is None else swept.corner
        return Corner(*map(_settle, swept.corner))


def _settle(bounds: Bounds) -> Bounds:
    middle = 0.5 * (bounds[0] + bounds[1])
    return middle, middle


@dataclass(slots=True, eq=False)
class _Refinement:
    """Everything swept so far, and what it says about the decisions."""

    request: Request
    ground: SweepGround
    class_mass: Floats  # (classes, rows)
    pairs: dict[tuple[int, int], SweptPair]
    corners: dict[frozenset[Cut], SweptCorner] = field(default_factory=dict)
    open: Floats = field(init=False)  # (classes, rows, actions)
    """Mass that may or may not be decided for each action that is wanted."""
    n_open: int = field(init=False)
    """Sets of rows that are not narrow enough."""
    width: float = np.inf
    """How wide the measure that is asked for was after the last round."""

    def decide(self) -> DecidedMass:
        """What is known about the decisions now."""
        low, high = self._bound(_Known(self.pairs, self.corners))
        stray = sum(each.tails.stray for each in self.pairs.values())
        stray += sum(each.stray for each in self.corners.values())
        self._mark_open(np.maximum(high - low, 0.0) * self.request.wanted, stray)
        return DecidedMass(self.class_mass, low, high, stray + MASS_ROUNDING)

    def _bound(self, known: _Known) -> Bounds:  # (classes, rows, actions) each
        n_actions = len(self.request.decider.actions)
        low = np.zeros((*self.class_mass.shape, n_actions))
        high = np.repeat(self.class_mass[:, :, np.newaxis], n_actions, axis=2)
        bounds = bound_actions(self.request.decider, self.request.actions, known, self.class_mass)
        for action, (least, most) in bounds.items():
            low[:, :, action], high[:, :, action] = least, most
        return low, high

    def _mark_open(self, gaps: Floats, stray: float) -> None:
        """Set what is open; where rows are many sets, those of a set that is narrow enough are closed."""
        sets = self.request.layout.set_of_row()
        widths = np.bincount(sets, weights=gaps.sum(axis=(0, 2))) + 2.0 * stray
        is_wide = widths > self.request.tolerance
        if len(widths) > 1:
            gaps = gaps * is_wide[sets][:, np.newaxis]
        self.open, self.n_open = gaps, max(int(is_wide.sum()), 1)

    def gains(self) -> tuple[float, float]:
        """Mass that more frequencies could still decide: for single pairs, and then for two together."""
        left = [float(self.open.sum())]
        for settled in (_Known(self.pairs, self.corners, True), _Known(self.pairs, self.corners, True, True)):
            low, high = self._bound(settled)
            left.append(float(np.minimum(np.maximum(high - low, 0.0), self.open).sum()))
        return (left[0] - left[1]) / self.n_open, (left[1] - left[2]) / self.n_open

    def pair_gap(self, pair: SweptPair) -> Floats:  # (classes, rows)
        """Mass that more frequencies for this pair could decide, at most."""
        gap: Floats = (pair.tails.high - pair.tails.low).max(axis=0, initial=0.0)
        most: Floats = self.open[:, :, list(pair.actions)].max(axis=2)
        return np.minimum(gap, most) / self.n_open

    def corner_gap(self, corner: SweptCorner) -> Floats:  # (classes, rows)
        """Mass that more frequencies for this corner could decide, at most."""
        return np.minimum(corner.gap, self.open[:, :, corner.action]) / self.n_open

    def find_cells(self, gaps: Sequence[Floats]) -> list[tuple[Ints, Ints]]:
        """For each gap, the classes and rows to sweep again: all but those that leave little open in all."""
        shares = np.array([gap.sum(axis=1) for gap in gaps])
        ascending = np.sort(shares, axis=None)
        n_small = int((np.cumsum(ascending) <= SETTLED_SHARE * self.request.tolerance).sum())
        least = ascending[n_small] if n_small < len(ascending) else np.inf
        chosen = [np.flatnonzero(share >= least) for share in shares]
        return [(each, np.flatnonzero(gap[each].any(axis=0))) for each, gap in zip(chosen, gaps, strict=True)]

    def sweep_pairs(self, degree: int) -> Iterator[float]:
        """Tighten one pair after another that is not settled yet, and say what each took."""
        layout = self.request.layout
        cells_by_pair = self.find_cells([self.pair_gap(each) for each in self.pairs.values()])
        for each, cells in zip(self.pairs.values(), cells_by_pair, strict=True):
            if not len(cells[0]):
                continue
            pair, finite = take_classes(each.pair, cells[0]), each.finite[np.ix_(*cells)]
            tails = sweep(layout, pair, each.window, each.cuts, finite, cells[1], degree)
            each.tails = each.tails.tighten(tails, np.ix_(np.arange(len(each.cuts)), *cells))
            yield price_columns(layout, len(cells[0]), degree + 1)

    def add_corners(self) -> None:
        """The corners of each action that may hold the most mass, as many as a tree has edges."""
        decider = self.request.decider
        if not isinstance(decider, TestedDecider) or not self.request.in_planes:
            return
        least = SETTLED_SHARE * self.request.tolerance / len(self.request.actions)
        for action in self.request.actions:
            cuts = find_sole_cuts(decider, action)
            mass = {
                (i, j): self._most_missed(action, cuts[i][0], cuts[j][0])
                for i, j in itertools.combinations(range(len(cuts)), 2)
                if cuts[i][0][0] == cuts[j][0][0] and cuts[i][0][1] != cuts[j][0][1]
            }
            for i, j in span_tree(len(cuts), {places: m for places, m in mass.items() if m > least}):
                chosen = cuts[i], cuts[j]
                pairs = [self.pairs[min(cut[:2]), max(cut[:2])] for cut, _ in chosen]
                self.corners[frozenset(cut for cut, _ in chosen)] = start_corner(
                    self.ground, action, chosen, pairs
                )

    def _most_missed(self, action: int, cut: Cut, other: Cut) -> float:
        """Mass that may reach neither cut, in all classes and rows together."""
        reached = _Known(self.pairs, self.corners).reached
        missed = np.minimum(self.class_mass - reached(cut)[0], self.class_mass - reached(other)[0])
        return float(np.minimum(missed, self.open[:, :, action]).sum()) / self.n_open

    def sweep_corners(self, degree: int) -> Iterator[float]:
        """Tighten one corner after another that is not settled yet, and say what each took."""
        layout = self.request.layout
        cells_by_corner = self.find_cells([self.corner_gap(each) for each in self.corners.values()])
        for corner, cells in zip(self.corners.values(), cells_by_corner, strict=True):
            if len(cells[0]):
                corner.sweep(layout, cells, degree)
                yield price_columns(layout, len(cells[0]), (degree + 1) * (2 * degree + 1))


def refine(request: Request, width: Callable[[DecidedMass], float], *, units: float) -> DecidedMass:
    """Bounds on the decisions, until `width` is within the tolerance or no more may be spent."""
    found = settle(
        narrow(request, width),
        effort=units,
        enough=lambda state: state.width <= request.tolerance,
    )
    return found.last.decide()


def narrow(request: Request, width: Callable[[DecidedMass], float]) -> Iterator[_Refinement]:
    """Closer and closer bounds, one state tightened sweep by sweep; before the first there are some too."""
    state = _start(request)
    state.width = width(state.decide())
    yield state
    # A coarse round tells which classes and rows matter, where there are several.
    pairs = _Rounds(FIRST_DEGREE if len(state.pairs) == 1 else COARSE_DEGREE)
    planes = _Rounds(FIRST_PLANE)
    rounds: _Rounds | None = pairs
    while rounds is not None:
        sweeps = state.sweep_pairs if rounds is pairs else state.sweep_corners
        for spent in sweeps(rounds.degree):
            rounds.units += spent
            yield state
        before, state.width = state.width, width(state.decide())
        yield state
        if not state.corners:
            state.add_corners()
        # Sums that tie with a cut stay undecided at any degree: then more frequencies stop helping.
        rounds.stalls = rounds.stalls + 1 if state.width > STALLED * before else 0
        pairs.gain, planes.gain = state.gains()
        rounds.degree = (_next_degree if rounds is pairs else _next_plane)(request, rounds, state.width)
        useful = [each for each in (pairs, planes) if each.degree and each.gain > SETTLED_SHARE * state.width]
        # What two sums together take is not known before the first round of them.
        rounds = max(useful, key=lambda each: each.gain / max(each.units or pairs.units, 1.0), default=None)


def _next_degree(request: Request, pairs: _Rounds, width: float) -> int:
    """How many frequencies the next round takes; 0 when there is no need for one or too little is left."""
    degree, growth = pairs.degree, GROWTH[0] if pairs.stalls else GROWTH[1]
    room = request.tolerance - (width - pairs.gain)
    needed = SPARE * degree * pairs.gain / room if room > 0.0 else 0.0
    wanted = min(max(needed, GROWTH[0] * degree), growth * degree, LAST_DEGREE)
    affordable = degree * SAFETY * units_left() / max(pairs.units, 1.0)
    is_over = pairs.stalls == MOST_STALLS or degree == LAST_DEGREE or affordable <= LEAST_GROWTH * degree
    return 0 if is_over else int(min(wanted, affordable))


def _next_plane(request: Request, planes: _Rounds, width: float) -> int:
    """Up to twice the frequencies, which take four times as long; 0 when too little is left for that."""
    room = request.tolerance - (width - planes.gain)
    needed = SPARE * planes.degree * planes.gain / room if room > 0.0 else np.inf
    wanted = int(min(max(needed, 1.5 * planes.degree), 2 * planes.degree))
    affordable = SAFETY * min(units_left(), PLANE_UNITS - planes.units)
    is_affordable = (wanted / planes.degree) ** 2 * planes.units <= affordable
    return wanted if is_affordable and planes.stalls < MOST_STALLS and wanted <= LAST_PLANE else 0


def _start(request: Request) -> _Refinement:
    """What every round shares: windows, and the mass of infinite weights."""
    cuts: dict[tuple[int, int], dict[SweptCut, None]] = {}
    actions: dict[tuple[int, int], dict[int, None]] = {}
    for action in request.actions:
        for one, other, odds in needed_cuts(request.decider, [action]):
            low, high = doubt_cut(request.decider, odds, request.problem.rounding + LISTING)
            is_up = one < other
            key, value = (
                ((one, other), SweptCut(odds, low, high))
                if is_up
                else ((other, one), SweptCut(-odds, -high, -low))
            )
            cuts.setdefault(key, {})[value] = None
            actions.setdefault(key, {})[action] = None
    stray = STRAY_SHARE * request.tolerance / max(len(cuts), 1)
    scores = request.factors if request.scores is None else request.scores
    ground = SweepGround(request.layout, request.factors, scores)
    whole = KeptRows(plan_passes(request.problem, frozenset()), ())
    pairs = {
        key: start_pair(ground, whole, key, tuple(values), tuple(actions[key]), stray)
        for key, values in cuts.items()
    }
    return _Refinement(request, ground, mass_allowing(request.layout, request.factors, ()), pairs)
