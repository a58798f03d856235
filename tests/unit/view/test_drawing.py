"""SVG that parses, holds what was given, lets nobody's name break out; files by their suffix."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.core.errors import FormatError, MissingLibrary
from unswayed.view.charts.axes import ticks, wrap
from unswayed.view.charts.curves import OfferPoint, draw_frontier
from unswayed.view.charts.networks import BoxRole, NetworkGraph, VariableBox, draw_graph
from unswayed.view.describe import Description, TextTable
from unswayed.view.drawing import PALETTE, Cluster, Disc, Drawing, Look, Rectangle, Trace, Words
from unswayed.view.figure import Picture, paint
from unswayed.view.svg import element, escaped, palette_css, to_svg
from unswayed.view.templating import render

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '<script>alert("a & b")</script>'
OFFERS = [
    OfferPoint(0, 0.8, ()),
    OfferPoint(1, 0.9, ("A&B",)),
    OfferPoint(2.5, 1.0, ("A&B", "C"), False, 0.001),
]


def test_a_network_has_a_box_and_an_arrow_for_everything():
    boxes = (
        VariableBox("D", BoxRole.TARGET),
        VariableBox(NASTY, BoxRole.KEPT),
        VariableBox("B", BoxRole.EVIDENCE, "a<b"),
    )
    root = ElementTree.fromstring(to_svg(draw_graph(NetworkGraph(boxes, ((0, 1), (0, 2))))))
    found = [g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("box")]
    assert [g.get("class") for g in found] == ["box target", "box kept", "box evidence"]
    assert [g.find(f"{SVG}title").text for g in found] == [
        "D (decided about)",
        f"{NASTY} (kept)",
        "B = a<b (observed)",
    ]
    strokes = [p for p in root.iter(f"{SVG}path") if p.get("fill") == "none"]
    assert len(strokes) == 2
    legend = {text.text for text in root.iter(f"{SVG}text")}
    assert {"decided about", "kept", "observed"} <= legend


def test_a_frontier_has_a_point_for_each_offer():
    root = ElementTree.fromstring(to_svg(draw_frontier(OFFERS, marked=1)))
    points = [g for g in root.iter(f"{SVG}g") if g.get("class") == "point"]
    titles = [point.find(f"{SVG}title").text for point in points]
    assert titles[1] == "cost 1: agreement 0.9000 (proven best); keep A&B"
    assert "could be better by 0.0010" in titles[2]
    circles = [[circle.attrib for circle in point.iter(f"{SVG}circle")] for point in points]
    assert [len(each) for each in circles] == [1, 2, 1]
    heights = [float(each[-1]["cy"]) for each in circles]
    shares = (np.array(heights) - heights[0]) / (heights[2] - heights[0])
    assert shares == pytest.approx([0, 0.5, 1], abs=1e-3)


def test_a_drawing_says_in_words_what_it_shows():
    root = ElementTree.fromstring(to_svg(draw_frontier(OFFERS, title="what <each> buys")))
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(f"{SVG}title").text == "what <each> buys"
    assert "cost 1: 0.9000" in root.find(f"{SVG}desc").text


def test_colours_follow_a_page_and_are_fixed_in_files():
    drawing = Drawing(9, 9, (Disc(1, 1, 1, Look(fill="ink")),), "")
    assert 'fill="var(--u-ink,#1b2430)"' in to_svg(drawing)
    assert "var(" not in to_svg(drawing, fixed=True)
    assert f"--u-ink:light-dark({PALETTE['ink'][0]},{PALETTE['ink'][1]});" in palette_css()


def luminance(colour):
    """As the Web Content Accessibility Guidelines define it."""
    shares = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("shade", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "soft", "blue", "orange", "green", "amber", "purple"])
def test_text_can_be_read_on_light_and_dark_paper(name, shade):
    for ground in ("paper", "wash"):
        bright, dark = sorted(luminance(PALETTE[each][shade]) for each in (name, ground))[::-1]
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


@given(st.text())
def test_text_stays_text(text):
    allowed = "".join(c for c in text if c.isprintable())
    node = ElementTree.fromstring(element("p", escaped(allowed) or "-", title=allowed))
    assert (node.text or "") == (allowed or "-")
    assert node.get("title") == allowed


def test_cards_escape_what_is_not_markup():
    described = Description([f"{NASTY}!", NASTY, TextTable([[NASTY]], [NASTY])])
    made = render("card.html", described=described, most=9)
    assert "<script>" not in made
    assert made.count("&lt;script&gt;") == 4


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


@given(st.text(alphabet="ab mW", max_size=80), st.floats(20, 300))
def test_wrapping_keeps_every_word(text, width):
    assert " ".join(wrap(text, width)).split() == text.split()


EVERY_MARK = Drawing(
    100,
    50,
    (
        Rectangle(1, 2, 30, 10, Look("blue", "ink", 2, (3, 2))),
        Rectangle(40, 2, 30, 10, Look("paper", "ink"), 4),
        Cluster((Disc(20, 30, 5, Look(fill="green", opacity=0.5)),), "a dot"),
        Trace(((1, 40), (20, 45), (30, 30)), Look(stroke="orange")),
        Trace(((50, 40), (60, 20), (70, 20), (80, 40)), Look(stroke="soft"), curved=True),
        Words("a $x$", 5, 49, turned=-20),
    ),
    "every kind",
)


def test_matplotlib_paints_the_same_marks():
    pytest.importorskip("matplotlib")
    (axes,) = paint(EVERY_MARK).axes
    assert [text.get_text() for text in axes.texts] == ["a $x$"]
    kinds = [type(patch).__name__ for patch in axes.patches]
    assert kinds == ["Rectangle", "FancyBboxPatch", "Circle", "PathPatch", "PathPatch"]
    assert axes.patches[0].get_bbox().bounds == (1, 2, 30, 10)
    assert axes.patches[3].get_path().vertices.tolist() == [[1, 40], [20, 45], [30, 30]]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_are_saved_by_suffix(suffix, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"frontier.{suffix}"
    Picture(draw_frontier(OFFERS)).save(path)
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_the_same_picture_is_the_same_file(suffix, tmp_path):
    pytest.importorskip("matplotlib")
    one, two = (tmp_path / f"{name}.{suffix}" for name in ("one", "two"))
    for path in (one, two):
        Picture(draw_frontier(OFFERS)).save(path)
    assert one.read_bytes() == two.read_bytes()


def test_what_cannot_be_saved_says_why(tmp_path):
    picture = Picture(draw_frontier(OFFERS))
    with pytest.raises(FormatError, match=r"saved as .png, .svg, .pdf, not '.bmp'"):
        picture.save(tmp_path / "frontier.bmp")
    with pytest.raises(FormatError, match="cannot be written"):
        picture.save(tmp_path / "nowhere" / "frontier.svg")


def test_pictures_show_themselves_in_notebooks():
    root = ElementTree.fromstring(Picture(EVERY_MARK)._repr_svg_())
    assert root.tag == f"{SVG}svg"
    assert [text.text for text in root.iter(f"{SVG}text")] == ["a $x$"]


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    Picture(EVERY_MARK).save(tmp_path / "picture.svg")
    with pytest.raises(MissingLibrary, match=r"pip install 'matplotlib>=.*'plots'"):
        Picture(EVERY_MARK).save(tmp_path / "picture.png")
