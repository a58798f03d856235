"""Pictures, reports and examples as a user asks for them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from unswayed.core.extras import install_command
from unswayed.model.formats.files import write_network
from unswayed.model.zoo import binary_network, random_polytree
from unswayed.view.drawing import Drawing
from unswayed.view.figure import Picture

PAPERS = ("--target", "D=+", "--threshold", "0.6", "--features", "all")
STARTS = {"png": b"\x89PNG", "svg": b"<", "pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", STARTS)
@pytest.mark.parametrize(
    "command",
    [
        ("decide",),
        ("sdp",),
        ("voi",),
        ("follow", "--observe", "AC=-,R1=+"),
        ("frontier",),
        ("select", "--budget", "1"),
        ("trim", "--budget", "1"),
        ("thresholds", "--budget", "1"),
    ],
    ids=lambda command: command[0],
)
def test_commands_draw_what_they_tell(unswayed, tmp_path, command, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"picture.{suffix}"
    plain = unswayed(*command[:1], "review", *PAPERS, *command[1:])
    done = unswayed(*command[:1], "review", *PAPERS, *command[1:], "-o", path)
    assert (done.code, done.err) == (0, "")
    told = done.out.splitlines()
    assert told[-1] == f"wrote {path}"
    # The times that searches take differ; everything else is the same.
    assert [line for line in told[:-1] if " s" not in line] == [
        line for line in plain.out.splitlines() if " s" not in line
    ]
    assert path.read_bytes().startswith(STARTS[suffix])


@pytest.mark.parametrize(
    "command",
    [
        ("decide",),
        ("sdp",),
        ("voi",),
        ("why",),
        ("plan",),
        ("follow", "--observe", "R1=+"),
        ("frontier",),
        ("select", "--budget", "1"),
        ("trim", "--budget", "1"),
        ("thresholds", "--budget", "1"),
    ],
    ids=lambda command: command[0],
)
def test_pictures_say_what_was_asked(unswayed, tmp_path, command):
    """Target, threshold and evidence; a sweep of thresholds has none of its own."""
    path = tmp_path / "picture.svg"
    done = unswayed(*command[:1], "review", *PAPERS, *command[1:], "-e", "AC=-", "-o", path)
    assert (done.code, done.err) == (0, "")
    words = " ".join(element.text or "" for element in ElementTree.parse(path).iter())
    at = "" if command[0] == "thresholds" else " from 0.6 on"
    assert f"deciding about D = +{at}, given AC=-" in " ".join(words.split())


@pytest.mark.parametrize("command", ["decide", "sdp", "voi"])
def test_other_names_are_refused_before_the_work(unswayed, tmp_path, command):
    done = unswayed(command, "review", *PAPERS, "-o", tmp_path / "picture.bmp")
    assert done.code == 2
    assert "pictures are saved as .png, .svg, .pdf, not '.bmp'" in done.err
    assert done.out == ""


def test_together_is_not_drawn_one_by_one(unswayed, tmp_path):
    done = unswayed("voi", "review", *PAPERS, "--keep", "R1,R2", "-o", tmp_path / "p.png")
    assert done.code == 2
    assert "leave out --keep" in done.err


def test_draw_shows_target_evidence_and_kept(unswayed, tmp_path):
    path = tmp_path / "network.svg"
    done = unswayed(
        "draw", "review", "--target", "D", "--features", "all", "-e", "AC=+", "--keep", "R1", "-o", path
    )
    assert (done.code, done.out) == (0, f"wrote {path}\n")
    classes = [g.get("class") for g in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g")]
    assert [each for each in classes if each] == ["box target", "box kept", "box dropped", "box evidence"]
    missing = unswayed("draw", "review", "--features", "all", "-o", path)
    assert missing.code == 2
    assert "--target" in missing.err


def test_svg_needs_no_matplotlib(unswayed, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert unswayed("draw", "printer", "-o", tmp_path / "network.svg").code == 0
    refused = unswayed("draw", "printer", "-o", tmp_path / "network.png")
    assert refused.code == 2
    assert f"install it with: {install_command('plots')}" in refused.err


def test_a_case_is_followed(unswayed):
    done = unswayed("follow", "review", *PAPERS, "--observe", "AC=-", "--observe", "R1=+")
    # Pr(+ | AC=-, R1=+) = 0.0532 / 0.17, and only R2=+, of probability 0.01 / 0.17 would change the decision.
    assert done.out.splitlines() == [
        "observed     Pr(+)   decision  SDP",
        "nothing yet  0.2000  not +     0.9000",
        "AC=-         0.1219  not +     0.9881",
        "R1=+         0.3129  not +     0.9412",
        "",
        "The decision 'not +' was safe to 0.95 after 1 observation.",
    ]
    steps = json.loads(unswayed("follow", "review", *PAPERS, "--observe", "AC=-", "--json").out)["steps"]
    assert [step["observed"] for step in steps] == [None, {"AC": "-"}]
    assert steps[1]["sdp"]["value"] == pytest.approx(0.988, abs=5e-4)
    assert unswayed("follow", "review", *PAPERS, "--observe", "AC=-", "--at-least", "2").code == 2


def test_a_followed_case_tells_what_its_observations_cost(unswayed, tmp_path):
    costs = tmp_path / "costs.toml"
    costs.write_text(
        '[groups.votes]\nfeatures = ["R1", "R2"]\ncost = 3\n[costs]\nAC = 0.5\n', encoding="utf-8"
    )
    question = ["follow", "review", *PAPERS, "--observe", "AC=-,R1=+,R2=-", "--costs", costs]
    steps = json.loads(unswayed(*question, "--json").out)["steps"]
    assert [step["spent"] for step in steps] == [0.0, 0.5, 3.5, 3.5], "both votes for one price"
    assert unswayed(*question).out.splitlines()[2].endswith("0.9881  0.5")


def test_thresholds_are_swept(unswayed):
    done = unswayed("thresholds", "review", *PAPERS, "--budget", "1", "--steps", "3")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[:4]] == ["threshold", "0.25", "0.5", "0.75"]
    points = json.loads(unswayed("thresholds", "review", *PAPERS, "--budget", "1", "--json").out)["points"]
    assert [point["threshold"] for point in points] == pytest.approx([i / 10 for i in range(1, 10)])
    assert unswayed("thresholds", "review", *PAPERS, "--budget", "1", "--steps", "0").code == 2


def test_a_report_is_written(unswayed, tmp_path):
    path = tmp_path / "report.html"
    done = unswayed("report", "review", *PAPERS, "-o", path, "--title", "Papers & co")
    assert (done.code, done.out) == (0, f"wrote {path}\n")
    assert "<title>Papers &amp; co</title>" in path.read_text(encoding="utf-8")
    refused = unswayed("report", "review", *PAPERS, "-o", tmp_path / "report.pdf")
    assert refused.code == 2
    assert "a report is an .html file" in refused.err


def test_examples_are_known_by_name(unswayed, tmp_path, monkeypatch):
    listed = unswayed("examples")
    assert listed.code == 0
    names = [each["name"] for each in json.loads(unswayed("examples", "--json").out)["examples"]]
    assert {"review", "printer", "sprinkler", "disease_tests"} <= set(names)
    commands = [line.split()[1:] for line in listed.out.splitlines() if line.lstrip().startswith("unswayed ")]
    assert len(commands) == 4
    for words in commands:
        assert unswayed(*words).code == 0
    unknown = unswayed("info", "reviw")
    assert unknown.code == 2
    assert "did you mean 'review'?" in unknown.err
    # A file of that name goes first.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "review").write_text("no network", encoding="utf-8")
    assert unswayed("info", "review").code == 2


def test_names_with_commas_are_quoted(unswayed, tmp_path):
    path = tmp_path / "odd.bif"
    write_network(
        binary_network(
            {"ill, or not": ((), [0.3]), "blood test, left": (("ill, or not",), [0.9, 0.2])},
            states=("yes, surely", "no"),
        ),
        path,
    )
    done = unswayed(
        "decide", path, "--target", '"ill, or not"="yes, surely"', "-e", '"blood test, left"="yes, surely"'
    )
    assert done.code == 0
    # 0.27 / (0.27 + 0.14)
    assert "0.6585" in done.out
    kept = unswayed("esdp", path, "--target", '"ill, or not"=no', "--keep", '"blood test, left"')
    assert kept.code == 0
    cost = unswayed(
        "trim", path, "--target", '"ill, or not"=no', "--budget", "2", "--cost", '"blood test, left"=1.5'
    )
    assert "cost 1.5" in cost.out


def test_the_version_is_told(unswayed):
    import unswayed as package

    assert unswayed("--version").out == f"unswayed {package.__version__}\n"


def drawn_boxes(path):
    groups = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}g")
    return sum((group.get("class") or "").startswith("box") for group in groups)


def test_a_large_network_is_drawn_around_its_target_or_whole(unswayed, tmp_path):
    network, path = tmp_path / "large.bif", tmp_path / "picture.svg"
    write_network(random_polytree(450, np.random.default_rng(0)), network)
    refused = unswayed("draw", network, "-o", path)
    assert (refused.code, refused.out) == (2, "")
    assert "name a target to draw what is near it, or draw all of them with --all" in refused.err
    assert unswayed("draw", network, "--target", "X200", "-o", path).code == 0
    assert drawn_boxes(path) == 60
    assert "390 of 450 variables, farther from X200, are left out" in path.read_text(encoding="utf-8")
    assert unswayed("draw", network, "--all", "-o", path).code == 0
    assert drawn_boxes(path) == 450


def test_a_huge_picture_has_fewer_pixels_a_point():
    pytest.importorskip("matplotlib")
    sizes = {}
    for side in (300.0, 6000.0):
        png = Picture(Drawing(side, side, (), "")).to_bytes(".png")
        sizes[side] = int.from_bytes(png[16:20], "big")
    assert sizes[300.0] == round(320 * 160 / 72)
    assert sizes[6000.0] == pytest.approx(60e6**0.5, rel=0.01)
