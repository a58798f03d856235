"""Who may ask: host, token, origin, body, and the headers on every answer."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("starlette", reason="the companion needs the extra 'web'")
pytest.importorskip("httpx2", reason="the test client needs httpx2")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from unswayed.core.errors import QueryError
from unswayed.web import security
from unswayed.web.security import Access, Guard, make_access, session_of

BASE = "http://127.0.0.1:8000"


async def _answer(request: Request) -> PlainTextResponse:
    body = await request.body()
    return PlainTextResponse(f"{session_of(request)}|{len(body)}")


async def _fail(request: Request) -> PlainTextResponse:
    raise RuntimeError("a bug of ours")


@pytest.fixture
def access() -> Access:
    return make_access(8000, ["lab.example"], token="the-right-token")


@pytest.fixture
def client(access: Access) -> TestClient:
    app = Starlette(routes=[Route("/", _answer, methods=["GET", "POST"]), Route("/bug", _fail)])
    return TestClient(
        Guard(app, access), base_url=BASE, follow_redirects=False, raise_server_exceptions=False
    )


@pytest.fixture
def inside(client: TestClient) -> TestClient:
    """A client that came in by the printed address."""
    assert client.get("/?token=the-right-token").status_code == 303
    return client


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "lab.example:8000"])
def test_our_own_hosts_are_answered(inside, host):
    token = inside.get("/?token=the-right-token", headers={"Host": host})
    assert token.status_code == 303


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:81", "localhost:8000.evil.example", ""],
)
def test_other_hosts_are_refused_before_anything_else(inside, host):
    answer = inside.get("/?token=the-right-token", headers={"Host": host})
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers


def test_a_port_that_browsers_leave_out_may_be_left_out():
    assert {"lab.example", "lab.example:443", "127.0.0.1:8000"} <= make_access(
        8000, ["lab.example:443"]
    ).hosts


@pytest.mark.parametrize("name", ["http://lab.example", "*", "", "a b", "lab.example:port", "x\r\ny"])
def test_what_is_no_host_cannot_be_allowed(name):
    with pytest.raises(QueryError, match="no name of a host"):
        make_access(8000, [name])


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(client):
    answer = client.get("/?find.A=%2B&token=the-right-token&skip=B")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?find.A=%2B&skip=B"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "the-right-token" not in cookie
    assert client.get("/").status_code == 200


def test_a_link_of_another_site_gets_a_page_that_begins_anew(client):
    answer = client.get("/?token=the-right-token&a=%22%3E", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert 'content="0;url=/?a=%22%3E"' in answer.text
    assert "samesite=strict" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_redirect_stays_here(client, path):
    answer = client.get(f"{BASE}{path}?token=the-right-token")
    place = answer.headers["location"]
    assert place.startswith("/")
    assert place[1] not in "/\\"


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", "?token=the-right-token&token=the-right-token"]
)
@pytest.mark.parametrize("path", ["/", "/bug", "/missing", "/static/style.css"])
def test_without_the_token_every_path_is_refused_alike(client, path, query):
    answer = client.get(path + query)
    assert answer.status_code == 403
    assert "needs its token" in answer.text


@pytest.mark.parametrize("cookie", ["", "x", "x.y", ".", "abc.0000", "abc.é"])
def test_a_cookie_that_we_did_not_sign_is_refused(client, cookie):
    header = f"unswayed-8000={cookie}".encode("latin-1")
    assert client.get("/", headers={"Cookie": header}).status_code == 403


def test_a_session_stays_when_the_address_is_opened_again(inside):
    first = inside.get("/").text.partition("|")[0]
    inside.get("/?token=the-right-token")
    assert inside.get("/").text.partition("|")[0] == first
    inside.cookies.clear()
    inside.get("/?token=the-right-token")
    assert inside.get("/").text.partition("|")[0] != first


SAME = {"Sec-Fetch-Site": "same-origin"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", SAME, 200),
        ("GET", {"Sec-Fetch-Site": "none"}, 200),
        ("GET", LINK, 200),
        ("GET", {**LINK, "Sec-Fetch-Dest": "iframe"}, 403),
        ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ("GET", {"Origin": "http://evil.example"}, 403),
        ("GET", {"Origin": "null"}, 403),
        ("POST", {**SAME, "Origin": BASE}, 200),
        ("POST", {**SAME, "Origin": "null"}, 200),
        ("POST", {"Origin": BASE}, 200),
        ("POST", {}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("POST", {"Origin": "http://evil.example"}, 403),
        ("POST", {"Origin": "http://127.0.0.1:8001"}, 403),
        ("POST", {**SAME, "Origin": "http://evil.example"}, 403),
        ("POST", {"Sec-Fetch-Site": "none"}, 403),
        ("POST", LINK, 403),
        ("DELETE", LINK, 403),
        ("OPTIONS", {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, 403),
    ],
)
def test_other_origins_may_only_link(inside, method, headers, status):
    assert inside.request(method, "/", headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/", "/bug", "/missing", "/?token=wrong"])
def test_every_answer_tells_the_browser_to_be_strict(inside, path):
    answer = inside.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store", "findings stay in no cache"
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_files_of_ours_that_hold_no_findings_may_be_kept(inside):
    assert inside.get("/static/style.css").headers["cache-control"] == "private"


def test_a_body_that_says_it_is_too_large_is_not_read(inside, monkeypatch):
    monkeypatch.setattr(security, "MOST_BODY_BYTES", 1000)
    post = {**SAME, "Origin": BASE}
    assert inside.post("/", content=b"x" * 1000, headers=post).text.endswith("|1000")
    assert inside.post("/", content=b"x" * 1001, headers=post).status_code == 413
    assert inside.post("/", content=iter([b"x" * 600] * 2), headers=post).status_code == 413


def test_a_slow_body_is_given_up(access, monkeypatch):
    monkeypatch.setattr(security, "BODY_SECONDS", 0.05)
    receive = security._limit_body(_never)

    with pytest.raises(security.HTTPException) as caught:
        asyncio.run(receive())
    assert caught.value.status_code == 408


async def _never() -> dict[str, object]:
    await asyncio.sleep(60)
    return {}


def test_a_whole_body_may_be_followed_by_a_long_wait(monkeypatch):
    monkeypatch.setattr(security, "BODY_SECONDS", 0.05)
    messages = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, object]:
        if len(messages) == 1:
            await asyncio.sleep(0.2)
        return messages.pop(0)

    async def read_twice() -> str:
        limited = security._limit_body(receive)
        await limited()
        return str((await limited())["type"])

    assert asyncio.run(read_twice()) == "http.disconnect"


def test_sockets_are_closed(inside):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), inside.websocket_connect("/"):
        pass
