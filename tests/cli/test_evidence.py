"""Evidence as it is typed: whatever the names are, there is a way to type them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from unswayed.cli.evidence import assignment, name_and_state, names_in, pairs_in
from unswayed.core.errors import QueryError

QUOTE, BACKSLASH = '"', chr(92)
names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8)


def escaped(name: str, marks: str) -> str:
    """A name with a backslash before every mark in it, as the documentation tells."""
    return "".join(f"\\{character}" if character in marks else character for character in name)


@given(st.lists(st.tuples(names, names), min_size=1, max_size=4))
def test_escaped_names_come_back_as_they_were(pairs):
    words = [
        f"{escaped(name, ',=' + QUOTE + BACKSLASH)}={escaped(state, ',' + QUOTE + BACKSLASH)}"
        for name, state in pairs
    ]
    assert list(pairs_in([",".join(words)])) == pairs
    assert list(pairs_in(words)) == pairs


def quoted(name: str) -> str:
    """A name in quotes, those inside it escaped."""
    return f'"{escaped(name, QUOTE + BACKSLASH)}"'


@given(st.lists(st.tuples(names, names), min_size=1, max_size=4))
def test_quoted_names_come_back_as_they_were(pairs):
    words = [f"{quoted(name)} = {quoted(state)}" for name, state in pairs]
    assert list(pairs_in([", ".join(words)])) == pairs
    assert list(names_in([",".join(quoted(name) for name, _ in pairs)])) == [name for name, _ in pairs]


def test_quotes_that_enclose_no_whole_name_are_part_of_it():
    assert list(pairs_in(['width=6", height=4"'])) == [("width", '6"'), ("height", '4"')]
    assert list(pairs_in(['"a"b=c'])) == [('"a"b', "c")]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ('"my class"=yes', ("my class", "yes")),
        ('my class="yes, please"', ("my class", "yes, please")),
        ('"a=b"', ("a=b", None)),
        ("a, b=c", ("a, b", "c")),
        ("Fault=no, toner", ("Fault", "no, toner")),
    ],
)
def test_a_target_may_be_quoted(word, expected):
    assert name_and_state(word) == expected


@pytest.mark.parametrize("word", ["", "Rain", "=yes", "Rain=yes,,Wind=no", ",", r"Rain\=yes"])
def test_what_is_no_pair_is_refused(word):
    with pytest.raises(QueryError, match="expected VARIABLE=STATE"):
        list(pairs_in([word]))


def test_blanks_around_names_do_not_count():
    assert list(pairs_in([" Rain = yes , Wind = very strong "])) == [("Rain", "yes"), ("Wind", "very strong")]


def test_a_lonely_backslash_is_itself():
    assert assignment(r"a\b=c\d", expected="") == (r"a\b", r"c\d")
    assert assignment("a=c\\", expected="") == ("a", "c\\")
