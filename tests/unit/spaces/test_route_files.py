"""Graphs and paths in files: real ones are read, broken ones refused with their line."""

from __future__ import annotations

import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.spaces.route_files import read_graph, read_paths, write_paths


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "a,b\nb,c\n"),
        ("g.csv", "source,target\na,b\nb,c\nc,b\n"),
        ("g.csv", "link;Tail;Head;minutes\n1;a;b;0.5\n2;b;a;0.5\n3;b;c;1\n"),
        ("g.csv", "# roads\n\na\tb\nb\tc\n".replace("# roads\n\n", "")),
        ("g.json", '{"edges": [["a", "b"], ["b", "c"]]}'),
        ("g.json", '{"edges": [{"x": "a", "y": "b"}, {"x": "b", "y": "c"}]}'),
    ],
    ids=["bare", "both ways", "columns", "tabs", "pairs", "objects"],
)
def test_one_graph_in_many_spellings(tmp_path, name, text):
    graph = read_graph(written(tmp_path, name, text))
    assert graph.nodes == ("a", "b", "c")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"),
    [
        ("g.csv", "a,b\nc\n", 2, "expected two nodes"),
        ("g.csv", "a,b\n,c\n", 2, "expected two nodes"),
        ("g.csv", 'a,b\n"c,d\n', 2, "not a table"),
        ("g.csv", "", None, "no edges"),
        ("g.json", '{"edges": [\n[1, 2],\n}', 3, "no JSON"),
        ("g.json", "[1, 2]", None, "list under 'edges'"),
        ("g.json", '{"edges": [[1]]}', None, "edge 0 has 1 nodes"),
        ("g.json", '{"edges": [7]}', None, "entry 0 of 'edges' is not a pair"),
        ("g.json", '{"edges": [[1, null]]}', None, "entry 0 of 'edges' is not a pair"),
        ("g.json", "[" * 100_000, None, ""),
    ],
    ids=["one", "empty cell", "quote", "empty", "syntax", "list", "short", "number", "null", "deep"],
)
def test_broken_graphs_are_refused_with_their_line(tmp_path, name, text, line, reason):
    with pytest.raises(FormatError) as refused:
        read_graph(written(tmp_path, name, text))
    assert reason in str(refused.value)
    assert refused.value.line == line or name == "g.json"


def test_loops_are_left_out_with_a_warning(tmp_path):
    with pytest.warns(
        UnswayedWarning, match="1 edges from a node to itself are left out, the first in line 2"
    ):
        graph = read_graph(written(tmp_path, "g.csv", "a,b\nb,b\n"))
    assert len(graph.edges) == 1


@pytest.mark.parametrize("text", ["a b c\nb c\n", "# trips\na, b, c\n\nb,c\n"], ids=["blanks", "commas"])
def test_paths_are_read(tmp_path, text):
    assert read_paths(written(tmp_path, "p.txt", text)) == [("a", "b", "c"), ("b", "c")]


def test_written_paths_come_back(tmp_path):
    paths = [("a b", "c"), ("1", "2", "3")]
    write_paths(paths, tmp_path / "p.txt")
    assert read_paths(tmp_path / "p.txt") == paths


@pytest.mark.parametrize("path", [("a,b", "c"), ("a",), ("", "b"), ("a\nb", "c"), ("#a", "b")], ids=repr)
def test_paths_that_would_not_come_back_are_not_written(tmp_path, path):
    with pytest.raises(FormatError, match="cannot be written"):
        write_paths([path], tmp_path / "p.txt")


@pytest.mark.parametrize(
    ("text", "reason"), [("", "no paths"), ("a,b\nc,,d\n", "without a name")], ids=["empty", "gap"]
)
def test_broken_paths_are_refused(tmp_path, text, reason):
    with pytest.raises(FormatError, match=reason):
        read_paths(written(tmp_path, "p.txt", text))


@needs_shared_data
def test_real_graphs_and_trips_are_read():
    graph = read_graph(SHARED / "routes" / "borlange_core.json")
    assert (len(graph.nodes), len(graph.edges)) == (47, 63)
    assert len(read_paths(SHARED / "routes" / "borlange_core.json")) == 376
    assert len(read_graph(SHARED / "routes" / "sanfrancisco_0_0.json.gz").nodes) == 691
    assert len(read_paths(SHARED / "routes" / "borlange_trips.txt.gz")) == 1832
    with pytest.warns(UnswayedWarning, match="left out"):
        assert len(read_graph(SHARED / "routes" / "borlange_links.csv.gz").nodes) == 3061
