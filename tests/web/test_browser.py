"""The case page in a real browser, as a person uses it; the policy against inline script is in force."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright import sync_api as api

from shared_data import SHARED, needs_shared_data
from unswayed.model.formats.files import name_after_file, read_network
from unswayed.web.workspace import hold_given
from web.visitors import Visitor
from web_clients import AXE, CHROMIUM, needs_axe, serve_pages

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    # playwright's own event loop leaves sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RED = "/case/printer?find.Light=red"
ALARM = "/case/alarm?target=HYPOVOLEMIA&positive=TRUE&threshold=0.3"
HAILFINDER = "/case/hailfinder?target=R5Fcst"


@pytest.fixture(scope="module")
def door() -> Iterator[str]:
    """The address that lets a browser in."""
    with serve_pages() as url:
        yield url


@pytest.fixture
def visitor(browser, door) -> Iterator[Visitor]:
    found = Visitor(browser, door)
    yield found
    assert found.complaints == []
    found.context.close()


def test_a_finding_takes_one_click_and_another_takes_it_back(visitor):
    page = visitor.go("/case/printer")
    page.evaluate("window.stays = true")
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("Fault: paper_jam", "#decided")
    assert page.evaluate("window.stays"), "the page was loaded anew"
    assert "find.Light=red" in page.url
    assert page.locator(".features [aria-current]").count() == 1
    page.locator(".features [aria-current]").click()
    visitor.has("Fault: none", "#decided")
    assert "find." not in page.url


def test_back_forward_and_reload_keep_the_case(visitor):
    page = visitor.go("/case/printer")
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("paper_jam", "#decided")
    page.locator(".features").get_by_text("pale", exact=True).click()
    visitor.has("no_toner", "#decided")
    visitor.settle()
    page.go_back()
    visitor.has("paper_jam", "#decided")
    visitor.settle()  # what is still on its way would end the way forward
    page.go_forward()
    visitor.has("no_toner", "#decided")
    page.reload()
    visitor.has("no_toner", "#decided")


def test_the_verdict_says_stop_or_what_to_ask(visitor):
    page = visitor.go(RED)
    visitor.has("Not yet safe.", "#panel-verdict")
    visitor.has("Ask TestPage next.", "#panel-verdict")
    visitor.has("exact", "#panel-verdict .badge")
    page.locator(".features").get_by_text("nothing", exact=True).click()
    visitor.has("Safe. Stop.", "#panel-verdict")
    visitor.has("Safe. Stop.", "#announce")


def test_next_tests_unfold_and_are_sorted(visitor):
    page = visitor.go("/case/printer")
    first = page.locator(".tests > li").first
    assert "TestPage" in first.inner_text()
    second = page.locator(".tests > li").nth(1)
    second.locator(".name").click()
    api.expect(second.locator("table.outcomes tbody tr").first).to_be_visible()
    page.get_by_role("link", name="settles it").click()
    visitor.has("settles it", ".orders [aria-current]")
    assert "order=done" in page.url
    page.locator("table.outcomes").first.get_by_role("link").first.click()
    page.wait_for_url("**find.**")


def test_why_and_what_would_turn_it(visitor):
    page = visitor.go(RED)
    visitor.has("Light = red", "#panel-why")
    flip = page.locator("#panel-flips a").first
    assert "TestPage" in flip.inner_text()
    flip.click()
    visitor.has("Fault: none", "#decided")


def test_odd_findings_are_pointed_out(visitor):
    visitor.go("/case/printer?find.TestPage=good&find.Light=red")
    visitor.has("odd together", "#panel-why")


def test_skip_undo_and_redo(visitor):
    page = visitor.go("/case/printer")
    page.get_by_role("link", name="TestPage cannot be done").click()
    visitor.has("Cannot be done", ".findings")
    assert "skip=TestPage" in page.url
    page.get_by_role("link", name="TestPage can be done").click()
    page.wait_for_url(lambda url: "skip" not in url)
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("paper_jam", "#decided")
    page.keyboard.press("u")
    visitor.has("Fault: none", "#decided")
    page.keyboard.press("r")
    visitor.has("paper_jam", "#decided")
    page.get_by_role("link", name="Start over").click()
    visitor.has("Fault: none", "#decided")


def test_the_history_leads_back(visitor):
    page = visitor.go("/case/printer?find.Light=red&find.TestPage=pale&find.Ping=answers")
    assert page.locator("#panel-history svg").count() == 1
    page.locator("#panel-history summary").click()
    rows = page.locator("#panel-history tbody tr")
    assert rows.count() == 4
    rows.nth(1).get_by_role("link").click()
    visitor.has("paper_jam", "#decided")
    assert "undone.TestPage=pale" in page.url


def test_costs_are_edited_on_the_page(visitor):
    page = visitor.go("/case/printer?find.Ping=answers")
    page.locator("#panel-costs summary").click()
    page.get_by_label("Budget").fill("6")
    page.get_by_label("Cost of TestPage").fill("9")
    page.get_by_label("Cost of Ping").fill("2")
    page.get_by_role("button", name="Use these prices").click()
    page.wait_for_url("**budget=6**")
    visitor.settle()
    visitor.has("2 spent · 4 left of 6", "#panel-costs")
    visitor.has("over budget", "#panel-next")
    page.locator("#panel-costs summary").click()
    page.get_by_label("Light must be asked first").check()
    page.get_by_role("button", name="Use these prices").click()
    visitor.has("Must be asked first", ".findings")


def test_the_sliders_move_threshold_and_level(visitor):
    page = visitor.go("/case/review?find.AC=%2B")
    visitor.has("D: +", "#decided")
    page.get_by_label("Decide").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**threshold=0.62**")
    visitor.has("D: not +", "#decided")
    visitor.has("stays for any above 61%", "#panel-range")
    page.get_by_label("Stop when safe").fill("0.5")
    page.wait_for_url("**level=0.5**")


def test_another_target_and_another_rule(visitor):
    page = visitor.go("/case/printer")
    page.get_by_text("About something else").click()
    page.locator(".settings").get_by_role("link", name="Age", exact=True).click()
    visitor.has("Age: new", "#decided")
    page.get_by_text("Decide otherwise").click()
    page.get_by_role("link", name="old from a threshold on").click()
    visitor.has("Age: not old", "#decided")
    visitor.has("Decide old from 50% on", ".settings")


def test_plan_network_and_comparison(visitor):
    page = visitor.go(RED)
    page.get_by_role("link", name="Plan", exact=True).click()
    visitor.has("TestPage?")
    assert page.locator(".tree details").count() >= 1
    page.get_by_role("link", name="Network", exact=True).click()
    visitor.has("TestPage", "svg")
    page.get_by_role("link", name="Compare", exact=True).click()
    page.locator("table.pairs tr", has_text="Light").locator("td").nth(1).get_by_text("yellow").click()
    visitor.has("no_toner", ".whatif >> nth=1")
    visitor.has("paper_jam", ".whatif >> nth=0")


def test_by_keyboard_alone(visitor):
    page = visitor.go("/case/printer")
    page.keyboard.press("/")
    page.keyboard.type("ligh")
    assert page.locator("[data-search]:visible").count() == 1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    visitor.has("paper_jam", "#decided")
    assert "red" in page.evaluate("document.activeElement.innerText"), "the focus stays on what was pressed"
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.locator("[data-search]:visible").count() == 3


def test_numbers_explain_themselves_on_tap(browser, door):
    visitor = Visitor(browser, door, viewport={"width": 400, "height": 800}, has_touch=True)
    page = visitor.go(RED)
    page.locator("#verdict .number").first.tap()
    api.expect(page.locator("#hint")).to_be_visible()
    visitor.has("Probability of none", "#hint")
    page.locator("#panel-verdict .badge").tap()
    visitor.has("Computed to the last digit", "#hint")
    assert page.locator(".number:not([title])").count() == 0
    assert visitor.complaints == []


def test_without_scripts_everything_is_a_link(browser, door):
    visitor = Visitor(browser, door, java_script_enabled=False)
    page = visitor.page
    page.goto(f"{visitor.origin}/case/printer")
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("paper_jam", "#decided")
    page.get_by_role("link", name="The tests not done yet").click()
    visitor.has("TestPage")
    page.get_by_role("link", name="Back to the case").click()
    page.get_by_role("link", name="Undo").click()
    visitor.has("Fault: none", "#decided")


SHOWN = [
    RED,
    "/case/printer",
    "/case/review?find.AC=-&find.R1=%2B&find.R2=%2B",
    f"{RED.replace('?', '/panel/plan?')}",
    f"{RED.replace('?', '/panel/network?')}",
    f"{RED.replace('?', '/panel/trimming?')}",
    f"{RED.replace('?', '/panel/compare?')}&beside=1",
    "/case/nothing",
]


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_out_of_the_window(browser, door, width, scheme):
    visitor = Visitor(browser, door, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in SHOWN[:-1]:
        page = visitor.go(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
    assert visitor.complaints == []


@needs_axe
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(browser, door, width, scheme):
    visitor = Visitor(browser, door, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in SHOWN:
        page = visitor.go(path)
        for summary in page.locator("details:not([open]) > summary").all():
            if summary.is_visible():
                summary.click()
        visitor.settle()
        page.evaluate(AXE.read_text())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found["violations"]]
        assert told == [], path


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("path", [ALARM, HAILFINDER])
def test_a_whole_case_on_a_real_network(browser, path, width):
    """Ask what the page advises, answer with the likeliest result, until it says stop or nothing is left."""
    name = re.search(r"/case/(\w+)", path)[1]
    file = SHARED / "networks" / f"{name}.bif"
    with serve_pages(hold_given(name_after_file(read_network(file), file))) as door:
        visitor = Visitor(browser, door, viewport={"width": width, "height": 900})
        page = visitor.go(path)
        for _ in range(4):
            if "Stop" in page.locator("#panel-verdict .go").inner_text():
                break
            before = page.url
            outcomes = page.locator("#panel-next table.outcomes").first.locator("tbody tr")
            api.expect(outcomes.first).to_be_visible()
            outcomes.first.get_by_role("link").click()
            page.wait_for_url(lambda url, before=before: url != before)
            visitor.settle()
        assert "find." in page.url
        assert page.locator("#panel-history svg").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert visitor.complaints == []


@needs_shared_data
@pytest.mark.slow
def test_labels_and_texts_of_the_file_are_shown(browser):
    file = SHARED / "networks" / "formats" / "xdsl" / "hepar2_genie.xdsl"
    held = hold_given(read_network(file))
    with serve_pages(held) as door:
        visitor = Visitor(browser, door)
        page = visitor.go(f"/case/{held.id}")
        labels = page.locator(".features .name").all_inner_texts()
        assert "History of alcohol abuse" in labels
        assert page.locator(".features .chip").first.inner_text() in ("present", "absent")


ANSWERED = ".panel[hx-trigger^=load]:not([aria-busy])"


def test_panels_are_dimmed_until_their_own_answer_is_there(visitor):
    """Also after a second click, which ends the questions of the first."""
    page = visitor.go("/case/printer")
    held: list[api.Route] = []
    page.route("**/panel/**", lambda route: held.append(route))
    for found, decided in (("red", "paper_jam"), ("pale", "no_toner")):
        page.locator(".features").get_by_text(found, exact=True).click()
        visitor.has(decided, "#decided")
        page.wait_for_timeout(300)  # what was aborted has ended by then
        assert page.locator(ANSWERED).count() == 0
    for route in held:
        with suppress(api.Error):  # those of the first click are gone
            route.continue_()
    page.unroute("**/panel/**")
    visitor.settle()
    assert page.locator(ANSWERED).count() > 3
    pages: list[api.Route] = []
    page.route("**/case/printer?*", lambda route: pages.append(route))
    page.locator(".features [aria-current]").first.click()  # from the click on, though the case is on its way
    page.wait_for_timeout(300)
    assert page.locator(ANSWERED).count() == 0
    pages[0].continue_()
    visitor.settle()


@pytest.mark.parametrize("status", [None, 500])
def test_a_program_that_fails_leaves_the_case_and_says_so(visitor, status):
    page = visitor.go("/case/printer")
    fail = (lambda route: route.fulfill(status=status)) if status else (lambda route: route.abort())
    page.route("**/case/printer?*", fail)
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("error 500" if status else "The program has stopped", "#banner")
    assert "none" in visitor.decided()
    assert page.locator(".panel[hx-trigger^=load][aria-busy]").count() == 0
    page.unroute("**/case/printer?*")
    page.locator(".features").get_by_text("red", exact=True).click()
    visitor.has("paper_jam", "#decided")
    assert not page.locator("#banner").is_visible()
    visitor.settle()
    visitor.complaints.clear()  # the browser complains of the failure, and rightly
