"""Start page, tables, trimming and export: what they show, and that it is what the verbs answer."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import warnings
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")
pytest.importorskip("httpx2", reason="the test client needs httpx2")

from hypothesis import given, strategies as st
from starlette.testclient import TestClient

import unswayed
from dependent_cases import tied_by_a_hidden_variable
from unswayed.api.examples import EXAMPLE_BY_NAME
from unswayed.cli.main import run
from unswayed.core.errors import UnswayedWarning
from unswayed.core.limits import Limits
from unswayed.model.annotation import Annotation
from unswayed.model.formats.files import write_network
from unswayed.model.zoo import disease_tests, printer
from unswayed.web.answers import AnswerCache
from unswayed.web.case import parse_query
from unswayed.web.export import spreadsheet_text
from unswayed.web.pages import show_panel
from unswayed.web.panels.catalogue import PANELS
from unswayed.web.recipes import write_command, write_python
from unswayed.web.server import make_site
from unswayed.web.setting import Setting, resolve
from unswayed.web.workspace import HeldNetwork, Workspace, hold_given

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def workspace() -> Workspace:
    return Workspace()


@pytest.fixture
def client(workspace: Workspace) -> TestClient:
    return TestClient(make_site(workspace), follow_redirects=False)


def upload(client: TestClient, name: str, data: bytes, **fields: str):
    return client.post("/open", files={"file": (name, data)}, data=fields)


def test_the_start_page_leads_to_every_example(client):
    page = client.get("/")
    assert page.status_code == 200
    links = re.findall(r'href="(/case/[^"]+)"', page.text)
    assert links == [f"/case/{name}" for name in EXAMPLE_BY_NAME]
    assert all(client.get(link).status_code == 200 for link in links)
    assert all(unescape(example.about) in unescape(page.text) for example in EXAMPLE_BY_NAME.values())


def test_an_opened_network_leads_to_its_case_and_stands_on_the_start_page(client, workspace, tmp_path):
    write_network(disease_tests(), tmp_path / "tests.xdsl")
    answer = upload(client, "tests.xdsl", (tmp_path / "tests.xdsl").read_bytes())
    assert answer.status_code == 303
    assert client.get(answer.headers["location"]).status_code == 200
    assert answer.headers["location"] in client.get("/").text
    (held,) = workspace.list_own("")
    assert isinstance(held, HeldNetwork)
    assert held.network == disease_tests()


@pytest.mark.parametrize("name", ["x.bif", "x.exe", "../x.csv"])
def test_a_file_that_cannot_be_read_is_said_on_a_page(client, name):
    answer = upload(client, name, b"garbage")
    assert answer.status_code == 400
    assert "x." in answer.text
    assert "Traceback" not in answer.text


def test_a_form_without_a_file_is_refused(client):
    assert client.post("/open", data={"file": "no file"}).status_code == 400
    assert client.post("/open", files={"other": ("a.bif", b"")}).status_code == 400
    assert client.post("/open", content=b"junk", headers={"Content-Type": "text/plain"}).status_code == 400


@pytest.mark.parametrize("structure", ["naive", "tan"])
def test_a_table_becomes_the_network_that_python_learns(client, workspace, structure):
    place = upload(client, "weather.csv", (EXAMPLES / "weather.csv").read_bytes()).headers["location"]
    page = client.get(place)
    assert "14 rows, 5 columns" in page.text
    table = place.rpartition("/")[2]
    answer = client.post("/learn", data={"table": table, "target": "play", "structure": structure})
    assert answer.status_code == 303
    network = workspace.find_network("", answer.headers["location"].rpartition("/")[2]).network
    assert network.cpts == unswayed.learn(EXAMPLES / "weather.csv", "play", structure=structure).cpts
    assert client.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"table": "nobody", "target": "play", "structure": "naive"}, 404),
        ({"target": "play"}, 404),
        ({"table": "TABLE", "target": "nothing", "structure": "naive"}, 400),
        ({"table": "TABLE", "target": "play", "structure": "forest"}, 400),
    ],
)
def test_learning_from_what_is_not_there_is_refused(client, data, status):
    place = upload(client, "weather.csv", (EXAMPLES / "weather.csv").read_bytes()).headers["location"]
    data = {key: place.rpartition("/")[2] if value == "TABLE" else value for key, value in data.items()}
    assert client.post("/learn", data=data).status_code == status


def test_rows_of_a_table_are_listed_by_fragility_and_open_as_cases(client):
    rows = "R1,R2,AC\n+,,\n,,-\n-,-,-\n+,+,+\n,,\n"
    answer = upload(client, "papers.csv", rows.encode(), case="/case/review?level=0.9")
    page = client.get(answer.headers["location"])
    assert page.status_code == 200
    found = unswayed.audit(
        EXAMPLE_BY_NAME["review"].classifier(),
        {
            "R1": ["+", None, "-", "+", None],
            "R2": [None, None, "-", "+", None],
            "AC": [None, "-", "-", "+", None],
        },
        at_least=0.9,
    )
    numbers = [int(each) for each in re.findall(r'<th scope="row"><a href="[^"]+">(\d+)<', page.text)]
    assert [float(found.sdp[n - 1]) for n in numbers] == sorted(found.sdp.tolist())
    assert f"{int((~found.safe).sum())} of 3" in page.text  # two rows miss nothing
    first = unescape(re.findall(r'<th scope="row"><a href="([^"]+)"', page.text)[0])
    case = client.get(first)
    assert case.status_code == 200
    assert (
        f"{rows.splitlines()[numbers[0]].count('+') + rows.splitlines()[numbers[0]].count('-')} of 3"
        in case.text
    )


def test_an_audited_table_is_saved_as_the_command_line_saves_it(client, tmp_path):
    rows = b"R1,R2,AC\n+,,\n,,-\n-,-,-\n"
    place = upload(client, "papers.csv", rows, case="/case/review").headers["location"]
    answer = client.get(f"{place}/audit.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="review.audit.csv"'
    (tmp_path / "papers.csv").write_bytes(rows)
    unswayed.audit(EXAMPLE_BY_NAME["review"].classifier(), tmp_path / "papers.csv").write(
        tmp_path / "out.csv"
    )
    assert answer.content == (tmp_path / "out.csv").read_bytes()


FORMULAS = (
    '=HYPERLINK("http://evil.example")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|x",
    "@SUM(A1)",
    "\uff1d1+1",
    "'=1+1",
)
HARMLESS = ("+", "-", "-1.5", "+49", "-1,5", "-1e-5", "-inf", "a=b", "'quoted'", "x@y")


def test_spreadsheets_find_no_formula_in_a_saved_table(client):
    """A mark or a number alone is none; the rest stays apart, and can be told from what was there before."""
    cells = [*FORMULAS, *HARMLESS, "\t=1+1", "\r=1+1"]
    text = io.StringIO()
    csv.writer(text).writerows([["R1", "=note()"], *(["+", cell] for cell in cells)])
    place = upload(client, "papers.csv", text.getvalue().encode(), case="/case/review").headers["location"]
    saved = list(csv.DictReader(io.StringIO(client.get(f"{place}/audit.csv").text, newline="")))
    assert [row["R1"] for row in saved] == ["+"] * len(cells)
    # Blanks around a cell are gone since it was read.
    assert [row["'=note()"] for row in saved] == [*(f"'{f}" for f in FORMULAS), *HARMLESS, "'=1+1", "'=1+1"]


@given(
    st.text(alphabet="=+-@\uff1d'\t\r\n1a. ", max_size=6),
    st.text(alphabet="=+-@\uff1d'\t\r\n1a. ", max_size=6),
)
def test_no_two_cells_become_one_and_none_begins_a_formula(one, other):
    saved = spreadsheet_text(one)
    assert (saved == spreadsheet_text(other)) == (one == other)
    assert saved in (one, f"'{one}")
    if saved and saved[0] in "=+-@\uff1d\t\r\n":
        assert len(saved) == 1 or re.fullmatch(r"[+-][0-9.]+", saved)


def test_long_tables_come_in_parts(client):
    rng = np.random.default_rng(1)
    text = "R1,R2\n" + "".join(
        f"{a},{b}\n" for a, b in rng.choice(["+", "-", ""], size=(120, 2)).tolist() if a or b
    )
    place = upload(client, "many.csv", text.encode(), case="/case/review").headers["location"]
    numbers = []
    n_rows = len(text.splitlines()) - 1
    for part in range(1, -(-n_rows // 50) + 1):
        page = client.get(f"{place}/{part}")
        numbers += re.findall(r'<th scope="row"><a href="[^"]+">(\d+)<', page.text)
    assert sorted(map(int, numbers)) == list(range(1, n_rows + 1))
    assert client.get(f"{place}/99").status_code == 404


def test_trimming_shows_the_frontier_and_its_points_can_be_tried(client, workspace):
    page = client.get("/case/disease_tests/panel/trimming/now?level=0.9")
    assert page.status_code == 200
    expected = unswayed.frontier(EXAMPLE_BY_NAME["disease_tests"].classifier())
    forms = [unescape(each) for each in re.findall(r'<form action="([^"]+)" method="post">', page.text)]
    assert len(forms) == len(expected.points)
    for number, point in enumerate(expected.points):
        answer = client.post(forms[number])
        assert answer.status_code == 303
        id = re.search(r"/case/([^?]+)", answer.headers["location"])[1]
        assert workspace.find_network("", id).classifier == point.classifier
        assert client.get(answer.headers["location"]).status_code == 200
    assert client.post("/case/disease_tests/trimming/99").status_code == 404
    marked = page.text.partition('class="best"')[2].partition("</tr>")[0]
    cheapest = next(point for point in expected.points if point.agreement.value >= 0.9)
    assert ", ".join(cheapest.kept) in marked


def test_trimming_is_for_cases_with_the_findings(client, workspace):
    """Independent: the verb asked with the same evidence; and what it keeps agrees as often as it says."""
    page = client.get("/case/disease_tests/panel/trimming/now?find.T1=%2B&level=0.9")
    assert "For cases with T1 = +" in page.text
    full = EXAMPLE_BY_NAME["disease_tests"].classifier()
    expected = unswayed.frontier(full, evidence={"T1": "+"})
    forms = [unescape(each) for each in re.findall(r'<form action="([^"]+)" method="post">', page.text)]
    assert len(forms) == len(expected.points)
    place = client.post(forms[-1]).headers["location"]
    tried = workspace.find_network("", re.search(r"/case/([^?]+)", place)[1]).classifier
    assert tried.given == {"T1": "+"}
    assert "T1" not in tried.features
    case = client.get(place)
    assert "Known from the start: T1 = +" in case.text


def test_an_impossible_row_is_listed_and_the_others_are_answered(client):
    """A chair never accepts what both reviewers reject."""
    assert unswayed.probability(EXAMPLE_BY_NAME["review"].make(), {"R1": "-", "R2": "-", "AC": "+"}) == 0
    rows = b"R1,R2,AC\n+,,\n-,-,+\n,,-\n"
    place = upload(client, "papers.csv", rows, case="/case/review").headers["location"]
    page = client.get(place)
    assert page.status_code == 200
    assert re.findall(r'<th scope="row"><a href="[^"]+">(\d+)<', page.text) == ["2", "1", "3"]
    assert page.text.count("cannot occur together") == 1
    assert "1 row cannot be answered" in page.text
    saved = list(csv.DictReader(io.StringIO(client.get(f"{place}/audit.csv").text)))
    assert [row["decision"] for row in saved] == ["not +", "", "not +"]
    assert [bool(row["error"]) for row in saved] == [False, True, False]
    alone = unswayed.audit(EXAMPLE_BY_NAME["review"].classifier(), {"R1": ["+"]})
    assert float(saved[0]["sdp"]) == pytest.approx(float(alone.sdp[0]))
    nothing = upload(client, "odd.csv", b"R1,R2,AC\n-,-,+\n", case="/case/review").headers["location"]
    assert "cannot occur together" in client.get(nothing).text
    assert "cannot occur together" in client.get(f"{nothing}/audit.csv").text


def test_what_a_computation_warns_of_is_shown_with_its_answer(client):
    """Also when another asks for the answer that is kept."""
    rows = b"R1,R2,AC\n+,maybe,\n"
    place = upload(client, "papers.csv", rows, case="/case/review").headers["location"]
    for _ in range(2):
        assert "maybe" in client.get(place).text
    cache = client.app.state.cache

    def warn() -> int:
        warnings.warn("odd numbers", UnswayedWarning, stacklevel=1)
        return 1

    def describe(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
        cache.answers.find("odd", warn)
        return {"text": ""}

    asked = resolve(parse_query("review", ""), Workspace().shared["review"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PANELS, "range", replace(PANELS["range"], describe=describe))
        for _ in range(2):
            assert "odd numbers" in show_panel(cache, asked, "range", is_fragment=True)


CASES = [
    "/case/review?find.AC=-",
    "/case/printer?find.Light=red&cost.look=2&group.Light=look&group.TestPage=look&must=Ping&budget=9",
    "/case/disease_tests?find.T1=%2B&never=T2&cost.T3=4&budget=5",
    "/case/review?find.R1=%2B&threshold=0.3&level=0.8&cost.R2=3",
    "/case/printer?find.Light=red",
    "/case/disease_tests?find.T1=%2B&find.T2=-&skip=T3",
]


@pytest.mark.parametrize("case", CASES)
def test_the_exported_python_and_commands_give_the_answers_of_the_page(
    client, case, capsys, tmp_path, monkeypatch
):
    path, _, query = case.partition("?")
    page = client.get(f"{path}/export?{query}")
    facts = json.loads(client.get(f"{path}/export/case.json?{query}").text)
    shown = re.findall(r'<pre tabindex="0" aria-label="([^"]+)"><code>(.*?)</code>', page.text, re.DOTALL)
    blocks = {label: unescape(text) for label, text in shown}
    monkeypatch.chdir(tmp_path)
    for name in blocks.keys() & {"prices.toml", "utilities.json"}:
        (tmp_path / name).write_text(blocks[name])
    names: dict[str, Any] = {}
    exec(compile(blocks["Python"], "exported", "exec"), names)
    assert names["stopping"].decision.action == facts["decision"]
    assert names["stopping"].sdp.value == pytest.approx(facts["value"], abs=1e-12)
    capsys.readouterr()

    def run_command(verb: str) -> dict[str, Any]:
        with pytest.raises(SystemExit) as ended:
            run([*shlex.split(blocks[f"command {verb}"])[1:], "--json"])
        assert ended.value.code in (None, 0)
        return json.loads(capsys.readouterr().out)

    told = run_command("sdp")
    assert told["value"] == pytest.approx(facts["value"], abs=1e-12)
    for key in told.keys() - {"value", "low", "high", "seconds", "engine", "posterior"}:
        assert facts[key] == told[key], key
    ranked = run_command("voi")["ranking"]
    assert tuple(row["feature"] for row in ranked) == names["ranking"].features
    shown = re.findall(
        r'<span class="name">([^<]+?) ?(?:<span class="badge">over budget</span>)?</span>',
        client.get(f"{path}/panel/next?{query}").text,
    )
    assert [row["feature"] for row in ranked] == shown
    planned = run_command("plan")
    assert planned["expected_cost"] == pytest.approx(names["plan"].expected_cost)
    plan = client.get(f"{path}/panel/plan/now?{query}")
    assert f'<th scope="row">this plan</th><td>{planned["expected_cost"]:.4g}</td>' in plan.text
    points = run_command("frontier")["points"]
    trimming = client.get(f"{path}/panel/trimming/now?{query}")
    costs = re.findall(r'title="What the kept tests cost together"[^>]*>([^<]+)<', trimming.text)
    assert [f"{point['cost']:g}" for point in points] == costs


def test_every_picture_is_a_picture(client):
    page = client.get("/case/review/export?find.AC=-")
    links = [unescape(each) for each in re.findall(r'href="([^"]+/picture/[^"]+)"', page.text)]
    assert len(links) == 16
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200, link
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.content.startswith(b"<?xml" if ".svg" in link else b"\x89PNG"), link
    assert client.get("/case/review/export/picture/secret.svg").status_code == 404


@pytest.mark.parametrize("suffix", ["json", "bif", "xdsl"])
def test_the_network_comes_along(client, suffix, tmp_path):
    answer = client.get(f"/case/printer/export/network.{suffix}")
    (tmp_path / f"x.{suffix}").write_bytes(answer.content)
    assert unswayed.read_network(tmp_path / f"x.{suffix}") == printer()
    assert client.get("/case/printer/export/network.py").status_code == 404


def test_the_report_is_one_file_about_this_case(client):
    answer = client.get("/case/review/export/report.html?find.AC=-")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="review.html"'
    assert "AC = -" in answer.text
    assert not re.search(r'(src|href)="(?!#|data:)', answer.text)


def test_script_in_the_names_of_a_table_is_text(client):
    buffer = io.StringIO()
    rows = csv.writer(buffer)
    rows.writerow(["R1", SCRIPT])
    rows.writerows([["+", SCRIPT], [SCRIPT, "x"]])
    place = upload(client, "<b>x.csv", buffer.getvalue().encode()).headers["location"]
    for page in (client.get(place), client.get(f"/case/review{place}"), client.get("/")):
        assert page.status_code == 200
        assert SCRIPT not in page.text
        assert "<b>x" not in page.text


def test_script_in_every_name_of_a_network_is_text():
    about = Annotation(f"label{SCRIPT}", f"text{SCRIPT}", (f"l1{SCRIPT}", f"l2{SCRIPT}"))
    variables = [
        unswayed.Variable(f"D{SCRIPT}", [f"yes{SCRIPT}", f'no"><img src=x onerror=alert(1)>{SCRIPT}']),
        unswayed.Variable(f"F'{SCRIPT}", [f"a{SCRIPT}", f"b'{SCRIPT}"], about),
    ]
    network = unswayed.BayesianNetwork(
        [
            unswayed.Cpt(variables[0], [], [0.3, 0.7]),
            unswayed.Cpt(variables[1], [variables[0]], [[0.9, 0.1], [0.2, 0.8]]),
        ],
        f"N{SCRIPT}",
    )
    site = TestClient(make_site(Workspace(hold_given(network))), follow_redirects=False)
    id = hold_given(network).id
    paths = ["/", f"/case/{id}", f"/case/{id}/panel/trimming/now", f"/case/{id}/export"]
    paths += [
        f"/case/{id}/panel/{name}/now"
        for name in ("verdict", "next", "why", "flips", "network", "plan", "costs")
    ]
    paths += [f"/case/{id}/export/report.html", f"/case/{id}/export/picture/network.svg"]
    for path in paths:
        page = site.get(path)
        assert page.status_code == 200, path
        assert SCRIPT not in page.text, path
        assert "<img" not in page.text, path


def test_without_estimates_panels_refuse_what_only_samples_answer():
    classifier = tied_by_a_hidden_variable()
    workspace = Workspace(hold_given(classifier.network, classifier))
    assert workspace.shared
    held = next(each for each in workspace.shared.values() if each.network is classifier.network)
    asked = resolve(parse_query(held.id, ""), held)
    estimating, certain = (AnswerCache(Limits(max_seconds=2.0), certain=each) for each in (False, True))
    assert "estimate" in show_panel(estimating, asked, "verdict", is_fragment=True)
    refused = show_panel(certain, asked, "verdict", is_fragment=True)
    assert "start the page without --certain" in refused
    assert "allow_estimates" not in refused
    assert "--certain" in write_command(certain, asked, "sdp")
    assert "--certain" not in write_command(estimating, asked, "sdp")
    assert "allow_estimates=False" in write_python(certain, asked)
