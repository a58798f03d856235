"""The companion for tests: its pages without a server, and the whole of it with a server and a browser."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from unswayed.web.app import make_app
from unswayed.web.security import Guard
from unswayed.web.server import make_site, take_place
from unswayed.web.workspace import HeldNetwork, Workspace
from web.served import STARTS_WITHIN

BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
CHROMIUM = next((path for path in BROWSERS if Path(path).exists()), None)
AXE = Path(os.environ.get("AXE_CORE", Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"))
"""The accessibility checker: `npm install axe-core` in the project, or name its file in `AXE_CORE`."""

needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed: npm install axe-core, or AXE_CORE=.../axe.min.js"
)


def make_client(given: HeldNetwork | None = None) -> TestClient:
    """A client of the application alone."""
    return TestClient(make_app(Workspace(given)))


@contextmanager
def serve_pages(given: HeldNetwork | None = None) -> Iterator[str]:
    """The companion behind its guard on a free port: gives the address that lets a browser in."""
    place = take_place(port=0)
    config = uvicorn.Config(
        Guard(make_site(Workspace(given)), place.access), lifespan="off", log_level="error", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place.listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + STARTS_WITHIN
    while not server.started:
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.01)
    try:
        yield place.url("/case/review")
    finally:
        server.should_exit = True
        thread.join(5)
        place.listener.close()
