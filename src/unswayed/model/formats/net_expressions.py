"""Noisy-or as HUGIN writes it, as an expression over Boolean nodes.

    model_nodes = ();
    model_data  = ( NoisyOR (cause, q, cause, q, ..., true, q) );

A cause is a Boolean parent, and q the probability that its effect is inhibited; `true` is the cause that is
always there, the leak. A Boolean node (`subtype = boolean`) has the states false and true, in this order:

    Pr(false | causes) = product of q over the causes that are true

HUGIN saves the table that follows from the expression beside it. Numbers here are decimal, so that a strength
1 - q comes back to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import NamedTuple

from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.variable import Variable

_NOISY_OR = re.compile(r"\(\s*noisyor\s*\(([^()]*)\)\s*\)|noisyor\s*\(([^()]*)\)", re.IGNORECASE)
_ALWAYS = "true"
_DIGITS = 400
"""Enough for the complement of the smallest float."""


class NoisyOrNumbers(NamedTuple):
    """What an expression says of a noisy-or."""

    strengths: tuple[float, ...]
    """One for each parent; 0 for parents that the expression leaves out."""
    leak: float

    def make(self, child: Variable, parents: Sequence[Variable]) -> NoisyOrCpt:
        """The node, once its variables are known."""
        return NoisyOrCpt(child, parents, self.strengths, leak=self.leak)


def read_noisy_or(expression: str, parents: Sequence[str]) -> NoisyOrNumbers | None:
    """The numbers of a noisy-or over parents with these identifiers; None for any other expression.

    >>> read_noisy_or("( NoisyOR (Flu, 0.1, true, 0.99) )", ["Flu", "Cold"])
    NoisyOrNumbers(strengths=(0.9, 0.0), leak=0.01)
    """
    found = _NOISY_OR.fullmatch(expression.strip())
    items = [item.strip() for item in (found[1] or found[2] or "").split(",")] if found else []
    if not items or len(items) % 2:
        return None
    kept = dict.fromkeys((*parents, _ALWAYS), Decimal(1))
    with localcontext(prec=_DIGITS):
        for cause, number in zip(items[::2], items[1::2], strict=True):
            try:
                inhibited = Decimal(number)
            except InvalidOperation:
                return None
            if cause not in kept or not 0 <= inhibited <= 1:
                return None
            kept[cause] *= inhibited
        *strengths, leak = (float(1 - each) for each in kept.values())
    return NoisyOrNumbers(tuple(strengths), leak)


def write_noisy_or(cpt: NoisyOrCpt, identifier_by_name: Mapping[str, str]) -> str:
    """The attributes of a potential that hold a noisy-or."""
    causes = [identifier_by_name[parent.name] for parent in cpt.parents]
    with localcontext(prec=_DIGITS):
        numbers = [format(1 - Decimal(repr(each)), "f") for each in (*cpt.strengths.tolist(), cpt.leak)]
    pairs = ", ".join(f"{cause}, {q}" for cause, q in zip([*causes, _ALWAYS], numbers, strict=True))
    return f"  model_nodes = ();\n  model_data = ( NoisyOR ({pairs}) );\n"
