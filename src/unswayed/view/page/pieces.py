"""Pieces that several parts of the page share: paragraphs, tables, bars, chips."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.view.markup import element, escaped


def paragraph(text: str, class_: str | None = None) -> str:
    """Text as a paragraph."""
    return element("p", escaped(text), class_=class_)


def section(title: str, *parts: str, name: str) -> str:
    """A part of the page; `name` is what a link may lead to."""
    return element("section", element("h2", escaped(title)) + "".join(parts), id=name)


def table(headings: Sequence[str], rows: Sequence[str], *, numbers: Sequence[int] = ()) -> str:
    """A table that scrolls where it is wider than the page; `numbers` are columns set to the right."""
    head = "".join(
        element("th", escaped(each) or "&#8203;", scope="col", class_="number" if i in numbers else None)
        for i, each in enumerate(headings)
    )
    body = element("thead", element("tr", head)) + element("tbody", "".join(rows))
    return element("div", element("table", body), class_="wide")


def row(
    cells: Sequence[str], *, numbers: Sequence[int] = (), names: Sequence[int] = (), class_: str | None = None
) -> str:
    """A row of cells, which are markup already."""
    made = "".join(
        element(
            "td",
            cell or "&#8203;",
            class_="number" if i in numbers else "names" if i in names else None,
        )
        for i, cell in enumerate(cells)
    )
    return element("tr", made, class_=class_)


def bar(share: float, kind: str = "") -> str:
    """A bar that fills a share of its cell."""
    width = 100 * min(max(share, 0.0), 1.0)
    return element("span", "&#8203;", class_=f"bar {kind}".strip(), style=f"width:{width:.1f}%")


def number_with_bar(text: str, share: float, kind: str = "") -> str:
    """A number, and beside it how large it is."""
    digits = element("span", escaped(text), class_="digits")
    track = element("span", bar(share, kind) if share > 0 else "&#8203;", class_="track")
    return element("div", digits + track, class_="cell")


def chips(pairs: Sequence[tuple[str, bool]]) -> str:
    """Names or findings as chips, those that are kept standing out."""
    return " ".join(
        element("span", escaped(text), class_="chip kept" if kept else "chip") for text, kept in pairs
    )


def tile(what: str, value: str, more: str, class_: str = "") -> str:
    """One of the numbers at the top of the page."""
    parts = (
        element("div", escaped(what), class_="what")
        + element("div", escaped(value), class_="value")
        + element("div", escaped(more) or "&#8203;", class_="more")
    )
    return element("div", parts, class_=f"tile {class_}".strip())


def percent(share: float) -> str:
    """A share as people say it, never rounded to a certainty it is not.

    >>> [percent(p) for p in (0.0, 0.5, 0.08123, 0.99999, 1.0, 1e-6)]
    ['0%', '50%', '8.1%', '>99.9%', '100%', '<0.1%']
    """
    if share <= 0.0 or share >= 1.0:
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    if share > 0.999:
        return ">99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
