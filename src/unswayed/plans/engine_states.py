"""A terrain without a table: posteriors by inference, same-decision probabilities by engines, state by state.

Classifiers with more features than a table can hold are planned for by asking. The posterior of a state is
exact, and bounds its SDP from both sides at once: a decision far from the threshold is safe
(`decisions/margins.py`). Only where that leaves open whether to stop, an engine is asked, for an interval
that settles it. Where no engine can tell, the state counts as not safe for plans and as perhaps safe for
bounds on plans: both stay valid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, has_deadline, seconds_left, settle, tick, units_left
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError, QueryError
from unswayed.decisions.catalogue import Catalogue
from unswayed.decisions.margins import keeping_tests, posterior_bounds
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.decisions.oracle import Interval, find_agreement
from unswayed.decisions.problem import Problem, forget_answers
from unswayed.engines.choice import ENGINES, Choice, choose
from unswayed.engines.groups import independent_groups
from unswayed.engines.protocol import Question
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table
from unswayed.plans.terrain import (
    UNDONE,
    Answers,
    Outlook,
    State,
    after,
    decide_possible,
    done_in,
    start_of,
)

TOLERANCES = (1e-2, 1e-3, 1e-4)
"""Widths of intervals that are asked for in turn, until the level lies outside."""
SECONDS_PER_STATE = 5.0
"""What an engine may take for one state."""
ASKED_PART = 0.3
"""Which share of what is left, at most: a plan that asks in vain still grows."""
UNITS_PER_ROW = 15.0
"""Measured, for the plain bounds of a state; inference counts for itself."""
QUICK_ENGINES = tuple(engine for engine in ENGINES if engine.name != "circuit")
"""Engines that price a question in a moment; a circuit's order takes longer than most answers."""
HURRIED = 0.9
"""With less than this share of it left, a refusal may be for want of time alone."""
THE_QUESTION = "the question whether to stop"
UNKNOWN = Interval(0.0, 1.0)
"""What is known of an SDP that nobody bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineTerrain:
    """The tests of a problem, and what was asked about its states so far."""

    problem: Problem
    catalogue: Catalogue
    level: float | None
    """The SDP that settles whether to stop; None where every SDP is wanted as it is."""
    answers: Answers = field(default_factory=Answers, repr=False)
    """Likelihoods and SDPs, which take long."""
    _memo: _Memo = field(default_factory=lambda: _Memo(), repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many outcomes each test has."""
        if not self._memo.sizes:
            offers = self.catalogue.offers
            self._memo.sizes = tuple(math.prod(self.problem.sizes(offer.features)) for offer in offers)
        return self._memo.sizes

    def look(self, state: State, *, closely: bool = True) -> Outlook:
        """What is known in a state; `closely` an engine is asked where the posterior leaves it open."""
        class_mass = self._class_mass(state)
        return self._outlook([state], class_mass[None], closely=closely)

    def look_ahead(self, state: State, tests: Sequence[int], *, closely: bool = False) -> Outlook:
        """What is known after each outcome of some tests; without a close look, from posteriors alone."""
        rows = [self._ahead(state, test) for test in tests]
        states = [after(state, test, x) for test in tests for x in range(self.sizes[test])]
        return self._outlook(states, np.concatenate(rows), closely=closely)

    def to_send(self) -> EngineTerrain:
        """The terrain for a worker, without what was asked."""
        return replace(self, problem=forget_answers(self.problem), answers=Answers(), _memo=_Memo())

    def tell(self, state: State) -> Floats:
        """The masses of the classes: a product, whose last digits depend on the order of its factors."""
        return self._class_mass(state)

    def at(self, state: State, told: Floats) -> EngineTerrain:
        """The terrain of a worker before it asks about a state: nothing depends on what it asked before."""
        memo = replace(self._memo, ahead={}, sdp={}, asked={}, masses={state: told})
        return replace(self, answers=Answers(self.answers.found), _memo=memo)

    def _outlook(self, states: Sequence[State], class_mass: Floats, *, closely: bool) -> Outlook:
        tick(UNITS_PER_ROW * len(states), "a look at the next states")
        action = decide_possible(self.problem, class_mass)
        mass = class_mass.sum(axis=1)
        ends = np.array(
            [
                self._sdp(state, class_mass[i] / mass[i], int(action[i]), closely=closely)
                if mass[i] > 0
                else (0.0, 0.0)
                for i, state in enumerate(states)
            ]
        )
        return Outlook(class_mass, action, ends[:, 0] * mass, ends[:, 1] * mass)

    def _class_mass(self, state: State) -> Floats:
        """Pr(class, state | evidence), from a state with one test less: one that was asked about, if any."""
        if state == start_of(self):
            return self.problem.prior
        if state in self._memo.masses:
            return self._memo.masses[state]
        done = [test for test, outcome in enumerate(state) if outcome != UNDONE]
        asked = (test for test in done if test in self._memo.ahead.get(after(state, test, UNDONE), ()))
        test = next(asked, done[0])
        mass: Floats = self._ahead(after(state, test, UNDONE), test)[state[test]]
        return mass

    def _ahead(self, state: State, test: int) -> Floats:  # (outcomes, classes)
        """Pr(class, state, outcome | evidence) for each outcome of a test."""
        known = self._memo.ahead.setdefault(state, {})
        if test not in known:
            likelihoods = self._likelihoods(state, test)
            known[test] = likelihoods * self._class_mass(state)
        return known[test]

    def _likelihoods(self, state: State, test: int) -> Floats:  # (outcomes, classes)
        """Pr(outcome | class, state): only what was observed in the test's own group counts."""
        relevant = self._relevant(state, test)
        is_single = len(self.catalogue.offers[test].features) == 1
        question = "likelihoods", relevant, None if is_single else test
        return self.answers.get(question, lambda: self._infer(relevant, test))[test]

    def _relevant(self, state: State, test: int) -> State:
        """The state without the tests that tell nothing about a test once the class is known."""
        if not self._memo.groups:
            tests_of = {f: t for t, offer in enumerate(self.catalogue.offers) for f in offer.features}
            groups = [
                {tests_of[f] for f in group if f in tests_of} for group in independent_groups(self.problem)
            ]
            self._memo.groups = _join(groups, len(self.sizes))
        group = self._memo.groups[test]
        return tuple(outcome if t in group else UNDONE for t, outcome in enumerate(state))

    def _infer(self, state: State, test: int) -> dict[int, Floats]:
        """Likelihoods of a test in a state; where it tells one feature, of all such tests not done."""
        evidence, network = self._evidence(state), self.problem.network
        features = self.catalogue.offers[test].features
        if len(features) > 1:
            table = joint_table(network, [*features, self.problem.target], evidence)
            rows = table.reshape(-1, len(self.problem.prior))
            totals = rows.sum(axis=0)
            return {test: np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0)}
        class_mass = self._class_mass(state)
        marginals = {
            c: all_marginals(network, {**evidence, self.problem.target: c})
            for c in np.flatnonzero(class_mass > 0).tolist()
        }
        found = {}
        for other, offer in enumerate(self.catalogue.offers):
            if state[other] == UNDONE and len(offer.features) == 1:
                found[other] = np.zeros((self.sizes[other], len(class_mass)))
                for c, each in marginals.items():
                    found[other][:, c] = each[offer.features[0]]
        return found

    def _evidence(self, state: State) -> dict[int, int]:
        """The findings of a state, by position, with those that were known before."""
        findings = dict(self.problem.evidence)
        for test, outcome in enumerate(state):
            if outcome != UNDONE:
                features = self.catalogue.offers[test].features
                states = np.unravel_index(outcome, self.problem.sizes(features))
                findings.update(zip(features, map(int, states), strict=True))
        return findings

    def _sdp(self, state: State, posterior: Floats, action: int, *, closely: bool) -> tuple[float, float]:
        """Bounds on the SDP of a state."""
        memo = self._memo
        known = memo.sdp.get(state)
        if known is None:
            known = memo.sdp[state] = self._plain_bounds(posterior, action)
        units = min(SECONDS_PER_STATE * UNITS_PER_SECOND, ASKED_PART * units_left())
        # What was cut is asked again when there is more for it.
        if closely and not self._is_settled(known) and units > memo.asked.get(state, 0.0):
            plain = self._plain_bounds(posterior, action)
            found = self._ask(state, posterior, plain, units)
            memo.sdp[state], memo.asked[state] = found.sdp, math.inf if found.is_final else units
            known = found.sdp
        return known.low, known.high

    def _plain_bounds(self, posterior: Floats, action: int) -> Interval:
        """What the posterior alone says."""
        if action not in self._memo.tests:
            try:
                self._memo.tests[action] = keeping_tests(self.problem.classifier, action)
            except QueryError:  # a rule that compares something else than masses
                self._memo.tests[action] = None
        tests = self._memo.tests[action]
        return UNKNOWN if tests is None else posterior_bounds(tests, posterior)

    def _is_settled(self, known: Interval) -> bool:
        if self.level is None:
            return known.high - known.low <= TOLERANCES[1]
        return known.low >= self.level - LEVEL_SLACK or known.high < self.level - LEVEL_SLACK

    def _ask(self, state: State, posterior: Floats, known: Interval, units: float) -> _Bounds:
        """The SDP from an engine, finer and finer until it settles the question or its part is spent.

        What was cut is not kept among the answers, so that a plan that goes on later asks again.
        """
        question = "sdp", state, tuple(posterior.tolist())
        if question not in self.answers.found:
            found = settle(
                self._narrow(state, posterior, known),
                share=ASKED_PART,
                units=units,
                seconds=SECONDS_PER_STATE,
                enough=lambda known: self._is_settled(known.sdp),
            )
            # Raises where more than this state's part is spent. A time-out costs all of the part where work
            # is counted, and was measured where a clock runs.
            tick(units if found.cut and not has_deadline() else 0.0, THE_QUESTION)
            if not found.last.is_final and not self._is_settled(found.last.sdp):
                return found.last
            self.answers.add(question, found.last.sdp)
        return _Bounds(self.answers.found[question], is_final=True)

    def _narrow(self, state: State, posterior: Floats, sdp: Interval) -> Iterator[_Bounds]:
        """Narrower and narrower bounds on the SDP, by engines that are asked for more and more."""
        yield _Bounds(sdp)
        problem, done = self._problem_at(state, posterior), done_in(state)
        if not problem.free:
            yield _Bounds(Interval.point(1.0), is_final=True)
            return
        for tolerance in TOLERANCES:
            if (done, tolerance) in self._memo.refused:
                break
            try:
                choice = choose(problem, Question(frozenset(), tolerance=tolerance), engines=QUICK_ENGINES)
                units = _price(choice) * UNITS_PER_SECOND
                if units > units_left():
                    return
                tick(units, THE_QUESTION)
                found = find_agreement(
                    choice.engine.prepare(problem), frozenset(), problem.decider, tolerance
                )
            except LimitError:
                if seconds_left() < HURRIED * SECONDS_PER_STATE:
                    return  # perhaps for want of time alone
                # Whether an engine can answer depends on what is observed, not on how it came out.
                self._memo.refused.add((done, tolerance))
                break
            low, high = max(sdp.low, found.low), min(sdp.high, found.high)
            sdp = Interval(min(low, high), high, found.certainty)
            yield _Bounds(sdp)
            if found.low == found.high:
                break
        yield _Bounds(sdp, is_final=True)

    def _problem_at(self, state: State, posterior: Floats) -> Problem:
        """The problem in a state."""
        if state == start_of(self):
            return self.problem
        evidence = self._evidence(state)
        free = tuple(f for f in self.problem.free if f not in evidence)
        return Problem(self.problem.classifier, evidence, free, posterior)


