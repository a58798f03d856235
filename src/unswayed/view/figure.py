"""Pictures: drawings that save themselves and show themselves in a notebook.

`.svg` is written as it is. `.png` and `.pdf` come from matplotlib, which paints the same marks one by one; it
is imported when the first such file is made, and nothing is kept in `pyplot`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unswayed.core.errors import FormatError
from unswayed.core.extras import import_extra
from unswayed.view.drawing import PALETTE, Cluster, Disc, Drawing, Look, Mark, Rectangle, Trace, Words, pad
from unswayed.view.svg import to_svg

SUFFIXES = (".png", ".svg", ".pdf")
"""What a picture can be saved as."""
DPI = 160
MOST_PIXELS = 60e6
"""Of a `.png` file; larger pictures have fewer for each point, but at least one."""
POINTS_PER_INCH = 72
MARGIN = 10.0
"""Points around a picture in a file."""
_HORIZONTAL = {"start": "left", "middle": "center", "end": "right"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing to be saved or shown."""

    drawing: Drawing
    """The marks."""

    @property
    def svg(self) -> str:
        """The picture as one `<svg>` element, for a page."""
        return to_svg(self.drawing)

    @property
    def figure(self) -> Any:
        """The picture as a figure of matplotlib, made anew each time, with one pair of axes in points."""
        return paint(self.drawing)

    def to_bytes(self, suffix: str) -> bytes:
        """What a file with this suffix, one of `SUFFIXES`, holds."""
        return _CONTENT_BY_SUFFIX[suffix](pad(self.drawing, MARGIN))

    def save(self, path: str | Path) -> None:
        """Write the picture; the suffix names the format, `FormatError` the known ones."""
        path = Path(path)
        check_suffix(path)
        content = self.to_bytes(path.suffix.lower())
        try:
            path.write_bytes(content)
        except OSError as error:
            raise FormatError(f"cannot be written ({error.strerror or error})", path) from None

    def _repr_svg_(self) -> str:
        return to_svg(pad(self.drawing, MARGIN), fixed=True)


def is_picture(path: Path) -> bool:
    """Whether a path names a picture, by its suffix."""
    return path.suffix.lower() in SUFFIXES


def check_suffix(path: Path) -> None:
    """`FormatError` for a name that no picture can be saved under."""
    if not is_picture(path):
        raise FormatError(f"pictures are saved as {', '.join(SUFFIXES)}, not {path.suffix!r}", path)


def _svg_bytes(drawing: Drawing) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{to_svg(drawing, fixed=True)}\n'.encode()


def _painted_bytes(drawing: Drawing, form: str) -> bytes:
    content = io.BytesIO()
    # Without a date in it, the same picture is the same file.
    metadata = {"CreationDate": None} if form == "pdf" else {}
    figure = paint(drawing)
    with _style():
        figure.savefig(content, format=form, dpi=_resolution(drawing), metadata=metadata)
    return content.getvalue()


def _resolution(drawing: Drawing) -> float:
    """Pixels an inch: as many as fit into a file that programs can still open."""
    fitting = POINTS_PER_INCH * math.sqrt(MOST_PIXELS / (drawing.width * drawing.height))
    return min(DPI, max(fitting, POINTS_PER_INCH))


_CONTENT_BY_SUFFIX: dict[str, Callable[[Drawing], bytes]] = {
    ".svg": _svg_bytes,
    ".png": lambda drawing: _painted_bytes(drawing, "png"),
    ".pdf": lambda drawing: _painted_bytes(drawing, "pdf"),
}


def paint(drawing: Drawing) -> Any:
    """A drawing on light paper, as a figure of matplotlib; `MissingLibrary` when that is not installed."""
    figure_module = import_extra("matplotlib.figure", "plots")
    with _style():
        figure = figure_module.Figure(
            figsize=(drawing.width / POINTS_PER_INCH, drawing.height / POINTS_PER_INCH)
        )
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
        axes.set_axis_off()
        for order, mark in enumerate(_flat(drawing.marks)):
            _paint_mark(axes, mark, order)
    return figure


def _style() -> Any:
    """Settings of our own, whatever the user's are."""
    from matplotlib import rc_context

    # A dollar sign in somebody's name is no formula; text in a PDF stays text.
    return rc_context({"text.parse_math": False, "pdf.fonttype": 42, "axes.unicode_minus": False})


def _flat(marks: tuple[Mark, ...]) -> list[Mark]:
    return [inner for mark in marks for inner in (_flat(mark.marks) if isinstance(mark, Cluster) else [mark])]


def _paint_mark(axes: Any, mark: Mark, order: int) -> None:
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Rectangle as Plain

    if isinstance(mark, Words):
        _paint_words(axes, mark, order)
    elif isinstance(mark, Disc):
        axes.add_patch(Circle((mark.x, mark.y), mark.radius, zorder=order, **_patch_look(mark.look)))
    elif isinstance(mark, Trace):
        axes.add_patch(PathPatch(_path(mark), zorder=order, **_patch_look(mark.look)))
    elif isinstance(mark, Rectangle):
        place, look = ((mark.x, mark.y), mark.width, mark.height), _patch_look(mark.look)
        radius = min(mark.radius, mark.width / 2, mark.height / 2)
        corners = f"round,pad=0,rounding_size={radius}"
        patch = FancyBboxPatch(*place, boxstyle=corners, **look) if radius > 0 else Plain(*place, **look)
        patch.set_zorder(order)
        axes.add_patch(patch)


def _paint_words(axes: Any, mark: Words, order: int) -> None:
    axes.text(
        mark.x,
        mark.y,
        mark.text,
        fontsize=mark.size * 0.94,  # its font is broader than those of browsers
        ha=_HORIZONTAL[mark.anchor],
        va="baseline",
        color=PALETTE[mark.colour][0],
        weight="bold" if mark.bold else "normal",
        rotation=-mark.turned,
        rotation_mode="anchor",
        zorder=order,
    )


def _path(mark: Trace) -> Any:
    from matplotlib.path import Path as Outline

    codes = [Outline.MOVETO] + [Outline.CURVE4 if mark.curved else Outline.LINETO] * (len(mark.points) - 1)
    points = list(mark.points)
    if mark.closed:
        points.append(points[0])
        codes.append(Outline.CLOSEPOLY)
    return Outline(points, codes)


def _patch_look(look: Look) -> dict[str, Any]:
    return {
        "facecolor": PALETTE[look.fill][0] if look.fill else "none",
        "edgecolor": PALETTE[look.stroke][0] if look.stroke else "none",
        "linewidth": look.width if look.stroke else 0.0,
        "linestyle": (0, tuple(d / look.width for d in look.dash)) if look.dash else "-",
        "alpha": None if look.opacity == 1.0 else look.opacity,
    }
