"""Descriptions as cards: what `_repr_html_` of each result shows in a notebook."""

from __future__ import annotations

from typing import Any

from unswayed.view.describe import Figure, TextTable, describe
from unswayed.view.plotting import plot_result
from unswayed.view.templating import render

MOST_ROWS = 30
"""Rows of a table before it is cut."""


def to_card(result: Any) -> str:
    """The description of a result as HTML, its title in bold and its figures drawn."""
    described = describe(result)
    parts: list[tuple[str, Any]] = []
    for part in described.parts:
        if isinstance(part, TextTable):
            parts.append(("table", part))
        elif isinstance(part, Figure):
            parts.append(("figure", plot_result(part.of).drawing))
        elif part and str(part) != described.title:
            parts.append(("sentence", part))
    return render("card.html", title=described.title, parts=parts, most=MOST_ROWS)
