"""Networks that come with unswayed: usable by name wherever a network file is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unswayed.cli.options import AsJson
from unswayed.cli.output import show, show_json

if TYPE_CHECKING:
    from unswayed.model.network import BayesianNetwork

TRY_BY_NAME = {
    "review": "--target D=+ --threshold 0.6 --features all",
    "printer": "--target Fault",
    "disease_tests": "--target Disease=+ --threshold 0.2",
    "sprinkler": "--target Rain=yes --features Cloudy,Sprinkler,WetGrass",
}
"""The bundled networks, each with a classifier to try."""


def bundled(name: str) -> BayesianNetwork | None:
    """The bundled network of this name; None when there is none."""
    from unswayed.model import zoo

    if name not in TRY_BY_NAME:
        return None
    make: Callable[[], BayesianNetwork] = getattr(zoo, name)
    return make()


def examples(*, as_json: AsJson = False) -> None:
    """List the networks that come with unswayed.

    Their names may stand wherever a network file is asked for; a file of that name goes first.
    """
    found = [(name, _network(name)) for name in TRY_BY_NAME]
    if as_json:
        show_json(
            {
                "examples": [
                    {"name": name, "about": _about(name), "variables": network.names}
                    for name, network in found
                ]
            }
        )
        return
    from rich.text import Text

    width = max(map(len, TRY_BY_NAME))
    lines = []
    for name, _ in found:
        lines.append(Text(f"{name:{width}}  ", style="bold").append(_about(name), style="not bold"))
        lines.append(Text(f"{'':{width}}  unswayed sdp {name} {TRY_BY_NAME[name]}", style="dim"))
    show(lines)


def _network(name: str) -> BayesianNetwork:
    network = bundled(name)
    assert network is not None
    return network


def _about(name: str) -> str:
    """The first line of what the network says about itself, without the reference."""
    from unswayed.model import zoo

    line = (getattr(zoo, name).__doc__ or "").partition("\n")[0]
    return line.partition(" [")[0].rstrip(".") + ("." if not line.endswith("?") else "")
