"""Every page and panel as a browser asks for it, on the bundled networks."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")
from unswayed.model.annotation import Annotation
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.web.panels.catalogue import PANELS
from unswayed.web.workspace import hold_given
from web_clients import make_client

FRAGMENT = {"HX-Request-Type": "partial"}
CASES = {
    "review": ("find.AC=%2B", "R1"),
    "printer": ("find.Light=red", "Ping"),
    "disease_tests": ("find.T1=%2B&cost.T2=3&budget=4", "T3"),
    "sprinkler": ("find.Cloudy=no&skip=Sprinkler", "WetGrass"),
}


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("network", CASES)
def test_every_panel_answers(network, panel):
    query, test = CASES[network]
    with make_client() as client:
        fragment = client.get(f"/case/{network}/panel/{panel}?{query}&test={test}", headers=FRAGMENT)
        page = client.get(f"/case/{network}/panel/{panel}/now?{query}&test={test}")
    assert fragment.status_code == page.status_code == 200
    assert "<html" not in fragment.text
    assert 'class="refusal"' not in fragment.text
    assert fragment.text.strip() in page.text
    assert page.text.count("<h1>") == 1


def test_the_decision_stands_on_the_page_at_once():
    """After the chair's yes Pr(D = +) is 0.61 [choi2017, Figure 1]."""
    with make_client() as client:
        page = client.get("/case/review?find.AC=%2B").text
    assert "Pr(+) is 61%, at least the threshold of 60%" in page
    assert "dashed: threshold 60%" in page


def test_the_verdict_is_that_of_the_paper():
    """After the chair's no the decision survives with probability 0.988 [choi2017]."""
    with make_client() as client:
        safe = client.get("/case/review/panel/verdict?find.AC=-", headers=FRAGMENT).text
        unsafe = client.get("/case/review/panel/verdict?find.AC=%2B", headers=FRAGMENT).text
    assert "Safe. Stop." in safe
    assert "98.8%" in safe
    assert "Not yet safe." in unsafe
    assert "exact" in safe


def test_one_click_leads_to_the_case_with_the_finding():
    with make_client() as client:
        page = client.get("/case/review").text
        link = re.search(r'id="v1s1" class="chip" href="([^"]+)"', page)
        assert link is not None
        after = client.get(link[1].replace("&amp;", "&")).text
    assert re.search(r'id="v1s1"[^>]*aria-current="true"', after)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/case/nothing", 404, "No network of this name"),
        ("/case/review/panel/nothing", 404, "no such panel"),
        ("/nothing", 404, "Not found"),
        ("/case/review?find.R9=x", 400, "find.R9: unknown variable &#39;R9&#39;"),
        ("/case/review?find.R1=x", 400, "unknown state of &#39;R1&#39;"),
        ("/case/review?find.D=%2B", 400, "it cannot be a finding"),
        ("/case/review?target=Z", 400, "unknown variable"),
        ("/case/review?threshold=2", 400, "threshold=2"),
        ("/case/review?feature=Z", 400, "unknown variable"),
        ("/case/review?skip=Z", 400, "Z"),
        ("/case/printer?threshold=0.5", 400, "positive=STATE"),
        ("/case/review?must=R1&never=R1", 400, "mandatory and forbidden"),
        ("/case/review/panel/next?cost.Z=3", 400, "Z"),
    ],
)
def test_a_bad_address_gets_a_plain_page(path, status, words):
    with make_client() as client:
        page = client.get(path)
    assert page.status_code == status
    assert words in page.text
    assert "Traceback" not in page.text


def test_contradicting_findings_are_said_to_be():
    wet = "find.Sprinkler=no&find.Rain=no&find.WetGrass=yes"
    with make_client() as client:
        page = client.get(f"/case/sprinkler?target=Cloudy&features=all&{wet}")
        panel = client.get(
            f"/case/sprinkler/panel/verdict?target=Cloudy&features=all&{wet}", headers=FRAGMENT
        )
    assert page.status_code == panel.status_code == 200
    assert "contradict each other" in page.text
    assert "contradict each other" in panel.text


