"""The commands `posterior` and `mpe`: probabilities of states, and the most probable ones together."""

from __future__ import annotations

from typing import Annotated

from unswayed.cli.case import NetworkOptions, resolve_network, with_case
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import Evidence, option
from unswayed.cli.output import say


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
    if of:
        answers = {name: api.posterior(found, name, observed, limits=limits) for name in names_in(of)}
    else:
        answers = api.all_marginals(found, observed, limits=limits)
    answer = {"network": found.name, "evidence": observed, "posteriors": answers}
    say(answer, posterior_lines(answers, observed), as_json=case.as_json)


@with_case
def mpe(
    case: NetworkOptions,
    *,
    evidence: Evidence = None,
) -> None:
    """The most probable explanation (MPE) of the evidence.

    The states of all other variables that are most probable together.
    """
    from unswayed import api
    from unswayed.view.describe import Asked, describe
    from unswayed.view.json import to_json
    from unswayed.view.terminal import to_lines

    found, limits = resolve_network(case)
    observed = evidence_of(evidence, found)
    explained = api.most_probable_explanation(found, observed, limits=limits)
    answer = {"network": found.name, "evidence": observed, **to_json(explained)}
    say(answer, to_lines(describe(explained, Asked(evidence=observed))), as_json=case.as_json)
