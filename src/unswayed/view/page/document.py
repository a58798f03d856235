"""The whole page: its head, its parts, its foot."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files

from unswayed.api.report import Examination
from unswayed.view.markup import element, escaped
from unswayed.view.page.opening import classifier_part, glance, robustness_part
from unswayed.view.page.pieces import paragraph, section
from unswayed.view.page.trimming import differences_part, frontier_part
from unswayed.view.page.worth import worth_part


def report_page(found: Examination, *, title: str = "") -> str:
    """An HTML page about a classifier that needs no other file and no network."""
    heading = title or _title(found)
    style = files("unswayed.view.page").joinpath("style.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        + element("title", escaped(heading))
        + element("style", style)
    )
    opening = element(
        "header",
        element("h1", escaped(heading))
        + element("p", "How robust its decisions are, which features matter, and which it can do without."),
    )
    parts = [
        opening,
        glance(found),
        classifier_part(found),
        robustness_part(found),
        worth_part(found),
        frontier_part(found),
        differences_part(found),
        _notes(found),
        _foot(),
    ]
    body = element("body", element("main", "".join(parts)))
    return f"<!DOCTYPE html>\n{element('html', element('head', head) + body, lang='en')}\n"


def _title(found: Examination) -> str:
    name, target = found.classifier.network.name, found.classifier.target
    return f"{name}: deciding about {target}" if name else f"Deciding about {target}"


def _notes(found: Examination) -> str:
    if not found.notes:
        return ""
    return section("Notes", *(paragraph(note, "note") for note in found.notes), name="notes")


def _foot() -> str:
    words = (
        f"Made with unswayed {version('unswayed')}. All numbers are probabilities in the network: they are "
        "as true as it is."
    )
    return element("footer", escaped(words))
