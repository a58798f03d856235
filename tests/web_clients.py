"""The companion without a server or a door: for tests of its pages."""

from __future__ import annotations

from starlette.testclient import TestClient

from unswayed.web.app import make_app
from unswayed.web.workspace import HeldNetwork, Workspace


def make_client(given: HeldNetwork | None = None) -> TestClient:
    """A client of the application alone."""
    return TestClient(make_app(Workspace(given)))
