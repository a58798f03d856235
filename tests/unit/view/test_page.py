"""The report: a page that parses, needs nothing else, and says what the verbs say."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from unswayed.api import frontier, same_decision_probability
from unswayed.api.report import examine
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.model import zoo
from unswayed.view.numbers import percent, probability_text
from unswayed.view.page import report_page

PAPERS = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.8))
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """A page taken apart; elements must nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(" ".join(data.replace("\u200b", "").split()))

    @property
    def words(self) -> str:
        return " ".join(each for each in self.texts if each)


def test_the_page_says_what_the_verbs_say():
    found = examine(PAPERS, at_least=0.91)
    page = Page(report_page(found))
    sdp = same_decision_probability(PAPERS).value
    curve = frontier(PAPERS)
    assert f"With probability {probability_text(sdp)}, it survives observing R1, R2 and AC" in page.words
    for point in curve.points:
        assert probability_text(round(point.selection.value, 12)) in page.words
    # Of the points that agree often enough the cheapest is recommended.
    enough = [point.selection for point in curve.points if point.selection.value >= 0.91]
    assert found.trimming.selection.kept == min(enough, key=lambda s: s.cost).kept
    assert "Recommended: keep AC (1 of 3 features, cost 1)." in page.words
    assert "It decides differently on 8% of cases" in page.words
    ids = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    assert ids == ["classifier", "robustness", "features", "frontier", "differences"]


def test_the_page_needs_nothing_else():
    text = report_page(examine(PAPERS))
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "img", "iframe")
        assert not attributes.get("src")
        assert not attributes.get("href")
    assert "@import" not in text
    assert "url(" not in text
    addresses = set(re.findall(r"https?://[^\"' <]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_single_findings_are_those_of_the_network():
    found = examine(PAPERS)
    for each in found.findings:
        evidence = {each.feature: each.state}
        assert each.sdp.value == pytest.approx(same_decision_probability(PAPERS, evidence).value)
    shares = {}
    for each in found.findings:
        shares[each.feature] = shares.get(each.feature, 0.0) + each.probability
    assert all(share == pytest.approx(1.0) for share in shares.values())


@pytest.mark.parametrize(
    "rule",
    [
        MostProbable(),
        ThresholdRule("none", 0.9),
        UtilityRule(
            {
                "call": {"none": -1, "paper_jam": 2, "no_toner": 1, "no_network": 2},
                "wait": dict.fromkeys(["none", "paper_jam", "no_toner", "no_network"], 0),
            }
        ),
    ],
    ids=["most probable", "threshold", "utility"],
)
@pytest.mark.parametrize(
    "evidence", [{}, {"Light": "red"}, {"Light": "red", "TestPage": "pale", "Ping": "silent"}]
)
def test_every_rule_and_any_evidence_make_a_page(rule, evidence):
    faults = Classifier(zoo.printer(), "Fault", None, rule)
    words = Page(report_page(examine(faults, None, evidence), title="A & B")).words
    assert words.startswith("A & B A & B")
    if evidence:
        assert "Everything on this page is given Light = red" in words
    if len(evidence) == 3:
        assert "All features are observed." in words


def test_names_cannot_break_the_page():
    nasty = "</style><script>alert(1)</script>"
    network = zoo.binary_network({nasty: ((), [0.4]), "a&b<c": ((nasty,), [0.9, 0.2])})
    text = report_page(examine(Classifier(network, nasty, None, ThresholdRule("+", 0.5))))
    assert "<script" not in text
    Page(text)


def test_what_is_out_of_reach_is_noted():
    rng = np.random.default_rng(0)
    wide = Classifier(zoo.random_polytree(60, rng), "X0", None, MostProbable())
    found = examine(wide, limits=Limits(max_bytes=20_000))
    assert found.frontier is None
    page = Page(report_page(found)).words
    assert "The frontier is left out: " in page
    assert "This was left out; the notes at the end say why." in page


def test_the_level_is_checked():
    with pytest.raises(QueryError, match="between 0 and 1"):
        examine(PAPERS, at_least=1.5)


@pytest.mark.parametrize(("share", "text"), [(0.0499, "5%"), (0.5, "50%"), (0.9995, ">99.9%"), (1.0, "100%")])
def test_percents_are_short_and_honest(share, text):
    assert percent(share) == text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
@pytest.mark.parametrize("width", [500, 1000])
def test_a_browser_shows_the_page(tmp_path, width):
    page, image = tmp_path / "report.html", tmp_path / "report.png"
    page.write_text(report_page(examine(PAPERS)), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--screenshot={image}", f"--window-size={width},1200", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=tmp_path)
    content = image.read_bytes()
    assert struct.unpack(">II", content[16:24])[0] == width
    # A blank page compresses to a few kilobytes.
    assert len(content) > 30_000