class _Bounds(NamedTuple):
    """What is known of the SDP of a state."""

    sdp: Interval
    is_final: bool = False
    """Whether no engine tells more, with any time."""


@dataclass(slots=True)
class _Memo:
    """What was asked before; it changes speed, never an answer."""

    sizes: tuple[int, ...] = ()
    groups: list[frozenset[int]] = field(default_factory=list)
    ahead: dict[State, dict[int, Floats]] = field(default_factory=dict)
    masses: dict[State, Floats] = field(default_factory=dict)
    """What a worker was told."""
    sdp: dict[State, Interval] = field(default_factory=dict)
    asked: dict[State, float] = field(default_factory=dict)
    """How much an engine had for each state that it was asked about."""
    refused: set[tuple[int, float]] = field(default_factory=set)
    tests: dict[int, Floats | None] = field(default_factory=dict)


def _price(choice: Choice) -> float:
    """Seconds that the chosen engine bid."""
    return next(bid.seconds or 0.0 for bid in choice.bids if bid.engine == choice.engine.name)


def _join(groups: Sequence[set[int]], n_tests: int) -> list[frozenset[int]]:
    """For each test all tests that depend on it once the class is known; tests may touch several groups."""
    found: list[set[int]] = [{test} for test in range(n_tests)]
    for group in groups:
        joined = set().union(group, *(found[test] for test in group))
        for test in joined:
            found[test] = joined
    return [frozenset(each) for each in found]
