"""The report: a page that parses, needs nothing else, and says what the verbs say."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import unswayed
from unswayed.api import decide, frontier, joint, posterior
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
from unswayed.model import zoo
from unswayed.view.numbers import percent, probability_text
from unswayed.view.page import MOST_FINDINGS, report_page

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
    found = unswayed.report(PAPERS, at_least=0.91)
    page = Page(report_page(found))
    sdp = unswayed.sdp(PAPERS).value
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
    text = report_page(unswayed.report(PAPERS))
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
    found = unswayed.report(PAPERS)
    for each in found.findings:
        evidence = {each.feature: each.state}
        assert each.sdp.value == pytest.approx(unswayed.sdp(PAPERS, evidence).value)
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
    words = Page(report_page(unswayed.report(faults, evidence), title="A & B")).words
    assert words.startswith("A & B A & B")
    if evidence:
        assert "Everything on this page is given Light = red" in words
    if len(evidence) == 3:
        assert "All features are observed." in words


def test_names_cannot_break_the_page():
    nasty = "</style><script>alert(1)</script>"
    network = zoo.binary_network({nasty: ((), [0.4]), "a&b<c": ((nasty,), [0.9, 0.2])})
    text = report_page(unswayed.report(Classifier(network, nasty, None, ThresholdRule("+", 0.5))))
    assert "<script" not in text
    Page(text)


def test_what_is_out_of_reach_is_noted():
    rng = np.random.default_rng(0)
    wide = Classifier(zoo.random_polytree(60, rng), "X0", None, MostProbable())
    found = unswayed.report(wide, limits=Limits(max_bytes=20_000))
    assert found.frontier is None
    page = Page(report_page(found)).words
    assert "The frontier is left out: " in page
    assert "This was left out; the notes at the end say why." in page


def test_the_level_is_checked():
    with pytest.raises(QueryError, match="between 0 and 1"):
        unswayed.report(PAPERS, at_least=1.5)


@pytest.mark.parametrize(("share", "text"), [(0.0499, "5%"), (0.5, "50%"), (0.9995, ">99.9%"), (1.0, "100%")])
def test_percents_are_short_and_honest(share, text):
    assert percent(share) == text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
@pytest.mark.parametrize("width", [500, 1000])
def test_a_browser_shows_the_page(tmp_path, width):
    page, image = tmp_path / "report.html", tmp_path / "report.png"
    page.write_text(report_page(unswayed.report(PAPERS)), encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--screenshot={image}", f"--window-size={width},1200", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=tmp_path)
    content = image.read_bytes()
    assert struct.unpack(">II", content[16:24])[0] == width
    # A blank page compresses to a few kilobytes.
    assert len(content) > 30_000


def test_every_single_finding_is_there_and_the_largest_effect_first():
    found = unswayed.report(PAPERS)
    variables = [PAPERS.network.variable(name) for name in PAPERS.features]
    assert {(f.feature, f.state) for f in found.findings} == {
        (v.name, s) for v in variables for s in v.states
    }
    now = found.decision
    keys = []
    for each in found.findings:
        later = decide(PAPERS, {each.feature: each.state})
        assert each.decision.action == later.action
        moved = sum(abs(later.posterior[s] - now.posterior[s]) for s in now.posterior) / 2
        assert each.effect == pytest.approx(moved)
        keys.append((later.action == now.action, -round(moved, 9)))
    assert keys == sorted(keys)


def test_many_findings_are_cut_and_the_page_says_so():
    network = zoo.random_naive_bayes(20, np.random.default_rng(2), max_states=4)
    found = unswayed.report(Classifier(network, "C", None, ThresholdRule("s0", 0.5)))
    page = Page(report_page(found))
    shown = sum(f"{each.feature} = {each.state}" in page.texts for each in found.findings)
    assert shown < len(found.findings)
    assert f"{len(found.findings) - MOST_FINDINGS} findings more do not change the decision" in page.words


def test_what_is_typical_of_differing_cases_is_counted_right():
    found = unswayed.report(PAPERS, at_least=0.91)
    comparison = found.comparison
    # All eight instances, by enumeration with the verbs.
    instances = joint(PAPERS.network, ["R1", "R2", "AC"])
    differing = {}
    for states, mass in np.ndenumerate(instances.as_array()):
        if not mass:
            continue
        order = ["R1", "R2", "AC"]
        names = {n: PAPERS.network.variable(n).states[s] for n, s in zip(order, states, strict=True)}
        trimmed = found.trimming.classifier
        full = decide(PAPERS, names).action
        other = decide(trimmed, {n: names[n] for n in trimmed.features}).action
        if full != other:
            differing[tuple(names.items())] = mass
    total = sum(differing.values())
    assert total == pytest.approx(1 - comparison.agreement)
    for each in comparison.values:
        among = sum(mass for names, mass in differing.items() if dict(names)[each.feature] == each.state)
        assert each.among == pytest.approx(among / total)
        assert each.overall == pytest.approx(posterior(PAPERS.network, of=each.feature)[each.state])
        assert each.among > each.overall


def test_costs_decide_what_is_worth_observing_first():
    network = zoo.random_naive_bayes(6, np.random.default_rng(4))
    classifier = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    ranking = unswayed.voi(classifier)
    gains = {name: values[0].value for name, values in zip(ranking.features, ranking.values, strict=True)}
    best, second = sorted(gains, key=gains.__getitem__)[:-3:-1]
    assert gains[second] > 0.001
    assert unswayed.report(classifier).first == best
    dear = unswayed.report(classifier, costs={best: 1000.0})
    assert dear.first == second
    assert "for its cost" in Page(report_page(dear)).words


def test_an_interrupt_keeps_what_is_there():
    told = []

    def tell(part):
        told.append(part)
        if part == "the frontier":
            raise KeyboardInterrupt

    found = unswayed.report(PAPERS, tell=tell)
    assert found.stopping is not None
    assert found.ranking is not None
    assert found.frontier is None
    assert "The frontier is left out: the report was interrupted." in found.notes
    assert told[0] == "the list of single findings"
    assert "the decision is" in Page(report_page(found)).words


def test_when_no_time_is_left_the_cheap_half_stays():
    network = zoo.random_naive_bayes(30, np.random.default_rng(5))
    wide = Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    found = unswayed.report(wide, limits=Limits(max_seconds=1e-3))
    assert found.decision.action == decide(wide).action
    assert any("no time was left" in note for note in found.notes)
    Page(report_page(found))


@pytest.mark.parametrize(("threshold", "verdict"), [(0.8, "unsafe"), (0.95, "safe")])
def test_the_meter_is_coloured_by_the_verdict(threshold, verdict):
    papers = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", threshold))
    found = unswayed.report(papers, at_least=0.95)
    assert found.stopping.stop == (verdict == "safe")
    classes = [attributes.get("class") for _, attributes in Page(report_page(found)).tags]
    assert f"meter {verdict}" in classes


def test_the_page_tells_why_where_something_was_observed():
    papers = Classifier(zoo.review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    told = report_page(unswayed.report(papers, evidence={"R1": "+", "R2": "+"}))
    assert "Why this decision?" in told
    assert "+ because of R1 = + and R2 = +: these two alone keep the decision" in told
    assert "Pr(D = +), now 0.2, is at least 0.0667" in told
    assert "Why this decision?" not in report_page(unswayed.report(papers))


@pytest.fixture(scope="module")
def weak():
    """A page about a disease with one telling sign, and nine that hardly tell anything."""
    accuracies = [0.9, *np.linspace(0.5, 0.501, 9)]
    signs = {f"F{i}": (("D",), [p, 1 - p]) for i, p in enumerate(accuracies)}
    network = zoo.binary_network({"D": ((), [0.3]), **signs})
    found = unswayed.report(Classifier(network, "D", list(signs), MostProbable()))
    return found, Page(report_page(found))


def test_features_that_tell_nothing_are_counted_not_listed(weak):
    found, page = weak
    telling = [
        name
        for name, values in zip(found.ranking.features, found.ranking.values, strict=True)
        if any(abs(each.value) >= 5e-5 for each in values)
    ]
    assert 0 < len(telling) < 10
    assert f"Left out: {10 - len(telling)} features, worth less than 0.0001 by every criterion." in page.words


def test_bars_of_a_table_begin_in_one_place(weak):
    found, page = weak
    widths = [attrs["style"] for tag, attrs in page.tags if tag == "table" and attrs.get("style")]
    assert widths == ["--digits: 7ch"], ">0.9999 is the longest text before a bar"
    assert all(each.sdp is not None for each in found.findings)


def test_everything_kept_is_said_in_a_word():
    found = unswayed.report(Classifier(PAPERS.network, "D", ["R1", "R2"], PAPERS.rule))
    assert found.frontier.points[-1].kept == ("R1", "R2")
    assert "all 2 features" in Page(report_page(found)).words
