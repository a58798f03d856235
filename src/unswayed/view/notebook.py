"""Descriptions as cards: what `_repr_html_` of each result shows in a notebook."""

from __future__ import annotations

from typing import Any

from unswayed.view.describe import describe
from unswayed.view.templating import render

MOST_ROWS = 30
"""Rows of a table before it is cut."""


def to_card(result: Any) -> str:
    """The description of a result as HTML, its title in bold and its figures drawn."""
    return render("card.html", described=describe(result), most=MOST_ROWS)
