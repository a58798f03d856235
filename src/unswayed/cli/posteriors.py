"""The commands `posterior` and `mpe`: probabilities of states, and the most probable ones together."""

from __future__ import annotations

from typing import Annotated

import typer

from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import (
    AsJson,
    Evidence,
    Format,
    MaxMemory,
    MaxSeconds,
    NetworkFile,
    Normalize,
    limits_of,
    network_in,
)
from unswayed.cli.output import show, show_json


def posterior(
    network: NetworkFile,
    *,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="A,B",
            help="Whose states; may be repeated. All variables by default.",
            show_default=False,
        ),
    ] = None,
    evidence: Evidence = None,
    as_json: AsJson = False,
    normalize: Normalize = False,
    format: Format = None,
    max_memory: MaxMemory = None,
    max_seconds: MaxSeconds = None,
) -> None:
    """Exact posterior probabilities of variables given evidence."""
    from unswayed import api
    from unswayed.view.tables import posterior_lines

    found = network_in(network, normalize=normalize, format=format)
    observed = evidence_of(evidence, found)
    limits = limits_of(max_memory, max_seconds)
    if of:
        answers = {name: api.posterior(found, name, observed, limits=limits) for name in names_in(of)}
    else:
        answers = api.all_marginals(found, observed, limits=limits)
    if as_json:
        show_json({"network": found.name, "evidence": observed, "posteriors": answers})
    else:
        show(posterior_lines(answers, observed))


def mpe(
    network: NetworkFile,
    *,
    evidence: Evidence = None,
    as_json: AsJson = False,
    normalize: Normalize = False,
    max_memory: MaxMemory = None,
    max_seconds: MaxSeconds = None,
) -> None:
    """The most probable explanation: the states of all other variables that are jointly most probable."""
    from dataclasses import asdict

    from unswayed import api
    from unswayed.view.tables import explanation_lines

    found = network_in(network, normalize=normalize)
    observed = evidence_of(evidence, found)
    answer = api.most_probable_explanation(found, observed, limits=limits_of(max_memory, max_seconds))
    if as_json:
        show_json({"network": found.name, "evidence": observed, **asdict(answer), "optimal": answer.optimal})
    else:
        show(explanation_lines(answer, observed))
