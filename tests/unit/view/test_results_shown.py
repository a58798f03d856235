"""Every result draws itself and shows itself in a notebook, and both show what it holds."""

from __future__ import annotations

import math
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

from strategies import classifiers
from unswayed.api import (
    audit,
    decide,
    frontier,
    posterior,
    rank_observations,
    select_features,
    should_stop,
    start_case,
    trim,
)
from unswayed.api.decisions import maximum_achievable_agreement, same_decision_probability
from unswayed.api.history import replay
from unswayed.api.results.recording import SearchRecord
from unswayed.api.thresholds import sweep_thresholds
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.model import zoo
from unswayed.view.charts.networks import BoxRole
from unswayed.view.figure import Picture
from unswayed.view.plotting import draw_network, make_graph

PAPERS = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
FAULTS = Classifier(zoo.printer(), "Fault", None, MostProbable())


DECIDES = (
    "It decides as all features do with probability 0.9200 when the threshold is 0.60 "
    "(any from 0.13 to 0.61)."
)


def recorded() -> SearchRecord:
    record = SearchRecord()
    trim(PAPERS, 1, report=record)
    record(0.92, 0.92, 8)
    return record


RESULTS = {
    "Decision": lambda: decide(FAULTS, {"Light": "red"}),
    "Stopping": lambda: should_stop(PAPERS),
    "ObservationRanking": lambda: rank_observations(PAPERS),
    "Case": lambda: start_case(PAPERS, {"AC": "+"}),
    "Selection": lambda: select_features(PAPERS, 1),
    "Trimming": lambda: trim(PAPERS, 1),
    "Frontier": lambda: frontier(PAPERS),
    "CaseHistory": lambda: replay(PAPERS, [("AC", "-"), ("R1", "+")]),
    "ThresholdSweep": lambda: sweep_thresholds(PAPERS, 1),
    "SearchRecord": recorded,
}


