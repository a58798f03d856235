"""What is drawn is what was given: numbers are read back from the places of the marks."""

from __future__ import annotations

import math

import pytest

import unswayed
from unswayed.api.examples import EXAMPLE_BY_NAME
from unswayed.api.results.recording import Reported
from unswayed.core.errors import LimitError
from unswayed.view.charts.axes import Scale, place_labels, spread, text_width
from unswayed.view.charts.choices import Worth, draw_ranking, draw_selection
from unswayed.view.charts.curves import (
    BestAt,
    OfferPoint,
    draw_frontier,
    draw_progress,
    draw_thresholds,
)
from unswayed.view.charts.decisions import (
    Gauge,
    Moment,
    draw_decision,
    draw_gauge,
    draw_history,
    draw_posterior,
)
from unswayed.view.charts.networks import BoxRole, NetworkGraph, VariableBox, draw_graph
from unswayed.view.charts.plans import draw_plan
from unswayed.view.charts.reasons import Leeway, Push, draw_contributions, draw_leeways
from unswayed.view.drawing import Cluster, Disc, Rectangle, Trace, Words
from unswayed.view.plotting import plot_result

OFFERS = [
    OfferPoint(0, 0.8, ()),
    OfferPoint(1, 0.9, ("A",)),
    OfferPoint(3, 0.97, ("B", "C"), proven=False, gap=0.01),
    OfferPoint(4, 1.0, ("A", "B", "C", "D")),
]


def flat(marks):
    return [inner for mark in marks for inner in (flat(mark.marks) if isinstance(mark, Cluster) else [mark])]


def clusters(marks, kind):
    found = [mark for mark in marks if isinstance(mark, Cluster)]
    return [each for each in found if each.kind == kind] + [
        inner for each in found for inner in clusters(each.marks, kind)
    ]


def texts(drawing):
    return [mark.text for mark in flat(drawing.marks) if isinstance(mark, Words)]


def scale_of(drawing, *, across):
    """The scale of an axis, from the places of two of its numbers."""
    anchor = "middle" if across else "end"
    marks = [m for m in flat(drawing.marks) if isinstance(m, Words) and m.anchor == anchor and m.turned == 0]
    numbers = {}
    for mark in marks:
        try:
            numbers.setdefault(float(mark.text), mark)
        except ValueError:
            continue
    (low, first), (high, last) = sorted(numbers.items())[:: len(numbers) - 1]
    places = (first.x, last.x) if across else (first.y - 4, last.y - 4)
    return Scale(places[0], places[1], low, high)


def test_the_frontier_steps_up_at_each_offer():
    drawing = draw_frontier(OFFERS, title="a title", marked=1)
    across, down = scale_of(drawing, across=True), scale_of(drawing, across=False)
    points = clusters(drawing.marks, "point")
    dots = [next(m for m in reversed(point.marks) if isinstance(m, Disc)) for point in points]
    assert [across.at(dot.x) for dot in dots] == pytest.approx([0, 1, 3, 4], abs=1e-6)
    assert [down.at(dot.y) for dot in dots] == pytest.approx([0.8, 0.9, 0.97, 1.0], abs=1e-6)
    steps = next(m for m in flat(drawing.marks) if isinstance(m, Trace) and len(m.points) == 2 * len(OFFERS))
    heights = [down.at(y) for _, y in steps.points]
    assert heights == pytest.approx([0.8, 0.8, 0.9, 0.9, 0.97, 0.97, 1.0, 1.0], abs=1e-6)
    assert points[1].title == "cost 1: agreement 0.9000 (proven best); keep A"
    assert "could be better by 0.0100" in points[2].title
    # The one to point out has a ring around it, the one not proven a bar up to what is not excluded.
    assert [sum(isinstance(m, Disc) for m in point.marks) for point in points] == [1, 2, 1, 1]
    (gap,) = [m for m in points[2].marks if isinstance(m, Trace)]
    assert [down.at(y) for _, y in gap.points] == pytest.approx([0.97, 0.98], abs=1e-6)
    assert {"a title", "+A", "+B", "+C", "\u2212A", "recommended"} <= set(texts(drawing))


def test_the_ranking_has_a_bar_for_each_value():
    worth = {
        "sdp": [Worth(0.2, 0.19, 0.21), Worth(-0.1, -0.1, -0.1)],
        "entropy": [Worth(-1.5e-17, -1.5e-17, -1.5e-17), Worth(0.5, 0.5, 0.5)],
    }
    drawing = draw_ranking(["fever", "cough"], worth, title="which?")
    bars = [
        next((m for m in each.marks if isinstance(m, Rectangle)), None)
        for each in clusters(drawing.marks, "worth")
    ]
    assert bars[0].width == pytest.approx(2 * bars[1].width)
    # What is rounding has no bar and is written as 0; the best by each criterion stands out.
    assert bars[2] is None
    assert bars[0].look.fill == bars[3].look.fill != bars[1].look.fill
    assert texts(drawing).count("0") == 1
    assert not any("e-1" in text for text in texts(drawing))


