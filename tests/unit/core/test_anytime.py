"""One clock over all parts of an answer, and the grace that its least part has."""

from __future__ import annotations

import math
import time

import pytest

from unswayed import LimitError, Limits
from unswayed.core.anytime import (
    GRACE,
    deadline,
    grace,
    keep_time,
    moment_at,
    one_clock,
    seconds_left,
    tick,
    until,
)
from unswayed.core.limits import DEFAULT_LIMITS

HOUR = Limits(max_seconds=3600.0)
AT_ONCE = Limits(max_seconds=1e-9)


def test_without_a_clock_there_is_no_end():
    assert deadline() == seconds_left() == moment_at(0.5) == math.inf
    tick(what="anything")


def test_parts_end_with_the_whole_whatever_their_own_limits_say():
    with one_clock(Limits(max_seconds=60.0)):
        end = deadline()
        with one_clock(HOUR):
            assert deadline() == end
        with one_clock(Limits(max_seconds=1.0)):
            assert deadline() < end
    assert math.isinf(deadline())


def test_a_part_ends_earlier_than_the_whole():
    with one_clock(HOUR), until(moment_at(0.25)):
        assert 800 < seconds_left() <= 900


def test_a_moment_that_is_later_changes_nothing():
    with one_clock(Limits(max_seconds=60.0)):
        end = deadline()
        with until(time.monotonic() + 3600.0):
            assert deadline() == end


def test_the_clock_raises_once_the_time_is_over():
    with one_clock(AT_ONCE), pytest.raises(LimitError, match="before counting was done; raise Limits"):
        tick(what="counting")


def test_the_least_part_has_some_grace_and_its_parts_share_it():
    with one_clock(AT_ONCE):
        with grace():
            assert 0 < seconds_left() <= GRACE
            time.sleep(0.02)
        with grace():
            assert seconds_left() <= GRACE - 0.02
        assert seconds_left() <= 0


def test_grace_takes_no_time_away():
    with one_clock(HOUR), grace():
        assert seconds_left() > 3000


def test_a_verb_keeps_the_time_of_its_limits():
    @keep_time
    def verb(*, limits: Limits = DEFAULT_LIMITS) -> float:
        return seconds_left()

    assert 3000 < verb(limits=HOUR) <= 3600
    assert math.isinf(verb())
