"""Attacks on a server that runs in a process of its own: all refused, and it lives on."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
import time

import pytest

pytest.importorskip("uvicorn", reason="the companion needs the extra 'web'")

from web.attacks import ATTACKS, Attack, form
from web.served import Served, serving

MOST_GROWTH = 250 * 2**20
"""Bytes of memory that a thousand requests may leave behind."""


@pytest.fixture(scope="module")
def served():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def cookie(served):
    return served.log_in()


def write_request(attack: Attack, served: Served, cookie: str) -> bytes:
    """The bytes of an attack."""

    def fill(text: str) -> bytes:
        values = {"host": served.host, "port": served.port, "token": served.token, "cookie": cookie}
        return re.sub(r"\{(\w+)(:\.\d+)?\}", lambda m: format(values[m[1]], (m[2] or ":")[1:]), text).encode()

    version = b"" if "HTTP/" in attack.line else b" HTTP/1.1"
    lines = [fill(attack.line) + version, *map(fill, attack.headers), b"Connection: close"]
    if any("Upgrade: websocket" in each for each in attack.headers):
        lines.pop()
    if attack.body and attack.sends_length:
        lines.append(b"Content-Length: %d" % len(attack.body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + attack.body


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_refused(served, cookie, attack):
    patience = 4 if any("Upgrade: websocket" in each for each in attack.headers) else 40
    said = served.send_raw(write_request(attack, served, cookie), timeout=patience)
    match = re.match(r"HTTP/1\.1 (\d{3})", said)
    assert match, f"no answer but {said[:200]!r}"
    assert int(match[1]) in attack.refused, said[:300]
    for secret in ("root:", served.token, "Traceback", *attack.forbidden):
        assert secret.replace("{cookie}", cookie) not in said
    assert served.ask("GET", "/", headers={"Cookie": cookie}, timeout=10).status == 200


def send_file(served, cookie, name, data, case=""):
    headers, body = form(name, data, case=case)
    fields = dict(
        each.replace("{host}", served.host).replace("{cookie}", cookie).split(": ", 1) for each in headers
    )
    return served.ask("POST", "/open", headers=fields, body=body)


def test_another_session_finds_neither_network_nor_table(served, cookie):
    stranger = served.log_in()
    assert stranger != cookie
    table = send_file(served, cookie, "mine.csv", b"R1\n+\n").headers["location"]
    network = (
        b"network x {} variable A { type discrete [ 2 ] { a, b }; } probability ( A ) { table 0.3, 0.7; }"
    )
    case = send_file(served, cookie, "mine.bif", network).headers["location"]
    for place in (table, case, f"/case/review{table}", f"{case}/export/network.json"):
        assert served.ask("GET", place, headers={"Cookie": cookie}).status == 200, place
        assert served.ask("GET", place, headers={"Cookie": stranger}).status == 404, place
    assert "mine" in served.ask("GET", "/", headers={"Cookie": cookie}).text
    assert "mine" not in served.ask("GET", "/", headers={"Cookie": stranger}).text


@pytest.mark.parametrize(
    "case", ["//evil.example/", "http://evil.example/case/review", "/case/review\r\nX-Evil: 1"]
)
def test_a_file_leads_nowhere_else(served, cookie, case):
    answer = send_file(served, cookie, "t.csv", b"R1\n+\n", case=case)
    assert "x-evil" not in answer.headers
    assert re.match(r"/(table|case)/", answer.headers.get("location", "/table/")), answer.headers


def test_a_body_that_is_shorter_than_it_says_holds_nobody_up(served, cookie):
    headers = f"POST /open HTTP/1.1\r\nHost: {served.host}\r\nCookie: {cookie}\r\nOrigin: {served.origin}\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(f"{headers}Content-Length: 1000\r\n\r\nabc".encode())
        assert served.ask("GET", "/", headers={"Cookie": cookie}, timeout=5).status == 200


@pytest.mark.slow
def test_a_head_that_never_ends_is_cut_off(served):
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        started = time.monotonic()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x")
        assert connection.recv(100) == b""
        assert time.monotonic() - started < 25


@pytest.mark.slow
def test_a_body_that_trickles_is_cut_off(served, cookie):
    headers = (
        f"POST /learn HTTP/1.1\r\nHost: {served.host}\r\nCookie: {cookie}\r\nOrigin: {served.origin}\r\n"
    )
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        headers += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"
        connection.sendall(headers.encode())
        started = time.monotonic()
        said = b""
        try:
            while time.monotonic() - started < 50 and not said:
                connection.sendall(b"a")
                connection.settimeout(1.0)
                try:
                    said = connection.recv(1000)
                except TimeoutError:
                    continue
        except ConnectionError:
            pass
    assert said.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - started < 45


async def _ask_at_once(served: Served, cookie: str, paths: list[str]) -> list[str]:
    async def ask(path: str) -> str:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            head = f"GET {path} HTTP/1.1\r\nHost: {served.host}\r\nCookie: {cookie}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode())
            said = await reader.read()
            writer.close()
        except OSError as error:
            return f"lost ({error})"
        return said.decode("utf-8", "replace")

    return await asyncio.gather(*map(ask, paths))


def test_a_thousand_at_once_are_answered_or_sent_away(served, cookie):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    before = served.memory()
    paths = [f"/case/disease_tests/panel/verdict?threshold=0.{n:04d}" for n in range(1, 1001)]
    started = time.monotonic()
    answers = asyncio.run(_ask_at_once(served, cookie, paths))
    assert time.monotonic() - started < 60
    statuses = [answer[9:12] for answer in answers]
    assert set(statuses) <= {"200", "503"}, {s: statuses.count(s) for s in set(statuses)}
    assert statuses.count("200") >= 64, "those who waited in the queue are answered"
    sent_away = [answer for answer in answers if answer[9:12] == "503"]
    assert all("retry-after" in answer.lower() or "Service Unavailable" in answer for answer in sent_away)
    assert served.ask("GET", "/case/review", headers={"Cookie": cookie}, timeout=5).status == 200
    assert served.memory() - before < MOST_GROWTH


def test_a_client_that_goes_frees_its_place(served, cookie):
    """More than the queue holds ask for something long and go away; the next is answered soon."""

    async def come_and_go() -> None:
        for n in range(100):
            _, writer = await asyncio.open_connection("127.0.0.1", served.port)
            path = f"/case/printer/export/report.html?threshold=0.{n + 100}&positive=none"
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {served.host}\r\nCookie: {cookie}\r\n\r\n".encode())
            await writer.drain()
            writer.close()

    asyncio.run(come_and_go())
    deadline = time.monotonic() + 10
    status = 503
    while status == 503 and time.monotonic() < deadline:
        status = served.ask("GET", "/case/review/panel/verdict", headers={"Cookie": cookie}).status
        time.sleep(0.1)
    assert status == 200
