"""Random models for hypothesis: small, many-valued, with the awkward cases drawn often."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from unswayed.circuits.formulas import expressions
from unswayed.circuits.formulas.expressions import Expression
from unswayed.circuits.sdd import apply
from unswayed.circuits.sdd.apply import FunctionTable
from unswayed.circuits.sdd.sdd import FALSE, TRUE, Sdd
from unswayed.circuits.vtree import Nested, Vtree, vtree_from_nested
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

PLAIN_NAMES = ("A", "B", "rain", "x_1", "LVFAILURE", "Kind", "n0", "s1", "yes", "no")
NASTY_NAMES = (
    "probability",
    "network",
    "table",
    "default",
    "node",
    "states",
    "<5",
    ">=7.5",
    "Asy/Patch",
    "12+",
    "0.5",
    "-1",
    "1e999",
    "nan",
    "two words",
    'say "hi"',
    "back\\slash",
    "ends with \\",
    "\\n",
    "// no comment",
    "/* none */",
    "a % b",
    "a, b",
    "{x}",
    "(y",
    "z)",
    "p | q",
    "semi;colon",
    "a=b",
    "[2]",
    "<b>&amp;</b>",
    "it's",
    "naïve Bayes",
    "雨",
    "\N{GRINNING FACE}",
    "no\N{NO-BREAK SPACE}break",
    "\N{ZERO WIDTH SPACE}zero",
    "\ue022private use",
)


def names() -> st.SearchStrategy[str]:
    """Any name that a variable or a state may have; plain and nasty ones often."""
    anything = st.text(
        st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn")), min_size=1, max_size=8
    ).filter(lambda name: name == name.strip())
    return st.one_of(st.sampled_from(PLAIN_NAMES), st.sampled_from(NASTY_NAMES), anything)


@st.composite
def variables(
    draw: st.DrawFn, name: str | None = None, *, min_states: int = 1, max_states: int = 4
) -> Variable:
    """A variable with `min_states` to `max_states` states, named `name` or at random."""
    states = draw(st.lists(names(), min_size=min_states, max_size=max_states, unique=True))
    return Variable(draw(names()) if name is None else name, states)


@st.composite
def distributions(draw: st.DrawFn, size: int) -> list[float]:
    """`size` probabilities that sum to 1; one row in a few is deterministic or has zeros."""
    if draw(st.booleans()):
        certain = draw(st.integers(0, size - 1))
        return [float(i == certain) for i in range(size)]
    weights = np.array(draw(st.lists(st.integers(0, 1000), min_size=size, max_size=size)), dtype=np.float64)
    weights[draw(st.integers(0, size - 1))] += 1
    shares: list[float] = (weights / weights.sum()).tolist()
    return shares


@st.composite
def networks(
    draw: st.DrawFn, max_variables: int = 6, *, max_parents: int = 3, min_states: int = 1
) -> BayesianNetwork:
    """A network over at most `max_variables` variables of up to four states, names as they come."""
    title = draw(st.one_of(st.just(""), names()))
    chosen = draw(st.lists(names(), min_size=1, max_size=max_variables, unique=True))
    declared = [draw(variables(name, min_states=min_states)) for name in chosen]
    cpts = []
    for position, child in enumerate(declared):
        parents = draw(
            st.lists(st.sampled_from(declared[:position]), max_size=max_parents, unique_by=lambda v: v.name)
            if position
            else st.just([])
        )
        n_rows = math.prod(len(parent) for parent in parents)
        rows = [draw(distributions(len(child))) for _ in range(n_rows)]
        cpts.append(Cpt(child, parents, rows))
    return BayesianNetwork(cpts, title)


@st.composite
def rules(draw: st.DrawFn, target: Variable) -> Rule:
    """Any rule for a target: thresholds on round numbers often, so that ties occur."""
    kind = draw(st.sampled_from(["threshold", "threshold", "most probable", "utility"]))
    if kind == "threshold":
        threshold = draw(
            st.one_of(st.sampled_from([0.1, 0.2, 0.25, 0.5, 0.6, 0.75, 0.9]), st.floats(0.02, 0.98))
        )
        return ThresholdRule(draw(st.sampled_from(target.states)), threshold)
    if kind == "most probable":
        return MostProbable()
    worth = st.integers(-5, 5).map(float)
    actions = draw(st.integers(1, 4))
    return UtilityRule(
        {f"action {a}": {state: draw(worth) for state in target.states} for a in range(actions)}
    )


@st.composite
def decimal_rows(draw: st.DrawFn, size: int) -> list[float]:
    """Probabilities in tenths or sixteenths, as people write them: posteriors that tie with thresholds."""
    parts = draw(st.sampled_from([10, 16]))
    cuts = sorted(draw(st.lists(st.integers(0, parts), min_size=size - 1, max_size=size - 1)))
    return [(b - a) / parts for a, b in itertools.pairwise([0, *cuts, parts])]


@st.composite
def classifiers(draw: st.DrawFn, max_features: int = 5, n_classes: int | None = None) -> Classifier:
    """A classifier on a naive Bayes or general network with round numbers, hidden variables and any rule."""
    classes = n_classes or draw(st.sampled_from([2, 2, 2, 3]))
    target = Variable("C", [f"c{i}" for i in range(classes)])
    naive = draw(st.booleans())
    n_others = draw(st.integers(1, max_features + (0 if naive else 2)))
    others = [Variable(f"F{i}", [f"s{k}" for k in range(draw(st.integers(2, 3)))]) for i in range(n_others)]
    order = [target, *others] if naive else draw(st.permutations([target, *others]))
    cpts = []
    for position, child in enumerate(order):
        earlier = st.sampled_from(order[:position])
        parents = [target] if naive and position else []
        if not naive and position:
            parents = draw(st.lists(earlier, max_size=2, unique_by=lambda v: v.name))
        rows = [draw(decimal_rows(len(child))) for _ in range(math.prod(len(p) for p in parents))]
        cpts.append(Cpt(child, parents, rows))
    features = draw(st.lists(st.sampled_from([v.name for v in others]), max_size=max_features, unique=True))
    return Classifier(BayesianNetwork(cpts), "C", features, draw(rules(target)))


@st.composite
def vtrees(draw: st.DrawFn, max_variables: int = 6, min_variables: int = 1) -> Vtree:
    """A vtree of any shape over v0, v1, ..., whose leaves stand in any order."""
    n_variables = draw(st.integers(min_variables, max_variables))
    declared = [f"v{i}" for i in range(n_variables)]
    pieces: list[Nested] = draw(st.permutations(declared))
    while len(pieces) > 1:
        at = draw(st.integers(0, len(pieces) - 2))
        pieces[at : at + 2] = [(pieces[at], pieces[at + 1])]
    return vtree_from_nested(pieces[0], declared)


@st.composite
def formulas(draw: st.DrawFn, names: tuple[str, ...], max_depth: int = 3) -> Expression:
    """An expression over some of the names, with every connective."""
    kind = draw(st.sampled_from(["variable", "variable", "not", "and", "or", "iff", "implies", "count"]))
    if max_depth == 0 or kind == "variable":
        return expressions.variable(draw(st.sampled_from(names)))
    part = formulas(names, max_depth - 1)
    if kind == "not":
        return ~draw(part)
    if kind in ("iff", "implies"):
        join = expressions.iff if kind == "iff" else expressions.implies
        return join(draw(part), draw(part))
    parts = draw(st.lists(part, max_size=4))
    if kind == "count":
        bound = draw(st.integers(0, 4))
        count = draw(st.sampled_from([expressions.at_most, expressions.at_least, expressions.exactly]))
        return count(bound, *parts)
    return expressions.all_of(*parts) if kind == "and" else expressions.any_of(*parts)


@st.composite
def clause_lists(draw: st.DrawFn, n_variables: int, max_clauses: int = 6) -> list[tuple[int, ...]]:
    """Clauses over variables 1 to n, empty ones and tautologies among them."""
    literals = st.integers(1, n_variables).flatmap(lambda v: st.sampled_from([v, -v]))
    return draw(st.lists(st.lists(literals, max_size=4).map(tuple), max_size=max_clauses))


@st.composite
def sdds(draw: st.DrawFn, vtree: Vtree | None = None, max_variables: int = 6) -> Sdd:
    """A canonical circuit of any function of up to `max_variables` variables, made from its truth table."""
    vtree = draw(vtrees(max_variables)) if vtree is None else vtree
    n_variables = len(vtree.names)
    table = draw(st.integers(0, 2 ** (2**n_variables) - 1))
    rows = itertools.product([False, True], repeat=n_variables)
    models = [row for position, row in enumerate(rows) if table >> position & 1]
    builder = FunctionTable(vtree)
    root = FALSE
    for row in models:
        node = TRUE
        for number, value in enumerate(row, start=1):
            node = apply.conjoin(builder, node, builder.literal(number if value else -number))
        root = apply.disjoin(builder, root, node)
    return builder.export(root)
