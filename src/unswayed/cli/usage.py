"""Mistakes in commands and options, said as every other error is: one sentence, and where help is.

Typer would print the usage, an advice and a verdict, of which only the verdict says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import typer

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The parent of `typer.BadParameter`, which typer takes from click, or from a copy of it, by version."""

_EXPECTED = {
    "float_parsing": "a number",
    "int_parsing": "a whole number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
"""What a value should have been, by the type of the failed check."""
_NO_COMMAND = re.compile(r"No such command '(.*?)'")


def usage_message(error: Any) -> str:
    """What is wrong with the options, and which help to read.

    >>> usage_message(typer.BadParameter("'x' is not one of 'a', 'b'.", param_hint="'--way'"))
    "invalid value for '--way': 'x' is not one of 'a', 'b'"
    """
    said = _failed_check(error) or _unknown(error) or _lowered(error.format_message().strip().rstrip("."))
    if error.ctx is None:
        return said
    return f"{said}{'' if said.endswith('?') else ';'} see '{error.ctx.command_path} --help'"


def is_help(error: Any) -> bool:
    """Whether nothing was typed, so that the answer is the help text."""
    return bool(error.ctx is not None and error.format_message() == error.ctx.get_help())


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _unknown(error: Any) -> str | None:
    """The command or option that does not exist, and the nearest that does; None for other mistakes."""
    from unswayed.core.names import unknown_name

    if (command := _NO_COMMAND.match(error.format_message())) is not None:
        return unknown_name("command", command[1], list(error.ctx.command.commands))
    if (option := getattr(error, "option_name", None)) is not None and hasattr(error, "possibilities"):
        known = [name for each in error.ctx.command.params for name in each.opts if name.startswith("--")]
        return unknown_name("option", option, known)
    return None


def _failed_check(error: Any) -> str | None:
    """What was found and what was expected, where a check of the value's type tells; else None."""
    errors: Callable[[], list[Mapping[str, Any]]] | None = getattr(error.__cause__, "errors", None)
    if errors is None or error.param is None:
        return None
    first = errors()[0]
    name = max(error.param.opts, key=len) if error.param.opts[0].startswith("-") else error.param.metavar
    if first["type"] in _EXPECTED:
        expected = _EXPECTED[first["type"]].format(**first.get("ctx", {}))
        return f"{name} is {first['input']!r}; expected {expected}"
    return f"{name}: {first['msg'].removeprefix('Value error, ').rstrip('.')}"
