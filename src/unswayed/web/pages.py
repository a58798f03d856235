"""Whole pages: the case, one panel by itself, the choice of a target, an error."""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.view.drawing import Drawing
from unswayed.view.numbers import names_text
from unswayed.view.sentences import rule_text
from unswayed.view.svg import to_svg
from unswayed.view.templating import make_environment
from unswayed.web.answers import AnswerCache
from unswayed.web.case import CaseAddress, list_pairs
from unswayed.web.cautions import capture
from unswayed.web.findings import group_findings, list_targets
from unswayed.web.moves import list_tools, list_views
from unswayed.web.names import finding_label
from unswayed.web.panels.catalogue import PANELS
from unswayed.web.panels.decision import describe_decision
from unswayed.web.panels.settings import describe_settings
from unswayed.web.setting import Setting
from unswayed.web.workspace import HeldNetwork

HEADING_BY_STATUS = {
    400: "This address does not fit the network",
    403: "Not allowed",
    404: "Not found",
    503: "Too much at once",
}


@functools.cache
def _environment() -> Environment:
    environment = make_environment("unswayed.web")
    environment.filters.update(drawing=show_drawing, pairs=list_pairs)
    environment.trim_blocks = environment.lstrip_blocks = True
    return environment


def render_page(template: str, **values: Any) -> str:
    """A template of the companion filled in."""
    return _environment().get_template(template).render(**values)


def show_drawing(drawing: Drawing, scale: float = 1.0) -> Markup:
    """A drawing as markup; the page's own style sheet shrinks it, because inline style is forbidden."""
    return Markup(to_svg(drawing, scale=scale, inline_style=False))


def show_case(cache: AnswerCache, setting: Setting) -> str:
    """The case page: what is cheap at once, and a place for each panel."""
    with capture() as cautions:
        decision = _decide(cache, setting)
    return render_page(
        "case.html",
        **make_frame(setting, "case"),
        decision=decision,
        cautions=cautions,
        groups=group_findings(setting),
        tools=list_tools(setting.address),
        settings=describe_settings(setting),
        panels=PANELS,
    )


def _decide(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The decision, or why there is none."""
    try:
        return describe_decision(setting, cache.decision(setting))
    except ImpossibleEvidence as error:
        return {"refusal": f"These findings contradict each other: {error}. Take one of them back."}
    except LimitError as error:
        return {"refusal": f"This takes too much here: {plain_text(error)}."}


def show_panel(cache: AnswerCache, setting: Setting, name: str, *, is_fragment: bool) -> str:
    """One panel; by itself it brings the frame of a page."""
    panel = PANELS[name]
    try:
        with capture() as cautions:
            content = {**panel.describe(cache, setting), "cautions": cautions}
    except ImpossibleEvidence:
        content = {"refusal": "The findings contradict each other; take one of them back."}
    except LimitError as error:
        content = {"refusal": f"Left out, because {plain_text(error)}."}
    values = {"setting": setting, "address": setting.address, "panel": panel, **content}
    if is_fragment:
        return render_page("fragment.html", **values)
    return render_page("panel.html", **{**values, **make_frame(setting, name)}, waits=False)


def show_frame(setting: Setting, name: str) -> str:
    """The page of a panel at once; the panel loads itself."""
    return render_page("panel.html", panel=PANELS[name], **make_frame(setting, name), waits=True)


def plain_text(error: Exception) -> str:
    """What an error says, without the arguments of functions that it advises to raise."""
    said = str(error).partition("; raise Limits(")[0]
    return said.replace("(allow_estimates=True)", "(start the page without --certain)")


def make_frame(setting: Setting, current: str) -> dict[str, Any]:
    """What every page about a case shows around its content."""
    return {
        "setting": setting,
        "address": setting.address,
        "title": setting.held.title,
        "rule": f"{rule_text(setting.asked)}{_list_given(setting)}",
        "views": list_views(setting.address, current),
    }


def _list_given(setting: Setting) -> str:
    """What the classifier takes for granted in every case."""
    given = [finding_label(setting, *each) for each in setting.asked.given.items()]
    return f" Known from the start: {names_text(given)}." if given else ""


def show_targets(held: HeldNetwork, address: CaseAddress) -> str:
    """The choice of what is decided about."""
    return render_page("targets.html", title=held.title, views=(), targets=list_targets(held, address))


def show_error(text: str, status: int) -> str:
    """What is wrong, in words."""
    heading = HEADING_BY_STATUS.get(status, "That did not work")
    return render_page("error.html", title=heading, views=(), text=text)
