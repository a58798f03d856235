"""How commands end: messages on stderr, exit codes, interruptions, pipes and encodings."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time

import pytest

import unswayed as package
from unswayed.cli.outcome import complain
from unswayed.model.cpt import Cpt
from unswayed.model.formats.files import write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--of", "Faut"], "error: unknown variable 'Faut'; did you mean 'Fault'?\n"),
        (["-e", "Lihgt=red"], "error: unknown variable 'Lihgt'; did you mean 'Light'?\n"),
        (["-e", "Light=rde"], "error: unknown state of 'Light' 'rde'; did you mean 'red'?\n"),
        (["-e", "Light"], "error: cannot read 'Light'; expected VARIABLE=STATE, such as Rain=yes\n"),
        (["-e", "Light=red,"], "error: cannot read ''; expected VARIABLE=STATE, such as Rain=yes\n"),
        (
            ["-e", "Ping=answers,Ping=silent"],
            "error: evidence gives 'Ping' two states, 'answers' and 'silent'; give one\n",
        ),
        (
            ["-e", "Fault=no_network,Ping=answers"],
            "error: the evidence has probability 0 in this network: 'Fault=no_network', 'Ping=answers'; "
            "check it for typing errors or for findings that contradict each other\n",
        ),
        (["--max-memory", "0"], "error: --max-memory must be a positive number, not 0\n"),
        (["--max-seconds", "nan"], "error: --max-seconds must be a positive number, not nan\n"),
    ],
)
def test_questions_that_do_not_fit_say_what_would(unswayed, printer, arguments, message):
    outcome = unswayed("posterior", printer, *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", message)


def test_a_limit_names_the_option_that_raises_it(unswayed, printer):
    outcome = unswayed("posterior", printer, "--max-memory", "1e-7")
    assert outcome.code == 2
    assert "over the limit of 100 B" in outcome.err
    assert outcome.err.endswith("or raise --max-memory\n")


def test_a_missing_file_is_named(unswayed, tmp_path):
    path = tmp_path / "a folder with a long name" / "nothing here.bif"
    outcome = unswayed("info", path)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"error: {path}: no such file; check the path\n",
    )


def test_a_broken_file_is_named_with_its_line(unswayed, printer):
    printer.write_text(printer.read_text().replace("0.85, 0.05", "0.85, many"))
    outcome = unswayed("info", printer)
    line = printer.read_text().splitlines().index("  (new) 0.85, many, 0.05, 0.05;") + 1
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: {printer}, line {line}: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", [["info", "network.doc"], ["convert", "{printer}", "network.doc"]])
def test_an_unknown_suffix_lists_the_known_ones(unswayed, printer, command):
    outcome = unswayed(*[word.format(printer=printer) for word in command])
    assert outcome.code == 2
    assert outcome.err.startswith(
        "error: network.doc: cannot tell the format from the suffix '.doc'; expected '.bif'"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["posterior", "x.bif", "--off", "A"], "unknown option '--off'"),
        (["posterior"], "missing argument"),
        (["learn", "x.csv"], "missing option"),
        (["learn", "x.csv", "--target", "y", "-o", "z.bif", "--structure", "best"], "best"),
        (["guess"], "unknown command 'guess'"),
    ],
)
def test_wrong_usage_ends_with_2_and_no_boxes(unswayed, arguments, message):
    outcome = unswayed(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert "─" not in outcome.err
    assert "Traceback" not in outcome.err


def test_warnings_are_one_line_each_without_python_s_file_names(unswayed, printer):
    printer.write_text(printer.read_text().replace("0.6, 0.4", "0.6, 0.401"))
    outcome = unswayed("posterior", printer, "--of", "Age", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["posteriors"]["Age"]
    assert outcome.err == (f"warning: {printer}: 1 row does not sum to 1 and was rescaled: Age () = 1.001\n")


def test_version_and_help(unswayed):
    assert unswayed("--version").out == f"unswayed {package.__version__}\n"
    shown = unswayed("--help")
    assert shown.code == 0
    for command in ("decide", "sdp", "esdp", "eca", "voi", "learn", "posterior", "info", "convert"):
        assert f"\n  {command} " in shown.out
        assert unswayed(command, "--help").code == 0


def test_an_interrupted_command_leaves_with_130_and_says_nothing(start, tmp_path):
    pipe = tmp_path / "waits.bif"
    os.mkfifo(pipe)
    process = start("info", pipe)
    # Opening the other end succeeds once the command waits for text.
    with pipe.open("wb"):
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize("n_states", [2, 20_000])
def test_a_reader_that_goes_away_is_no_error_to_complain_about(start, tmp_path, n_states):
    path = tmp_path / "wide.bif"
    states = [f"state_{i}" for i in range(n_states)]
    write_network(BayesianNetwork([Cpt(Variable("V", states), [], [1 / n_states] * n_states)]), path)
    with start("posterior", path) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 1


def test_without_colours_the_text_is_plain(start, review):
    """Also no bold, and also where something else asks for colours."""
    asked = ("sdp", review, "--target", "D=+", "--threshold", "0.6", "-e", "R1=+")
    coloured, _ = start(*asked, FORCE_COLOR="1", NO_COLOR="").communicate(timeout=60)
    plain, _ = start(*asked, FORCE_COLOR="1", NO_COLOR="1").communicate(timeout=60)
    assert b"\x1b[" in coloured
    assert b"\x1b" not in plain
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == plain


def test_pipes_get_no_colours_and_json_is_utf_8_everywhere(start, tmp_path):
    path = tmp_path / "names.xdsl"
    write_network(BayesianNetwork([Cpt(Variable("Größe", ["klein", "groß"]), [], [0.25, 0.75])]), path)
    plain = {"PYTHONIOENCODING": "ascii", "FORCE_COLOR": "", "NO_COLOR": ""}
    out, err = start("posterior", path, **plain).communicate(timeout=30)
    assert err == b""
    assert out.decode("ascii").splitlines() == [
        r"Gr\xf6\xdfe",
        "  klein  0.2500  ######",
        r"  gro\xdf   0.7500  ##################",
    ]
    out, err = start("posterior", path, "--json", **plain).communicate(timeout=30)
    assert json.loads(out.decode("utf-8"))["posteriors"] == {"Größe": {"klein": 0.25, "groß": 0.75}}


def test_messages_wrap_at_words_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ", ".join(f"'variable-{i}'" for i in range(30))
    complain(
        "error", f"no engine can answer this:\n  sums: hidden variables tie {names} together\nways out: none"
    )
    whole = capsys.readouterr().err
    assert len(whole.splitlines()) == 3
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    complain(
        "error", f"no engine can answer this:\n  sums: hidden variables tie {names} together\nways out: none"
    )
    wrapped = capsys.readouterr().err
    assert max(map(len, wrapped.splitlines())) <= 80
    assert wrapped.split() == whole.split()
