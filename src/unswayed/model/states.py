"""Which state a value means: a name, a label, a number, a truth value.

People and tables write states in their own ways. One function, `find_state`, decides for all of them:
evidence typed by hand, a dataframe's row, a column of a table. A value means, in this order,

- the state of that name, else of that label;
- for a number, or a text that spells one: the interval it lies in, else the state that spells this number,
  else the state that is a condition it meets (`>= 65 and < 75`);
- for a truth value, or the words true and false: a state of the pair true and false, yes and no, or 1 and 0,
  in any case, where the variable has both.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from unswayed.core.errors import ModelError
from unswayed.model.data.intervals import interval_cuts
from unswayed.model.data.tables import number_in, text_of
from unswayed.model.number_range import parse_range
from unswayed.model.variable import Variable

_TRUTHS = (("false", "true"), ("no", "yes"), ("0", "1"))


def find_state(variable: Variable, value: Any) -> int | None:
    """Position of the state that `value` means, or None.

    >>> age = Variable("age", ["<=30", "30..60", ">60"])
    >>> find_state(age, 41.5), find_state(age, "<=30"), find_state(age, "old")
    (1, 0, None)
    >>> find_state(Variable("age", ["< 65", ">= 65 and < 75", ">= 75"]), 71)
    1
    >>> find_state(Variable("smokes", ["no", "yes"]), True)
    1
    """
    if isinstance(value, str):
        found = _by_name(variable, value)
        return _by_text(variable, value) if found is None else found
    if type(value).__name__ in ("bool", "bool_"):  # numpy's is no subclass of Python's
        return _by_truth(variable, bool(value))
    if isinstance(value, Real):
        return _by_number(variable, float(value))
    return _by_name(variable, text_of(value))


def _by_name(variable: Variable, text: str) -> int | None:
    if text in variable.states:
        return variable.states.index(text)
    labelled = variable.about.states_called(text)
    return labelled[0] if len(labelled) == 1 else None


def _by_text(variable: Variable, text: str) -> int | None:
    number = number_in(text)
    if number is not None:
        return _by_number(variable, number)
    word = text.casefold()
    return _by_truth(variable, word == "true") if word in ("true", "false") else None


def _by_number(variable: Variable, number: float) -> int | None:
    if not math.isfinite(number):
        return None
    cuts = interval_cuts(variable)
    if cuts is not None:
        return int(cuts.searchsorted(number, side="left"))
    same = next((i for i, state in enumerate(variable.states) if number_in(state) == number), None)
    return _by_condition(variable, number) if same is None else same


def _by_condition(variable: Variable, number: float) -> int | None:
    """The state whose name is a condition that the number meets, as the items of points scores have them."""
    if not all(state[:1] in "<>=" for state in variable.states):
        return None
    try:
        ranges = [parse_range(state) for state in variable.states]
    except ModelError:
        return None
    return next((i for i, each in enumerate(ranges) if number in each), None)


def _by_truth(variable: Variable, truth: bool) -> int | None:
    folded = [state.casefold() for state in variable.states]
    pair = next((pair for pair in _TRUTHS if all(folded.count(word) == 1 for word in pair)), None)
    return None if pair is None else folded.index(pair[truth])
