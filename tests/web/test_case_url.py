"""A case in its address: what is written is read back, and what cannot be read says why."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from unswayed.core.errors import QueryError
from unswayed.web.case import ORDERS, CaseAddress, format_query, parse_query
from unswayed.web.moves import (
    back_to,
    redo,
    start_over,
    toggle_beside,
    toggle_finding,
    toggle_skip,
    undo,
)

names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
pairs = st.lists(st.tuples(names, names), max_size=5, unique_by=lambda pair: pair[0]).map(tuple)
several = st.lists(names, max_size=4, unique=True).map(tuple)
shares = st.floats(1e-6, 1 - 1e-6)
prices = st.floats(0, 1e6, allow_nan=False)


@st.composite
def group_lists(draw):
    members = draw(several)
    titles = draw(st.lists(names, min_size=len(members), max_size=len(members)))
    groups: dict[str, tuple[str, ...]] = {}
    for member, title in zip(members, titles, strict=True):
        groups[title] = (*groups.get(title, ()), member)
    return tuple(groups.items())


addresses = st.builds(
    CaseAddress,
    network=names,
    target=st.none() | names,
    positive=st.none() | names,
    threshold=st.none() | shares,
    rule=st.sampled_from(["", "likeliest"]),
    utilities=st.lists(st.tuples(names, names, st.floats(-1e6, 1e6)), max_size=3, unique=True).map(tuple),
    breadth=st.sampled_from(["", "all", "leaves"]),
    features=several,
    level=shares,
    findings=pairs,
    undone=pairs,
    skipped=several,
    costs=st.lists(st.tuples(names, prices), max_size=4, unique_by=lambda pair: pair[0]).map(tuple),
    groups=group_lists(),
    mandatory=several,
    forbidden=several,
    budget=st.none() | prices,
    order=st.sampled_from(ORDERS),
    test=st.just("") | names,
    beside=st.none() | pairs,
)


@given(addresses)
def test_what_is_written_is_read_back(address):
    assert parse_query(address.network, format_query(address)) == address


def test_forms_send_empty_fields_and_they_count_as_none():
    assert parse_query("review", "threshold=&budget=&cost.R1=&find.R2=") == CaseAddress("review")


@pytest.mark.parametrize(
    ("query", "where", "why"),
    [
        ("threshold=7", "threshold=7", "above 0 and below 1"),
        ("threshold=nan", "threshold=nan", "must be a number"),
        ("level=0", "level=0", "above 0 and at most 1"),
        ("level=high", "level=high", "must be a number"),
        ("budget=-1", "budget=-1", "at least 0"),
        ("cost.R1=inf", "cost.R1=inf", "must be a number"),
        ("order=luck", "order=luck", "unknown word 'luck'"),
        ("features=most", "features=most", "unknown word"),
        ("rule=dice", "rule=dice", "unknown word"),
        ("treshold=0.5", "treshold=0.5", "did you mean 'threshold'"),
        ("find.=x", "find.=x", "unknown key"),
        ("found.R1=x", "found.R1=x", "unknown key"),
        ("find.R1=a&find.R1=b", "find.R1=b", "twice"),
        ("target=a&target=b", "target=b", "twice"),
        ("skip=a&skip=a", "skip=a", "twice"),
        ("group.a=x&group.a=y", "group.a=y", "twice"),
        ("utility=7", "utility=7", "an action, a state and a number"),
        ("utility=" + "[" * 20_000, "utility=[[[", "an action, a state and a number"),
        ('utility=["a","b",true]', "utility=", "an action, a state and a number"),
        ("&".join(f"skip=a{i}" for i in range(3000)), "the address", "more than 2,000 parts"),
        ("target=" + "x" * 70_000, "the address", "at most 60,000"),
    ],
)
def test_a_bad_address_says_where_and_why(query, where, why):
    with pytest.raises(QueryError) as refusal:
        parse_query("review", query)
    assert where in str(refusal.value)
    assert why in str(refusal.value)
    assert len(str(refusal.value)) < 600


@given(addresses, names, names)
def test_a_finding_clicked_twice_is_taken_back(address, name, state):
    if name not in address.evidence:
        once = toggle_finding(address, name, state)
        assert once.findings[-1] == (name, state)
        assert toggle_finding(once, name, state).findings == address.findings
        assert name not in once.skipped


@given(addresses)
def test_redo_takes_back_undo(address):
    if address.findings:
        assert redo(undo(address)) == address


@given(addresses, st.integers(0, 5))
def test_going_back_can_be_redone(address, count):
    count = min(count, len(address.findings))
    there = back_to(address, count)
    assert there.findings == address.findings[:count]
    for _ in range(len(address.findings) - count):
        there = redo(there)
    assert there == address


@given(addresses, names)
def test_what_cannot_be_done_is_no_finding_and_no_duty(address, name):
    skipped = toggle_skip(address, name)
    assert (name in skipped.skipped) != (name in address.skipped)
    if name in skipped.skipped:
        assert name not in skipped.evidence
        assert name not in (*skipped.mandatory, *skipped.forbidden)


@given(addresses)
def test_starting_over_leaves_the_question_alone(address):
    fresh = start_over(address)
    assert (fresh.findings, fresh.skipped) == ((), ())
    assert (fresh.target, fresh.threshold, fresh.costs) == (address.target, address.threshold, address.costs)


@given(addresses, names, names)
def test_the_second_what_if_leaves_the_first_alone(address, name, state):
    assert toggle_beside(address, name, state).findings == address.findings
