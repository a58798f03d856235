"""SVG and HTML that parse, hold what was given, and let nobody's name break out."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.view.cards import bar, card, sentence, table
from unswayed.view.frontier import Offer
from unswayed.view.frontier_svg import frontier_svg
from unswayed.view.graph import Box, Graph, Role
from unswayed.view.markup import element, escaped
from unswayed.view.network_svg import network_svg
from unswayed.view.scales import ticks

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert("a & b")</script>'


def test_a_network_has_a_box_and_an_arrow_for_everything():
    graph = Graph(
        (Box("D", Role.TARGET), Box(NASTY, Role.KEPT), Box("B", Role.EVIDENCE, "a<b")), ((0, 1), (0, 2))
    )
    root = ElementTree.fromstring(network_svg(graph))
    boxes = [g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("box")]
    assert [g.get("class") for g in boxes] == ["box target", "box kept", "box evidence"]
    assert [g.find(f"{SVG}title").text for g in boxes] == [
        "D (decided about)",
        f"{NASTY} (kept)",
        "B = a<b (observed)",
    ]
    strokes = [p for p in root.iter(f"{SVG}path") if p.get("fill") == "none"]
    assert len(strokes) == 2
    legend = {text.text for text in root.iter(f"{SVG}text")}
    assert {"decided about", "kept", "observed"} <= legend


def test_a_frontier_has_a_point_for_each_offer():
    offers = [Offer(0, 0.8, ()), Offer(1, 0.9, ("A&B",)), Offer(2.5, 1.0, ("A&B", "C"), False, 0.001)]
    root = ElementTree.fromstring(frontier_svg(offers, marked=1))
    points = [g for g in root.iter(f"{SVG}g") if g.get("class") == "point"]
    titles = [point.find(f"{SVG}title").text for point in points]
    assert titles[1] == "cost 1: agreement 0.9000 (proven best); keep A&B"
    assert "could be better by 0.0010" in titles[2]
    circles = [[circle.attrib for circle in point.iter(f"{SVG}circle")] for point in points]
    assert [len(each) for each in circles] == [1, 2, 1]
    heights = [float(each[-1]["cy"]) for each in circles]
    shares = (np.array(heights) - heights[0]) / (heights[2] - heights[0])
    assert shares == pytest.approx([0, 0.5, 1], abs=1e-3)


@given(st.text())
def test_text_stays_text(text):
    allowed = "".join(c for c in text if c.isprintable())
    node = ElementTree.fromstring(element("p", escaped(allowed) or "-", title=allowed))
    assert (node.text or "") == (allowed or "-")
    assert node.get("title") == allowed


def test_cards_escape_what_is_not_markup():
    made = card(NASTY, sentence(NASTY), table([NASTY], [[bar(0.5)]]))
    assert "<script>" not in made
    assert made.count("&lt;script&gt;") == 3
    assert "width:60px" in made


@given(st.floats(-50, 50), st.floats(0.01, 100), st.integers(2, 8))
def test_marks_are_round_and_within(low, reach, count):
    marks = ticks(low, low + reach, count)
    assert all(low - 1e-6 <= mark <= low + reach + 1e-6 for mark in marks)
    assert len(marks) <= count + 2
    steps = np.diff(marks)
    if len(steps):
        digits = steps[0] / 10 ** np.floor(np.log10(steps[0]) + 1e-9)
        assert digits == pytest.approx(round(digits), abs=1e-6)
        assert steps == pytest.approx(steps[0], rel=1e-6)
