"""Drawings as SVG: for pages, where colours follow the page, and for files, where they are fixed.

Everything that people named is escaped. Numbers are rounded to a hundredth of a point, so that the same
drawing is the same text on every machine.
"""

from __future__ import annotations

from html import escape
from typing import Any

from unswayed.view.drawing import PALETTE, Cluster, Disc, Drawing, Look, Mark, Rectangle, Trace, Words

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def to_svg(drawing: Drawing, *, scale: float = 1.0, fixed: bool = False, inline_style: bool = True) -> str:
    """A drawing as one `<svg>` element that shrinks where the page is narrower, as far as it may.

    Colours are CSS variables (`--u-ink`, see `palette_css`) that fall back to those on light paper; `fixed`
    writes the latter alone, on paper, for programs that know no variables. A page whose style sheet shrinks
    drawings, and that forbids inline style, takes them without `inline_style`.

    >>> to_svg(Drawing(10, 5, (Disc(5, 2, 1.5, Look(fill="ink")),), "a <dot>"), fixed=True)[-66:]
    '<circle cx="5" cy="2" r="1.5" fill="#1b2430" stroke="none"/></svg>'
    """
    ground = Rectangle(0, 0, drawing.width, drawing.height, Look(fill="paper"))
    marks = (ground, *drawing.marks) if fixed else drawing.marks
    content = element("title", escaped(drawing.title)) if drawing.title else ""
    content += element("desc", escaped(drawing.description)) if drawing.description else ""
    return element(
        "svg",
        content + "".join(_element(mark, fixed=fixed) for mark in marks),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(drawing.width)} {number(drawing.height)}",
        width=drawing.width * scale,
        height=drawing.height * scale,
        style=_fit(drawing, scale) if inline_style else None,
        role="img",
        aria_label=drawing.title or None,
        class_="drawing legible" if drawing.least_scale else "drawing",
        font_family=FONT,
    )


def _fit(drawing: Drawing, scale: float) -> str:
    """How wide the drawing is where there is little room."""
    least = drawing.width * scale * drawing.least_scale
    return f"max-width:100%;{f'min-width:{number(least)}px;' if least else ''}height:auto"


def palette_css() -> str:
    """The colours as CSS variables, light or dark as the page is: `:root{--u-ink:light-dark(...); ...}`."""
    pairs = "".join(f"--u-{name}:light-dark({light},{dark});" for name, (light, dark) in PALETTE.items())
    return f":root{{color-scheme:light dark;{pairs}}}"


def element(name: str, content: str = "", **attributes: object) -> str:
    """An element; `content` is markup already, attributes are escaped; `_` in names becomes `-`.

    >>> element("text", escaped("a < b"), x=1.5, text_anchor="middle", class_="label")
    '<text x="1.5" text-anchor="middle" class="label">a &lt; b</text>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def escaped(text: str) -> str:
    """Text as content of an element."""
    return escape(text, quote=False)


def number(value: object) -> str:
    """A number in two decimals at most; anything else as it is.

    >>> number(2.50), number(-0.001), number("middle")
    ('2.5', '0', 'middle')
    """
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _element(mark: Mark, *, fixed: bool) -> str:
    if isinstance(mark, Cluster):
        title = element("title", escaped(mark.title)) if mark.title else ""
        inner = "".join(_element(each, fixed=fixed) for each in mark.marks)
        return element("g", title + inner, class_=mark.kind or None)
    if isinstance(mark, Words):
        return _text(mark, fixed=fixed)
    look = _look(mark.look, fixed=fixed)
    if isinstance(mark, Rectangle):
        radius = mark.radius or None
        return element("rect", x=mark.x, y=mark.y, width=mark.width, height=mark.height, rx=radius, **look)
    if isinstance(mark, Disc):
        return element("circle", cx=mark.x, cy=mark.y, r=mark.radius, **look)
    return element("path", d=_path(mark), **look)


def _text(mark: Words, *, fixed: bool) -> str:
    turn = f"rotate({number(mark.turned)} {number(mark.x)} {number(mark.y)})" if mark.turned else None
    return element(
        "text",
        escaped(mark.text) or "&#8203;",
        x=mark.x,
        y=mark.y,
        font_size=mark.size,
        text_anchor=None if mark.anchor == "start" else mark.anchor,
        font_weight="600" if mark.bold else None,
        fill=_colour(mark.colour, fixed=fixed),
        transform=turn,
    )


def _path(mark: Trace) -> str:
    (x, y), *rest = mark.points
    places = [f"{number(float(a))} {number(float(b))}" for a, b in rest]
    body = f"{'C' if mark.curved else 'L'}{' '.join(places)}" if places else ""
    return f"M{number(float(x))} {number(float(y))}{body}{'Z' if mark.closed else ''}"


def _look(look: Look, *, fixed: bool) -> dict[str, Any]:
    return {
        "fill": _colour(look.fill, fixed=fixed),
        "stroke": _colour(look.stroke, fixed=fixed),
        "stroke_width": look.width if look.stroke and look.width != 1.0 else None,
        "stroke_dasharray": " ".join(map(number, look.dash)) or None,
        "opacity": look.opacity if look.opacity != 1.0 else None,
    }


def _colour(name: str, *, fixed: bool) -> str:
    if not name:
        return "none"
    light = PALETTE[name][0]
    return light if fixed else f"var(--u-{name},{light})"
