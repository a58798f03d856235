"""`unswayed snb`: rankings and paths from files, classified and scored."""

from __future__ import annotations

import json
import math

import pytest

from unswayed.spaces.classifier.files import load_structured, save_structured

TEA = "# NUMBER ALTERNATIVES: 3\n" + "".join(
    f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in enumerate(("tea", "milk", "rum"), start=1)
)
EDGES = "a,b\nb,c\nc,d\na,d\nb,d\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "land.soc").write_text(TEA + "6: 1,2,3\n2: 2,1,3\n")
    (tmp_path / "sea.soc").write_text(TEA + "7: 3,1,2\n1: 3,2,1\n")
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "trips.txt").write_text("a b c d\n" * 9 + "a d\n")
    return tmp_path


def test_rankings_are_learned_and_classified(unswayed, files):
    model = files / "drinks.json"
    outcome = unswayed("snb", "fit", files / "land.soc", files / "sea.soc", "-o", model)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "learned from land 8, sea 8\n"
        f"wrote {model}: rankings of 3 items, 6 objects, 5 parameters for each class\n"
    )
    (files / "new.csv").write_text("first,second,third\nrum,milk,tea\nmilk,tea,rum\n")
    answer = json.loads(unswayed("snb", "classify", model, files / "new.csv", "--json").out)["answers"]
    # First choices: (0 + 1) / (8 + 3) by land, (8 + 1) / 11 at sea. Then milk before tea, after rum: even on
    # land, where rum never came first, and (1 + 1) / (8 + 2) at sea.
    sea, land = 9 / 11 * 2 / 10, 1 / 11 * 1 / 2
    assert answer[0]["class"] == "sea"
    assert answer[0]["probabilities"]["sea"] == pytest.approx(sea / (sea + land))
    assert answer[1]["class"] == "land"


def test_all_observations_of_one_source(unswayed, files):
    model = files / "drinks.json"
    unswayed("snb", "fit", files / "land.soc", files / "sea.soc", "-o", model)
    outcome = unswayed("snb", "classify", model, files / "sea.soc", "--together")
    assert outcome.out == "sea   1.0000  all together\n"
    single = unswayed("snb", "classify", model, files / "sea.soc")
    assert single.out.startswith("2 observations: land 0, sea 2\nsea   0.9")


def test_a_column_of_classes(unswayed, files):
    table = files / "all.csv"
    table.write_text("who,1,2,3\nland,tea,milk,rum\nsea,rum,tea,milk\nland,tea,rum,milk\n")
    outcome = unswayed("snb", "fit", table, "--label", "who", "-o", files / "m.json", "--json")
    answer = json.loads(outcome.out)
    assert answer["classes"] == {"land": 2.0, "sea": 1.0}
    assert (answer["objects"], answer["parameters"]) == (6, 5)


def test_odd_paths_are_found(unswayed, files):
    model = files / "roads.json"
    unswayed("snb", "fit", files / "trips.txt", "--graph", files / "edges.csv", "-o", model)
    (files / "new.txt").write_text("a,b,c,d\na,b,d\n")
    answer = json.loads(unswayed("snb", "score", model, files / "new.txt", "--json").out)
    assert answer["objects"] == 2
    assert answer["anomalous"] == 1
    assert answer["oddest"][0]["object"] == "a, b, d"
    # Three paths, all equally probable by chance; scores are logarithms of probability times three.
    assert sum(math.exp(score) for score in answer["scores"]) < 3
    outcome = unswayed("snb", "score", model, files / "new.txt", "--worst", "1")
    assert outcome.out.startswith("1 of 2 are more probable by chance than as normal (score below 0)\nodd ")


def test_saved_parameters_are_the_learned_ones(unswayed, files):
    model = files / "drinks.json"
    unswayed("snb", "fit", files / "land.soc", "-o", model, "--smoothing", "0")
    classifier = load_structured(model)
    assert classifier.classes_.tolist() == ["land"]
    assert math.isinf(classifier.model_.conditionals[0].psdds[0].log_parameters.min())


