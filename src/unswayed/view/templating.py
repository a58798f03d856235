"""Templates of pages and cards: everything that is not a drawing is escaped.

The templates lie in `view/templates/`: `report.html` is the report, `card.html` a result in a notebook,
`macros.html` what pages share, `style.css` how they look. `make_environment` serves the web page too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

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
    )
    return environment


@cache
def _environment() -> Environment:
    return make_environment()


def render(template: str, **values: Any) -> str:
    """A template filled in."""
    return _environment().get_template(template).render(**values)


def show_drawing(drawing: Drawing, scale: float = 1.0, *, fixed: bool = False) -> Markup:
    """A drawing as markup that follows the colours of its page, unless they are to be `fixed`."""
    return Markup(to_svg(drawing, scale=scale, fixed=fixed))


def read_style() -> Markup:
    """The colours and the style of a page."""
    source = _environment().loader.get_source(_environment(), "style.css")[0]  # type: ignore[union-attr]
    return Markup(palette_css() + "\n" + source)