class Texts(HTMLParser):
    """The words of a page, checked to close every element it opens."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data.replace("\u200b", "").strip())


@pytest.mark.parametrize("kind", RESULTS)
def test_every_result_can_be_drawn(kind, tmp_path):
    pytest.importorskip("matplotlib")
    result = RESULTS[kind]()
    assert type(result).__name__ == kind
    picture = result.plot()
    assert isinstance(picture, Picture)
    picture.save(tmp_path / "picture.png")
    titled = result.plot(title="A title of my own").figure
    texts = {each.get_text() for each in titled.findobj(match=lambda each: hasattr(each, "get_text"))}
    assert "A title of my own" in texts


@pytest.mark.parametrize("kind", [kind for kind in RESULTS if kind != "SearchRecord"])
def test_every_result_shows_itself_in_a_notebook(kind):
    result = RESULTS[kind]()
    words = Texts(result._repr_html_()).words
    expected = {
        "Decision": ["decision: paper_jam", "0.8265"],
        "Stopping": ["Go on observing: that is below 0.95.", "SDP: 0.9000 (exact)"],
        "ObservationRanking": ["Observe next: AC by sdp; R2 by entropy and margin.", "0.1275"],
        "Case": ["observed: AC=+", "0.6100"],
        "Selection": ["Keep AC (cost 1).", "The value is 0.9200."],
        "Trimming": ["Keep AC (cost 1).", DECIDES],
        "Frontier": ["AC", "0.9200", "1.0000"],
        "CaseHistory": ["AC=-", "0.9881"],
        "ThresholdSweep": ["0.6", "0.9200"],
    }
    assert set(expected[kind]) <= set(words)


def test_a_measurement_shows_itself_in_a_notebook():
    assert same_decision_probability(PAPERS)._repr_html_().startswith("<b>0.9000</b> (exact; engine ")
    bound = Measurement(0.5, 0.4, 0.6, Certainty.BOUND, "sums")
    assert Texts(bound._repr_html_()).words == ["0.5000", "(bound, between 0.4 and 0.6; engine sums)"]
    estimate = Measurement(0.5, 0.4, 0.6, Certainty.ESTIMATE, "sampling", confidence=0.99)
    words = "(estimate, between 0.4 and 0.6 with confidence 0.99; engine sampling)"
    assert Texts(estimate._repr_html_()).words == ["0.5000", words]


def test_names_in_cards_are_escaped():
    network = zoo.binary_network({"<b>D</b>": ((), [0.4]), "a&b": (("<b>D</b>",), [0.9, 0.2])})
    classifier = Classifier(network, "<b>D</b>", None, ThresholdRule("+", 0.5))
    for card in (rank_observations(classifier), frontier(classifier), start_case(classifier)):
        assert "<b>" not in card._repr_html_()
        Texts(card._repr_html_())


def test_nothing_reported_cannot_be_drawn():
    with pytest.raises(QueryError, match="reported nothing"):
        SearchRecord().plot()


def test_a_network_shows_what_each_variable_is():
    roles = {box.name: box.role for box in make_graph(PAPERS, {"AC": "+"}, ["R1"]).boxes}
    assert roles == {"D": BoxRole.TARGET, "R1": BoxRole.KEPT, "R2": BoxRole.DROPPED, "AC": BoxRole.EVIDENCE}
    plain = make_graph(zoo.review())
    assert {box.role for box in plain.boxes} == {BoxRole.FEATURE}
    assert plain.arcs == ((0, 1), (0, 2), (1, 3), (2, 3))
    hidden = {box.name: box.role for box in make_graph(FAULTS).boxes}
    assert hidden["Age"] is BoxRole.HIDDEN
    with pytest.raises(QueryError, match="unknown feature 'R3'"):
        draw_network(PAPERS, None, ["R3"])
    with pytest.raises(QueryError, match="unknown state"):
        draw_network(PAPERS, {"AC": "maybe"})


@given(classifiers(max_features=4))
def test_a_course_is_one_answer_after_another(classifier):
    assume(classifier.features)
    network = classifier.network
    feature = classifier.features[0]
    shares = posterior(network, feature)
    state = max(shares, key=shares.__getitem__)
    course = replay(classifier, [(feature, state)])
    assert len(course.steps) == 2
    assert course.steps[1].sdp.value == pytest.approx(
        same_decision_probability(classifier, {feature: state}).value
    )
    first = course.first_safe(0.9)
    assert first == next((i for i, step in enumerate(course.steps) if step.sdp.low >= 0.9 - 1e-12), None)


def test_a_sweep_is_one_selection_after_another():
    tests = Classifier(zoo.disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    sweep = sweep_thresholds(tests, 2, [0.9, 0.1, 0.5])
    assert sweep.thresholds == (0.1, 0.5, 0.9)
    for threshold, found in zip(sweep.thresholds, sweep.selections, strict=True):
        moved = Classifier(tests.network, "Disease", None, ThresholdRule("+", threshold))
        best = select_features(moved, 2)
        assert (found.kept, found.value) == (best.kept, best.value)
    assert sweep.changes == tuple(
        t
        for i, t in enumerate(sweep.thresholds)
        if i and sweep.selections[i].kept != sweep.selections[i - 1].kept
    )
    with pytest.raises(QueryError, match="threshold rules"):
        sweep_thresholds(FAULTS, 1)
    with pytest.raises(QueryError, match="no thresholds"):
        sweep_thresholds(tests, 1, [])


def test_a_record_keeps_what_a_search_reports():
    rng = np.random.default_rng(3)
    wide = Classifier(zoo.random_naive_bayes(14, rng), "C", None, ThresholdRule("s0", 0.5))
    record = SearchRecord()
    found = trim(wide, 5, report=record)
    assert record.reports
    times = [each.seconds for each in record.reports]
    assert times == sorted(times)
    for each in record.reports:
        assert each.incumbent <= found.selection.value + 1e-9
        assert each.bound >= found.selection.value - 1e-9 or math.isinf(each.bound)


def test_a_card_shows_the_confidence_of_an_estimate():
    sdp = Measurement(0.9, 0.89, 0.91, Certainty.ESTIMATE, "sampling", confidence=0.99)
    stopping = replace(should_stop(PAPERS), sdp=sdp, certain=True)
    words = " ".join(Texts(stopping._repr_html_()).words)
    assert "about 0.9000, between 0.8900 and 0.9100 with confidence 0.99" in words


def test_an_agreement_that_is_certified_from_below_says_so():
    wide = Classifier(
        zoo.random_naive_bayes(40, np.random.default_rng(3)), "C", None, ThresholdRule("s0", 0.5)
    )
    found = trim(wide, 4, limits=Limits(max_seconds=8))
    exact = maximum_achievable_agreement(wide, found.kept, tolerance=1e-5)
    assert found.selection.value < exact.low
    assert "with probability at least 0.9" in " ".join(str(found).split())


def test_the_picture_of_a_decision_marks_the_threshold():
    said = should_stop(PAPERS, {"AC": "+"}).plot()._repr_svg_()
    assert "decide + from 0.6 on" in said


def test_print_shows_what_a_card_says_and_no_markup() -> None:
    for name, make in RESULTS.items():
        if name != "SearchRecord":
            result = make()
            text = str(result)
            assert not text.startswith(f"{name}(")
            assert "<" not in text.replace("<=", "")
            assert max(map(len, text.splitlines())) <= 100
    assert "Stop observing" in str(should_stop(PAPERS, {"AC": "-"}))
    assert str(trim(PAPERS, 1)).startswith("Keep AC")
    assert "0.9200" in str(trim(PAPERS, 1))
    audited = audit(PAPERS, pd.DataFrame({"AC": ["-", "+"]}))
    assert str(audited).startswith("2 decisions on 1 pattern of observed features")
    assert "<svg" in audited._repr_html_()
