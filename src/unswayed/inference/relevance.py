"""Which tables a question needs: the rest sums to 1 or is cut off by the evidence.

Given evidence E and query Q, the tables that can change Pr(Q | E) are found by letting a ball bounce from
Q through the network (Shachter's Bayes ball): a variable passes the ball to its parents when visited from
a child and not observed, or when it or a descendant is observed and the ball comes from above. The tables
of variables that pass it up are needed; barren and d-separated variables never do.
"""

from __future__ import annotations

from collections.abc import Collection

from unswayed.model.network import BayesianNetwork


def needed_for_posterior(
    network: BayesianNetwork, query: Collection[int], observed: Collection[int]
) -> list[int]:
    """Positions of the tables that Pr(query | observed) depends on, ascending.

    Observed variables that pass the ball down only fix a state in others' tables; theirs are not in it.
    """
    observed = set(observed)
    # Below what is asked and observed nothing comes back up.
    within = set(ancestors_of(network, {*query, *observed}))
    sent_up: set[int] = set()
    sent_down: set[int] = set()
    waiting = [(variable, True) for variable in query]
    while waiting:
        variable, from_child = waiting.pop()
        if variable in observed:
            if not from_child and variable not in sent_up:
                sent_up.add(variable)
                waiting.extend((parent, True) for parent in network.parents[variable])
            continue
        if from_child and variable not in sent_up:
            sent_up.add(variable)
            waiting.extend((parent, True) for parent in network.parents[variable])
        if variable not in sent_down:
            sent_down.add(variable)
            waiting.extend((child, False) for child in network.children[variable] if child in within)
    return sorted(sent_up)


def ancestors_of(network: BayesianNetwork, variables: Collection[int]) -> list[int]:
    """The variables themselves and all above them, ascending: what Pr(variables) depends on."""
    found = set(variables)
    waiting = list(found)
    while waiting:
        for parent in network.parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return sorted(found)
