"""The commands `posterior` and `mpe`: probabilities of states, and the most probable ones together."""

from __future__ import annotations

from typing import Annotated

from unswayed.cli.case import NetworkOptions, resolve_network, with_case
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import Evidence, option
from unswayed.cli.output import emit, say


@with_case
def posterior(
    case: NetworkOptions,
    *,
    of: Annotated[
        list[str] | None, option("A,B", "Whose states; may be repeated. All variables by default.", "--of")
    ] = None,
    evidence: Evidence = None,
) -> None:
    """Exact posterior probabilities of variables given evidence."""
    from unswayed import api
    from unswayed.view.terminal import posterior_lines

    found, limits = resolve_network(case)
    observed = evidence_of(evidence, found)
    answers = api.posterior(found, observed, of=list(names_in(of)) if of else None, limits=limits)
    answer = {"network": found.name, "evidence": observed, "posteriors": answers}
    say(answer, posterior_lines(answers, observed), as_json=case.as_json)


@with_case
def mpe(case: NetworkOptions, *, evidence: Evidence = None) -> None:
    """The most probable explanation (MPE) of the evidence.

    The states of all other variables that are most probable together.
    """
    from unswayed import api
    from unswayed.view.describe import Asked

    found, limits = resolve_network(case)
    observed = evidence_of(evidence, found)
    explained = api.mpe(found, observed, limits=limits)
    emit(explained, Asked(evidence=observed, words={"network": found.name}), as_json=case.as_json)