def test_a_ranking_without_any_gain_has_no_axis_of_noise():
    drawing = draw_ranking(["a", "b"], {"sdp": [Worth(1e-17, 1e-17, 1e-17), Worth(-3e-17, 0, 0)]}, title="")
    assert texts(drawing).count("0") == 2


def test_changes_of_the_subset_are_marked():
    points = [BestAt(0.1, 0.9, ("A",)), BestAt(0.2, 0.95, ("A",)), BestAt(0.3, 1.0, ("B", "C"))]
    drawing = draw_thresholds(points, title="")
    across, down = scale_of(drawing, across=True), scale_of(drawing, across=False)
    (series,) = clusters(drawing.marks, "series")
    line = series.marks[0].points
    assert [across.at(x) for x, _ in line] == pytest.approx([0.1, 0.2, 0.3], abs=1e-6)
    assert [down.at(y) for _, y in line] == pytest.approx([0.9, 0.95, 1.0], abs=1e-6)
    changed = [each.title for each in clusters(drawing.marks, "change")]
    assert [title.split(":")[0] for title in changed] == ["threshold 0.1", "threshold 0.3"]
    assert {"A", "B", "C"} <= set(texts(drawing))


def test_a_case_shows_posterior_decision_and_safety():
    moments = [
        Moment("", {"+": 0.2, "-": 0.8}, "not +", 0.9, 0.88, 0.92),
        Moment("AC=+", {"+": 0.61, "-": 0.39}, "+", 0.5, 0.5, 0.5),
    ]
    drawing = draw_history(moments, title="a paper", threshold=("+", 0.6), at_least=0.95)
    down = scale_of(drawing, across=False)
    posterior, safety = (each.marks[0].points for each in clusters(drawing.marks, "series"))
    assert [down.at(y) for _, y in posterior] == pytest.approx([0.2, 0.61], abs=1e-6)
    assert [down.at(y) for _, y in safety] == pytest.approx([0.9, 0.5], abs=1e-6)
    (band,) = clusters(drawing.marks, "band")
    assert max(down.at(y) for _, y in band.marks[0].points) == pytest.approx(0.92, abs=1e-6)
    shown = {"a paper", "not +", "+", "nothing yet", "AC=+", "Pr(+)", "threshold 0.6", "safe from 0.95"}
    assert shown <= set(texts(drawing))


def test_of_many_states_each_has_a_line():
    moments = [Moment("", {"a": 0.2, "b": 0.3, "c": 0.5}, "c", 1.0, 1.0, 1.0)]
    assert {"Pr(a)", "Pr(b)", "Pr(c)"} <= set(texts(draw_history(moments)))


def test_progress_shows_incumbent_and_bound():
    instants = [
        Reported(0.0, 0.8, math.inf, 1),
        Reported(0.5, 0.9, 0.95, 40),
        Reported(1.0, 0.92, 0.92, 1234),
    ]
    drawing = draw_progress(instants, title="")
    down = scale_of(drawing, across=False)
    best, bound = (
        sorted({round(down.at(y), 9) for _, y in clusters(drawing.marks, kind)[0].marks[0].points})
        for kind in ("best", "bound")
    )
    assert best == [0.8, 0.9, 0.92]
    assert bound == [0.92, 0.95]
    assert "1,234 subsets" in texts(drawing)


def test_a_posterior_has_bars_and_the_threshold_on_the_bar_of_its_state():
    drawing = draw_posterior({"ill": 0.3, "well": 0.6, "gone": 0.1}, "well", threshold=("ill", 0.25))
    bars = [each.marks[0] for each in clusters(drawing.marks, "bar")]
    assert [bar.width / bars[0].width for bar in bars] == pytest.approx([1, 2, 1 / 3])
    assert [bar.look.fill == "blue" for bar in bars] == [False, True, False]
    (tick,) = [m for m in flat(drawing.marks) if isinstance(m, Trace)]
    assert (tick.points[0][0] - bars[0].x) / bars[0].width == pytest.approx(0.25 / 0.3)
    assert tick.points[0][1] < bars[0].y < tick.points[1][1]


