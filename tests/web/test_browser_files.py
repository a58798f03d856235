"""Files, tables, trimming and export in a real browser, with the policy against inline script in force."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the companion needs the extra 'web'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright import sync_api as api

from web.served import Served, serving
from web.visitors import DROP
from web_clients import AXE, CHROMIUM, needs_axe

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    # playwright's own event loop leaves sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"
PAPERS = "R1,R2,AC\n+,,\n,,-\n-,-,-\n+,+,+\n"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as running:
        yield running


@pytest.fixture(params=[1280, 400])
def page(request, browser, served) -> Iterator[api.Page]:
    """A page that came in by the printed address; the console must stay silent."""
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    complaints: list[str] = []
    found = context.new_page()
    found.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(served.url)
    yield found
    context.close()
    assert complaints == []


def test_the_token_leaves_the_address_and_the_examples_open(page, served):
    assert page.url == f"{served.origin}/"
    page.get_by_role("link", name="printer").click()
    page.wait_for_url("**/case/printer*")
    assert page.get_by_role("heading", level=1).first.is_visible()
    assert served.token not in page.content()


def test_a_network_chosen_in_the_dialogue_opens(page):
    page.get_by_label("File").set_input_files(EXAMPLES / "printer.bif")
    page.wait_for_url("**/case/*")
    page.goto(page.url.partition("/case")[0])
    assert page.get_by_text("opened on this page").first.is_visible()


def test_a_table_dropped_on_the_start_page_is_learned_from(page):
    data = base64.b64encode((EXAMPLES / "weather.csv").read_bytes()).decode()
    page.evaluate(DROP, ["weather.csv", data])
    page.wait_for_url("**/table/*")
    page.get_by_label("What is to be decided about").select_option("play")
    page.get_by_label("Tree-augmented").check()
    page.get_by_role("button", name="Learn").click()
    page.wait_for_url("**/case/*")
    assert page.get_by_text("windy").first.is_visible()


def test_a_table_dropped_on_a_case_is_audited_and_a_row_opens(page, served):
    page.goto(f"{served.origin}/case/review")
    page.evaluate(DROP, ["papers.csv", base64.b64encode(PAPERS.encode()).decode()])
    page.wait_for_url("**/case/review/table/*")
    rows = page.locator("table.cases tbody tr")
    assert rows.count() == 4
    assert "fragile" in rows.first.inner_text()
    rows.first.get_by_role("link").click()
    page.wait_for_url("**/case/review?find.*")
    page.go_back()
    page.wait_for_url("**/table/*")


def test_a_trimming_is_tried(page, served):
    page.goto(f"{served.origin}/case/disease_tests/panel/trimming?level=0.9")
    api.expect(page.locator("svg.drawing").first).to_be_visible()
    page.locator("tr.best").get_by_role("button").click()
    page.wait_for_url(lambda url: "/case/" in url and "disease_tests" not in url)
    page.goto(served.origin)
    assert page.get_by_text("trimmed on this page").first.is_visible()


def test_a_case_is_taken_along(page, served):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.origin)
    page.goto(f"{served.origin}/case/review/export?find.AC=-")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Case as JSON").click()
    assert waiting.value.suggested_filename == "review.case.json"
    with page.expect_download() as waiting:
        page.get_by_role("link", name="SVG of The decision").click()
    assert waiting.value.suggested_filename == "review.decision.svg"
    page.get_by_role("button", name="Copy Python").click()
    assert "unswayed.should_stop" in page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("path", ["/", "/case/disease_tests/panel/trimming", "/case/review/export"])
def test_nothing_is_wider_than_the_page(page, served, path):
    page.goto(served.origin + path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_start_page_works_by_keyboard(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "printer":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/case/printer*")


@needs_axe
def test_axe_finds_no_violation(page, served):
    """Script of a test needs a way past the policy: it goes in by the debugger, not by the page."""
    page.goto(f"{served.origin}/case/review")
    page.evaluate(DROP, ["papers.csv", base64.b64encode(PAPERS.encode()).decode()])
    page.wait_for_url("**/case/review/table/*")
    cases = page.url.removeprefix(served.origin)
    table = "/table/" + cases.rpartition("/")[2]
    for path in ("/", cases, table, "/case/disease_tests/panel/trimming?level=0.9", "/case/review/export"):
        page.goto(served.origin + path)
        api.expect(page.locator(".panel[aria-busy]")).to_have_count(0)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        problems = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]
        assert problems == [], path
