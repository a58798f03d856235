"""Objects on one line: what is written is read back, and what makes no sense is refused."""

from __future__ import annotations

import pytest

from unswayed.core.errors import QueryError
from unswayed.spaces.classifier.inputs import read_object, write_object
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Partial
from unswayed.spaces.subsets import subset_space

DRINKS = ranking_space(["tea", "milk", "rum"])


@pytest.mark.parametrize(
    "item", [("rum", "tea", "milk"), Partial([("rum",)]), Partial([("tea", "milk")]), Partial([])]
)
def test_written_rankings_are_read_back(item):
    assert (DRINKS.observe(read_object(DRINKS, write_object(item))) == DRINKS.observe(item)).all()


def test_items_may_be_numbers_and_paths_are_their_nodes():
    assert read_object(ranking_space([1, 2, 3]), "2,1,3") == (2, 1, 3)
    routes = path_space([("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")], "a", "d")
    assert read_object(routes, "a, b, d") == ("a", "b", "d")
    assert read_object(routes, "a, c, ...") == Partial(["a", "c"])


def test_sets_are_read():
    pairs = subset_space(["x", "y", "z"], 2)
    assert read_object(pairs, "y, x") == {"x", "y"}
    assert read_object(pairs, "y, ...") == Partial(["y"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tea, beer, ...", "unknown item 'beer'"),
        ("tea,, milk", "cannot read"),
        ("tea, {milk", "cannot read"),
        ("{tea, {milk}}", "cannot read"),
        ("", "cannot read"),
        ("tea, milk", r"end it with ', \.\.\.'"),
        ("tea, tea, rum", "ranked twice"),
    ],
)
def test_lines_that_describe_no_object_are_refused(text, message):
    with pytest.raises(QueryError, match=message):
        read_object(DRINKS, text)
