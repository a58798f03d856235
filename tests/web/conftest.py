"""The browser that the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from web_clients import CHROMIUM


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright import sync_api as api

    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()
