"""The liver patient of the guide: the page tells what the guide's table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")

from shared_data import SHARED, needs_shared_data
from unswayed.model.formats.files import read_network
from unswayed.web.case import CaseAddress
from unswayed.web.moves import toggle_finding
from unswayed.web.names import label_of
from unswayed.web.workspace import hold_given
from web_clients import make_client

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "companion.md"


def read_steps() -> list[list[str]]:
    """The rows of the guide's table: what was found, the probability, the decision, the headline."""
    story = GUIDE.read_text(encoding="utf-8").partition("## A liver patient")[2]
    rows = re.findall(r"^\| (.+) \|$", story.partition("\n## ")[0], re.MULTILINE)
    return [row.split(" | ") for row in rows[1:]]


@needs_shared_data
@pytest.mark.slow
def test_the_guide_tells_what_the_page_shows():
    network = read_network(SHARED / "networks" / "formats" / "xdsl" / "hepar2_genie.xdsl")
    held = hold_given(network)
    name_by_label = {label_of(variable): variable.name for variable in network.variables}
    address = CaseAddress(held.id)
    steps = read_steps()
    assert len(steps) == 4
    with make_client(held) as client:
        for found, share, decision, headline in steps:
            if " = " in found:
                label, state = found.split(" = ")
                address = toggle_finding(address, name_by_label[label], state)
            page = client.get(address.url).text
            assert f"</span> {decision}</h1>" in page
            assert f"Pr(present) is {share}" in page
            panel = client.get(address.url_of("panel/verdict"), headers={"HX-Request-Type": "partial"}).text
            assert headline in panel
            assert "estimate" in panel
        before = CaseAddress(held.id, findings=address.findings[:-1])
        advice = client.get(before.url_of("panel/advice"), headers={"HX-Request-Type": "partial"}).text
    assert "Ask Antimytochondrial antibodies next." in advice
