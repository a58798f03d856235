"""`unswayed info` and `unswayed convert` on files of the zoo and on real ones."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import unswayed
from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.model import zoo
from unswayed.model.formats.files import read_network, write_network


def test_info_describes_a_network(unswayed, printer):
    outcome = unswayed("info", printer)
    assert outcome.code == 0
    assert outcome.err == ""
    description, _, variables = outcome.out.partition("\n\n")
    # Free parameters: 1 of Age, 2 * 3 of Fault, 4 * 2 of Light and of TestPage, 4 of Ping.
    assert description.splitlines()[:-1] == [
        "printer",
        "  variables        5 (1 root, 3 leaves)",
        "  arcs             4",
        "  free parameters  27",
        "  states           2 to 4",
        "  largest table    12 numbers (Light)",
    ]
    assert re.fullmatch(r"  exact inference  \d+ multiplications, [\d.]+ k?B", description.splitlines()[-1])
    assert variables.splitlines() == [
        "Age       root   2  new, old",
        "Fault            4  none, paper_jam, no_toner, no_network",
        "Light     leaf   3  green, yellow, red",
        "TestPage  leaf   3  good, pale, nothing",
        "Ping      leaf   2  answers, silent",
    ]


def test_json_holds_every_variable_with_its_states_and_parents(unswayed, printer):
    answer = json.loads(unswayed("info", printer, "--json").out)
    assert answer["n_arcs"] == 4
    assert answer["variables"][1] == {
        "name": "Fault",
        "states": ["none", "paper_jam", "no_toner", "no_network"],
        "parents": ["Age"],
    }


def test_long_lists_are_cut_in_text_and_whole_in_json(unswayed, tmp_path):
    path = tmp_path / "many.bif"
    write_network(zoo.random_naive_bayes(50, np.random.default_rng(1), max_states=12), path)
    assert unswayed("info", path).out.endswith("and 31 more; --all lists them\n")
    assert len(unswayed("info", path, "--all").out.partition("\n\n")[2].splitlines()) == 51
    assert len(json.loads(unswayed("info", path, "--json").out)["variables"]) == 51


def test_the_memory_shown_is_where_inference_would_be_refused():
    network = zoo.random_bounded_treewidth(12, 3, np.random.default_rng(7), max_states=3)
    memory = int(unswayed.info(network).memory_bytes)
    unswayed.posterior(network, limits=Limits(max_bytes=memory))
    with pytest.raises(LimitError):
        unswayed.posterior(network, limits=Limits(max_bytes=memory - 1))


def published_sizes() -> list[tuple[str, tuple[int, int, int]]]:
    """Files with the variables, arcs and parameters that their sources state; empty without the folder."""
    if not SHARED.is_dir():
        return []
    row = re.compile(r"^\| (networks/[^ ]+\.bif(?:\.gz)?) \|.*\| (\d+) / (\d+) / (\d+) \|", re.MULTILINE)
    text = (SHARED / "README.md").read_text(encoding="utf-8")
    return [(m[1], (int(m[2]), int(m[3]), int(m[4]))) for m in row.finditer(text)]


@needs_shared_data
@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
@pytest.mark.parametrize(("file", "sizes"), published_sizes())
def test_counts_are_the_published_ones(file, sizes):
    summary = unswayed.info(read_network(SHARED / file))
    assert (summary.n_variables, summary.n_arcs, summary.n_parameters) == sizes


def test_convert_writes_an_equal_network(unswayed, printer, tmp_path):
    target = tmp_path / "printer.xdsl"
    outcome = unswayed("convert", printer, target)
    assert outcome.code == 0
    assert outcome.out == f"wrote {target}: 5 variables, 4 arcs\n"
    assert read_network(target) == zoo.printer()


def test_convert_keeps_the_old_file_when_it_fails(unswayed, printer, tmp_path):
    target = tmp_path / "kept.bif"
    target.write_text("old")
    broken = tmp_path / "broken.bif"
    broken.write_text(printer.read_text().replace("0.6, 0.4", "0.6, 0.6"))
    assert unswayed("convert", broken, target).code == 2
    assert target.read_text() == "old"


def test_normalize_reads_what_is_refused_otherwise(unswayed, printer, tmp_path):
    broken = tmp_path / "broken.bif"
    broken.write_text(printer.read_text().replace("0.6, 0.4", "0.6, 0.6"))
    refused = unswayed("info", broken)
    assert refused.code == 2
    assert "sums to 1.2, not 1; correct it, or pass --normalize to rescale" in refused.err
    assert unswayed("info", broken, "--normalize").code == 0
