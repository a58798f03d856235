"""Networks that come with unswayed: usable by name wherever a network file is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.cli.options import AsJson
from unswayed.cli.output import show, show_json

if TYPE_CHECKING:
    from unswayed.api.examples import Example


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
