"""Who may ask: checks that every request passes before any page sees it.

The page runs on the user's own machine, where every web site they visit can send it requests. The checks, in
this order, and what each is for:

1. **Host** names one of our own addresses. A site whose name is pointed at 127.0.0.1 (DNS rebinding) passes
   every check of origins, but its name stands here.
2. **Token.** The address that the server prints holds a random token. It becomes a cookie that other sites
   cannot send (SameSite=Strict) and scripts cannot read (HttpOnly), and leaves the address by a redirect. The
   cookie is a random session, signed; whoever has neither gets nothing at all.
3. **Sec-Fetch-Site and Origin.** Pages of other origins may lead here, and do nothing else: neither embed,
   nor fetch, nor post.
4. **Body**: so many bytes, within so many seconds.

Each check is a pure function from headers to a refusal or None. `Guard` runs them, and puts on every answer
the headers that tell the browser to be strict too.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from markupsafe import escape
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unswayed.core.errors import QueryError

MOST_BODY_BYTES = 20 * 2**20 + 2**16
"""Largest body: a file of 20 MB and the form around it."""
BODY_SECONDS = 30.0
"""Longest time for a whole body to arrive."""
COOKIE_SECONDS = 30 * 24 * 3600
SAFE_METHODS = ("GET", "HEAD")
_HOST = re.compile(r"([a-z0-9_.-]+|\[[0-9a-f:]+\])(?::([0-9]+))?")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
STRICT_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Under which names the page is reached, and with which secret."""

    hosts: frozenset[str]
    """Host headers that are ours, such as `127.0.0.1:8000`."""
    token: str
    """What the printed address holds."""
    cookie: str
    """Name of the cookie; it has the port in it, since cookies of one host are shared by its ports."""


def make_access(port: int, names: Iterable[str] = (), *, token: str | None = None) -> Access:
    """Access by loopback, and by further names, each with the port where it names none.

    >>> sorted(make_access(8000, ["lab.example:80"]).hosts)
    ['127.0.0.1:8000', '[::1]:8000', 'lab.example', 'lab.example:80', 'localhost:8000']
    """
    hosts = set[str]()
    for name in (*LOOPBACK, *names):
        match = _HOST.fullmatch(name.lower())
        if match is None:
            raise QueryError(f"{name!r} is no name of a host; expected lab.example, or lab.example:80")
        host, number = match[1], match[2] or str(port)
        hosts.add(f"{host}:{number}")
        if number in ("80", "443"):  # browsers leave these out
            hosts.add(host)
    return Access(frozenset(hosts), token or secrets.token_urlsafe(32), f"unswayed-{port}")


def refuse_host(headers: Headers, access: Access) -> Response | None:
    """A refusal unless the one Host header is ours."""
    hosts = headers.getlist("host")
    if len(hosts) == 1 and hosts[0].lower() in access.hosts:
        return None
    return PlainTextResponse(
        "This address is not one of this server's own. Open the address it printed; another name must be "
        "allowed with --allow-host.\n",
        421,
    )


def refuse_origin(method: str, headers: Headers, access: Access) -> Response | None:
    """A refusal of whatever a page of another origin sends, but for a plain link to here."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_ours = origin is not None and origin.lower().partition("://")[2] in access.hosts
    if method in SAFE_METHODS:
        is_link = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        passes = (is_ours or origin is None) and (site in (None, "same-origin", "none") or is_link)
    elif site == "same-origin":
        passes = is_ours or origin in (None, "null")  # forms of a page without referrer say "null"
    else:
        passes = is_ours and site is None
    return None if passes else PlainTextResponse("Requests from pages of other origins are refused.\n", 403)


def read_session(headers: Headers, access: Access) -> str | None:
    """The session in the cookie, where we signed it."""
    session, _, signature = cookie_parser(headers.get("cookie", "")).get(access.cookie, "").partition(".")
    # As bytes: compare_digest takes no text beyond ASCII.
    return session if hmac.compare_digest(signature.encode(), _sign(session, access).encode()) else None


def _sign(session: str, access: Access) -> str:
    return hmac.digest(access.token.encode(), session.encode(), "sha256").hex()


def admit(scope: Scope, access: Access) -> Response | None:
    """What turns a right token in the address into the cookie; None without a right token."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tokens = [value for key, value in pairs if key == "token"]
    if len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode(), access.token.encode()):
        return None
    headers = Headers(scope=scope)
    # Two slashes at the start would name another host.
    place = "/" + scope["path"].lstrip("/\\")
    rest = urlencode([pair for pair in pairs if pair[0] != "token"])
    response = _lead_to(f"{place}?{rest}" if rest else place, headers)
    session = read_session(headers, access) or secrets.token_urlsafe(16)
    response.set_cookie(
        access.cookie,
        f"{session}.{_sign(session, access)}",
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
    )
    return response


