"""Colours that everybody can tell apart (Okabe and Ito), and greys for what is not data."""

from __future__ import annotations

from typing import Final

BLACK: Final = "#1A1A1A"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
BLUE: Final = "#0072B2"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"

INK: Final = "#333333"
"""Text and axes."""
FAINT: Final = "#8A8A8A"
"""Lines between things, and what is set aside."""
GRID: Final = "#E6E6E6"
PAPER: Final = "#FFFFFF"

SERIES: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""Colours of several series, in this order; each also has a marker or a hatch of its own."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
