"""Drawings of large networks: the part around the target, and letters that can be read."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from unswayed.core.errors import LimitError
from unswayed.view.charts.networks import FONT, BoxRole, NetworkGraph, VariableBox, draw_graph
from unswayed.view.drawing import Cluster, Words
from unswayed.view.svg import to_svg


def texts(drawing):
    """Every line of text, those on boxes too."""
    marks = [m for mark in drawing.marks for m in (mark.marks if isinstance(mark, Cluster) else [mark])]
    return [mark.text for mark in marks if isinstance(mark, Words)]


def chain(n_boxes, target, **roles):
    """Boxes one below the other."""
    role_of = {target: BoxRole.TARGET, **{int(place[1:]): role for place, role in roles.items()}}
    boxes = tuple(VariableBox(f"X{i}", role_of.get(i, BoxRole.HIDDEN)) for i in range(n_boxes))
    return NetworkGraph(boxes, tuple((i, i + 1) for i in range(n_boxes - 1)))


def drawn_names(drawing):
    return {text for text in texts(drawing) if text.startswith("X")}


def test_of_many_variables_those_nearest_to_the_target_are_drawn():
    drawing = draw_graph(chain(150, 75))
    near = drawn_names(drawing)
    assert len(near) == 60
    assert {f"X{i}" for i in range(46, 105)} <= near <= {f"X{i}" for i in range(45, 106)}
    said = "90 of 150 variables, farther from X75, are left out; unswayed draw --all shows them."
    assert said in " ".join(texts(drawing))
    assert "90 of 150 variables" in drawing.description


def test_what_was_observed_or_kept_is_drawn_with_the_way_to_it():
    near = drawn_names(draw_graph(chain(150, 75, X10=BoxRole.EVIDENCE, X110=BoxRole.KEPT)))
    assert {f"X{i}" for i in range(10, 111)} == near


def test_the_markov_blanket_comes_before_what_is_as_near():
    """Children, parents and the other parents of children; beside them a crowd of grandchildren."""
    names = ["X", *(f"X{kind}{i}" for kind in ("parent", "mate", "child") for i in range(10))]
    boxes = [VariableBox(name, BoxRole.TARGET if name == "X" else BoxRole.FEATURE) for name in names]
    arcs = [(1 + i, 0) for i in range(10)] + [(0, 21 + i) for i in range(10)]
    arcs += [(11 + i, 21 + i) for i in range(10)]
    boxes += [VariableBox(f"Xgrand{i}", BoxRole.FEATURE) for i in range(200)]
    arcs += [(21 + i % 10, 31 + i) for i in range(200)]
    order = sorted(
        range(len(boxes)), key=lambda i: not names[i].startswith(("Xparent", "Xmate")) if i < 31 else 2
    )
    place = {old: new for new, old in enumerate(order)}
    graph = NetworkGraph(tuple(boxes[i] for i in order), tuple((place[a], place[b]) for a, b in arcs))
    near = drawn_names(draw_graph(graph))
    assert set(names) <= near
    assert len(near) == 60


@pytest.mark.parametrize(("graph", "options"), [(chain(100, 50), {}), (chain(150, 75), {"whole": True})])
def test_all_variables_of_a_readable_network_are_drawn_and_of_any_on_demand(graph, options):
    drawing = draw_graph(graph, **options)
    assert len(drawn_names(drawing)) == len(graph.boxes)
    assert "left out" not in " ".join(texts(drawing))


def test_without_a_target_nothing_is_left_out():
    assert len(drawn_names(draw_graph(replace(chain(150, 75), boxes=chain(150, -1).boxes)))) == 150


def test_many_boxes_are_drawn_on_demand():
    boxes = tuple(VariableBox(f"X{i}") for i in range(401))
    assert len(drawn_names(draw_graph(NetworkGraph(boxes, ()), whole=True))) == 401
    with pytest.raises(LimitError, match="at most 2,000"):
        draw_graph(NetworkGraph(boxes * 5, ()), whole=True)


def test_a_wide_network_keeps_its_letters_readable_where_a_page_is_narrow():
    wide = draw_graph(NetworkGraph(tuple(VariableBox(f"a rather long name {i}") for i in range(80)), ()))
    least = float(re.search(r"min-width:([0-9.]+)px", to_svg(wide))[1])
    assert least == pytest.approx(0.8 * wide.width, abs=0.01)
    assert 0.8 * FONT >= 9
    assert 'class="drawing legible"' in to_svg(wide, inline_style=False)
    narrow = draw_graph(chain(5, 0))
    assert "min-width" not in to_svg(narrow)
    assert 'class="drawing"' in to_svg(narrow)
