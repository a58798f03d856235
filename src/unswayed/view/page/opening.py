"""The first parts of the page: the numbers at a glance, what the classifier is, and how robust it is."""

from __future__ import annotations

from unswayed.api.report import Examination, Finding
from unswayed.core.measurement import Measurement
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.view.decision_lines import names_text, reason_text, with_probability
from unswayed.view.graph import MOST_NODES
from unswayed.view.markup import element, escaped
from unswayed.view.measurements import measurement_text
from unswayed.view.network_svg import network_svg
from unswayed.view.observation_lines import next_text
from unswayed.view.page.pieces import number_with_bar, paragraph, percent, row, section, table, tile
from unswayed.view.plotting import graph_of
from unswayed.view.probabilities import probability_text

SCALE = 1.3
"""Text in the drawing of a network is as large as beside it."""


def glance(found: Examination) -> str:
    """Up to four numbers that matter most."""
    tiles = []
    if found.stopping is not None:
        action = found.stopping.decision.action
        tiles.append(tile("decision now", action, _posterior_text(found)))
        safe = found.stopping.stop
        more = f"{'safe' if safe else 'not safe'} to {found.at_least:g}"
        value = percent(found.stopping.sdp.value)
        tiles.append(tile("it survives all other features", value, more, "good" if safe else "care"))
    if found.ranking is not None and found.ranking.best is not None:
        more = f"by {found.ranking.criteria[0]}, of {len(found.ranking.features)} features"
        tiles.append(tile("worth observing first", found.ranking.best, more))
    if found.trimming is not None:
        chosen = found.trimming.selection
        more = f"agree on {percent(chosen.value)} of cases"
        value = f"{len(chosen.kept)} of {len(found.free)}"
        tiles.append(tile("features that are enough", value, more, "good"))
    return element("div", "".join(tiles), class_="tiles") if tiles else ""


def _posterior_text(found: Examination) -> str:
    rule = found.classifier.rule
    assert found.stopping is not None
    posterior = found.stopping.decision.posterior
    if isinstance(rule, ThresholdRule):
        return f"Pr({rule.positive}) is {probability_text(posterior[rule.positive])}"
    if isinstance(rule, MostProbable):
        return f"with probability {probability_text(max(posterior.values()))}"
    return "by expected utility"


def classifier_part(found: Examination) -> str:
    """What decides, about what, by which rule, from which features."""
    classifier = found.classifier
    network = classifier.network
    sentences = [
        f"It decides about {classifier.target}, which is one of "
        f"{names_text(network.variables[classifier.target_index].states)}. {rule_text(found)}",
        f"It may observe {names_text(classifier.features)} ({len(classifier.features)} in all). "
        f"The network has {len(network)} variables.",
    ]
    if found.evidence:
        known = ", ".join(f"{name} = {state}" for name, state in found.evidence.items())
        sentences.append(f"Everything on this page is given {known}.")
    drawn = ""
    if len(network) <= MOST_NODES:
        kept = found.trimming.selection.kept if found.trimming is not None else None
        graph = graph_of(classifier, found.evidence, kept)
        svg = network_svg(graph, label=f"the network of {classifier.target}", scale=SCALE)
        words = (
            "The network." if kept is None else "The network, with the features that are enough (see below)."
        )
        drawn = element("figure", svg + element("figcaption", escaped(words)))
    return section("The classifier", *map(paragraph, sentences), drawn, name="classifier")


def rule_text(found: Examination) -> str:
    """How the classifier decides, in a sentence."""
    rule, target = found.classifier.rule, found.classifier.target
    if isinstance(rule, ThresholdRule):
        probability = f"Pr({target} = {rule.positive})"
        return f"The decision is {rule.positive!r} when {probability} is at least {rule.threshold:g}."
    if isinstance(rule, MostProbable):
        return "The decision is the most probable state."
    actions = names_text(found.classifier.actions)
    return f"The decision is the action of highest expected utility: one of {actions}."


def robustness_part(found: Examination) -> str:
    """The decision now, whether it would last, and what one finding would do to it."""
    title = "How robust is the decision?"
    stopping = found.stopping
    if stopping is None:
        return section(title, paragraph("This is out of reach; see the notes at the end."), name="robustness")
    when = "With what is known" if found.evidence else "Before anything is observed"
    reason = reason_text(found.classifier, stopping.decision)
    parts = [paragraph(f"{when}, the decision is {stopping.decision.action!r}, {reason}.")]
    if found.free:
        parts.append(paragraph(_survival_text(found, stopping.sdp)))
        parts.append(meter(stopping.sdp, found.at_least))
    if found.findings:
        parts.append(element("h3", "What a single finding does"))
        parts.append(_findings_table(found))
    return section(title, *parts, name="robustness")


def _survival_text(found: Examination, sdp: Measurement) -> str:
    advice = (
        "there is little left to learn"
        if found.stopping and found.stopping.stop
        else "more should be observed"
    )
    return (
        f"{with_probability(sdp)}, it survives observing {names_text(found.free)}: that is its same-decision "
        f"probability (SDP). The level asked for is {found.at_least:g}, so {advice}."
    )


def meter(sdp: Measurement, at_least: float) -> str:
    """A same-decision probability on a line from 0 to 1, with the level beside it."""
    fill = element("div", "&#8203;", class_="fill", style=f"width:{100 * sdp.value:.2f}%")
    level = element("div", "&#8203;", class_="level", style=f"left:{100 * at_least:.2f}%")
    label = element(
        "div",
        escaped(f"asked for: {at_least:g}"),
        class_="label",
        style=f"left:{100 * min(at_least, 0.92):.2f}%",
    )
    words = f"same-decision probability {measurement_text(sdp)}"
    return element("div", fill + level + label, class_="meter", role="img", aria_label=words, title=words)


def _findings_table(found: Examination) -> str:
    now = found.stopping.decision.action if found.stopping else ""
    flips = [f"{each.feature} = {each.state}" for each in found.findings if each.decision.action != now]
    words = (
        f"These findings alone change the decision: {names_text(flips)}."
        if flips
        else "No single one of these findings changes the decision."
    )
    rows = [_finding_row(each, found, changed=each.decision.action != now) for each in found.findings]
    headings = ["finding", "how often", _posterior_heading(found), "decision", "survives the rest"]
    return paragraph(words) + table(headings, rows, numbers=(1, 2))


def _posterior_heading(found: Examination) -> str:
    rule = found.classifier.rule
    return f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"


def _finding_row(each: Finding, found: Examination, *, changed: bool) -> str:
    rule = found.classifier.rule
    posterior = each.decision.posterior
    value = posterior[rule.positive] if isinstance(rule, ThresholdRule) else max(posterior.values())
    action = escaped(each.decision.action)
    sdp = "-" if each.sdp is None else number_with_bar(measurement_text(each.sdp), each.sdp.value, "safe")
    return row(
        [
            escaped(f"{each.feature} = {each.state}"),
            percent(each.probability),
            probability_text(value),
            element("strong", action) if changed else action,
            sdp,
        ],
        numbers=(1, 2),
        names=(0,),
    )


def next_sentence(found: Examination) -> str:
    """What each criterion would observe next."""
    return next_text(found.ranking) if found.ranking is not None and found.ranking.features else ""
