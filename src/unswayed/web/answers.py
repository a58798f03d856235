"""Answers to the questions of the panels, each computed once and kept while it is likely to be asked again.

Every answer has limits, and an estimate answers where nothing certain can, unless the cache is to be certain.
Cases are kept with what their engines prepared, so that one more finding reuses the work of the case before
it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from unswayed.api import plans
from unswayed.api.decisions import Decision
from unswayed.api.history import CaseHistory, HistoryStep, follow
from unswayed.api.networks import posterior
from unswayed.api.observations import Case, Stopping
from unswayed.api.questions import Options
from unswayed.api.ranking import ObservationRanking
from unswayed.api.reasons import why
from unswayed.api.results.plan import TestPlan
from unswayed.api.results.reasons import Reasons
from unswayed.core.anytime import tick
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.core.parallel import POLL_SECONDS
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.rewards import Margin, NegativeEntropy
from unswayed.web.case import ORDERS
from unswayed.web.cautions import capture, replay
from unswayed.web.setting import Setting, find_spending

T = TypeVar("T")
MOST_CASES = 8
"""Cases kept with what their engines prepared, each up to the limit on memory."""
MOST_ANSWERS = 2_000


class RecentAnswers:
    """What was computed lately, by question; two who ask the same at once share one computation."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._found: OrderedDict[Hashable, tuple[Any, tuple[str, ...]]] = OrderedDict()
        self._busy: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()

    def find(self, key: Hashable, work: Callable[[], T]) -> T:
        """The answer kept under a key with its warnings; else `work` computes it.

        Failures are not kept, nor is what somebody stopped who no longer waits.
        """
        with self._guard:
            busy = self._busy.setdefault(key, threading.Lock())
        with _holding(busy):
            with self._guard:
                if key in self._found:
                    self._found.move_to_end(key)
                    self._busy.pop(key, None)
                    answer, said = self._found[key]
                    replay(said)
                    return answer  # type: ignore[no-any-return]
            try:
                with capture() as cautions:
                    answer = work()
                    tick()
            finally:
                with self._guard:
                    self._busy.pop(key, None)
            with self._guard:
                self._found[key] = answer, tuple(cautions)
                while len(self._found) > self._at_most:
                    self._found.popitem(last=False)
            return answer

    def peek(self, key: Hashable) -> Any:
        """The answer kept under a key; None where there is none."""
        with self._guard:
            return self._found.get(key, (None, ()))[0]


@contextmanager
def _holding(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock that another thread may hold for long; a stop is heard while waiting for it."""
    while not lock.acquire(timeout=POLL_SECONDS):
        tick(what="the answer that another page waits for")
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """Where panels ask; it asks the verbs of the api, within limits."""

    limits: Limits
    """For each question that a page asks by itself."""
    certain: bool = False
    """Whether to refuse where only an estimate could answer."""
    cases: RecentAnswers = field(default_factory=lambda: RecentAnswers(MOST_CASES))
    answers: RecentAnswers = field(default_factory=lambda: RecentAnswers(MOST_ANSWERS))

    @property
    def options(self) -> Options:
        """How every question is asked."""
        return Options(limits=self.limits, allow_estimates=not self.certain)

    @property
    def long_limits(self) -> Limits:
        """For what is asked for by itself, a plan or a trimming: four times the memory, twice the time."""
        seconds = self.limits.max_seconds
        return Limits(4 * self.limits.max_bytes, None if seconds is None else 2 * seconds)

    def case(self, setting: Setting) -> Case:
        """The case with what its engines prepared."""
        return self.cases.find(case_key(setting), lambda: self._open(setting))

    def _open(self, setting: Setting) -> Case:
        """The case from one that lacks a single finding, where such a one is kept."""
        for name, state in reversed(setting.evidence.items()):
            before = self.cases.peek(case_key(setting, without=name))
            if isinstance(before, Case):
                return before.observe(name, state)
        return follow(setting.classifier, setting.evidence, **self.options)

    def decision(self, setting: Setting) -> Decision:
        """What is decided now."""
        return self.case(setting).decision

    def stopping(self, setting: Setting) -> Stopping:
        """How safe the decision is, and whether to stop."""
        key = ("stopping", case_key(setting), setting.level)
        return self.answers.find(key, lambda: self.case(setting).should_stop(setting.level))

    def ranking(self, setting: Setting) -> ObservationRanking:
        """What to observe next; by what posteriors tell alone where the rest is too expensive."""
        key = ("ranking", _question_key(setting))
        return self.answers.find(key, lambda: self._rank(setting))

    def first_ranking(self, setting: Setting) -> ObservationRanking:
        """The ranking where it is known already; else what tests tell, which is found at once."""
        known = self.answers.peek(("ranking", _question_key(setting)))
        if isinstance(known, ObservationRanking):
            return known
        costs = _costs_of(setting)
        return self.case(setting).ranking((NegativeEntropy(), Margin()), costs=costs, at_least=None)

    def _rank(self, setting: Setting) -> ObservationRanking:
        case, costs = self.case(setting), _costs_of(setting)
        try:
            return case.ranking(costs=costs, at_least=setting.level)
        except LimitError:
            return case.ranking((NegativeEntropy(), Margin()), costs=costs, at_least=setting.level)

    def reasons(self, setting: Setting) -> Reasons:
        """Why this decision, and what would turn it."""
        key = ("reasons", _question_key(setting))
        return self.answers.find(
            key, lambda: why(setting.classifier, setting.evidence, at_least=setting.level, **self.options)
        )

    def history(self, setting: Setting) -> CaseHistory:
        """How the case went, finding by finding."""
        steps = []
        findings = list(setting.evidence.items())
        for count in range(len(findings) + 1):
            then = replace(setting, evidence=dict(findings[:count]))
            observed = findings[count - 1] if count else None
            stopping = self.stopping(then)
            steps.append(HistoryStep(observed, stopping.decision, stopping.sdp))
        return CaseHistory(setting.classifier, tuple(steps))

    def plan(self, setting: Setting) -> TestPlan:
        """The cheapest plan of tests until the decision is safe."""
        key = ("plan", _question_key(setting))
        return self.answers.find(
            key,
            lambda: plans.plan(
                setting.classifier,
                setting.evidence,
                costs=setting.purchase,
                at_least=setting.level,
                budget=find_spending(setting).left,
                limits=self.long_limits,
            ),
        )

    def marginals(self, setting: Setting) -> dict[str, dict[str, float]]:
        """The posterior of every variable."""
        key = ("marginals", setting.held.id, tuple(sorted(setting.evidence.items())))
        return self.answers.find(
            key, lambda: dict(posterior(setting.classifier.network, setting.evidence, limits=self.limits))
        )


def _costs_of(setting: Setting) -> Purchase | None:
    """The prices to rank by; None where nobody stated any."""
    return setting.purchase if setting.is_priced or not setting.purchase.is_plain else None


def case_key(setting: Setting, *, without: str = "") -> Hashable:
    """What a case depends on: not on the order of its findings, nor on costs and level."""
    evidence = tuple(sorted((n, s) for n, s in setting.evidence.items() if n != without))
    classifier = setting.classifier
    return setting.held.id, classifier.target, repr(classifier.rule), classifier.features, evidence


def _question_key(setting: Setting) -> Hashable:
    """What a question about costs and level depends on."""
    plain = replace(setting.address, findings=(), undone=(), beside=None, order=ORDERS[0], test="")
    return plain, case_key(setting)
