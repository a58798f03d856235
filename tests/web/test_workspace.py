"""What can be asked about: each session sees its own things, and memory is bounded."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

from unswayed.api.examples import EXAMPLES
from unswayed.core.errors import QueryError
from unswayed.model.data.tables import read_table
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import disease_tests, review, sprinkler
from unswayed.web import workspace as module
from unswayed.web.workspace import HeldTable, Origin, Workspace, choose_classifier, hold_given, hold_network


def test_everybody_sees_the_examples_and_the_given_network():
    given = hold_given(BayesianNetwork(sprinkler().cpts, "Garden, of 2024"))
    workspace = Workspace(given)
    assert given.id == "garden-of-2024"
    for session in ("one", "two"):
        assert workspace.find_network(session, given.id) is given
        for example in EXAMPLES:
            found = workspace.find_network(session, example.name)
            assert found is not None
            assert found.network == example.make()
            assert found.classifier == example.classifier()


def test_a_given_network_goes_before_the_example_of_its_name():
    given = hold_given(BayesianNetwork(sprinkler().cpts, "review"))
    found = Workspace(given).find_network("", "review")
    assert found is given


def test_a_session_does_not_see_what_another_brought():
    workspace = Workspace()
    network = hold_network(review(), Origin.UPLOADED)
    table = HeldTable("t", read_table({"R1": ["+"]}), "cases.csv")
    workspace.keep("one", network, 1000)
    workspace.keep("one", table, 1000)
    assert workspace.find_network("one", network.id) is network
    assert workspace.find_table("one", "t") is table
    assert workspace.find_network("two", network.id) is None
    assert workspace.find_table("two", "t") is None
    assert workspace.find_network("one", "t") is None, "a table is no network"
    assert workspace.list_own("one") == (table, network)
    assert workspace.list_own("two") == ()


def test_what_was_not_used_for_longest_goes_first(monkeypatch):
    monkeypatch.setattr(module, "MOST_HELD", 3)
    workspace = Workspace()
    held = [hold_network(review(), Origin.UPLOADED) for _ in range(4)]
    for each in held[:3]:
        workspace.keep("one", each, 1)
    workspace.find_network("one", held[0].id)
    workspace.keep("one", held[3], 1)
    assert set(workspace.list_own("one")) == {held[0], held[2], held[3]}


def test_memory_is_bounded_over_all_sessions(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    workspace = Workspace()
    held = [hold_network(review(), Origin.UPLOADED) for _ in range(5)]
    for number, each in enumerate(held):
        workspace.keep(f"session {number}", each, 40)
    alive = [n for n, each in enumerate(held) if workspace.find_network(f"session {n}", each.id)]
    assert alive == [3, 4]
    with pytest.raises(QueryError, match="too large"):
        workspace.keep("one", held[0], 101)


def test_ids_cannot_be_guessed():
    ids = {hold_network(review(), Origin.UPLOADED).id for _ in range(100)}
    assert len(ids) == 100
    assert min(map(len, ids)) >= 16


def test_a_network_that_singles_nothing_out_has_no_classifier():
    assert choose_classifier(sprinkler()) is None
    chosen = choose_classifier(disease_tests())
    assert chosen is not None
    assert chosen.target == "Disease"
