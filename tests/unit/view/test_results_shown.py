"""Every result draws itself and shows itself in a notebook, and both show what it holds."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

import unswayed
from strategies import classifiers
from unswayed import api
from unswayed.api import audit, decide, frontier, posterior, should_stop, trim
from unswayed.api.results.recording import SearchRecord
from unswayed.api.scores import assess
from unswayed.api.shown import Shown
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.model import zoo
from unswayed.model.scores import example_score
from unswayed.view.charts.networks import BoxRole
from unswayed.view.describe import describe
from unswayed.view.figure import Picture
from unswayed.view.plotting import make_graph

PAPERS = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
FAULTS = Classifier(zoo.printer(), "Fault", None, MostProbable())


SAME_RULE = "It decides as all 3 do with probability 0.9200 by the same threshold 0.6."
DECIDES = "It decides as all 3 do with probability 0.9200 when the threshold is 0.60 (any from 0.13 to 0.61)."


def recorded() -> SearchRecord:
    record = SearchRecord()
    trim(PAPERS, budget=1, report=record)
    record(0.92, 0.92, 8)
    return record


RESULTS = {
    "Decision": lambda: decide(FAULTS, {"Light": "red"}),
    "Stopping": lambda: should_stop(PAPERS),
    "ObservationRanking": lambda: unswayed.voi(PAPERS),
    "Case": lambda: unswayed.follow(PAPERS, {"AC": "+"}),
    "Selection": lambda: unswayed.select(PAPERS, budget=1),
    "Trimming": lambda: trim(PAPERS, budget=1),
    "Frontier": lambda: frontier(PAPERS),
    "CaseHistory": lambda: unswayed.follow(PAPERS, observe=[("AC", "-"), ("R1", "+")]),
    "ThresholdSweep": lambda: unswayed.thresholds(PAPERS, budget=1),
    "SearchRecord": recorded,
}
ROWS = {"R1": ["+", "-", "+"] * 10, "R2": ["-", "+", None] * 10, "AC": ["+", "+", "-"] * 10}
UNDRAWN = {
    "Audit": lambda: audit(PAPERS, ROWS),
    "Comparison": lambda: unswayed.compare(PAPERS, trim(PAPERS, budget=1).classifier),
    "Examination": lambda: unswayed.report(PAPERS),
    "Explanation": lambda: unswayed.mpe(zoo.review(), {"AC": "+"}),
    "Interview": lambda: unswayed.ask(PAPERS),
    "JointTable": lambda: unswayed.joint(zoo.review(), ["R1", "R2"]),
    "Predictions": lambda: unswayed.predict(PAPERS, ROWS),
    "Promise": lambda: unswayed.promise(PAPERS, ROWS, missing=0.4),
    "Reasons": lambda: unswayed.why(PAPERS, {"AC": "-"}),
    "SafeLevel": lambda: unswayed.safe_level(PAPERS, ROWS, missing=0.4),
    "ScoreAssessment": lambda: assess(example_score("cha2ds2_vasc"), {}),
    "TestPlan": lambda: unswayed.plan(PAPERS),
}
IN_FILES = {
    "AuditedFile": lambda path: audit(PAPERS, ROWS, output=path),
    "PredictedFile": lambda path: unswayed.predict(PAPERS, ROWS, output=path),
}


def list_results(kind: type = Shown) -> set[str]:
    """The names of all results there are."""
    for name in api.__all__:
        getattr(api, name)
    below = {name for each in kind.__subclasses__() for name in list_results(each)}
    return below or {kind.__name__}


def test_every_result_is_tried_here():
    known = {name for name in list_results() if name in unswayed.__all__ or name in api.__all__}
    assert known <= {*RESULTS, *UNDRAWN, *IN_FILES}
    assert {*RESULTS, *UNDRAWN, *IN_FILES} <= list_results()


@pytest.mark.parametrize("kind", [*RESULTS, *UNDRAWN, *IN_FILES])
def test_every_result_is_one_line_in_a_list_and_prints_its_title(kind, tmp_path):
    make = {**RESULTS, **UNDRAWN}.get(kind)
    result = IN_FILES[kind](tmp_path / "rows.csv") if make is None else make()
    line = repr(result)
    assert line.startswith(f"<{kind}: ")
    assert line.endswith(">")
    assert "\n" not in line
    assert len(line) <= 130
    title = describe(result).title
    assert title in " ".join(str(result).split())
    assert title.split()[0] in " ".join(Texts(result._repr_html_()).words)


def test_the_question_is_no_part_of_a_result():
    asked, other = decide(PAPERS, {"AC": "+"}), decide(PAPERS, {"AC": "+"})
    assert asked == other
    assert str(asked).startswith("given AC=+")
    plain = replace(asked)
    assert plain == asked
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert not str(plain).startswith("given")


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
        "Decision": ["decision: paper_jam, the most probable state of Fault, with 0.8265", "0.8265"],
        "Stopping": ["Go on observing: that is below 0.95.", "SDP: 0.9000 (exact)"],
        "ObservationRanking": ["Observe next: AC by sdp; R2 by entropy and margin.", "0.1275"],
        "Case": ["observed: AC=+", "0.6100"],
        "Selection": ["Keep AC (1 of 3 features, cost 1).", SAME_RULE],
        "Trimming": ["Keep AC (1 of 3 features, cost 1).", DECIDES],
        "Frontier": ["AC", "0.9200", "1.0000"],
        "CaseHistory": ["AC=-", "0.9881"],
        "ThresholdSweep": ["0.6", "0.9200"],
    }
    assert set(expected[kind]) <= set(words)


def test_a_measurement_shows_itself_in_a_notebook():
    assert unswayed.sdp(PAPERS)._repr_html_().startswith("<b>0.9000</b> (exact; engine ")
    bound = Measurement(0.5, 0.4, 0.6, Certainty.BOUND, "sums")
    assert Texts(bound._repr_html_()).words == ["0.5000", "(bound, between 0.4 and 0.6; engine sums)"]
    estimate = Measurement(0.5, 0.4, 0.6, Certainty.ESTIMATE, "sampling", confidence=0.99)
    words = "(estimate, between 0.4 and 0.6 with confidence 0.99; engine sampling)"
    assert Texts(estimate._repr_html_()).words == ["0.5000", words]


def test_names_in_cards_are_escaped():
    network = zoo.binary_network({"<b>D</b>": ((), [0.4]), "a&b": (("<b>D</b>",), [0.9, 0.2])})
    classifier = Classifier(network, "<b>D</b>", None, ThresholdRule("+", 0.5))
    for card in (unswayed.voi(classifier), frontier(classifier), unswayed.follow(classifier)):
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
        unswayed.draw(PAPERS, None, kept=["R3"])
    with pytest.raises(QueryError, match="unknown state"):
        unswayed.draw(PAPERS, {"AC": "maybe"})


@given(classifiers(max_features=4))
def test_a_course_is_one_answer_after_another(classifier):
    assume(classifier.features)
    network = classifier.network
    feature = classifier.features[0]
    shares = posterior(network, of=feature)
    state = max(shares, key=shares.__getitem__)
    course = unswayed.follow(classifier, observe=[(feature, state)])
    assert len(course.steps) == 2
    assert course.steps[1].sdp.value == pytest.approx(unswayed.sdp(classifier, {feature: state}).value)
    first = course.first_safe(0.9)
    assert first == next((i for i, step in enumerate(course.steps) if step.sdp.low >= 0.9 - 1e-12), None)


def test_a_sweep_is_one_selection_after_another():
    tests = Classifier(zoo.disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    sweep = unswayed.thresholds(tests, budget=2, thresholds=[0.9, 0.1, 0.5])
    assert sweep.thresholds == (0.1, 0.5, 0.9)
    for threshold, found in zip(sweep.thresholds, sweep.selections, strict=True):
        moved = Classifier(tests.network, "Disease", None, ThresholdRule("+", threshold))
        best = unswayed.select(moved, budget=2)
        assert (found.kept, found.value) == (best.kept, best.value)
    assert sweep.changes == tuple(
        t
        for i, t in enumerate(sweep.thresholds)
        if i and sweep.selections[i].kept != sweep.selections[i - 1].kept
    )
    with pytest.raises(QueryError, match="threshold rules"):
        unswayed.thresholds(FAULTS, budget=1)
    with pytest.raises(QueryError, match="no thresholds"):
        unswayed.thresholds(tests, budget=1, thresholds=[])


def test_a_record_keeps_what_a_search_reports():
    rng = np.random.default_rng(3)
    wide = Classifier(zoo.random_naive_bayes(14, rng), "C", None, ThresholdRule("s0", 0.5))
    record = SearchRecord()
    found = trim(wide, budget=5, report=record)
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
    found = trim(wide, budget=4, limits=Limits(max_seconds=8))
    exact = unswayed.maa(wide, kept=found.kept, tolerance=1e-5)
    assert found.selection.value < exact.low
    said = " ".join(str(found).split())
    assert "with probability at least 0.9" in said or "with a probability between 0.9" in said


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
    assert str(trim(PAPERS, budget=1)).startswith("Keep AC")
    assert "0.9200" in str(trim(PAPERS, budget=1))
    audited = audit(PAPERS, pd.DataFrame({"AC": ["-", "+"]}))
    assert str(audited).startswith("2 decisions on 1 pattern of observed features")
    assert "<svg" in audited._repr_html_()
