"""Answers are computed once, shared by those who ask at once, and those of the api."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

import unswayed
from unswayed.api import should_stop
from unswayed.core.limits import Limits
from unswayed.web.answers import AnswerCache, RecentAnswers
from unswayed.web.case import parse_query
from unswayed.web.setting import Setting, resolve
from unswayed.web.workspace import Workspace

HELD = Workspace().shared


def setting(query: str, network: str = "printer") -> Setting:
    return resolve(parse_query(network, query), HELD[network])


@pytest.fixture
def cache() -> AnswerCache:
    return AnswerCache(Limits(max_seconds=10.0))


def test_the_desk_answers_as_the_verbs_do(cache):
    asked = setting("find.Light=red&find.Ping=answers")
    classifier, evidence = asked.classifier, asked.evidence
    assert cache.stopping(asked).sdp.value == pytest.approx(should_stop(classifier, evidence).sdp.value)
    assert cache.ranking(asked).features == unswayed.voi(classifier, evidence).features
    assert cache.plan(asked).expected_cost == unswayed.plan(classifier, evidence).expected_cost
    assert cache.reasons(asked).reasons == unswayed.why(classifier, evidence).reasons
    ours = [step.sdp.value for step in cache.history(asked).steps]
    assert ours == pytest.approx(
        [step.sdp.value for step in unswayed.follow(classifier, observe=evidence.items()).steps]
    )


def test_the_order_of_findings_changes_no_answer(cache):
    one, other = setting("find.Light=red&find.Ping=answers"), setting("find.Ping=answers&find.Light=red")
    assert cache.case(one) is cache.case(other)
    assert cache.ranking(one) is cache.ranking(other)


def test_another_level_or_price_is_another_question(cache):
    assert cache.stopping(setting("level=0.5")).stop != cache.stopping(setting("level=0.99")).stop
    plain, priced = setting("find.Light=red"), setting("find.Light=red&cost.TestPage=9")
    assert cache.ranking(plain) is not cache.ranking(priced)


def test_who_asks_at_once_shares_one_computation():
    answers, calls = RecentAnswers(4), []

    def work() -> int:
        calls.append(1)
        time.sleep(0.05)
        return 7

    threads = [threading.Thread(target=lambda: answers.find("x", work)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert answers.find("x", work) == 7
    assert len(calls) == 1


def test_the_oldest_answers_go_and_failures_are_not_kept():
    answers = RecentAnswers(2)
    for key in "abc":
        answers.find(key, lambda key=key: key.upper())
    assert answers.peek("a") is None
    assert answers.peek("c") == "C"
    with pytest.raises(ZeroDivisionError):
        answers.find("d", lambda: 1 // 0)
    assert answers.find("d", lambda: 4) == 4
