"""How a command ends: errors as one message and an exit code, warnings as one line each.

| exit code | meaning |
|---|---|
| 0 | the answer was printed, after Ctrl-C the best so far |
| 1 | the reader of our output went away |
| 2 | the question could not be answered as asked: every `UnswayedError`, and wrong usage |
| 130 | interrupted from the keyboard before there was any answer |

Anything else that is raised is a bug of ours and keeps its traceback.

**Usage.** Mistakes in commands and options, said as every other error is: one sentence, and where help is.
Typer would print the usage, an advice and a verdict, of which only the verdict says what is wrong.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from unswayed.core.anytime import Budget, BudgetSpent
from unswayed.core.errors import UnswayedError, UnswayedWarning

BROKEN_PIPE = 1
UNANSWERED = 2
INTERRUPTED = 130

OPTION_BY_ARGUMENT = {
    "normalize=True": "--normalize",
    "Limits(max_bytes=...)": "--max-memory",
    "Limits(max_seconds=...)": "--max-seconds",
    "in Discretization(cuts_by_column=...)": "with --cut",
    "in open_csv(thousands=...)": "with --thousands",
    "with format='bif'": "with --format, such as --format bif",
    "with allow_estimates=True": "by leaving out --certain",
    "allow_estimates=True": "leaving out --certain",
    "with whole=True": "with --all",
    "reward=NegativeEntropy()": "--reward entropy",
    "start again with follow() to change it": "leave one of them out",
    "(max_seconds)": "(--max-seconds)",
    "(max_bytes)": "(--max-memory)",
    "(tolerance=": "(--tolerance ",
    "exact=True": "--exact",
    "the level must lie": "--at-least must lie",
    "jobs must be": "--jobs must be",
    "most must be": "--most must be",
    "max_depth must be": "--max-depth must be",
    "max_leaves must be": "--max-leaves must be",
    "smoothing must be": "--smoothing must be",
    "for paths, give a graph": "for paths, give a graph with --graph",
}
"""Messages of the library advise its callers; here the caller has options instead of arguments."""


@contextmanager
def reporting(budget: Budget | None = None) -> Iterator[None]:
    """Turn whatever happens inside into messages on stderr and a `SystemExit`.

    Where the budget was stopped from the keyboard, an answer is the best so far, and none is no error.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UnswayedWarning)
            warnings.showwarning = _show_warning
            try:
                yield
            finally:
                # Here and not at exit, where a closed pipe could no longer be caught.
                sys.stdout.flush()
    except UnswayedError as error:
        if budget is not None and budget.stopped:
            raise SystemExit(INTERRUPTED) from None
        complain("error", str(error))
        raise SystemExit(UNANSWERED) from None
    except UsageError as error:
        if is_help(error):
            print(error, file=sys.stderr)
        else:
            complain("error", usage_message(error))
        raise SystemExit(UNANSWERED) from None
    except MemoryError:
        complain(
            "error", "this computer has too little free memory for the answer; set --max-memory below it"
        )
        raise SystemExit(UNANSWERED) from None
    except (BudgetSpent, KeyboardInterrupt):
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # What is still in the buffer would raise again when Python flushes it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE) from None


def complain(kind: str, message: str) -> None:
    """Print on stderr the kind, then the message as the command line would put it.

    A message is one line, unless it holds a list, whose indented entries keep theirs.
    """
    message = with_options(message)
    if "\n  " not in message:
        message = " ".join(message.splitlines())
    print_wrapped(f"{kind}: {message}")


def print_wrapped(text: str) -> None:
    """Print on stderr, wrapped at words where that is a terminal, each line whole elsewhere."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        lines = (_wrap_line(line, width) for line in text.splitlines())
        text = "\n".join(lines)
    print(text, file=sys.stderr)


def _wrap_line(line: str, width: int) -> str:
    """A line in a width, what follows indented below it; long names stay whole."""
    indent = line[: len(line) - len(line.lstrip())] + "  "
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def with_options(message: str) -> str:
    """The library's advice with options in place of arguments.

    >>> with_options("raise Limits(max_bytes=...)")
    'raise --max-memory'
    """
    for argument, option in OPTION_BY_ARGUMENT.items():
        message = message.replace(argument, option)
    return message


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """The signature is that of `warnings.showwarning`."""
    if issubclass(category, UnswayedWarning):
        complain("warning", str(message))
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), file=sys.stderr, end="")


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