def scripted() -> BayesianNetwork:
    """A network whose every name and text is an attempt to run a script."""
    bad = "<script>alert(1)</script>"
    ill = Variable(f"D{bad}", [f"+{bad}", f"-{bad}"], Annotation(label=f"L{bad}", description=f"T{bad}"))
    test = Variable(
        f'R"{bad}',
        [f"a'{bad}", f'b"{bad}'],
        Annotation(label=f"M{bad}", description=f"U{bad}", state_labels=(f"x{bad}", f"y{bad}")),
    )
    return BayesianNetwork([Cpt(ill, [], [0.3, 0.7]), Cpt(test, [ill], [[0.9, 0.1], [0.2, 0.8]])], bad)


@pytest.mark.parametrize("panel", ["", *(f"/panel/{name}" for name in PANELS)])
def test_script_in_names_is_text(panel):
    held = hold_given(scripted())
    with make_client(held) as client:
        first = client.get(f"/case/{held.id}").text
        link = re.search(r'class="chip" href="/case/[^?]+\?([^"]+)"', first)
        assert link is not None
        query = link[1].replace("&amp;", "&")
        page = client.get(f"/case/{held.id}{panel}?{query}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text


def test_no_inline_script_or_style_that_the_policy_forbids():
    with make_client() as client:
        pages = [client.get("/case/printer?find.Light=red").text]
        pages += [
            client.get(f"/case/printer/panel/{panel}?find.Light=red&test=Ping").text for panel in PANELS
        ]
    for page in pages:
        assert not re.search(r"\sstyle=", page)
        assert not re.search(r"\son[a-z]+=", page)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_a_network_without_target_asks_for_one():
    pair = [Variable(name, ["+", "-"]) for name in "ABC"]
    network = BayesianNetwork(
        [
            Cpt(pair[0], [], [0.3, 0.7]),
            Cpt(pair[1], [pair[0]], [[0.9, 0.1], [0.2, 0.8]]),
            Cpt(pair[2], [pair[1]], [[0.9, 0.1], [0.2, 0.8]]),
        ],
        "chain",
    )
    with make_client(hold_given(network)) as client:
        page = client.get("/case/chain").text
        assert "What is to be decided about?" in page
        assert client.get("/case/chain?target=A").status_code == 200


def test_expected_utilities_stand_beside_the_actions():
    """With Pr(D = +) = 0.2: printing is worth 0.2 * 5 - 0.8 * 2 = -0.6, returning nothing."""
    rows = [["print", "+", 5], ["print", "-", -2], ["return", "+", 0], ["return", "-", 0]]
    query = urlencode([("utility", json.dumps(row)) for row in rows])
    with make_client() as client:
        page = client.get(f"/case/review?{query}").text
        verdict = client.get(f"/case/review/panel/verdict?{query}", headers=FRAGMENT).text
    assert "</span> return</h1>" in page
    assert re.search(r'print</th>.*?data-why="[^"]+">-0.6</span>', page, re.DOTALL)
    assert "same decision" in verdict


def test_mute_tests_are_bundled():
    """Neither of two tests tells anything of their exclusive or; both together tell all."""
    first, second, target = (Variable(name, ["0", "1"]) for name in ("A", "B", "X"))
    odd = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    network = BayesianNetwork(
        [Cpt(first, [], [0.5, 0.5]), Cpt(second, [], [0.5, 0.5]), Cpt(target, [first, second], odd)], "parity"
    )
    query = "target=X&features=all"
    with make_client(hold_given(network)) as client:
        panel = client.get(f"/case/parity/panel/next?{query}", headers=FRAGMENT).text
        advice = client.get(f"/case/parity/panel/advice?{query}", headers=FRAGMENT).text
    assert "No single test makes the decision safer. Together, A and B do: +50.0 pt" in panel
    assert "ask A and B together" in advice
