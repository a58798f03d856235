"""Ways on from a case: its views, and undo, redo, start over."""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.web.case import CaseAddress
from unswayed.web.moves import redo, start_over, undo

VIEWS = (
    ("case", "Case", ""),
    ("plan", "Plan", "panel/plan"),
    ("network", "Network", "panel/network"),
    ("compare", "Compare", "panel/compare"),
    ("trimming", "Trimming", "panel/trimming"),
    ("export", "Export", "export"),
)
"""Name, text, and the part of the address of each view."""


@dataclass(frozen=True, slots=True)
class Way:
    """A link of the page; without an address it is shown but leads nowhere now."""

    text: str
    url: str = ""
    about: str = ""
    current: bool = False
    key: str = ""
    """The key that does the same."""


def list_views(address: CaseAddress, current: str) -> tuple[Way, ...]:
    """The views of a case."""
    return tuple(Way(text, address.url_of(part), current=name == current) for name, text, part in VIEWS)


def list_tools(address: CaseAddress) -> tuple[Way, ...]:
    """Undo, redo, start over."""
    return (
        Way("Undo", undo(address).url if address.findings else "", "Take the last finding back", key="u"),
        Way("Redo", redo(address).url if address.undone else "", "Bring the finding back", key="r"),
        Way(
            "Start over",
            start_over(address).url if address.findings or address.skipped else "",
            "Take all findings back",
        ),
    )