def _lead_to(place: str, headers: Headers) -> Response:
    """The way to the address without the token.

    Browsers keep strict cookies back all through a chain of redirects that another site began, such as a link
    in a web mail. There a page of ours begins anew.
    """
    if headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return RedirectResponse(place, 303)
    return HTMLResponse(leading_page(place))


def leading_page(place: str) -> str:
    """A page that leads on by itself."""
    there = escape(place)
    return (
        f'<!doctype html><html lang="en"><meta http-equiv="refresh" content="0;url={there}">'
        f'<title>unswayed</title><p><a href="{there}">Go on to the page</a></p></html>'
    )


def session_of(request: HTTPConnection) -> str:
    """The browser session of a request; empty where no guard stands before the app."""
    session: str = request.scope.get("state", {}).get("session", "")
    return session


class Guard:
    """An app behind all checks."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            # Findings stay in no cache; our own files, the same for everybody, may.
            is_ours = scope["path"].startswith("/static/")
            send = _send_strictly(send, "private" if is_ours else "no-store")
            answer = self._refuse(scope) or self._app
            await answer(scope, _limit_body(receive), send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refuse(self, scope: Scope) -> Response | None:
        """What to answer instead of the app; None when the request may pass."""
        headers, access = Headers(scope=scope), self._access
        refusal = refuse_host(headers, access)
        if refusal is None and scope["method"] in SAFE_METHODS:
            refusal = admit(scope, access)
        if refusal is None:
            refusal = refuse_origin(scope["method"], headers, access)
        if refusal is not None:
            return refusal
        session = read_session(headers, access)
        if session is None:
            return PlainTextResponse(
                "This page needs its token. Open the address that 'unswayed serve' printed.\n", 403
            )
        scope.setdefault("state", {})["session"] = session
        return _refuse_length(headers)


def _refuse_length(headers: Headers) -> Response | None:
    length = headers.get("content-length", "0")
    if length.isdecimal() and len(length) < 20 and int(length) <= MOST_BODY_BYTES:
        return None
    return PlainTextResponse(
        f"Files of more than {MOST_BODY_BYTES // 10**6} MB are not taken.\n", 413, {"Connection": "close"}
    )


def _send_strictly(send: Send, caching: str) -> Send:
    """A `send` that adds the headers for browsers to the start of every answer."""

    async def send_strictly(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(STRICT_HEADERS)
            headers.setdefault("Cache-Control", caching)
        await send(message)

    return send_strictly


def _limit_body(receive: Receive) -> Receive:
    """A `receive` that gives up on a body that is too large or too slow."""
    n_bytes, is_whole = 0, False
    deadline = time.monotonic() + BODY_SECONDS

    async def receive_limited() -> Message:
        nonlocal n_bytes, is_whole
        if is_whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.0))
        except TimeoutError:
            raise HTTPException(408, "The file did not arrive in time.", {"Connection": "close"}) from None
        n_bytes += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        if n_bytes > MOST_BODY_BYTES:
            raise HTTPException(413, "The file is too large.", {"Connection": "close"})
        return message

    return receive_limited
