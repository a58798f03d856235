"""The command `serve`: the companion in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unswayed.cli.classifiers import classifier_of, example_classifier
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
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.network import BayesianNetwork

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
    from unswayed.web.serving import serve as serve_page

    asked = (target, features, threshold, utilities)
    model: BayesianNetwork | Classifier | None = None
    observed = None
    if network is not None:
        found = network_in(network, normalize=normalize, format=format)
        if asked == (None,) * 4:  # a bundled network has a question of its own; else the page asks for one
            model = example_classifier(network, asked) or found
        else:
            model = classifier_of(found, target, features, threshold=threshold, utilities=utilities)
        observed = evidence_of(evidence, found)
    elif any((*asked, format, evidence, cost, costs)):
        raise QueryError("options about a network need one; name it, as in: unswayed serve review")
    serve_page(
        model,
        observed,
        costs=costs_of(cost, costs),
        certain=certain,
        host=host,
        port=port,
        allow_hosts=allow_host or (),
        browser=not no_browser,
    )
