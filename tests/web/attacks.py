"""Attacks on a companion that runs: what is sent, and with which status it must be refused.

Each is bytes as a hostile program would write them. `{host}`, `{token}` and `{cookie}` stand for what the
server at hand has; an attack that holds a right cookie plays a page that got a browser to send it.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attack:
    """One request."""

    name: str
    line: str
    """Method and target; the version is added where it has none."""
    headers: tuple[str, ...] = ("Host: {host}", "Cookie: {cookie}")
    body: bytes = b""
    refused: tuple[int, ...] = (403,)
    """The statuses that refuse it."""
    forbidden: tuple[str, ...] = ()
    """What the answer must not hold, besides secrets."""
    sends_length: bool = field(default=True)


HOST = "Host: {host}"
COOKIE = "Cookie: {cookie}"
SAME = ("Sec-Fetch-Site: same-origin", "Origin: http://{host}")
CROSS = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image")


def form(name: str, data: bytes, *, case: str = "") -> tuple[tuple[str, ...], bytes]:
    """Headers and body of a form with a file."""
    edge = b"--edge"
    body = edge + b'\r\nContent-Disposition: form-data; name="case"\r\n\r\n' + case.encode() + b"\r\n"
    body += (
        edge
        + b'\r\nContent-Disposition: form-data; name="file"; filename="'
        + name.encode("latin-1", "replace")
    )
    body += b'"\r\n\r\n' + data + b"\r\n--edge--\r\n"
    return (HOST, COOKIE, *SAME, "Content-Type: multipart/form-data; boundary=edge"), body


def upload(what: str, name: str, data: bytes, *refused: int) -> Attack:
    """A file sent by a page of ours, as the user would send it."""
    headers, body = form(name, data)
    return Attack(what, "POST /open", headers, body, refused or (400, 503), ("root:",))


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + b"".join(
        f'<!ENTITY a{i} "{f"&a{i - 1 if i else chr(0)};".replace(chr(0), "") * 10}">'.encode()
        for i in range(9)
    )
    + b"]><bif>&a8;</bif>"
)
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><bif>&f;</bif>'
INSIDE_FILE = "../../../../../../../../etc/passwd"

ATTACKS = (
    # --- who is asked
    Attack("foreign host", "GET /?token={token}", ("Host: evil.example",), refused=(421,)),
    Attack("rebinding", "GET /", ("Host: evil.example:{port}", COOKIE), refused=(421,)),
    Attack(
        "rebinding by a longer name",
        "GET /",
        ("Host: 127.0.0.1:{port}.evil.example", COOKIE),
        refused=(421, 400),
    ),
    Attack(
        "our name before an at sign",
        "GET /",
        ("Host: 127.0.0.1:{port}@evil.example", COOKIE),
        refused=(421, 400),
    ),
    Attack("our name without the port", "GET /", ("Host: 127.0.0.1", COOKIE), refused=(421,)),
    Attack("no host", "GET /", (COOKIE,), refused=(400,)),
    Attack("no host in old HTTP", "GET /?token={token} HTTP/1.0", (), refused=(421,)),
    Attack("two hosts", "GET /", (HOST, "Host: evil.example", COOKIE), refused=(400, 421)),
    Attack(
        "host forwarded", "GET /", ("Host: evil.example", "X-Forwarded-Host: {host}", COOKIE), refused=(421,)
    ),
    Attack("another server's address", "GET http://evil.example/", (HOST, COOKIE), refused=(400, 404, 421)),
    # --- token and cookie
    Attack("no token", "GET /", (HOST,)),
    Attack("no token for a file of ours", "GET /static/style.css", (HOST,)),
    Attack("no token for a page that is not there", "GET /nothing", (HOST,)),
    Attack("a wrong token", "GET /?token=wrong", (HOST,)),
    Attack("part of the token", "GET /?token={token:.20}", (HOST,)),
    Attack("the token twice", "GET /?token={token}&token={token}", (HOST,)),
    Attack("the token in a header", "GET /", (HOST, "Authorization: token {token}")),
    Attack("the token as a cookie", "GET /", (HOST, "Cookie: unswayed-{port}={token}")),
    Attack("a cookie that we did not sign", "GET /", (HOST, "Cookie: unswayed-{port}=abc." + "0" * 64)),
    # --- pages of other sites
    Attack("a picture on another site", "GET /case/review", (HOST, COOKIE, *CROSS)),
    Attack(
        "a frame on another site",
        "GET /",
        (HOST, COOKIE, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"),
    ),
    Attack(
        "a script on another port",
        "GET /",
        (HOST, COOKIE, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", "Origin: http://127.0.0.1:1"),
    ),
    Attack("a fetch of an old browser", "GET /", (HOST, COOKIE, "Origin: http://evil.example")),
    Attack(
        "a form on another site",
        "POST /learn",
        (HOST, COOKIE, "Sec-Fetch-Site: cross-site", "Origin: http://evil.example"),
        b"a=b",
    ),
    Attack("a form of a sandboxed frame", "POST /learn", (HOST, COOKIE, "Origin: null"), b"a=b"),
    Attack("a form without an origin", "POST /learn", (HOST, COOKIE), b"a=b"),
    Attack(
        "may I, asked by another site",
        "OPTIONS /open",
        (HOST, COOKIE, "Origin: http://evil.example", "Access-Control-Request-Method: POST"),
        forbidden=("Access-Control-Allow",),
    ),
    # --- paths
    Attack("up the tree", f"GET /static/{INSIDE_FILE}", refused=(404,)),
    Attack("up the tree, encoded", "GET /static/" + "%2e%2e%2f" * 8 + "etc/passwd", refused=(404,)),
    Attack(
        "up the tree, encoded twice", "GET /static/" + "%252e%252e%252f" * 8 + "etc/passwd", refused=(404,)
    ),
    Attack("up the tree, the other slash", "GET /static/" + "..%5c" * 8 + "etc%5cpasswd", refused=(404,)),
    Attack("a file as a network", "GET /case/%2Fetc%2Fpasswd", refused=(404,)),
    Attack("a file as a table", f"GET /table/{INSIDE_FILE.replace('/', '%2F')}", refused=(404,)),
    Attack("a file of ours that is no page", "GET /static/../app.py", refused=(404,)),
    Attack("a null byte", "GET /static/style.css%00.png", refused=(404, 400)),
    Attack(
        "a file to learn from",
        "POST /learn",
        (HOST, COOKIE, *SAME, "Content-Type: application/x-www-form-urlencoded"),
        f"table={INSIDE_FILE}&target=a&structure=naive".encode(),
        refused=(404,),
    ),
    # --- bodies and files
    Attack(
        "a giant by its own word",
        "POST /open",
        (HOST, COOKIE, *SAME, "Content-Length: 99999999999"),
        refused=(413,),
        sends_length=False,
    ),
    Attack(
        "a negative length",
        "POST /open",
        (HOST, COOKIE, *SAME, "Content-Length: -1"),
        refused=(400, 413),
        sends_length=False,
    ),
    upload("a file of 21 MB", "x.bif", b" " * (21 * 10**6), 400, 503, 413),
    upload("a gzip bomb", "x.bif.gz", gzip.compress(bytes(300 * 2**20), 1)),
    upload("a billion laughs", "x.xml", LAUGHS),
    upload("a file from within a file", "x.xdsl", OUTSIDE),
    upload("a tree of a hundred thousand levels", "x.xml", b"<a>" * 100_000),
    upload("lists within lists", "x.json", b"[" * 500_000),
    upload("two hundred thousand columns", "x.csv", b",".join(b"c%d" % i for i in range(200_000)) + b"\n"),
    upload("a program", "x.py", b"import os"),
    upload("a pickle", "x.pickle", b"cos\nsystem\n(S'id'\ntR."),
    upload("an archive", "x.zip", b"PK\x03\x04"),
    upload("a path as a name", "../../../etc/cron.d/x", b"network"),
    Attack(
        "a form of a thousand parts",
        "POST /open",
        form("x.bif", b"")[0],
        b"".join(
            b'--edge\r\nContent-Disposition: form-data; name="n%d"\r\n\r\nv\r\n' % i for i in range(1000)
        )
        + b"--edge--\r\n",
        refused=(400,),
    ),
    # --- headers and framing
    Attack(
        "a header in the address",
        "GET /?token={token}&x=%0d%0aX-Evil:%201",
        (HOST,),
        refused=(303,),
        forbidden=("X-Evil: 1",),
    ),
    Attack(
        "another site in the address",
        "GET //evil.example/?token={token}",
        (HOST,),
        refused=(303,),
        forbidden=("Location: //", "location: //"),
    ),
    Attack(
        "two lengths",
        "POST /open",
        (HOST, COOKIE, *SAME, "Content-Length: 1", "Content-Length: 30"),
        b"x" * 30,
        refused=(400,),
        sends_length=False,
    ),
    Attack(
        "a request within a request",
        "POST /open",
        (HOST, COOKIE, *SAME, "Content-Length: 4", "Transfer-Encoding: chunked"),
        b"0\r\n\r\nGET /case/review HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        refused=(400,),
        sends_length=False,
        forbidden=("HTTP/1.1 200",),
    ),
    Attack(
        "an unknown encoding",
        "POST /open",
        (HOST, COOKIE, *SAME, "Transfer-Encoding: xchunked"),
        b"x",
        refused=(400, 501),
        sends_length=False,
    ),
    Attack(
        "a folded header",
        "GET /",
        (HOST, COOKIE, "X-A: 1\r\n Host: evil.example"),
        refused=(400, 200),
        forbidden=("evil.example",),
    ),
    Attack(
        "a socket",
        "GET /",
        (
            HOST,
            COOKIE,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ),
        refused=(200, 403),
        forbidden=("HTTP/1.1 101",),
    ),
    Attack("an address of 200 kB", "GET /?a=" + "x" * 200_000, refused=(400, 414, 431)),
    Attack("ten thousand parts in an address", "GET /case/review?" + "skip=R1&" * 5_000, refused=(400,)),
    Attack("a header of 200 kB", "GET /", (HOST, COOKIE, "X-A: " + "x" * 200_000), refused=(400, 431)),
    Attack("lists within lists in an address", "GET /case/review?utility=" + "%5B" * 10_000, refused=(400,)),
    Attack("a number that is none", "GET /case/review?threshold=nan", refused=(400,)),
    Attack(
        "a name that is none",
        "GET /case/review?find.%3Cscript%3E=1",
        refused=(400,),
        forbidden=(
            "<script>1",
            "<script>=",
        ),
    ),
    Attack("a method of nobody", "BREW /", refused=(403, 405)),
    Attack("an echo", "TRACE /", refused=(403, 405), forbidden=("{cookie}",)),
    Attack("a tunnel", "CONNECT evil.example:80", refused=(400, 403, 404, 405)),
    Attack("no HTTP at all", "\x16\x03\x01\x02\x00\x01", refused=(400,)),
)
"""About sixty ways in that must be closed."""
