"""Clicks on the companion: how long until the page and its panels stand, beside cold calls from Python.

    python -m benchmarks.speed.companion [--clicks 50] [--quick]

A session of clicks is replayed against a real server on loopback. A case is drawn from the network; its
findings on the leaves are clicked one after another, five of them, then the next case begins. After each
click the page is fetched, then all panels at once, as a browser does. "Page" is the time until the new
decision stands, the others count from the click on. The same questions are then put to the Python functions
with a network that remembers nothing. Writes docs/benchmarks/companion.md; takes about four minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import numpy as np
import uvicorn

import unswayed
from benchmarks.page import write_measured
from unswayed.api import decide, should_stop
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.inference.sampling import sample_states
from unswayed.model import BayesianNetwork
from unswayed.model.formats.files import name_after_file, read_network
from unswayed.web.app import make_app
from unswayed.web.case import CaseAddress
from unswayed.web.workspace import Origin, Workspace, hold_network

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT.parent / "shared" / "data" / "networks"
PAGE = ROOT / "docs" / "benchmarks" / "companion.md"
CASES = (("alarm.bif", "HYPOVOLEMIA", "TRUE"), ("hailfinder.bif", "R5Fcst", None))
PANELS = ("verdict", "first", "range", "costs", "why", "flips", "history")
"""What the page asks for after a click, as it stands on the page; the whole ranking follows the first."""
N_FINDINGS = 5
COLD = 5
"""Clicks whose questions are also put to the Python functions."""
LIMITS = Limits(max_bytes=2**30, max_seconds=4.0)


def list_clicks(classifier: Classifier, count: int) -> list[dict[str, str]]:
    """The findings after each click."""
    network = classifier.network
    drawn = sample_states(network, count, {}, np.random.default_rng(1))
    clicks = []
    for case in drawn:
        states = {network.variables[v].name: network.variables[v].states[s] for v, s in enumerate(case)}
        names = classifier.features[:N_FINDINGS]
        clicks += [{name: states[name] for name in names[: n + 1]} for n in range(len(names))]
    return clicks[:count]


@contextmanager
def serve(app: object) -> Iterator[str]:
    """The companion on a free port of loopback, without its door."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error"))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(5)


async def click(client: httpx2.AsyncClient, address: CaseAddress) -> dict[str, float]:
    """Seconds from a click until the page and each panel stand."""
    started = time.perf_counter()
    (await client.get(address.url)).raise_for_status()
    seconds = {"page": time.perf_counter() - started}

    async def load(panel: str) -> None:
        url = address.url_of(f"panel/{panel}")
        (await client.get(url, headers={"HX-Request-Type": "partial"})).raise_for_status()
        seconds[panel] = time.perf_counter() - started
        if panel == "first":
            await load("next")

    await asyncio.gather(*map(load, PANELS))
    return seconds


async def replay_session(origin: str, addresses: list[CaseAddress]) -> list[dict[str, float]]:
    """The times of all clicks; one before them is not counted, since kernels compile with it."""
    async with httpx2.AsyncClient(base_url=origin, timeout=60) as client:
        await click(client, CaseAddress(addresses[0].network))
        return [await click(client, address) for address in addresses]


def ask_cold(classifier: Classifier, evidence: dict[str, str]) -> float:
    """Seconds of the same questions asked of a network that remembers nothing."""
    network = BayesianNetwork(classifier.network.cpts, classifier.network.name)
    fresh = Classifier(network, classifier.target, classifier.features, classifier.rule)
    options = {"limits": LIMITS, "allow_estimates": True}
    started = time.perf_counter()
    decide(fresh, evidence, limits=LIMITS)
    should_stop(fresh, evidence, **options)  # type: ignore[arg-type]
    unswayed.voi(fresh, evidence, **options)  # type: ignore[call-overload]
    unswayed.why(fresh, evidence, **options)  # type: ignore[arg-type]
    unswayed.follow(fresh, observe=evidence.items(), **options)  # type: ignore[call-overload]
    return time.perf_counter() - started


def summarize(seconds: list[float]) -> str:
    """Median and 95th percentile, in seconds."""
    return f"{statistics.median(seconds):.3f} / {np.quantile(seconds, 0.95):.3f}"


def measure(name: str, target: str, positive: str | None, count: int) -> str:
    """A row of the page."""
    path = NETWORKS / name
    network = name_after_file(read_network(path), path)
    classifier = Classifier(network, target, positive=positive)
    held = hold_network(network, Origin.GIVEN, classifier=classifier)
    clicks = list_clicks(classifier, count)
    addresses = [CaseAddress(held.id, findings=tuple(each.items())) for each in clicks]
    with serve(make_app(Workspace(held))) as origin:
        times = asyncio.run(replay_session(origin, addresses))
    cold = [ask_cold(classifier, each) for each in clicks[: min(COLD, count)]]
    whole = [max(each.values()) for each in times]
    cells = [network.name, str(len(classifier.features)), str(len(times))]
    cells += [
        summarize([each[part] for each in times]) for part in ("page", "verdict", "first", "next", "why")
    ]
    cells += [summarize(whole), summarize(cold), f"{statistics.median(cold) / statistics.median(whole):.1f}"]
    return f"| {' | '.join(cells)} |"


HEADER = """# Clicks on the companion

Made by `python -m benchmarks.speed.companion`: {count} clicks replayed against a real server, median / 95th
percentile in seconds from the click on. The page with the new decision stands first; each panel fills in when
its answer is there and waits for no other. The first ranking sorts the next tests by what they tell; how
safe each makes the decision follows it. Cases of one network resemble each other, and the page remembers
answers that it gave before. The last panel is nearly always the one that says why. "Python,
cold" puts the same questions to the functions, one after another, with a network that remembers nothing; the
ratio says how much sooner the whole page stands.

"""
COLUMNS = (
    "network",
    "features",
    "clicks",
    "page",
    "how safe",
    "first ranking",
    "what next",
    "why",
    "all panels",
    "Python, cold",
    "ratio",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=50, help="clicks on each network")
    parser.add_argument("--quick", action="store_true", help="five clicks, and nothing is written")
    options = parser.parse_args()
    if not NETWORKS.is_dir():
        raise SystemExit("the folder of real networks is not beside the project; nothing to measure")
    count = 5 if options.quick else options.clicks
    lines = []
    for name, target, positive in CASES:
        lines.append(measure(name, target, positive, count))
        print(lines[-1], flush=True)
    if not options.quick:
        head = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
        write_measured(PAGE, HEADER.format(count=count) + "\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
