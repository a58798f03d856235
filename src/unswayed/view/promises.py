"""What is said about promises counted on held-out rows."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from unswayed.api.promises import Counted, Promise, SafeLevel
from unswayed.view.describe import Asked, TextTable
from unswayed.view.numbers import counted


def describe_promise(promise: Promise, asked: Asked) -> list[Any]:
    """What was promised and kept: altogether, of what was called safe, and by bands."""
    every, safe, level = promise.every, promise.safe, f"{promise.at_least:g}"
    broken = [f"{low:g} to {high:g}" for low, high, each in promise.bands if each.is_broken]
    return [
        Text(f"Kept {_share(every)} of {counted(every.n_rows, 'decision')}; promised {every.promised:.1%}."),
        f"Inputs hidden: {promise.n_hidden:.1f} of a row in the mean.",
        f"Called safe (SDP {level} or more): {safe.n_rows:,}"
        + (f", of which {_share(safe)} stayed the same." if safe.n_rows else "."),
        *(
            [f"Right: {promise.accuracy:.1%} of the decisions with inputs hidden."]
            * (promise.right is not None)
        ),
        "",
        TextTable(
            [
                (
                    f"{low:g} to {high:g}",
                    f"{each.n_rows:,}",
                    f"{each.promised:.3f}",
                    f"{each.kept:.3f}",
                    _ends(each),
                )
                for low, high, each in promise.bands
            ],
            ("SDP", "rows", "promised", "kept", f"kept, {promise.confidence:.0%} interval"),
            right=(1, 2, 3),
        ),
        *(
            [Text(f"More was promised than kept where the SDP is {', '.join(broken)}.", style="bold")]
            * bool(broken)
        ),
    ]


def describe_safe_level(found: SafeLevel, asked: Asked) -> list[Any]:
    """The level, what it rests on, or that there is none."""
    if found.level is None:
        return [
            Text(f"No level keeps changes to {found.at_most:.1%} on these rows.", style="bold"),
            f"Of all {found.counted.n_rows:,} decisions {_share(found.counted)} stayed the same. "
            "Give more held-out rows, or allow more changes.",
        ]
    changed = found.counted.n_rows - found.counted.n_kept
    return [
        Text(f"Stop at an SDP of {found.level:g}.", style="bold"),
        f"From there on at most {found.at_most:.1%} of decisions change, with a confidence of "
        f"{found.confidence:.0%}: {changed:,} of {found.counted.n_rows:,} did.",
        "This holds for cases that come as these rows did, with inputs missing as they were hidden here.",
    ]


def _share(each: Counted) -> str:
    return f"{each.kept:.1%} ({_ends(each)})"


def _ends(each: Counted) -> str:
    return f"{each.low:.3f} to {each.high:.3f}"
