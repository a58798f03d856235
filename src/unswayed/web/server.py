"""Starting and ending the companion: an address, a token, a browser, signals.

The page is reachable from this machine alone unless a host is named. Ctrl-C, SIGTERM and a terminal that is
closed end it within about a second, whatever is being computed, and however early they come.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from unswayed.core.errors import QueryError
from unswayed.web import cases, cautions, export, start, trimming
from unswayed.web.app import WebSettings, make_app
from unswayed.web.security import Access, Guard, leading_page, make_access
from unswayed.web.work import Threads
from unswayed.web.workspace import Workspace

ROUTES = (*start.ROUTES, *cases.ROUTES, *trimming.ROUTES, *export.ROUTES)

LOCAL = "127.0.0.1"
FAVOURITE_PORT = 8321
"""Taken where no port is named and nobody has it; addresses that people keep then stay the same."""
MOST_CONNECTIONS = 2000
"""Connections at once, some 50 kB each; with more, everybody is sent away."""
MOST_HEADER_BYTES = 96 * 2**10
"""Largest request line with headers; a case of a few hundred findings takes 20 kB."""
IDLE_SECONDS = 5
HEADER_SECONDS = 10
"""How long the head of a request may take."""
LEAVE_SECONDS = 1
"""How long answers that are under way may take at the end."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page is served: a socket that listens, and who may come."""

    listener: socket.socket
    access: Access
    is_local: bool
    """Whether only this machine reaches it."""

    @property
    def port(self) -> int:
        """The port that was given, or found."""
        return int(self.listener.getsockname()[1])

    def url(self, path: str = "/") -> str:
        """The address that lets its reader in."""
        name = self.listener.getsockname()[0]
        host = LOCAL if name in ("0.0.0.0", "::") else f"[{name}]" if ":" in name else name
        return f"http://{host}:{self.port}{path}{'&' if '?' in path else '?'}token={self.access.token}"


def take_place(host: str | None = None, port: int | None = None, names: tuple[str, ...] = ()) -> Place:
    """Listen on a port: the one that is named, else our favourite, else one that is free.

    `names` are further names by which browsers may reach the server. `QueryError` when the port is taken, or
    the host is not one of this machine.
    """
    host = host or LOCAL
    make_access(port or FAVOURITE_PORT, names)  # complains of names before anything is opened
    listener = _find_port(host, port)
    address, number = listener.getsockname()[:2]
    own_name = f"[{address}]" if ":" in address else address
    is_local = address.startswith("127.") or address == "::1"
    return Place(listener, make_access(number, (own_name, *names)), is_local)


def _find_port(host: str, port: int | None) -> socket.socket:
    if port is None:
        try:
            return _listen(host, FAVOURITE_PORT)
        except OSError:
            port = 0
    try:
        return _listen(host, port)
    except OSError as error:
        raise _explain(error, host, port) from None


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it lets two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _explain(error: OSError, host: str, port: int) -> QueryError:
    if error.errno == errno.EADDRINUSE:
        return QueryError(
            f"port {port} of {host} is taken; name another with --port, or none to take a free one"
        )
    if error.errno == errno.EACCES:
        return QueryError(f"port {port} needs rights that you do not have; name one above 1023 with --port")
    reason = error.strerror or error
    return QueryError(f"cannot listen on {host!r} ({reason}); --host names an address of this machine")


def make_site(workspace: Workspace, settings: WebSettings | None = None) -> Starlette:
    """The whole companion, without its guard."""
    cautions.install()
    app = make_app(workspace, settings, routes=ROUTES)
    app.state.arriving = asyncio.Semaphore(start.MOST_UPLOADS)
    return app


def run_server(
    workspace: Workspace, place: Place, *, settings: WebSettings | None = None, open_at: str | None = None
) -> None:
    """Serve until a signal comes; opens the browser at a path where one is given."""
    with _hearing_signals() as signals, _opened(None if open_at is None else place.url(open_at)):
        app = make_site(workspace, settings)
        pools: list[Threads] = [app.state.workers, app.state.page_workers, app.state.slow_workers]
        server = uvicorn.Server(_configure(Guard(app, place.access)))
        asyncio.run(_serve_until_told(server, place.listener, pools, signals))
        is_idle = all(pool.wait_until_idle(seconds=LEAVE_SECONDS / len(pools)) for pool in pools)
    if not is_idle:
        # A compiled loop still runs in a thread, and Python cannot end in order before it has.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _configure(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_ImpatientProtocol,
        ws="none",
        lifespan="off",
        log_level="error",  # requests are not written down: some have the token in them
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=LEAVE_SECONDS,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )


async def _serve_until_told(
    server: uvicorn.Server, listener: socket.socket, pools: list[Threads], signals: list[int]
) -> None:
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not signals and not server.should_exit and not serving.done():
        await asyncio.sleep(0.1)
    server.should_exit = True
    for pool in pools:
        pool.stop()  # now, or those who wait for answers would hold up the end
    await serving


@contextmanager
def _hearing_signals() -> Iterator[list[int]]:
    """The signals that came while uvicorn did not listen, or that it raised again at its end.

    `KeyboardInterrupt` in the middle of anything may be swallowed there, or become another error.
    """
    found: list[int] = []
    before = {each: signal.signal(each, lambda n, _: found.append(n)) for each in _ending_signals()}
    try:
        yield found
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _ending_signals() -> list[signal.Signals]:
    found = [signal.SIGINT, signal.SIGTERM]
    # One that is ignored was asked for: `nohup` outlives its terminal.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


@contextmanager
def _opened(url: str | None) -> Iterator[None]:
    """The browser at an address, by way of a file: other users of the machine can read command lines."""
    if url is None:
        yield
        return
    # Only its owner may read it. Browsers that come as snaps see the home folder and no other.
    folder = Path.home() if Path("/snap").is_dir() else None
    with NamedTemporaryFile(
        "w", prefix="unswayed-", suffix=".html", dir=folder, encoding="utf-8", delete=False
    ) as file:
        file.write(leading_page(url))
    page = Path(file.name)
    # In a thread: some browsers return when they are closed.
    threading.Thread(target=lambda: webbrowser.open(page.as_uri()), daemon=True).start()
    try:
        yield
    finally:
        page.unlink(missing_ok=True)


class _ImpatientProtocol(H11Protocol):
    """HTTP, but a connection whose next request does not begin in time is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_again(self.cycle)

    def _look_again(self, seen: object) -> None:
        self.loop.call_later(HEADER_SECONDS, self._close_if_stuck, seen)

    def _close_if_stuck(self, seen: object) -> None:
        is_idle = self.cycle is None or self.cycle.response_complete
        if self.transport.is_closing():
            return
        if is_idle and self.cycle is seen:
            self.transport.close()
        else:
            self._look_again(self.cycle)
