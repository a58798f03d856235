"""Do limits and Ctrl-C hold? Every verb on inputs that are hard for it, as a person would type it.

    python -m benchmarks.limits [--seconds 1 3 10 | --interrupt] [--inputs nb60] [--verbs sdp] [--slow 5]

Each command is a process of its own, start-up included. With `--seconds` it is given `--max-seconds` and must
end within 1.2 times that and half a second; with `--interrupt` it is sent Ctrl-C after a few seconds and must
end within two, its children with it. A line a command says what it took, its memory at its peak, and how it
ended; the last line counts what held. Run it alone on the machine. `--slow` is how many times slower than a
machine of 2024 this one is (ten million additions in Python take .6 s there): start-up and steps that nobody
can cut take that much longer, so what is given and what is allowed are that much more.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unswayed
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes

SHARED = Path(__file__).parents[2] / "shared" / "data" / "networks"
AFTER = 4.0
"""Seconds after which Ctrl-C is sent,"""
WITHIN = 2.0
"""and within which all must end."""
PATIENT = 90.0
"""Seconds after which a command is ended by force."""
TARGETS = {"andes": "GOAL_2", "barley": "pesticid", "munin1": "R_LNLBE_MED_PATHO"}
"""Targets of the networks of others; that of our own is the first variable."""


@dataclass(frozen=True, slots=True)
class HardInput:
    """A network as a file, what is decided about it, findings, and rows to audit."""

    network: Path
    target: str
    features: tuple[str, ...]
    findings: tuple[str, ...]
    table: Path


def words_for(verb: str, case: HardInput) -> list[str]:
    """The command line of a verb."""
    kept = ",".join(case.features[-3:])
    asked = [str(case.network), "--target", case.target, "--features", ",".join(case.features)]
    found = [word for finding in case.findings for word in ("-e", finding)]
    extra = {
        "esdp": ["--keep", kept],
        "eca": ["--keep", kept],
        "trim": ["--budget", str(len(case.features) // 3)],
        "select": ["--budget", str(len(case.features) // 3)],
        "thresholds": ["--budget", "3"],
        "report": ["-o", str(case.table.with_suffix(".html"))],
    }
    if verb == "audit":
        return ["audit", asked[0], str(case.table), *asked[1:]]
    return [verb, *asked, *(found if verb not in ("frontier", "thresholds") else []), *extra.get(verb, [])]


VERBS = [
    "sdp",
    "esdp",
    "eca",
    "voi",
    "why",
    "plan",
    "trim",
    "select",
    "frontier",
    "thresholds",
    "report",
    "audit",
]
INPUTS = ["nb60", "nb300", "tan40", "digits", "wide", "andes", "barley", "munin1"]


def make_network(name: str) -> BayesianNetwork:
    """An input by its name: random ones, one learned from scikit-learn's digits, and those of others."""
    rng = np.random.default_rng(7)
    if name.startswith("nb"):
        return random_naive_bayes(int(name[2:]), rng, max_states=3)
    if name == "tan40":
        return random_bounded_treewidth(41, 2, rng, max_states=3)
    if name == "wide":
        return random_bounded_treewidth(100, 4, rng, max_states=4)
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        shades = {
            f"pixel{i}": (column // 6).astype(int).astype(str) for i, column in enumerate(digits.data.T)
        }
        return unswayed.learn({**shades, "digit": digits.target.astype(str)}, "digit", structure="tan")
    return unswayed.read_network(next(SHARED.glob(f"{name}.bif*")))


def make_input(name: str, folder: Path) -> HardInput:
    """The files of an input, with findings and rows drawn from its own distribution."""
    network = make_network(name)
    target = TARGETS.get(name, "digit" if name == "digits" else network.names[0])
    leaves = [v for i, v in enumerate(network.names) if not network.children[i] and v != target]
    features = tuple(
        leaves if name in TARGETS or name == "wide" else [v for v in network.names if v != target]
    )
    drawn = unswayed.sample(network, 40, rng=3)
    states = {v.name: [v.states[code] for code in drawn.codes[:, i]] for i, v in enumerate(drawn.variables)}
    table, path = folder / f"{name}.csv", folder / f"{name}.bif"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(features)
        for row in range(40):
            writer.writerow("" if (row + i) % 3 == 0 else states[v][row] for i, v in enumerate(features))
    unswayed.write_network(network, path)
    findings = tuple(f"{v}={states[v][0]}" for v in features[: min(5, len(features) // 2)])
    two = len(network.variable(target)) == 2
    return HardInput(
        path, f"{target}={network.variable(target).states[0]}" if two else target, features, findings, table
    )


def run(words: list[str], interrupt: float | None) -> tuple[float, float, int, int, str]:
    """Seconds (after Ctrl-C, if it is sent), peak megabytes, exit code, processes left, last words."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "unswayed", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    ended = wait_for(process.pid, interrupt or PATIENT)
    if interrupt:
        began = time.monotonic()  # what ended by itself has nothing to answer for
        if ended is None:
            os.kill(process.pid, signal.SIGINT)
            ended = wait_for(process.pid, PATIENT)
    if ended is None:
        os.killpg(process.pid, signal.SIGKILL)
        ended = wait_for(process.pid, PATIENT)
    seconds = time.monotonic() - began
    assert ended is not None
    process.returncode = os.waitstatus_to_exitcode(ended[0])
    listed = subprocess.run(["ps", "-e", "-o", "pgid="], capture_output=True, text=True, timeout=30)
    left = sum(int(group) == process.pid for group in listed.stdout.split())
    assert process.stderr is not None
    said = (process.stderr.read().strip().splitlines() or [""])[-1]
    return seconds, ended[1] / 1e3, process.returncode, left, said


def wait_for(process: int, seconds: float) -> tuple[int, int] | None:
    """How a process ended and its memory at its peak in kilobytes; None where it goes on."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return status, used.ru_maxrss
        time.sleep(0.01)
    return None


def ask_all(arguments: argparse.Namespace, folder: Path) -> Iterator[bool]:
    """Whether each command held, with a line for it."""
    slow = arguments.slow
    for name in arguments.inputs:
        case = make_input(name, folder)
        for verb in arguments.verbs:
            for limit in [None] if arguments.interrupt else arguments.seconds:
                given = [] if limit is None else ["--max-seconds", f"{slow * limit:g}"]
                after = slow * AFTER if limit is None else None
                seconds, peak, code, left, said = run([*words_for(verb, case), *given], after)
                allowed = slow * (WITHIN if limit is None else 1.2 * limit + 0.5)
                held = seconds <= allowed and not left and code in ((0, 130) if limit is None else (0, 2))
                what = f"{'ok  ' if held else 'LATE'} {name:8} {verb:10} limit {limit or '^C'}"
                words = "" if held and code == 0 else f": {said[:120]}"
                print(
                    f"{what} took {seconds:.2f} s, {peak:.0f} MB, exit {code}, left {left}{words}", flush=True
                )
                yield held


def main() -> None:
    """Ask, and count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 3.0, 10.0])
    parser.add_argument("--inputs", nargs="+", default=INPUTS)
    parser.add_argument("--verbs", nargs="+", default=VERBS)
    parser.add_argument("--interrupt", action="store_true")
    parser.add_argument("--slow", type=float, default=1.0, metavar="TIMES")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        held = list(ask_all(arguments, Path(folder)))
    print(f"{sum(held)} of {len(held)} held; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
