"""Pages of results: tables in Markdown, and when and where they were measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path


def write_measured(path: Path, text: str) -> None:
    """Write a page, with when and where it was measured at its end."""
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    path.write_text(
        f"{text.rstrip()}\n\nMeasured on {datetime.now(UTC):%Y-%m-%d}: {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; load average "
        f"{loads} over the last 1, 5 and 15 minutes, this run included.\n"
    )


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers with three digits."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell(each) for each in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cell(value: object) -> str:
    """What a table shows of a value."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 1000 else str(value)
