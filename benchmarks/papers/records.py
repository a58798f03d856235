"""Printed beside ours: one record for every number, written as JSON lines."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Record:
    """A number or statement of the paper, what comes out here, and what is made of it."""

    where: str
    """Table, figure or section."""
    what: str
    """Which number, in words."""
    printed: float | str | None
    """As printed; None where the paper has no such number."""
    ours: float | str
    """As computed here."""
    verdict: str
    """Reproduced, differs, faster, ..., with the reason where it differs."""
    seconds: float
    """How long computing it took."""


def time_record(where: str, what: str, printed: float | str, ours: float) -> Record:
    """A time beside a printed one; other machines and years, so only the ratio is stated."""
    if isinstance(printed, str):
        return Record(where, what, printed, ours, "finishes here", ours)
    ratio = printed / ours
    verdict = f"{ratio:,.0f} times less" if ratio >= 1.5 else f"ratio {ratio:.2f}"
    return Record(where, what, printed, ours, verdict, ours)


def exact_record(where: str, what: str, printed: float, ours: float) -> Record:
    """A count that either is the same or is not."""
    return Record(where, what, printed, ours, "reproduced" if printed == ours else "differs", 0.0)


def write_lines(path: Path, paper: str, records: Iterable[Record]) -> None:
    """One JSON line for each record, with version and machine."""
    where = {
        "unswayed": version("unswayed"),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    lines = [json.dumps({"paper": paper, **asdict(record), **where}) for record in records]
    path.write_text("".join(line + "\n" for line in lines))
