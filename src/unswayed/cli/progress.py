"""How far a search is: one line in a terminal, replaced as it goes on, and nothing elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def showing_progress(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The options with a report that shows progress on stderr, where that is a terminal."""
    with showing_words() as tell:
        report = None if tell is None else lambda *found: tell(progress_text(*found))
        yield options if report is None else {**options, "report": report}


@contextmanager
def showing_words() -> Iterator[Callable[[str], None] | None]:
    """A function that shows its words in one line on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(bar_format="{desc} [{elapsed}]", leave=False, file=sys.stderr) as line:
        yield line.set_description_str


def show_line(text: str) -> None:
    """Show a line on stderr, where that is a terminal."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def progress_text(incumbent: float, bound: float, evaluations: int) -> str:
    """Subsets visited, the best value, its bound, and the gap between them.

    >>> progress_text(0.92, 0.9512, 1200)
    '1,200 subsets, best 0.9200, bound 0.9512, gap 0.0312'
    >>> progress_text(0.92, math.inf, 3)
    '3 subsets, best 0.9200'
    """
    text = f"{evaluations:,} subsets"
    if math.isfinite(incumbent):
        text += f", best {incumbent:.4f}"
    if math.isfinite(bound):
        text += f", bound {bound:.4f}"
    if math.isfinite(bound - incumbent):
        text += f", gap {max(bound - incumbent, 0.0):.4f}"
    return text
