"""A companion in a process of its own, and requests to it byte by byte."""

from __future__ import annotations

import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

from unswayed.core.processes import child_environment

STARTS_WITHIN = 60.0


@dataclass(frozen=True)
class Served:
    """A server that runs, and how to get in."""

    process: subprocess.Popen[str]
    url: str
    """The address that it printed."""

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def token(self) -> str:
        return self.url.rpartition("token=")[2]

    def log_in(self) -> str:
        """The cookie of a new session."""
        answer = self.ask("GET", f"/?token={self.token}")
        assert answer.status == 303
        return answer.headers["set-cookie"].partition(";")[0]

    def ask(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 30,
    ) -> Answered:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, found, response.read().decode("utf-8", "replace"))
        finally:
            connection.close()

    def send_raw(self, data: bytes, *, timeout: float = 10) -> str:
        """Whatever the server says to these bytes until it closes or falls silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            said = b""
            try:
                connection.sendall(data)
                while piece := connection.recv(65536):
                    said += piece
            except (TimeoutError, ConnectionError):
                pass
            return said.decode("utf-8", "replace")

    def memory(self) -> int:
        """Bytes that the server holds in memory; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:  # noqa: PTH123
                return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024  # type: ignore[index]
        except OSError:
            return 0


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


@contextmanager
def serving(
    *arguments: str, browser: str | None = None, prepare: Callable[[], object] | None = None
) -> Iterator[Served]:
    """`unswayed serve` with these arguments, until the block ends.

    `browser` is a command for the environment; `prepare` is called in the new process first.
    """
    command = [sys.executable, "-m", "unswayed", "serve", *arguments]
    if browser is None:
        command.append("--no-browser")
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**child_environment(), "PYTHONUNBUFFERED": "1", "COLUMNS": "200", "BROWSER": browser or ""},
        preexec_fn=prepare,
        cwd=os.getcwd(),  # noqa: PTH109
    )
    try:
        yield Served(process, _printed_url(process))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def _printed_url(process: subprocess.Popen[str]) -> str:
    lines: SimpleQueue[str] = SimpleQueue()
    assert process.stdout is not None
    threading.Thread(target=lambda: lines.put(process.stdout.readline()), daemon=True).start()  # type: ignore[union-attr]
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        try:
            line = lines.get(timeout=0.2)
        except Empty:
            continue
        match = re.search(r"http://\S+", line)
        if match is None:
            assert process.stderr is not None
            raise AssertionError(f"no address printed, but {line!r} and {process.stderr.read()!r}")
        return match[0]
    raise AssertionError("the server does not start")
