"""No test waits for ever: every wait in the tests has a time-out, and every test has one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ENDLESS_WITHOUT_ARGUMENTS = {"wait", "join", "communicate", "result", "get", "acquire"}
ENDLESS_WITHOUT_TIMEOUT = {"subprocess.run", "subprocess.check_output", "socket.create_connection"}


def endless_waits(code: ast.Module) -> Iterator[ast.Call]:
    """Calls that may wait for ever; what is awaited ends with the test that runs it."""
    awaited = {id(each.value) for each in ast.walk(code) if isinstance(each, ast.Await)}
    for call in ast.walk(code):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or id(call) in awaited:
            continue
        if call.func.attr in ENDLESS_WITHOUT_ARGUMENTS:
            is_endless = not call.args and not call.keywords
        else:
            has_timeout = any(each.arg == "timeout" for each in call.keywords)
            is_endless = not has_timeout and ast.unparse(call.func) in ENDLESS_WITHOUT_TIMEOUT
        if is_endless:
            yield call


@pytest.mark.parametrize("line", ["child.wait()", "subprocess.run(['make'])", "queue.get()"])
def test_endless_waits_are_found(line):
    assert list(endless_waits(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    ["child.wait(5)", "child.wait(timeout=5)", "subprocess.run(['make'], timeout=5)", "names.get('a')"],
)
def test_waits_with_an_end_are_let_be(line):
    assert not list(endless_waits(ast.parse(line)))


def test_every_wait_in_the_tests_has_a_timeout():
    found = [
        f"{path.relative_to(FOLDER)}, line {call.lineno}: {ast.unparse(call)[:60]}"
        for path in sorted(FOLDER.rglob("*.py"))
        for call in endless_waits(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("is_slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_test_has_a_timeout(request, is_slow):
    timeout = request.node.get_closest_marker("timeout")
    limit = float(timeout.args[0] if timeout else request.config.getini("timeout"))
    assert 0 < limit <= (3600 if is_slow else 600)
    assert request.config.getini("timeout_method") == "thread", "a compiled loop never sees a signal"
