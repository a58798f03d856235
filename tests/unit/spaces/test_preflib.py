"""PrefLib's strict complete orders: real files are read, written files come back, broken ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import FormatError, ModelError
from unswayed.spaces.preflib import RankingData, read_soc, write_soc

GOOD = """\
# TITLE: drinks
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 5
# ALTERNATIVE NAME 2: tea: green
3: 2,1,3

2: 3, 1, 2
"""


def written(tmp_path, text):
    path = tmp_path / "votes.soc"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_names_counts_and_orders_are_read(tmp_path):
    data = read_soc(written(tmp_path, GOOD))
    assert data.title == "drinks"
    assert data.items == ("1", "tea: green", "3")
    assert data.counts.tolist() == [3, 2]
    assert data.repeated().tolist() == [[2, 1, 3]] * 3 + [[3, 1, 2]] * 2


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["windows", "old mac"])
def test_other_line_ends_are_read(tmp_path, end):
    assert read_soc(written(tmp_path, GOOD.replace("\n", end))).counts.tolist() == [3, 2]


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        (5, "3: 2,1", "an order of 2 items, expected all 3"),
        (5, "3: 2,1,1", "item 1 is ranked twice"),
        (5, "3: 2,1,4", "item 4 in an order of items 1 to 3"),
        (5, "3: 2,{1,3}", "ties"),
        (5, "2,1,3", "expected 'voters: item,item,...'"),
        (5, "x: 2,1,3", "'x' found"),
        (5, "0: 2,1,3", "an order of 0 voters"),
        (5, "3: 2,,3", "expected the number of an item"),
        (5, "99999999999999999999: 1,2,3", "expected the number of voters"),
        (3, "# NUMBER VOTERS: 7", "NUMBER VOTERS is 7, but the orders make 5"),
        (2, "# NUMBER ALTERNATIVES: many", "'many' found"),
        (4, "# ALTERNATIVE NAME 9: x", "a name for item 9 of 3"),
    ],
    ids=range(12),
)
def test_broken_files_are_refused_with_their_line(tmp_path, line, text, reason):
    lines = GOOD.split("\n")
    lines[line - 1] = text
    with pytest.raises(FormatError) as refused:
        read_soc(written(tmp_path, "\n".join(lines)))
    assert refused.value.line == line
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "no orders"), ("1: 1,2\n", "before the line '# NUMBER ALTERNATIVES")],
    ids=["empty", "bare"],
)
def test_files_without_facts_or_orders_are_refused(tmp_path, text, reason):
    with pytest.raises(FormatError, match=reason):
        read_soc(written(tmp_path, text))


names = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8).map(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(names, min_size=1, max_size=5), names, st.data())
def test_what_was_written_comes_back(tmp_path, items, title, data):
    order = st.permutations(range(1, len(items) + 1))
    orders = data.draw(st.lists(order, min_size=1, max_size=5))
    counts = data.draw(st.lists(st.integers(1, 99), min_size=len(orders), max_size=len(orders)))
    votes = RankingData(tuple(items), np.array(orders), np.array(counts), title)
    write_soc(votes, tmp_path / "again.soc")
    again = read_soc(tmp_path / "again.soc")
    assert (again.items, again.title) == (votes.items, votes.title)
    assert again.orders.tolist() == orders
    assert again.counts.tolist() == counts


@pytest.mark.parametrize(
    ("items", "orders", "counts"),
    [
        (("a", "b"), [[1, 1]], [1]),
        (("a", "b"), [[1, 2]], [0]),
        (("a\nb",), [[1]], [1]),
        (("a",), [[1]], [1, 1]),
    ],
    ids=["twice", "uncounted", "two lines", "shapes"],
)
def test_data_that_contradict_themselves_are_refused(items, orders, counts):
    with pytest.raises(ModelError):
        RankingData(items, np.array(orders), np.array(counts))


@needs_shared_data
@pytest.mark.parametrize(
    ("file", "n_voters", "n_items"),
    [("agh_courses_2003", 146, 9), ("agh_courses_2004", 153, 7), ("dots_200x3", 795, 4)],
    ids=["2003", "2004", "dots"],
)
def test_real_files_are_read(file, n_voters, n_items):
    data = read_soc(SHARED / "rankings" / f"{file}.soc")
    assert data.repeated().shape == (n_voters, n_items)
