"""What is drawn is what was given: numbers are read back from the axes."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from unswayed.core.errors import FormatError, LimitError, SolverError
from unswayed.view.canvas import picture_of
from unswayed.view.course import Moment, course_picture
from unswayed.view.decision import Gauge, decision_picture
from unswayed.view.frontier import Offer, frontier_picture
from unswayed.view.graph import Box, Graph, Role
from unswayed.view.network import network_picture
from unswayed.view.progress import Instant, progress_picture
from unswayed.view.ranking import Worth, ranking_picture
from unswayed.view.selection import selection_picture
from unswayed.view.thresholds import BestAt, thresholds_picture

pytest.importorskip("matplotlib")

OFFERS = [
    Offer(0, 0.8, ()),
    Offer(1, 0.9, ("A",)),
    Offer(3, 0.97, ("B", "C"), proven=False, gap=0.01),
    Offer(4, 1.0, ("A", "B", "C", "D")),
]


def line(axes, label):
    """The points of the line of this label."""
    found = next(each for each in axes.lines if each.get_label() == label)
    return list(zip(*map(np.asarray, found.get_data()), strict=True))


def texts(figure):
    return {text.get_text() for text in figure.findobj(match=lambda each: hasattr(each, "get_text"))}


def test_the_frontier_steps_up_at_each_offer():
    figure = frontier_picture(OFFERS, title="a title", marked=1).figure
    (axes,) = figure.axes
    steps = axes.lines[0]
    assert steps.get_drawstyle() == "steps-post"
    assert list(steps.get_xdata())[:-1] == [0, 1, 3, 4]
    assert list(steps.get_ydata()) == [0.8, 0.9, 0.97, 1.0, 1.0]
    assert line(axes, "best, proven") == [(0, 0.8), (1, 0.9), (4, 1.0)]
    assert line(axes, "recommended") == [(1, 0.9)]
    assert {"a title", "+A", "+B\n+C\n-A"} <= texts(figure)
    assert axes.get_xlabel().startswith("budget")


def test_the_ranking_has_a_bar_for_each_value():
    worth = {
        "sdp": [Worth(0.2, 0.19, 0.21), Worth(-0.1, -0.1, -0.1)],
        "entropy": [Worth(0.0, 0.0, 0.0), Worth(0.5, 0.5, 0.5)],
    }
    figure = ranking_picture(["fever", "cough"], worth, title="which?").figure
    assert len(figure.axes) == 2
    for axes, values in zip(figure.axes, worth.values(), strict=True):
        assert [patch.get_width() for patch in axes.patches] == [each.value for each in values]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["fever", "cough"]
    best = [[patch.get_facecolor() for patch in axes.patches] for axes in figure.axes]
    assert best[0][0] == best[1][1] != best[0][1] == best[1][0]


def test_changes_of_the_subset_are_marked():
    points = [BestAt(0.1, 0.9, ("A",)), BestAt(0.2, 0.95, ("A",)), BestAt(0.3, 1.0, ("B", "C"))]
    (axes,) = thresholds_picture(points, title="").figure.axes
    assert line(axes, "best subset at this threshold") == [(0.1, 0.9), (0.2, 0.95), (0.3, 1.0)]
    assert line(axes, "another subset from here on") == [(0.1, 0.9), (0.3, 1.0)]
    assert {"A", "B\nC"} <= texts(axes)


def test_a_case_shows_posterior_decision_and_safety():
    moments = [
        Moment("", {"+": 0.2, "-": 0.8}, "not +", 0.9, 0.88, 0.92),
        Moment("AC=+", {"+": 0.61, "-": 0.39}, "+", 0.5, 0.5, 0.5),
    ]
    figure = course_picture(moments, title="a paper", threshold=("+", 0.6), at_least=0.95).figure
    above, below = figure.axes
    assert [y for _, y in line(above, "Pr(+)")] == [0.2, 0.61]
    assert line(above, "threshold 0.6")[0][1] == 0.6
    assert [y for _, y in line(below, "same-decision probability")] == [0.9, 0.5]
    assert line(below, "stop at 0.95")[0][1] == 0.95
    assert {"not +", "+", "nothing yet", "AC=+"} <= texts(figure)
    (band,) = below.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 0.92


def test_of_many_states_each_has_a_line():
    moments = [Moment("", {"a": 0.2, "b": 0.3, "c": 0.5}, "c", 1.0, 1.0, 1.0)]
    above, _ = course_picture(moments, title="").figure.axes
    assert [each.get_label() for each in above.lines] == ["Pr(a)", "Pr(b)", "Pr(c)"]


def test_progress_shows_incumbent_and_bound():
    instants = [Instant(0.0, 0.8, math.inf, 1), Instant(0.5, 0.9, 0.95, 40), Instant(1.0, 0.92, 0.92, 1234)]
    (axes,) = progress_picture(instants, title="").figure.axes
    assert line(axes, "best so far") == [(0.0, 0.8), (0.5, 0.9), (1.0, 0.92)]
    assert line(axes, "nothing exceeds")[1:] == [(0.5, 0.95), (1.0, 0.92)]
    assert "1,234 subsets" in texts(axes)


def test_a_decision_has_bars_and_a_gauge():
    gauge = Gauge(0.7, 0.65, 0.75, 0.95)
    figure = decision_picture({"ill": 0.3, "well": 0.7}, "well", gauge=gauge).figure
    bars, meter = figure.axes
    assert [patch.get_width() for patch in bars.patches] == [0.3, 0.7]
    assert meter.patches[1].get_width() == 0.7
    assert meter.patches[2].get_width() == pytest.approx(0.1)
    assert {"decision: well", "0.7000", "stop at 0.95"} <= texts(figure)


def test_a_selection_shows_the_gap():
    figure = selection_picture(["A", "B"], (0.9, 0.95), cost=2).figure
    assert [patch.get_width() for patch in figure.axes[0].patches] == [0.9, pytest.approx(0.05)]
    assert "2 features kept, cost 2" in texts(figure)


def test_a_network_is_drawn_with_its_roles():
    boxes = (Box("D", Role.TARGET), Box("a $x$", Role.EVIDENCE, "yes"), Box("B", Role.DROPPED))
    figure = network_picture(Graph(boxes, ((0, 1), (0, 2))), title="three").figure
    assert {"D", "a $x$ = yes", "B", "three"} <= texts(figure)
    (axes,) = figure.axes
    arrows = [patch for patch in axes.patches if type(patch).__name__ == "FancyArrowPatch"]
    assert len(arrows) == 2
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["decided about", "observed", "dropped"]


def test_too_many_boxes_are_refused():
    with pytest.raises(LimitError, match="401 variables cannot be read"):
        network_picture(Graph(tuple(Box(f"X{i}") for i in range(401)), ()))


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_are_saved_by_suffix(suffix, tmp_path):
    path = tmp_path / f"frontier.{suffix}"
    frontier_picture(OFFERS, title="").save(path)
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[suffix])


def test_the_same_picture_is_the_same_file(tmp_path):
    for name in ("one.svg", "two.svg"):
        frontier_picture(OFFERS, title="").save(tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_what_cannot_be_saved_says_why(tmp_path):
    picture = frontier_picture(OFFERS, title="")
    with pytest.raises(FormatError, match=r"saved as .png, .svg, .pdf, not '.bmp'"):
        picture.save(tmp_path / "frontier.bmp")
    with pytest.raises(FormatError, match="cannot be written"):
        picture.save(tmp_path / "nowhere" / "frontier.png")


def test_pictures_show_themselves_in_notebooks():
    content, size = frontier_picture(OFFERS, title="")._repr_png_()
    assert content.startswith(b"\x89PNG")
    width = int.from_bytes(content[16:20])
    assert size["width"] == pytest.approx(width / 2, abs=1)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SolverError, match=r"pip install '\.\[plots\]' in"):
        picture_of(lambda figure: None)
