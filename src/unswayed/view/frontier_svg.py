"""The frontier as SVG, for pages: steps of agreement over the budget, every point with a tooltip."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.view.colours import BLUE, GREEN, GRID, INK, PAPER, VERMILLION
from unswayed.view.frontier import REACH, Offer
from unswayed.view.markup import drawing, element, escaped
from unswayed.view.scales import Scale, ticks

WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 18.0, 16.0, 46.0


def frontier_svg(
    offers: Sequence[Offer], *, marked: int | None = None, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> str:
    """Agreement over the budget as one SVG element; `marked` is the number of the offer to point out."""
    width, height = size
    end = max(offers[-1].cost * REACH, 1.0)
    lowest = min(offer.agreement for offer in offers)
    reach = max(1.0 - lowest, 0.02)
    across = Scale(-0.02 * end, end, LEFT, width - RIGHT)
    down = Scale(max(0.0, lowest - 0.12 * reach), 1.0 + 0.05 * reach, height - BOTTOM, TOP)
    whole = all(offer.cost == round(offer.cost) for offer in offers)
    parts = [_frame(across, down, whole=whole), _steps(offers, across, down, end)]
    parts += [
        _point(offer, across.at(offer.cost), down.at(offer.agreement), is_marked=number == marked)
        for number, offer in enumerate(offers)
    ]
    return drawing("".join(parts), width, height, label="agreement with the full classifier over the budget")


def _frame(across: Scale, down: Scale, *, whole: bool) -> str:
    parts = []
    for value in ticks(down.low, min(down.high, 1.0), 5):
        y = down.at(value)
        parts.append(element("line", x1=across.start, x2=across.end, y1=y, y2=y, stroke=GRID))
        parts.append(_text(f"{value:g}", across.start - 7, y + 4, "end"))
    parts += [
        _text(f"{value:g}", across.at(value), down.start + 16, "middle")
        for value in ticks(max(across.low, 0.0), across.high, 10, whole=whole)
    ]
    parts.append(element("line", x1=across.start, x2=across.end, y1=down.start, y2=down.start, stroke=INK))
    middle = (across.start + across.end) / 2
    parts.append(_text("budget (what the kept features cost)", middle, down.start + 36, "middle"))
    turned = f"rotate(-90 14 {(down.start + down.end) / 2:.1f})"
    parts.append(_text("agreement", 14, (down.start + down.end) / 2, "middle", transform=turned))
    return "".join(parts)


def _steps(offers: Sequence[Offer], across: Scale, down: Scale, end: float) -> str:
    path = f"M{across.at(offers[0].cost):.1f} {down.at(offers[0].agreement):.1f}"
    for offer in offers[1:]:
        path += f"H{across.at(offer.cost):.1f}V{down.at(offer.agreement):.1f}"
    return element("path", d=f"{path}H{across.at(end):.1f}", fill="none", stroke=BLUE, stroke_width=2)


def _point(offer: Offer, x: float, y: float, *, is_marked: bool) -> str:
    kept = ", ".join(offer.kept) or "nothing"
    proof = "proven best" if offer.proven else f"could be better by {offer.gap:.4f} at most"
    title = element(
        "title", escaped(f"cost {offer.cost:g}: agreement {offer.agreement:.4f} ({proof}); keep {kept}")
    )
    ring = (
        element("circle", cx=x, cy=y, r=9, fill="none", stroke=GREEN, stroke_width=2.5) if is_marked else ""
    )
    colour = BLUE if offer.proven else VERMILLION
    dot = element(
        "circle", cx=x, cy=y, r=4.5, fill=colour if offer.proven else PAPER, stroke=colour, stroke_width=2
    )
    return element("g", title + ring + dot, class_="point")


def _text(text: str, x: float, y: float, anchor: str, *, transform: str | None = None) -> str:
    return element(
        "text", escaped(text), x=x, y=y, text_anchor=anchor, font_size=12, fill=INK, transform=transform
    )
