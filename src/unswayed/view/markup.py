"""Elements of SVG and HTML, with everything that people named escaped."""

from __future__ import annotations

from html import escape


def element(name: str, content: str = "", **attributes: object) -> str:
    """An element; `content` is markup already, attributes are escaped; `_` in names becomes `-`.

    >>> element("text", escaped("a < b"), x=1.5, text_anchor="middle", class_="label")
    '<text x="1.5" text-anchor="middle" class="label">a &lt; b</text>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def escaped(text: str) -> str:
    """Text as content of an element."""
    return escape(text, quote=False)


def _text(value: object) -> str:
    """Numbers in two decimals: a hundredth of a point is nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def drawing(content: str, width: float, height: float, *, label: str, scale: float = 1.0) -> str:
    """An SVG image, shown `scale` times its size, or smaller where the page is narrower."""
    return element(
        "svg",
        content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_text(float(width))} {_text(float(height))}",
        width=width * scale,
        height=height * scale,
        style="max-width:100%;height:auto",
        role="img",
        aria_label=label,
        class_="drawing",
        font_family="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    )
