"""Small pieces of HTML for notebooks: a heading, facts, a table with bars, perhaps a drawing.

Styles are inline and colours of text are inherited, since a notebook has a style of its own, light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.view.colours import BLUE
from unswayed.view.markup import element, escaped

CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top;border:none"
BAR = 120
"""Pixels that a share of 1 fills."""


def card(heading: str, *parts: str) -> str:
    """A block with a heading; `parts` are markup already."""
    title = element("div", escaped(heading), style="font-weight:600;margin-bottom:4px")
    return element(
        "div",
        title + "".join(parts),
        class_="unswayed-card",
        style="border-left:3px solid #0072B2;padding:4px 12px;margin:4px 0;max-width:760px",
    )


def sentence(text: str) -> str:
    """A line of text."""
    return element("div", escaped(text), style="margin:2px 0")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table; cells are markup already, headings are not."""
    head = "".join(
        element("th", escaped(each) or "&nbsp;", style=CELL + ";font-weight:600") for each in headings
    )
    body = "".join(
        element("tr", "".join(element("td", cell or "&nbsp;", style=CELL) for cell in row)) for row in rows
    )
    top = element("thead", element("tr", head)) if headings else ""
    return element("table", top + element("tbody", body), style="border-collapse:collapse;margin:4px 0")


def bar(share: float, colour: str = BLUE) -> str:
    """A bar as long as the share."""
    width = max(1.0, min(max(share, 0.0), 1.0) * BAR)
    return element(
        "span",
        "&#8203;",
        style=f"display:inline-block;width:{width:.0f}px;height:.75em;background:{colour};border-radius:2px",
    )


def framed(svg: str) -> str:
    """A drawing on white, which its colours are made for."""
    return element(
        "div", svg, style="background:#fff;padding:8px;border-radius:4px;max-width:660px;overflow:auto"
    )
