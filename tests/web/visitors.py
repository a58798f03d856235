"""A person before the page, in a real browser."""

from __future__ import annotations

import base64
import re
from urllib.parse import urlsplit

from playwright import sync_api as api

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
  for (const kind of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


class Visitor:
    """A person before the page; everything that the console complains of is kept."""

    def __init__(self, browser: api.Browser, door: str, **options: object) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        parts = urlsplit(door)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.page.goto(door)

    def hear(self, message: api.ConsoleMessage) -> None:
        # A question that a later one replaces is aborted, and htmx says so.
        if message.type == "error" and "AbortError" not in message.text:
            self.complaints.append(message.text)

    def go(self, path: str) -> api.Page:
        self.page.goto(self.origin + path)
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until every panel has its answer."""
        self.page.wait_for_load_state("load")
        api.expect(self.page.locator(".panel[hx-trigger^=load][aria-busy]")).to_have_count(0, timeout=60_000)

    def decided(self) -> str:
        return self.page.locator("#decided").inner_text()

    def has(self, text: str | re.Pattern[str], where: str = "main", *, seconds: float = 30) -> bool:
        api.expect(self.page.locator(where)).to_contain_text(text, timeout=1000 * seconds)
        return True

    def drop(self, name: str, content: bytes) -> None:
        """Drop a file on the page."""
        self.page.evaluate(DROP, [name, base64.b64encode(content).decode()])

    def fits(self) -> bool:
        """Whether nothing runs out of the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
