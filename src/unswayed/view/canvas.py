"""Figures of matplotlib: made, tidied, saved, shown in a notebook.

A picture is a function that draws on a figure. `picture_of` gives it one and returns a `Picture`, which
saves itself under any name whose suffix is known and shows itself in a notebook. Nothing is kept in
`pyplot`, so pictures cost no memory once they are forgotten.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unswayed.core.errors import FormatError
from unswayed.core.extras import import_extra
from unswayed.view.colours import FAINT, GRID, INK

SUFFIXES = (".png", ".svg", ".pdf")
"""What a picture can be saved as."""
DPI = 160
SIZE = (7.0, 4.2)
"""Inches of a picture with one panel: the width of a printed column."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A drawn picture."""

    figure: Any
    """The figure of matplotlib, to be changed at will."""

    def save(self, path: str | Path) -> None:
        """Write the picture; the suffix names the format, `FormatError` the known ones."""
        path = Path(path)
        if not is_picture(path):
            raise FormatError(f"pictures are saved as {', '.join(SUFFIXES)}, not {path.suffix!r}", path)
        try:
            # Without a date in it, the same picture is the same file.
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
            with _style():
                self.figure.savefig(path, dpi=DPI, metadata=metadata)
        except OSError as error:
            raise FormatError(f"cannot be written ({error.strerror or error})", path) from None

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        content = io.BytesIO()
        with _style():
            self.figure.savefig(content, format="png", dpi=DPI)
        # Shown at half its pixels' size, so that it is sharp on fine screens and not too large on others.
        width, height = (round(inches * DPI / 2) for inches in self.figure.get_size_inches())
        return content.getvalue(), {"width": width, "height": height}


def is_picture(path: Path) -> bool:
    """Whether a path names a picture, by its suffix."""
    return path.suffix.lower() in SUFFIXES


def picture_of(draw: Callable[[Any], None], size: tuple[float, float] = SIZE) -> Picture:
    """What `draw` makes of an empty figure of this size in inches.

    Raises `SolverError` when matplotlib is not installed.
    """
    figure_module = import_extra("matplotlib.figure", "plots")
    with _style():
        figure = figure_module.Figure(figsize=size, layout="constrained")
        draw(figure)
    return Picture(figure)


def _style() -> Any:
    """Settings of our own, whatever the user's are."""
    from matplotlib import rc_context

    return rc_context(
        {
            "font.size": 9.5,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.edgecolor": FAINT,
            "axes.labelcolor": INK,
            "axes.titlecolor": INK,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.unicode_minus": False,
            # A dollar sign in somebody's name is no formula.
            "text.parse_math": False,
            # Text stays text: it can be searched and needs no outlines; ids do not change between runs.
            "svg.fonttype": "none",
            "svg.hashsalt": "unswayed",
            "pdf.fonttype": 42,
        }
    )


def tidy(axes: Any, *, grid: str = "both") -> None:
    """Light grid behind the data, no box around it."""
    axes.grid(visible=True, axis=grid, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3)


def probability_axis(axes: Any, low: float, high: float = 1.0) -> None:
    """A vertical axis of probabilities that begins a little below the lowest one and ends at 1."""
    reach = max(high - low, 0.02)
    axes.set_ylim(max(0.0, low - 0.12 * reach), min(high + 0.06 * reach, 1.0 + 0.06 * reach))
