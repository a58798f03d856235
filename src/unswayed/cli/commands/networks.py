"""Commands about networks: `info`, `convert`, and `examples` for those that come with unswayed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.options import AsJson, Format, NetworkFile, Normalize, network_in
from unswayed.cli.output import check_output, show, show_json

if TYPE_CHECKING:
    from unswayed.api.examples import Example
    from unswayed.model.network import BayesianNetwork


def info(
    network: NetworkFile,
    *,
    every: Annotated[bool, typer.Option("--all", help="List every variable.", show_default=False)] = False,
    as_json: AsJson = False,
    normalize: Normalize = False,
    format: Format = None,
) -> None:
    """Describe a network: size, variables, cost of exact inference."""
    from unswayed.view.summaries import MOST_VARIABLES, network_lines

    found = network_in(network, normalize=normalize, format=format)
    if as_json:
        show_json(_described(found))
    else:
        show(network_lines(found, at_most=None if every else MOST_VARIABLES))


def _described(network: BayesianNetwork) -> dict[str, Any]:
    from dataclasses import asdict

    from unswayed.view.summaries import summarize

    variables = [
        {"name": cpt.child.name, "states": cpt.child.states, "parents": [p.name for p in cpt.parents]}
        for cpt in network.cpts
    ]
    return {**asdict(summarize(network)), "variables": variables}


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="The network file to read.", show_default=False)
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    *,
    as_json: AsJson = False,
    normalize: Normalize = False,
    format: Format = None,
) -> None:
    """Write a network in another format, named by the suffix of OUT."""
    from rich.text import Text

    from unswayed.model.formats.files import write_network
    from unswayed.view.summaries import size_text

    check_output(target)
    network = network_in(source, normalize=normalize, format=format)
    write_network(network, target)
    if as_json:
        arcs = sum(len(cpt.parents) for cpt in network.cpts)
        show_json({"output": str(target), "n_variables": len(network.cpts), "n_arcs": arcs})
    else:
        show([Text(f"wrote {target}: {size_text(network)}")])


def examples(*, as_json: AsJson = False) -> None:
    """List the networks that come with unswayed.

    Their names may stand wherever a network file is asked for; a file of that name goes first.
    """
    from rich.text import Text

    from unswayed.api.examples import EXAMPLES

    if as_json:
        facts = [{"name": e.name, "about": e.about, "variables": e.make().names} for e in EXAMPLES]
        show_json({"examples": facts})
        return
    width = max(len(example.name) for example in EXAMPLES)
    lines = []
    for example in EXAMPLES:
        lines.append(Text(f"{example.name:{width}}  ", style="bold").append(example.about, style="not bold"))
        lines.append(Text(f"{'':{width}}  unswayed sdp {example.name} {_options(example)}", style="dim"))
    show(lines)


def _options(example: Example) -> str:
    """The options that ask the example's question."""
    words = ["--target", example.target + ("" if example.positive is None else f"={example.positive}")]
    if example.threshold is not None:
        words += ["--threshold", f"{example.threshold:g}"]
    if example.features is not None:
        others = len(example.make()) - 1
        words += ["--features", "all" if len(example.features) == others else ",".join(example.features)]
    return " ".join(words)
