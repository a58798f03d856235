"""The command `serve`: the companion in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unswayed.cli.classifiers import classifier_of
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of
from unswayed.cli.options import (
    Certain,
    Cost,
    CostsFile,
    Evidence,
    Features,
    Format,
    Normalize,
    Target,
    Threshold,
    UtilitiesFile,
    argument,
    flag,
    network_in,
    option,
)
from unswayed.cli.outcome import complain
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.purchase import Costs
    from unswayed.model.network import BayesianNetwork
    from unswayed.web.workspace import HeldNetwork

NOT_LOCAL = (
    "other machines can reach this page, and what it shows travels unencrypted; give the address only to "
    "those who may see your networks, and name the host in it with --allow-host where it is another"
)

WebNetwork = Annotated[
    Path | None,
    argument(
        "NETWORK", "A network file, or the name of an example; without one, the page offers the examples."
    ),
]
Port = Annotated[int | None, option("P", "The port; a free one by default.", min=1, max=65535)]
Host = Annotated[
    str | None, option("H", "The address to listen on. By default only this machine reaches the page.")
]
AllowHost = Annotated[
    list[str] | None,
    option(
        "NAME",
        "Another name by which browsers reach the page, with a port of its own where it has one; may be "
        "repeated.",
    ),
]
NoBrowser = Annotated[bool, flag("--no-browser", "Print the address and open nothing.")]


def serve(
    network: WebNetwork = None,
    *,
    target: Target = None,
    threshold: Threshold = None,
    utilities: UtilitiesFile = None,
    features: Features = None,
    evidence: Evidence = None,
    cost: Cost = None,
    costs: CostsFile = None,
    certain: Certain = False,
    normalize: Normalize = False,
    format: Format = None,
    port: Port = None,
    host: Host = None,
    allow_host: AllowHost = None,
    no_browser: NoBrowser = False,
) -> None:
    """Open a page that asks for the next test and says when to stop.

    It shows how safe the decision is after each answer. It begins with the case that the options describe;
    all of it can be changed there. Everything is computed on this machine. Ctrl-C ends it.
    """
    from unswayed.core.extras import import_extra

    for module in ("starlette", "uvicorn", "python_multipart"):
        import_extra(module, "web")
    from unswayed.web.app import WebSettings
    from unswayed.web.server import run_server, take_place
    from unswayed.web.workspace import Workspace

    asked = (target, features, threshold, utilities)
    given = None
    if network is not None:
        found = network_in(network, normalize=normalize, format=format)
        given = _hold(found, _classifier(network, found, *asked), evidence, costs_of(cost, costs))
    elif any((*asked, format, evidence, cost, costs)):
        raise QueryError("options about a network need one; name it, as in: unswayed serve review")
    place = take_place(host, port, tuple(allow_host or ()))
    path = "/" if given is None else given.url
    typer.echo(f"unswayed is at {place.url(path)}")
    if not place.is_local:
        complain("warning", NOT_LOCAL)
    settings = WebSettings(certain=certain)
    run_server(Workspace(given), place, settings=settings, open_at=None if no_browser else path)


def _hold(
    network: BayesianNetwork,
    classifier: Classifier | None,
    evidence: Sequence[str] | None,
    costs: Costs | None,
) -> HeldNetwork:
    """The network with the case that the options describe; `QueryError` where they do not fit together."""
    from unswayed.decisions.purchase import purchase_of
    from unswayed.web.setting import find_spending, resolve
    from unswayed.web.workspace import hold_given, open_at

    held = hold_given(network, classifier)
    if not evidence and costs is None:
        return held
    if held.classifier is None:
        raise QueryError("evidence and costs need something to decide about; name it with --target")
    held = open_at(held, evidence_of(evidence, network), purchase_of(costs))
    assert held.opening is not None
    find_spending(resolve(held.opening, held))  # binds findings and prices, and complains
    return held


def _classifier(
    path: Path,
    network: BayesianNetwork,
    target: str | None,
    features: Sequence[str] | None,
    threshold: float | None,
    utilities: Path | None,
) -> Classifier | None:
    """What the options decide, else a bundled network's own question; None leaves it to the page."""
    from unswayed.api.examples import EXAMPLE_BY_NAME

    if (target, features, threshold, utilities) != (None,) * 4:
        return classifier_of(network, target, features, threshold=threshold, utilities=utilities)
    example = None if path.exists() else EXAMPLE_BY_NAME.get(str(path))
    return None if example is None else example.classifier()
