"""Everything that the page is for, as a person does it, on four networks and two screens.

The networks are the review, the printer, and alarm and hailfinder with their leaves; the screens a desk in
the light and a phone in the dark. Answers on the page are compared with those of the verbs. The fast tests
walk through all of it on the printer; the grid of the others is slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright import sync_api as api

import unswayed
from shared_data import SHARED
from unswayed.api.examples import EXAMPLE_BY_NAME
from unswayed.model.formats.files import name_after_file, read_network
from unswayed.web.workspace import hold_given
from web.visitors import Visitor
from web_clients import CHROMIUM, serve_pages

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    # playwright's own event loop leaves sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Question:
    """A network with what is asked about it, and two findings of a person."""

    name: str
    target: str
    first: tuple[str, str]
    second: tuple[str, str]
    other: str
    """Another target."""
    positive: str | None = None
    threshold: float | None = None

    @property
    def is_example(self) -> bool:
        return self.name in EXAMPLE_BY_NAME

    @property
    def path(self) -> str:
        if self.is_example:
            return f"/case/{self.name}"
        rule = f"&positive={self.positive}&threshold={self.threshold}" if self.positive else ""
        return f"/case/{self.name}?target={self.target}{rule}&features=leaves"

    def at(self, *findings: tuple[str, str], part: str = "", more: str = "") -> str:
        """The address with findings."""
        told = "&".join(
            [*(f"find.{n}={s.replace('+', '%2B')}" for n, s in findings), *([more] if more else [])]
        )
        path, _, query = self.path.partition("?")
        whole = "&".join(each for each in (query, told) if each)
        return f"{path}{part}?{whole}" if whole else f"{path}{part}"


QUESTIONS = (
    Question("review", "D", ("AC", "-"), ("R1", "+"), "R1", "+", 0.6),
    Question("printer", "Fault", ("Light", "red"), ("Ping", "answers"), "Age"),
    Question("alarm", "HYPOVOLEMIA", ("CVP", "LOW"), ("BP", "NORMAL"), "LVFAILURE", "TRUE", 0.3),
    Question("hailfinder", "R5Fcst", ("MeanRH", "Dry"), ("LowLLapse", "Steep"), "PlainsFcst"),
)
SCREENS = {"desk": (1280, "light"), "phone": (400, "dark")}


@cache
def network_of(asked: Question) -> unswayed.BayesianNetwork:
    if asked.is_example:
        return EXAMPLE_BY_NAME[asked.name].make()
    file = SHARED / "networks" / f"{asked.name}.bif"
    return name_after_file(read_network(file), file)


@cache
def classifier_of(asked: Question) -> unswayed.Classifier:
    if asked.is_example:
        return EXAMPLE_BY_NAME[asked.name].classifier()
    return unswayed.Classifier(
        network_of(asked), asked.target, positive=asked.positive, threshold=asked.threshold
    )


def _grid() -> Iterator[object]:
    for asked in QUESTIONS:
        for screen in SCREENS:
            is_fast = asked.name == "printer" and screen == "desk"
            marks = [] if is_fast else [pytest.mark.slow]
            if not asked.is_example and not SHARED.is_dir():
                marks.append(pytest.mark.skip(reason="the folder of real networks is not at hand"))
            yield pytest.param((asked, screen), marks=marks, id=f"{asked.name}-{screen}")


@pytest.fixture(scope="module", params=list(_grid()))
def served(request) -> Iterator[tuple[Question, str, str]]:
    """A question, a screen, and the address that lets a browser in."""
    asked, screen = request.param
    with serve_pages(None if asked.is_example else hold_given(network_of(asked))) as door:
        yield asked, screen, door


@pytest.fixture
def asked(served) -> Question:
    return served[0]


@pytest.fixture
def visitor(browser, served) -> Iterator[Visitor]:
    width, scheme = SCREENS[served[1]]
    found = Visitor(browser, served[2], viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield found
    assert found.fits()
    assert found.complaints == []
    found.context.close()


def chip(visitor: Visitor, finding: tuple[str, str]) -> api.Locator:
    """The link of a state among the findings."""
    name, state = finding
    row = visitor.page.locator("[data-search]", has=visitor.page.get_by_text(name, exact=True))
    return row.locator(".chip", has_text=re.compile(rf"^(✓ )?{re.escape(state)}( \(found.*)?$"))


def expected(asked: Question, *findings: tuple[str, str]) -> unswayed.Decision:
    return unswayed.decide(classifier_of(asked), dict(findings))


def test_1_findings_are_set_and_taken_back_by_a_click(visitor, asked):
    page = visitor.go(asked.path)
    page.locator("#search").fill(asked.first[0].lower())
    assert 1 <= page.locator("[data-search]:visible").count() <= 3
    chip(visitor, asked.first).click()
    visitor.has("Found 1", ".findings")
    visitor.has(expected(asked, asked.first).action, "#decided")
    assert f"find.{asked.first[0]}=" in page.url
    chip(visitor, asked.first).click()
    page.wait_for_url(lambda url: "find." not in url)
    visitor.has(expected(asked).action, "#decided")


def test_2_the_decision_stands_with_bars_and_threshold(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    found = expected(asked, asked.first)
    bars = page.locator("#verdict .bars > li")
    assert bars.count() == len(found.posterior)
    for bar, (state, share) in zip(bars.all(), found.posterior.items(), strict=True):
        assert bar.locator(".bar-name").inner_text() == state
        assert float(bar.locator(".number").inner_text().rstrip("%").lstrip("<>")) == pytest.approx(
            100 * share, abs=0.11
        )
    assert page.locator("#verdict .bar-mark").count() == (asked.positive is not None)


def test_3_the_gauge_has_a_badge_and_a_sentence(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    assert page.locator("#panel-verdict .dial svg").count() == 1
    badge = page.locator("#panel-verdict .badge").inner_text()
    assert badge in ("exact", "certified interval", "estimate")
    stopping = unswayed.should_stop(classifier_of(asked), dict([asked.first]), allow_estimates=True)
    told = page.locator("#panel-verdict .go").inner_text()
    assert ("Stop" in told) == stopping.stop or not stopping.certain
    texts = page.locator("#panel-verdict .dial svg text").all_text_contents()
    shown = next(float(each.strip("<>≈%")) for each in texts if each.endswith("%"))
    tolerance = 0.11 if badge == "exact" else 2.5
    assert shown == pytest.approx(100 * stopping.sdp.value, abs=tolerance)


def test_4_next_tests_are_ranked_and_unfold(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    visitor.settle()
    rows = page.locator("#panel-next .tests > li")
    n_open = len(classifier_of(asked).features) - 1
    assert rows.count() == n_open
    second = rows.nth(1)
    second.locator("summary .name").click()
    api.expect(second.locator("table.outcomes tbody tr").first).to_be_visible(timeout=30_000)
    page.locator(".orders").get_by_text("tells").click()
    page.wait_for_url("**order=entropy**")
    visitor.settle()
    visitor.has(re.compile("tells"), ".orders [aria-current]")
    told = [
        float(each)
        for each in page.locator("#panel-next .tests summary > span:nth-child(4)").all_text_contents()
    ]
    assert told == sorted(told, reverse=True)
    page.locator("table.outcomes").first.get_by_role("link").first.click()
    page.wait_for_url(lambda url: url.count("find.") == 2)


def test_5_it_says_why_and_what_would_turn_it(visitor, asked):
    page = visitor.go(asked.at(asked.first, asked.second))
    visitor.has(re.compile(r"Enough by itself|No finding is needed|No set of these"), "#panel-why")
    assert page.locator("#panel-why .pushes > li").count() == 2
    links = page.locator("#panel-flips a")
    if links.count():
        before = page.locator("#decided").inner_text()
        links.first.click()
        api.expect(page.locator("#decided")).not_to_have_text(before, timeout=30_000)
    else:
        visitor.has(re.compile("turns it|left out"), "#panel-flips")  # the latter on a busy machine


def test_6_a_case_goes_back_and_forth(visitor, asked):
    page = visitor.go(asked.path)
    page.locator("[data-search]", has=page.get_by_text(asked.second[0], exact=True)).locator(".skip").click()
    page.wait_for_url("**skip=**")
    page.go_back()
    page.wait_for_url(lambda url: "skip" not in url)
    chip(visitor, asked.first).click()
    page.wait_for_url("**find.**")
    chip(visitor, asked.second).click()
    page.wait_for_url(lambda url: url.count("find.") == 2)
    page.keyboard.press("u")
    page.wait_for_url("**undone.**")
    page.keyboard.press("r")
    page.wait_for_url(lambda url: "undone" not in url)
    page.reload()
    visitor.settle()
    assert page.locator("#panel-history svg").count() == 1
    page.locator("#panel-history summary").click()
    assert page.locator("#panel-history tbody tr").count() == 3
    page.get_by_role("link", name="Start over").click()
    page.wait_for_url(lambda url: "&find." not in url and "?find." not in url)


def test_7_costs_and_budget_are_edited(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    page.locator("#panel-costs summary").click()
    page.get_by_label("Budget").fill("5")
    page.get_by_label(f"Cost of {asked.first[0]}", exact=True).fill("2")
    page.get_by_label(f"Cost of {asked.second[0]}", exact=True).fill("9")
    page.get_by_label(f"{asked.second[0]} must be asked first", exact=True).check()
    page.get_by_role("button", name="Use these prices").click()
    page.wait_for_url("**budget=5**")
    visitor.settle()
    visitor.has("2 spent · 3 left of 5", "#panel-costs")
    visitor.has("Must be asked first 1", ".findings")


def test_8_plan_network_and_two_what_ifs(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    page.get_by_role("link", name="Plan", exact=True).click()
    visitor.settle()
    visitor.has(re.compile("Test until"), seconds=60)
    assert page.locator(".tree li").count() >= 1
    page.get_by_role("link", name="Network", exact=True).click()
    visitor.has(asked.target, "svg", seconds=60)
    page.get_by_role("link", name="Compare", exact=True).click()
    row = page.locator("table.pairs tr", has=page.get_by_text(asked.second[0], exact=True))
    row.locator("td").nth(1).get_by_text(asked.second[1], exact=True).click()
    page.wait_for_url("**beside.**")
    visitor.has(asked.second[1], ".whatif >> nth=1")
    visitor.has(expected(asked, asked.first, asked.second).action, ".whatif >> nth=1 >> .decided")


def test_9_sliders_rules_and_targets(visitor, asked):
    page = visitor.go(asked.at(asked.first))
    page.get_by_label("Stop when safe").fill("0.6")
    page.wait_for_url("**level=0.6**")
    visitor.settle()  # the page that comes replaces what was unfolded
    page.get_by_text("Decide otherwise").click()
    page.locator(".settings").get_by_text(re.compile("from a threshold on")).first.click()
    page.wait_for_url("**positive=**")
    page.get_by_label("Decide").fill("0.9")
    page.wait_for_url("**threshold=0.9**")
    visitor.settle()
    visitor.has("as the threshold", "#panel-range")
    page.get_by_text("About something else").click()
    page.locator(".settings").get_by_role("link", name=asked.other, exact=True).click()
    visitor.has(f"{asked.other}:", "#decided")
    visitor.settle()


def test_10_cases_are_audited_and_a_trimming_is_tried(visitor, asked):
    page = visitor.go(asked.path)
    (one, state), (two, other) = asked.first, asked.second
    # With every state of the first, or a reader may take a lone "-" for a gap.
    further = "".join(f"{each},\n" for each in network_of(asked).variable(one).states)
    rows = f"{one},{two}\n{state},{other}\n{further}"
    visitor.drop("cases.csv", rows.encode())
    page.wait_for_url("**/table/*", timeout=60_000)
    assert page.locator("table.cases tbody tr").count() == rows.count("\n") - 1
    assert visitor.fits()
    page.locator("table.cases tbody tr", has_text=f"{two} = {other}").get_by_role("link").click()
    page.wait_for_url(lambda url: url.count("find.") == 2)
    visitor.settle()
    page.get_by_role("link", name="Trimming").click()
    visitor.settle()
    visitor.has(re.compile(rf"For cases with .*{one} = {re.escape(state)}"), seconds=60)
    assert page.locator("svg.drawing").first.is_visible()
    page.get_by_role("button", name=re.compile("Try it")).last.click()
    page.wait_for_url(lambda url: "/case/" in url and f"/case/{asked.name}" not in url, timeout=60_000)
    visitor.settle()
    visitor.has("Known from the start", "header")


def test_11_a_case_is_taken_along(visitor, asked):
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=visitor.origin)
    page = visitor.go(asked.at(asked.first, part="/export"))
    for link, suffix in (
        ("Case as JSON", "case.json"),
        ("SVG of The decision", "decision.svg"),
        ("PNG of The network", "network.png"),
    ):
        with page.expect_download(timeout=60_000) as waiting:
            page.get_by_role("link", name=link).click()
        assert waiting.value.suggested_filename == f"{asked.name}.{suffix}"
    page.get_by_role("button", name="Copy command sdp").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("unswayed sdp")
    assert f"{asked.first[0]}={asked.first[1]}" in copied


def test_12_another_file_is_opened_and_a_table_learned_from(visitor, asked):
    page = visitor.go(asked.path)
    page.get_by_role("link", name="unswayed").click()
    page.get_by_label("File").set_input_files(EXAMPLES / "printer.bif")
    page.wait_for_url("**/case/*", timeout=60_000)
    visitor.settle()
    visitor.drop("weather.csv", (EXAMPLES / "weather.csv").read_bytes())
    page.wait_for_url(re.compile("/table/"), timeout=60_000)
    page.goto(visitor.origin)
    page.get_by_role("link", name="weather.csv").click()
    page.get_by_label("What is to be decided about").select_option("play")
    page.get_by_label("Tree-augmented").check()
    page.get_by_role("button", name="Learn").click()
    page.wait_for_url("**/case/*", timeout=60_000)
    visitor.settle()
    visitor.has("play:", "#decided")


def test_13_all_of_it_by_keyboard(visitor, asked):
    """Search, set, undo, redo; then by Tab to the next test, unfold it, and take its first result."""
    page = visitor.go(asked.path)
    page.keyboard.press("/")
    page.keyboard.type(asked.first[0])
    page.keyboard.press("ArrowDown")
    states = network_of(asked).variable(asked.first[0]).states
    while (
        page.evaluate("document.activeElement.closest('[data-search]').querySelector('.name').innerText")
        != asked.first[0]
    ):
        page.keyboard.press("ArrowDown")
    for _ in range(states.index(asked.first[1])):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**find.**")
    visitor.settle()
    assert asked.first[1] in page.evaluate("document.activeElement.innerText"), "the focus stays"
    page.keyboard.press("u")
    page.wait_for_url("**undone.**")
    page.keyboard.press("r")
    page.wait_for_url(lambda url: "undone" not in url)
    visitor.settle()
    page.locator("#panel-next .tests summary").nth(1).focus()
    page.keyboard.press("Enter")
    outcomes = page.locator("#panel-next .tests > li").nth(1).locator("table.outcomes a")
    api.expect(outcomes.first).to_be_visible(timeout=30_000)
    page.keyboard.press("Tab")
    for _ in range(3):
        if page.evaluate("!!document.activeElement.closest('table.outcomes')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.count("find.") == 2)
