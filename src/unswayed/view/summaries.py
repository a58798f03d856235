"""Networks at a glance: size, cost of exact inference, variables, and what they were learned from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unswayed.core.errors import LimitError
from unswayed.core.limits import DEFAULT_LIMITS, readable_bytes
from unswayed.inference.problem import contraction
from unswayed.model.cpt import Cpt
from unswayed.model.data.census import Census
from unswayed.model.network import BayesianNetwork
from unswayed.view.describe import Asked, Row, TextTable
from unswayed.view.numbers import counted, names_text, probability_text, shortened
from unswayed.view.terminal import padded, widest

if TYPE_CHECKING:
    from unswayed.api.networks import Explanation, JointTable

MOST_VARIABLES = 20
"""Variables listed before the list is cut."""
MOST_STATES = 8
"""States listed of one variable."""
MOST_ROWS = 50
"""Combinations of states listed of a joint distribution."""
MOST_CLASSES = 10
MOST_COLUMNS = 5


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


def info(network: BayesianNetwork) -> NetworkSummary:
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


def network_lines(network: BayesianNetwork, *, at_most: int | None = MOST_VARIABLES) -> list[Text]:
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
    summary = info(network)
    lines = [Text(summary.name or "(a network without a name)", style="bold")]
    rows = _rows(summary)
    width = widest(list(rows))
    lines.extend(Text(f"  {padded(label, width)}  {value}") for label, value in rows.items())
    return [*lines, Text(), *_variable_lines(network, at_most)]


def _rows(summary: NetworkSummary) -> dict[str, str]:
    fewest, most = summary.fewest_states, summary.most_states
    functions = {"functions": f"{summary.n_functions:,}"} if summary.n_functions else {}
    roots = counted(summary.n_roots, "root", "roots")
    leaves = counted(summary.n_leaves, "leaf", "leaves")
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
    return f"{counted(len(network), 'variable', 'variables')}, {counted(n_arcs, 'arc', 'arcs')}"


def _place_text(network: BayesianNetwork, position: int) -> str:
    """Where a variable stands: "root" without parents, "leaf" without children."""
    if not network.parents[position]:
        return "root" if network.children[position] else "alone"
    return "" if network.children[position] else "leaf"


def _variable_lines(network: BayesianNetwork, at_most: int | None) -> list[Text]:
    shown = network.variables[:at_most]
    width = widest([variable.name for variable in shown])
    digits = widest([str(len(variable)) for variable in shown])
    places = [f"{_place_text(network, position):5}" for position in range(len(shown))]
    lines = [
        Text(f"{padded(v.name, width)}  {place}  {len(v):{digits}}  {shortened(v.states, MOST_STATES)}")
        for v, place in zip(shown, places, strict=True)
    ]
    if at_most is not None and len(network) > at_most:
        lines.append(Text(f"and {len(network) - at_most:,} more; --all lists them"))
    return lines


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The data behind a classifier, in numbers."""

    target: str
    """The class."""
    n_rows: int
    """How many rows counted."""
    rows_by_class: dict[str, float]
    """Rows of each class, by weight; rows that miss the class are in none."""
    constant_columns: tuple[str, ...]
    """Columns left with one state: of one value, or with no cut that tells about the class."""
    sampled_columns: tuple[str, ...] = ()
    """Columns of numbers with too many values to count each, whose cut points a sample decided."""
    rows_without_class: float = 0.0
    """Rows that miss the class; 0 where a column weighs the rows."""


def summarize_census(census: Census, target: str) -> LearnedFrom:
    """The facts of a table about its target."""
    states = next(variable.states for variable in census.variables if variable.name == target)
    weights = [] if census.class_weights is None else census.class_weights.tolist()
    return LearnedFrom(
        target=target,
        n_rows=census.n_rows,
        rows_by_class={state: weights[i] if i < len(weights) else 0.0 for i, state in enumerate(states)},
        constant_columns=tuple(v.name for v in census.variables if len(v) == 1 and v.name != target),
        sampled_columns=census.sampled,
        rows_without_class=0.0 if census.weights else census.n_rows - sum(weights),
    )


def learned_lines(facts: LearnedFrom) -> list[Text]:
    """The facts in a line or two.

    >>> facts = LearnedFrom("flu", 5, {"no": 3.0, "yes": 2.0}, ("name",))
    >>> for line in learned_lines(facts):
    ...     print(line.plain)
    learned from 5 rows; flu: no 3, yes 2
    of one state, so without influence: name
    """
    classes = tuple(f"{state} {weight:.10g}" for state, weight in facts.rows_by_class.items())
    found = shortened(classes, MOST_CLASSES)
    if facts.rows_without_class:
        found = f"{found}, missing {facts.rows_without_class:.10g}"
    lines = [Text(f"learned from {counted(facts.n_rows, 'row')}; {facts.target}: {found}")]
    if facts.constant_columns:
        names = shortened(facts.constant_columns, MOST_COLUMNS)
        lines.append(Text(f"of one state, so without influence: {names}"))
    if facts.sampled_columns:
        names = shortened(facts.sampled_columns, MOST_COLUMNS)
        lines.append(Text(f"cut next to a sample of many different numbers: {names}"))
    return lines


def describe_explanation(found: Explanation, asked: Asked) -> list[Any]:
    """The states of a most probable explanation, then how probable they are and what is proven."""
    share = probability_text(math.exp(found.log_probability))
    proof = "no other states are more probable"
    if not found.optimal:
        factor = math.exp(min(found.bound - found.log_probability, 700.0))
        proof = f"time ran out, and other states may be up to {factor:.3g} times as probable"
    told = Text(f"probability {share} with the findings; {proof}", style="dim")
    return [*([""] if asked.evidence else []), TextTable(list(found.states.items())), "", told]


def describe_joint(table: JointTable, asked: Asked) -> list[Any]:
    """The probability of each combination of states."""
    names = [variable.name for variable in table.variables]
    combinations = product(*(variable.states for variable in table.variables))
    rows: list[Row] = [
        (*states, probability_text(share))
        for states, share in zip(combinations, table.probabilities[:MOST_ROWS].tolist(), strict=False)
    ]
    if len(table.probabilities) > MOST_ROWS:
        rows.append((f"and {len(table.probabilities) - MOST_ROWS:,} more",))
    return [f"Joint probabilities of {names_text(names)}.", "", TextTable(rows, (*names, "probability"))]
