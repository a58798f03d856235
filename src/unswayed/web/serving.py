"""The verb `serve`: the companion in the browser, with a case to begin with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.core.extras import import_extra
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.purchase import Costs, purchase_of
from unswayed.model.evidence import Evidence
from unswayed.model.network import BayesianNetwork

if TYPE_CHECKING:
    from unswayed.web.workspace import HeldNetwork

NOT_LOCAL = (
    "other machines can reach this page, and what it shows travels unencrypted; give the address only to "
    "those who may see your networks, and name the host in it with --allow-host where it is another"
)


def serve(
    model: BayesianNetwork | Classifier | None = None,
    evidence: Evidence | None = None,
    *,
    costs: Costs | None = None,
    certain: bool = False,
    host: str | None = None,
    port: int | None = None,
    allow_hosts: Sequence[str] = (),
    browser: bool = True,
) -> None:
    """Open a page that asks for the next test and says when to stop; Ctrl-C ends it.

    It begins with the case that is given, or with the examples; all of it can be changed there. Everything is
    computed on this machine, and only this machine reaches the page unless `host` names another address.
    """
    for module in ("starlette", "uvicorn", "python_multipart"):
        import_extra(module, "web")
    from unswayed.web.app import WebSettings
    from unswayed.web.server import run_server, take_place
    from unswayed.web.workspace import Workspace

    held = None if model is None else hold_case(model, evidence, costs)
    if held is None and (evidence or costs is not None):
        raise QueryError("evidence and costs need a network or a classifier; give one")
    place = take_place(host, port, tuple(allow_hosts))
    path = "/" if held is None else held.url
    print(f"unswayed is at {place.url(path)}", flush=True)
    if not place.is_local:
        warnings.warn(NOT_LOCAL, UnswayedWarning, stacklevel=2)
    run_server(
        Workspace(held), place, settings=WebSettings(certain=certain), open_at=path if browser else None
    )


def hold_case(
    model: BayesianNetwork | Classifier, evidence: Evidence | None, costs: Costs | None
) -> HeldNetwork:
    """The network with the case to begin with; `QueryError` where they do not fit together."""
    from unswayed.web.setting import find_spending, resolve
    from unswayed.web.workspace import hold_given, open_at

    expect(model, (BayesianNetwork, Classifier), "the model")
    classifier = model if isinstance(model, Classifier) else None
    held = hold_given(model.network if isinstance(model, Classifier) else model, classifier)
    if not evidence and costs is None:
        return held
    if held.classifier is None:
        raise QueryError("evidence and costs need something to decide about; name it with --target")
    held = open_at(held, dict(evidence or {}), purchase_of(costs))
    assert held.opening is not None
    find_spending(resolve(held.opening, held))  # binds findings and prices, and complains
    return held