def test_a_gauge_is_filled_up_to_what_is_known_and_coloured_by_the_verdict():
    def fills(gauge):
        return [mark.look.fill for mark in flat(draw_gauge(gauge).marks) if isinstance(mark, Trace)]

    assert fills(Gauge(0.97, 0.97, 0.97, 0.95)) == ["wash", "green", ""]
    assert fills(Gauge(0.7, 0.65, 0.75, 0.95)) == ["wash", "pale-orange", "orange", ""]
    assert fills(Gauge(0.95, 0.94, 0.96, 0.95)) == ["wash", "pale-amber", "amber", ""]
    half = draw_gauge(Gauge(0.5, 0.5, 0.5, 0.95))
    filled = next(m for m in half.marks if isinstance(m, Trace) and m.look.fill == "orange")
    # Half of a half ring ends at its top, above the centre.
    top = min(filled.points, key=lambda point: point[1])
    assert top[0] == pytest.approx(max(x for x, _ in filled.points))
    assert "0.5000" in half.description


def test_a_decision_has_bars_and_a_gauge():
    drawing = draw_decision({"ill": 0.3, "well": 0.7}, "well", Gauge(0.7, 0.65, 0.75, 0.95))
    assert {"decision: well", "0.7000", "not safe yet: below 0.95", "70%"} <= set(texts(drawing))


def test_a_selection_shows_the_gap():
    drawing = draw_selection(["A", "B"], 0.9, 0.95, cost=2)
    (found,), (gap,) = (clusters(drawing.marks, kind) for kind in ("found", "gap"))
    assert gap.marks[0].width / found.marks[0].width == pytest.approx(0.05 / 0.9)
    assert "2 features kept, cost 2" in texts(drawing)


def test_contributions_lie_on_their_sides():
    pushes = [Push("for", 1.0), Push("against", -0.5), Push("settles", math.inf)]
    bars = [each.marks[0] for each in clusters(draw_contributions(pushes, title="").marks, "push")]
    assert bars[1].x + bars[1].width == pytest.approx(bars[0].x)
    assert [bar.width / bars[0].width for bar in bars] == pytest.approx([1, 0.5, 1])


def test_a_leeway_shows_its_range_and_where_the_decision_turns():
    drawing = draw_leeways([Leeway("p", 0.3, 0.2, 0.6), Leeway("q", 0.9, 0.5, 1.0)], title="")
    across = scale_of(drawing, across=True)
    for each, ends in zip(clusters(drawing.marks, "leeway"), [(0.2, 0.6), (0.5, 1.0)], strict=True):
        bar = each.marks[1]
        assert (across.at(bar.x), across.at(bar.x + bar.width)) == pytest.approx(ends)
        turns = [
            across.at(m.points[0][0])
            for m in each.marks
            if isinstance(m, Trace) and m.look.stroke == "orange"
        ]
        assert turns == pytest.approx([end for end in ends if end not in (0.0, 1.0)])


def test_a_network_is_drawn_with_its_roles():
    boxes = (
        VariableBox("D", BoxRole.TARGET),
        VariableBox("a $x$", BoxRole.EVIDENCE, "yes"),
        VariableBox("B", BoxRole.DROPPED, posterior={"u": 0.25, "v": 0.75}),
    )
    drawing = draw_graph(NetworkGraph(boxes, ((0, 1), (0, 2))), title="three")
    assert {"D", "a $x$ = yes", "B", "three", "25%", "75%"} <= set(texts(drawing))
    assert sum(isinstance(mark, Trace) and mark.curved for mark in drawing.marks) == 2
    legend = [text for text in texts(drawing) if text in {role.value for role in BoxRole}]
    assert legend == ["decided about", "observed", "dropped"]
    (dropped,) = clusters(drawing.marks, "box dropped")
    bars = [m.width for m in dropped.marks if isinstance(m, Rectangle) and m.look.fill == "blue"]
    assert bars[1] / bars[0] == pytest.approx(3)


def test_too_many_boxes_are_refused():
    with pytest.raises(LimitError, match="401 variables cannot be read"):
        draw_graph(NetworkGraph(tuple(VariableBox(f"X{i}") for i in range(401)), ()))


PLAN = {
    "test": "area",
    "cost": 2,
    "decision": "no",
    "sdp": 0.9,
    "probability": 1.0,
    "outcomes": {
        "low": {"probability": 0.75, "decision": "no", "sdp": 0.97},
        "high": {
            "test": "texture",
            "cost": 1,
            "decision": "yes",
            "sdp": 0.8,
            "probability": 0.25,
            "outcomes": {
                "a": {"decision": "yes", "sdp": 1.0, "probability": 0.2},
                "b": {"decision": "no", "sdp": 0.9, "probability": 0.05, "reached": False},
            },
        },
    },
}


