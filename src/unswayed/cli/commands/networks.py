"""Commands about networks: `info`, `convert`, `draw`, and `examples` for those that come with unswayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import TypedNetwork, with_case
from unswayed.cli.classifiers import classifier_of
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import (
    AsJson,
    Evidence,
    Features,
    Format,
    Normalize,
    argument,
    flag,
    network_in,
    option,
    output_file,
)
from unswayed.cli.output import check_output, check_picture, say
from unswayed.cli.scores import described, score_at, score_lines
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from rich.text import Text

    from unswayed.api.examples import Example
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.network import BayesianNetwork


@with_case
def info(
    case: TypedNetwork, *, every: Annotated[bool, flag("--all", "List every variable.")] = False
) -> None:
    """Describe a network (size, variables, costs) or a points score."""
    from unswayed.view.summaries import MOST_VARIABLES, network_lines

    score = None if case.format else score_at(case.network)
    if score is not None:
        say(described(score), score_lines(score), as_json=case.as_json)
        return
    found = case.read()
    lines = network_lines(found, at_most=None if every else MOST_VARIABLES)
    say(_described(found), lines, as_json=case.as_json)


def _described(network: BayesianNetwork) -> dict[str, Any]:
    from dataclasses import asdict

    from unswayed.view.summaries import info as summarize

    variables = [
        {"name": cpt.child.name, "states": cpt.child.states, "parents": [p.name for p in cpt.parents]}
        for cpt in network.cpts
    ]
    return {**asdict(summarize(network)), "variables": variables}


def convert(
    source: Annotated[Path, argument("IN", "The network file to read.")],
    target: Annotated[Path, argument("OUT", "The file to write.")],
    *,
    as_json: AsJson = False,
    normalize: Normalize = False,
    format: Format = None,
) -> None:
    """Write a network in another format, named by the suffix of OUT."""
    from unswayed.model.formats.files import write_network
    from unswayed.view.summaries import size_text

    check_output(target)
    network = network_in(source, normalize=normalize, format=format)
    write_network(network, target)
    arcs = sum(len(cpt.parents) for cpt in network.cpts)
    answer = {"output": str(target), "n_variables": len(network.cpts), "n_arcs": arcs}
    say(answer, [f"wrote {target}: {size_text(network)}"], as_json=as_json)


@with_case
def draw(
    case: TypedNetwork,
    *,
    output: Annotated[Path, output_file("FILE", "The picture: .svg, .png or .pdf.")],
    target: Annotated[str | None, option("D", "What is decided about.")] = None,
    features: Features = None,
    evidence: Evidence = None,
    keep: Annotated[
        list[str] | None, option("A,B", "Features that are kept; the others are dropped.", "--keep")
    ] = None,
    whole: Annotated[
        bool,
        flag("--all", "Draw every variable. Of more than 100 only those nearest to the target are drawn."),
    ] = False,
    title: Annotated[str | None, option("TEXT", "A title; the network's name by default.")] = None,
) -> None:
    """Draw a network, with the role of each variable in a question.

    Roles are the target, the features, what was observed, what is kept and what is dropped.
    """
    check_picture(output)
    found = case.read()
    observed = evidence_of(evidence, found)
    kept = None if keep is None else tuple(names_in(keep))
    model = _model(found, target, features)
    heading = found.name if title is None else title
    from unswayed.view import draw as draw_network

    draw_network(model, observed, kept=kept, title=heading, whole=whole).save(output)
    answer = {"network": found.name, "evidence": observed, "output": str(output)}
    say(answer, [f"wrote {output}"], as_json=case.as_json)


def _model(
    network: BayesianNetwork, target: str | None, features: list[str] | None
) -> BayesianNetwork | Classifier:
    if target is not None:
        return classifier_of(network, target, features, threshold=None, utilities=None)
    if features is not None:
        raise QueryError("--features belong to a target; name it with --target")
    return network


def examples(*, as_json: AsJson = False) -> None:
    """List the networks and points scores that come with unswayed.

    Use their names wherever a network file is expected; a file of that name takes precedence.
    """
    from rich.text import Text

    from unswayed.api.examples import EXAMPLES
    from unswayed.model.scores import NAMES, example_score

    facts = [{"name": e.name, "about": e.about, "variables": e.make().names} for e in EXAMPLES]
    lines = []
    for line, example in zip(_about_lines(facts), EXAMPLES, strict=True):
        indent = " " * (max(len(each.name) for each in EXAMPLES) + 2)
        lines += [line, Text(f"{indent}unswayed sdp {example.name} {_options(example)}", style="dim")]
    scores = [
        {"name": name, "title": example_score(name).title, "about": example_score(name).about}
        for name in NAMES
    ]
    lines += [Text(), *_about_lines(scores)]
    say({"examples": facts, "scores": scores}, lines, as_json=as_json)


def _about_lines(facts: list[dict[str, Any]]) -> list[Text]:
    from rich.text import Text

    width = max(len(each["name"]) for each in facts)
    return [
        Text(f"{each['name']:{width}}  ", style="bold").append(each["about"], style="not bold")
        for each in facts
    ]


def _options(example: Example) -> str:
    """The options that ask the example's question."""
    words = ["--target", example.target + ("" if example.positive is None else f"={example.positive}")]
    if example.threshold is not None:
        words += ["--threshold", f"{example.threshold:g}"]
    if example.features is not None:
        others = len(example.make()) - 1
        words += ["--features", "all" if len(example.features) == others else ",".join(example.features)]
    return " ".join(words)