def test_python_loads_what_the_command_line_saved_and_the_other_way(unswayed, files):
    model = files / "drinks.npz"
    outcome = unswayed(
        "snb", "fit", files / "land.soc", files / "sea.soc", "-o", model, "--smoothing", "held-out"
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert "held out best: " in outcome.out
    loaded = load_structured(model)
    told = json.loads(unswayed("snb", "classify", model, files / "sea.soc", "--json").out)["answers"]
    mine = loaded.predict_proba([("rum", "tea", "milk"), ("rum", "milk", "tea")])
    assert [each["probabilities"]["sea"] for each in told] == pytest.approx(mine[:, 1].tolist())
    save_structured(loaded, files / "again.json")
    again = unswayed("snb", "classify", files / "again.json", files / "sea.soc", "--json")
    assert json.loads(again.out)["answers"] == told


def test_incomplete_and_tied_orders_are_learned_and_classified(unswayed, files):
    (files / "short.soi").write_text(TEA + "3: 3\n1: 1,2\n")
    (files / "tied.toi").write_text(TEA + "3: {1,2}\n1: 2\n")
    model = files / "m.json"
    outcome = unswayed("snb", "fit", files / "short.soi", files / "tied.toi", "-o", model)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("learned from short 4, tied 4\n")
    answer = unswayed("snb", "classify", model, files / "tied.toi")
    assert answer.out.startswith("2 observations: short 0, tied 2\n")
    assert "{tea, milk}, ..." in answer.out


def test_trips_that_are_no_simple_paths_are_counted_and_said(unswayed, files):
    (files / "round.txt").write_text("a b c d\na b a d\na b c b d\n")
    arguments = ("snb", "fit", files / "round.txt", "--graph", files / "edges.csv", "-o", files / "m.json")
    outcome = unswayed(*arguments)
    assert outcome.code == 0
    assert "2 of 3 trips are no simple paths and are left out" in outcome.err
    assert outcome.out.startswith("learned from round 1\n")
    shortened = unswayed(*arguments, "--erase-loops")
    assert "2 of 3 trips visit a node twice and lose their round trips" in shortened.err
    assert shortened.out.startswith("learned from round 3\n")


def test_one_way_streets(unswayed, files):
    outcome = unswayed(
        "snb",
        "fit",
        files / "trips.txt",
        "--graph",
        files / "edges.csv",
        "--directed",
        "-o",
        files / "m.json",
    )
    assert (outcome.code, outcome.err) == (0, "")
    both, one = (
        unswayed("paths", files / "edges.csv", "--from", "a", "--to", "d", "--count", *more).out
        for more in ((), ("--directed",))
    )
    assert (both, one) == ("3\n", "3\n")
    back = unswayed("paths", files / "edges.csv", "--from", "d", "--to", "a", "--directed")
    assert (back.code, "not connected" in back.err) == (2, True)


def test_a_saved_model_with_one_end_is_damaged(unswayed, files):
    model = files / "roads.json"
    unswayed("snb", "fit", files / "trips.txt", "--graph", files / "edges.csv", "-o", model)
    content = json.loads(model.read_text())
    content["attributes"][0]["space"]["ends"]["fixed"] = [0]
    model.write_text(json.dumps(content))
    outcome = unswayed("snb", "classify", model, files / "trips.txt")
    assert outcome.code == 2
    assert "paths have two ends" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "land.soc", "--label", "who", "-o", "m.json"], "no column 'who'"),
        (["fit", "trips.txt", "-o", "m.json"], "rankings are read from .soc, .soi, .toc, .toi and .csv"),
        (["fit", "trips.txt", "--graph", "missing.csv", "-o", "m.json"], "no such file"),
        (["classify", "land.soc", "land.soc"], "this is not JSON"),
        (["score", "two.json", "land.soc"], "there are several classes: 'land', 'sea'"),
        (["score", "two.json", "land.soc", "--class", "lnd"], "did you mean 'land'?"),
        (["score", "two.json", "land.soc", "--class", "land", "--prior", "1"], "--prior must be between"),
        (["classify", "two.json", "other.csv"], "gin"),
        (["classify", "damaged.json", "land.soc"], "damaged"),
    ],
)
def test_mistakes_are_named(unswayed, files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    unswayed("snb", "fit", "land.soc", "sea.soc", "-o", "two.json")
    (files / "other.csv").write_text("1,2,3\ngin,tea,milk\n")
    damaged = json.loads((files / "two.json").read_text())
    del damaged["classes"]
    (files / "damaged.json").write_text(json.dumps(damaged))
    outcome = unswayed("snb", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""


def test_a_map_is_split_into_regions(unswayed, files):
    streets = [f"{r}.{c},{r}.{c + 1}" for r in range(6) for c in range(5)]
    streets += [f"{r}.{c},{r + 1}.{c}" for r in range(5) for c in range(6)]
    (files / "map.csv").write_text("\n".join(streets) + "\n")
    walks = [" ".join(f"{r}.{c}" for c in range(n)) for r in range(6) for n in range(3, 7)]
    (files / "walks.txt").write_text("\n".join(walks) + "\n")
    arguments = ("snb", "fit", files / "walks.txt", "--graph", files / "map.csv", "-o", files / "m.json")
    outcome = unswayed(*arguments, "--split-map")
    assert outcome.code == 0
    assert outcome.out.startswith("the map of 36 nodes is split into ")
    assert "of trips enter one twice (at most " in outcome.out
    assert "hierarchical simple paths between 36 possible ends" in outcome.out
    scored = unswayed("snb", "score", files / "m.json", files / "walks.txt")
    assert scored.out.startswith("0 of 24 are more probable by chance")
    refused = unswayed(*arguments, "--split-map", "--cut-map")
    assert (refused.code, refused.out) == (2, "")
    assert "not both" in refused.err
