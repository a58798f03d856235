"""Make the pictures of the companion again: `python docs/images/companion.py` in the folder of the project.

They need the browser chromium and playwright. The case is that of the guide on reasons: a cell sample.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import unswayed
from unswayed.model.formats.files import name_after_file
from unswayed.web.app import make_app
from unswayed.web.case import CaseAddress
from unswayed.web.workspace import Workspace, hold_given

HERE = Path(__file__).parent
FILE = HERE.parents[1] / "examples" / "cells.bif"
FINDINGS = (("worst area", "700..900"), ("mean texture", ">19"), ("worst concave points", "<=0.14"))
PICTURES = (("companion", 1360, 900, "light"), ("companion-dark", 1360, 900, "dark"))
PHONE = ("companion-phone", 400, 860, "light")


def main() -> None:
    """Serve the case, and take it at three sizes."""
    network = name_after_file(unswayed.read_network(FILE), FILE)
    cells = unswayed.Classifier(network, "diagnosis", threshold=0.2, positive="malignant")
    held = hold_given(network, cells)
    server = uvicorn.Server(uvicorn.Config(make_app(Workspace(held)), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    address = CaseAddress(held.id, findings=FINDINGS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for picture in (*PICTURES, PHONE):
            take(browser, f"http://127.0.0.1:{port}{address.url}", *picture)
        browser.close()
    server.should_exit = True


def take(browser: Browser, url: str, name: str, width: int, height: int, scheme: str) -> None:
    """The first screen of the page, once every panel has its answer."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    path = HERE / f"{name}.png"
    page.screenshot(path=path)
    page.close()
    # A page has few colours: a palette takes a third of the room.
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    main()
