"""Signatures that say what a verb takes: the options behind `**options`, one by one.

Verbs share their options as a `TypedDict`, which type checkers and editors read. `help` and
`inspect.signature` do not: `spelled_out` gives them the keyword arguments themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from unswayed.core.limits import DEFAULT_LIMITS

_DEFAULTS: Final = {"at_least": 0.95, "jobs": 1, "limits": DEFAULT_LIMITS}
"""Of options that are neither None nor False where they are left out."""


def spelled_out(verb: Callable[..., Any]) -> inspect.Signature:
    """The signature of a verb, with each key of its `**options: Unpack[...]` as a keyword argument."""
    signature = inspect.signature(verb)
    return signature.replace(parameters=list(_parameters(verb, signature)))


def _parameters(verb: Callable[..., Any], signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    for parameter in signature.parameters.values():
        packed = str(parameter.annotation)
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD or not packed.startswith("Unpack["):
            yield parameter
            continue
        options = inspect.unwrap(verb).__globals__[packed.removeprefix("Unpack[").removesuffix("]")]
        for name, kind in options.__annotations__.items():
            text = getattr(kind, "__forward_arg__", kind)
            default = _DEFAULTS.get(name, False if text == "bool" else None)
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=text)
