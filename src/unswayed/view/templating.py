"""Templates of pages and cards: everything that is not a drawing is escaped.

The templates lie in `view/templates/`: `sheet.html` is a page of described sections (the report, the audit),
`card.html` a result in a notebook, `macros.html` what they share, `style.css` how pages look.
`make_environment` serves the web page too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unswayed.view.describe import Figure, Part
from unswayed.view.drawing import Drawing
from unswayed.view.numbers import gain_text, measurement_text, percent, probability_text
from unswayed.view.svg import palette_css, to_svg


def make_environment(package: str = "unswayed.view") -> Environment:
    """An environment of the templates of a package, with our filters for numbers and drawings."""
    environment = Environment(loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined)
    environment.filters.update(
        percent=percent,
        probability=probability_text,
        measurement=measurement_text,
        gain=gain_text,
        drawing=show_drawing,
        kind=lambda part: type(part).__name__,
        pictured=find_drawing,
    )
    return environment


@cache
def _environment() -> Environment:
    return make_environment()


def render(template: str, **values: Any) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(**values)


def find_drawing(figure: Figure) -> Drawing:
    """What a figure shows: the drawing that it has, or the picture of its result."""
    from unswayed.view.plotting import plot_result

    return figure.of if isinstance(figure.of, Drawing) else plot_result(figure.of).drawing


def show_drawing(drawing: Drawing, scale: float = 1.0, *, fixed: bool = False) -> Markup:
    """A drawing as markup that follows the colours of its page, unless they are to be `fixed`."""
    return Markup(to_svg(drawing, scale=scale, fixed=fixed))


Section = tuple[str, str, Sequence[Part]]
"""The name, the title and the parts of a section."""


def render_sheet(
    title: str, about: str, tiles: Sequence[tuple[str, ...]], sections: Sequence[Section]
) -> str:
    """A page that needs no other file and no network; sections without parts are left out."""
    source = _environment().loader.get_source(_environment(), "style.css")[0]  # type: ignore[union-attr]
    return render(
        "sheet.html",
        title=title,
        about=about,
        style=Markup(palette_css() + "\n" + source),
        tiles=tiles,
        sections=[each for each in sections if each[2]],
        version=version("unswayed"),
    )
