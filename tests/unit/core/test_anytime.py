"""One budget over all parts of an answer, portions of it, and the loop that settles a stream."""

from __future__ import annotations

import math

import pytest

from clocks import time_running_out
from unswayed import LimitError, Limits
from unswayed.core.anytime import (
    BudgetSpent,
    bounded,
    check_bytes,
    limits,
    portion,
    reserve,
    seconds_left,
    settle,
    stoppable,
    tick,
    units_left,
    within,
)
from unswayed.core.limits import DEFAULT_LIMITS

HOUR = Limits(max_seconds=3600.0)
AT_ONCE = Limits(max_seconds=1e-9)


def test_without_a_clock_there_is_no_end():
    assert seconds_left() == units_left() == math.inf
    tick(what="anything")


def test_parts_end_with_the_whole_whatever_their_own_limits_say():
    with within(Limits(max_seconds=60.0)) as whole:
        with within(HOUR) as part:
            assert part.ends == whole.ends
        with within(Limits(max_seconds=1.0)) as part:
            assert part.ends < whole.ends
    assert math.isinf(seconds_left())


def test_a_part_ends_earlier_than_the_whole():
    with within(HOUR), portion(0.25):
        assert 800 < seconds_left() <= 900


def test_more_seconds_than_are_left_change_nothing():
    with within(Limits(max_seconds=60.0)) as whole, portion(seconds=3600.0) as part:
        assert part.ends == whole.ends


def test_the_clock_raises_once_the_time_is_over():
    with pytest.raises(LimitError, match="before counting was done; raise Limits"), within(AT_ONCE):
        tick(what="counting")


def test_a_verb_keeps_the_time_of_its_limits():
    @bounded
    def verb(*, limits: Limits = DEFAULT_LIMITS) -> float:
        return seconds_left()

    assert 3000 < verb(limits=HOUR) <= 3600
    assert math.isinf(verb())


def doubling(start: int = 1, work: float = 1.0):
    """A stream whose states can be taken up again: each costs as many units as it is large."""
    while True:
        tick(work * start, "doubling")
        yield start
        start *= 2


def test_a_stream_is_followed_to_its_end():
    settled = settle(iter([1, 2, 3]))
    assert (settled.last, settled.cut, settled.interrupted) == (3, "", False)


def test_a_stream_is_followed_until_it_is_good_enough():
    settled = settle(doubling(), enough=lambda state: state > 100)
    assert (settled.last, settled.cut) == (128, "")


@pytest.mark.parametrize("units", [1, 10, 1000, 12345])
def test_work_ends_a_stream_at_the_same_state_on_every_machine(units):
    settled = settle(doubling(), units=units)
    spent, state = 1, 1
    while spent + 2 * state <= units:
        state *= 2
        spent += state
    assert settled.last == state
    assert "before doubling was done" in settled.cut


def test_a_stream_goes_on_from_its_last_state_as_if_it_had_never_stopped():
    half = settle(doubling(), units=1000).last
    spent = 2 * half - 1
    assert settle(doubling(2 * half), units=4000 - spent).last == settle(doubling(), units=4000).last


def test_seconds_that_were_given_count_instead_of_work():
    with limits(max_seconds=3600.0):
        assert settle(doubling(), units=1.0, enough=lambda state: state >= 2**20).last == 2**20


def test_a_share_of_the_work_is_a_share_of_what_is_left():
    with portion(units=1000.0):
        with portion(0.25):
            assert units_left() == 250.0
            tick(100.0)
        assert units_left() == 900.0
    assert math.isinf(units_left())


def test_a_part_that_is_cut_leaves_the_whole_its_rest():
    def report():
        parts = {}
        for name, units in (("large", 5.0), ("small", 500.0)):
            try:
                parts[name] = settle(doubling(10), units=units).last
            except LimitError as error:
                assert not isinstance(error, BudgetSpent)  # noqa: PT017 - its own portion, not the whole
                parts[name] = None
            yield dict(parts)

    assert settle(report()).last == {"large": None, "small": 160}


def test_a_cut_of_the_whole_hands_up_the_best_of_a_part():
    seen = []

    def outer():
        yield "nothing yet"
        seen.append(settle(doubling(), units=1e9).last)
        yield "never reached: the next tick is refused"
        tick(1.0)
        yield "nor this"

    settled = settle(outer(), units=100.0)
    assert seen == [32]
    assert settled.last.startswith("never reached")
    assert settled.cut


def test_the_end_of_the_whole_is_not_taken_for_that_of_a_part():
    with portion(units=10.0) as whole, pytest.raises(BudgetSpent) as caught, portion(units=1e9):
        tick(11.0, "too much")
    assert caught.value.budget is whole
    with pytest.raises(LimitError) as other, portion(units=10.0):
        tick(11.0, "too much")
    assert not isinstance(other.value, BudgetSpent)


def test_a_stopped_budget_ends_at_the_next_tick_whatever_is_left():
    with stoppable() as budget, limits(max_seconds=3600.0):
        tick()
        budget.stopped = True
        with pytest.raises(BudgetSpent):
            tick()


def test_a_stop_from_outside_gives_the_best_so_far():
    with stoppable() as budget:

        def stream():
            yield 1
            budget.stopped = True
            yield 2
            yield 3

        assert settle(stream()).last == 2


def test_what_is_made_of_the_last_state_has_a_reserve():
    with limits(max_seconds=1e-9), stoppable() as budget:
        budget.stopped = True
        with reserve():
            tick(1e5, "the tree")
            assert 0.0 < seconds_left() <= 0.5


def test_an_interrupt_ends_a_search_with_its_best_and_anything_else_with_an_exception():
    def interrupted():
        yield 1
        raise KeyboardInterrupt

    found = settle(interrupted(), heeds_interrupts=True)
    assert (found.last, found.interrupted) == (1, True)
    with pytest.raises(KeyboardInterrupt):
        settle(interrupted())


def test_progress_is_told_a_few_times_a_second():
    heard = []
    with time_running_out(stride=0.01):
        settle(iter(range(1000)), tell=heard.append)
    assert 100 < len(heard) < 400  # the clock is looked at two or three times a state
    assert heard == sorted(heard)


def test_memory_is_allowed_by_the_innermost_context_that_names_it():
    with limits(max_bytes=10**6), portion(max_bytes=10**9), pytest.raises(LimitError, match="1 MB"):
        check_bytes(2e6, "a table")