def test_a_plan_has_a_box_for_each_test_and_verdict():
    drawing = draw_plan(PLAN, title="a plan")
    assert len(clusters(drawing.marks, "test")) == 2
    verdicts = clusters(drawing.marks, "verdict")
    assert [each.marks[1].text for each in verdicts] == ["no", "yes", "no"]
    assert verdicts[0].marks[0].look.fill == verdicts[2].marks[0].look.fill != verdicts[1].marks[0].look.fill
    # Shares of the outcomes of a test, not of all cases.
    assert {"low (75%)", "high (25%)", "a (80%)", "b (20%)"} <= set(texts(drawing))
    assert {"SDP 0.9700", "cost 2", "SDP 0.9000, not safe"} <= set(texts(drawing))
    assert drawing.description.startswith("Test area. If low (75%): no.")
    folded = draw_plan(PLAN, title="a plan", deepest=1)
    assert len(clusters(folded.marks, "test")) == 1
    assert "… yes" in texts(folded)


def test_labels_do_not_collide():
    labels = [((x, 50.0), ["a label of some length"]) for x in (100.0, 104.0, 108.0, 112.0)]
    marks = place_labels(labels, (0, 0, 600, 120))
    boxes = [(m.x, m.y - m.size, m.x + text_width(m.text, m.size), m.y) for m in marks]
    assert len(boxes) >= 2
    for i, one in enumerate(boxes):
        for two in boxes[:i]:
            assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] + 3 or two[3] <= one[1] + 3


def test_labels_of_a_frontier_keep_clear_of_what_is_not_excluded():
    """The lines that lead up to what is not excluded run through no label."""
    kept = [[f"a long name {i}" for i in range(n)] for n in (0, 2, 4, 7, 9, 12)]
    agreements = 0.98, 0.985, 0.987, 0.99, 0.992, 0.995
    offers = [
        OfferPoint(5.0 * i, agreements[i], tuple(kept[i]), proven=False, gap=1 - agreements[i])
        for i in range(6)
    ]
    drawing = draw_frontier(offers)
    words = [w for w in _list_words(drawing.marks) if w.text.startswith(("+", "and "))]
    lines = [m for c in clusters(drawing.marks, "point") for m in c.marks if isinstance(m, Trace)]
    assert len(lines) == 6
    assert words
    for line in lines:
        x, (low, high) = line.points[0][0], sorted(y for _, y in line.points)
        for left, top, right, bottom in map(_find_box, words):
            assert not (left < x < right and top < high and low < bottom)


def test_places_are_spread_as_little_as_possible():
    placed = spread([0.0, 0.0, 0.0, 100.0], 10.0)
    assert placed == pytest.approx([-10.0, 0.0, 10.0, 100.0])


def _list_words(marks):
    for mark in marks:
        if isinstance(mark, Words):
            yield mark
        elif isinstance(mark, Cluster):
            yield from _list_words(mark.marks)


def _find_box(words):
    width = text_width(words.text, words.size)
    left = words.x - {"start": 0.0, "middle": width / 2, "end": width}[words.anchor]
    return left, words.y - 0.75 * words.size, left + width, words.y + 0.15 * words.size


@pytest.mark.parametrize(
    ("name", "findings"),
    [("printer", {"Light": "red"}), ("disease_tests", {"T1": "+", "T2": "-"}), ("review", {"AC": "-"})],
)
def test_texts_of_whole_pictures_neither_collide_nor_run_out(name, findings):
    """Every picture of a case: all texts lie inside, and no two share a place."""
    classifier = EXAMPLE_BY_NAME[name].classifier()
    for result in (
        unswayed.decide(classifier, findings),
        unswayed.should_stop(classifier, findings),
        unswayed.voi(classifier, findings),
        unswayed.frontier(classifier, evidence=findings),
        unswayed.why(classifier, findings),
        unswayed.plan(classifier, findings),
        unswayed.follow(classifier, observe=findings.items()),
    ):
        drawing = plot_result(result).drawing
        boxes = [_find_box(words) for words in _list_words(drawing.marks) if not words.turned]
        assert boxes
        for i, one in enumerate(boxes):
            assert one[0] >= -1
            assert one[2] <= drawing.width + 1
            for two in boxes[:i]:
                wide = min(one[2], two[2]) - max(one[0], two[0])
                high = min(one[3], two[3]) - max(one[1], two[1])
                assert wide <= 1 or high <= 1, type(result).__name__
