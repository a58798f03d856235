"""A network at a glance: its size, what exact inference in it will cost, its variables and their states."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.text import Text

from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, readable_bytes
from unswayed.inference.problem import contraction
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.view.probabilities import padded, shortened, widest

MOST_VARIABLES = 20
"""Variables listed before the list is cut."""
MOST_STATES = 8
"""States listed of one variable."""


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """The counts that describe a network."""

    name: str
    """What the network calls itself; may be empty."""
    n_variables: int
    """How many variables it has."""
    n_arcs: int
    """How many arcs, parent to child."""
    n_functions: int
    """Variables whose node is a function of its parents, not a table."""
    n_parameters: int
    """Free parameters: entries of all tables, less one for each row."""
    fewest_states: int
    """States of the variable with fewest."""
    most_states: int
    """States of the variable with most."""
    largest_table: str
    """The variable with the largest table."""
    largest_table_entries: int
    """How many numbers that table holds."""
    n_roots: int
    """Variables without parents."""
    n_leaves: int
    """Variables without children."""
    multiplications: float
    """Predicted for one pass of exact inference over the whole network, nothing observed."""
    memory_bytes: float
    """Predicted for all marginals, nothing observed."""


def summarize(network: BayesianNetwork) -> NetworkSummary:
    """The summary of a network; plans exact inference but does not run it."""
    multiplications, memory = _inference_price(network)
    tables = [cpt for cpt in network.cpts if isinstance(cpt, Cpt)]
    largest = max(tables, key=lambda cpt: cpt.table.size, default=None)
    return NetworkSummary(
        name=network.name,
        n_variables=len(network),
        n_arcs=sum(map(len, network.parents)),
        n_functions=len(network) - len(tables),
        n_parameters=sum(len(cpt.table) * (len(cpt.child) - 1) for cpt in tables),
        fewest_states=min(map(len, network.variables)),
        most_states=max(map(len, network.variables)),
        largest_table="" if largest is None else largest.child.name,
        largest_table_entries=0 if largest is None else largest.table.size,
        n_roots=sum(not parents for parents in network.parents),
        n_leaves=sum(not children for children in network.children),
        multiplications=multiplications,
        memory_bytes=memory,
    )


def _inference_price(network: BayesianNetwork) -> tuple[float, float]:
    """Multiplications and bytes of all marginals; infinite where a function is too large to be read."""
    try:
        plan = contraction(network, range(len(network)), {}).plan
    except LimitError:
        return math.inf, math.inf
    # The pass back holds a second buffer beside each of the first.
    return plan.operations, 2 * plan.total_bytes


def network_lines(network: BayesianNetwork, *, at_most: int = MOST_VARIABLES) -> list[Text]:
    """The summary, a blank line, and the variables with their states.

    >>> from unswayed.model.zoo import sprinkler
    >>> for line in network_lines(sprinkler())[:5]:
    ...     print(line.plain)
    sprinkler
      variables        4 (1 root, 1 leaf)
      arcs             4
      free parameters  9
      states           2 each
    """
    summary = summarize(network)
    lines = [Text(summary.name or "(a network without a name)", style="bold")]
    rows = _rows(summary)
    width = widest(list(rows))
    lines.extend(Text(f"  {padded(label, width)}  {value}") for label, value in rows.items())
    return [*lines, Text(), *_variable_lines(network, at_most)]


def _rows(summary: NetworkSummary) -> dict[str, str]:
    fewest, most = summary.fewest_states, summary.most_states
    roots = _count(summary.n_roots, "root", "roots")
    leaves = _count(summary.n_leaves, "leaf", "leaves")
    functions = {"functions": f"{summary.n_functions:,}"} if summary.n_functions else {}
    return {
        "variables": f"{summary.n_variables:,} ({roots}, {leaves})",
        "arcs": f"{summary.n_arcs:,}",
        **functions,
        "free parameters": f"{summary.n_parameters:,}",
        "states": f"{most} each" if fewest == most else f"{fewest} to {most}",
        "largest table": f"{summary.largest_table_entries:,} numbers ({summary.largest_table})",
        "exact inference": inference_cost(summary),
    }


def inference_cost(summary: NetworkSummary) -> str:
    """What exact inference is predicted to take, and whether the default limits allow it."""
    count = summary.multiplications
    number = f"{count:,.0f}" if count < 1e6 else f"{count:.1e}" if math.isfinite(count) else "countless"
    cost = f"{number} multiplications, {readable_bytes(summary.memory_bytes)}"
    if summary.memory_bytes <= DEFAULT_LIMITS.max_bytes:
        return cost
    return f"{cost}: over the default limit of {readable_bytes(DEFAULT_LIMITS.max_bytes)} without evidence"


def size_text(network: BayesianNetwork) -> str:
    """A network's size in a few words.

    >>> from unswayed.model.zoo import sprinkler
    >>> size_text(sprinkler())
    '4 variables, 4 arcs'
    """
    n_arcs = sum(map(len, network.parents))
    return f"{_count(len(network), 'variable', 'variables')}, {_count(n_arcs, 'arc', 'arcs')}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _variable_lines(network: BayesianNetwork, at_most: int) -> list[Text]:
    shown = network.variables[:at_most]
    width = widest([variable.name for variable in shown])
    digits = widest([str(len(variable)) for variable in shown])
    lines = [
        Text(f"{padded(v.name, width)}  {len(v):{digits}}  {shortened(v.states, MOST_STATES)}") for v in shown
    ]
    if len(network) > at_most:
        lines.append(Text(f"and {len(network) - at_most:,} more"))
    return lines
