"""What Tab offers: examples and files, names of variables, and findings.

A shell asks while a line is being typed, so a line with mistakes offers nothing and raises nothing. Lists
(`A=a,B=b`) are completed at their last entry, findings (`A=!a`, `A=a|b`) at their last state.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from unswayed.model.network import BayesianNetwork

LARGEST_FILE = 5_000_000
"""Bytes of a network file that is read to complete a name."""
_COMPLETE_VARIABLE = "_UNSWAYED_COMPLETE"
"""Set by a shell that asks what to offer."""
_BASH_MARKS = "=:"
"""Signs at which bash divides words that are not quoted."""
_STATE_MARKS = frozenset(',"\\')
"""States with one of these need quotes."""
_FINDING_MARKS = frozenset("|:!")
"""States with one of these need quotes after `!` and beside `|`."""


def complete_network(incomplete: str) -> list[str]:
    """Examples and files that begin so."""
    from unswayed.api.examples import EXAMPLE_BY_NAME

    folder, _, start = incomplete.rpartition("/")
    here = Path(f"{folder}/" if folder or incomplete.startswith("/") else ".")
    offered = [name for name in EXAMPLE_BY_NAME if name.startswith(incomplete)]
    before = incomplete.removesuffix(start)
    with suppress(OSError):
        names = [(each.name, each.is_dir()) for each in sorted(here.iterdir())]
        offered += [
            f"{before}{name}{'/' * is_folder}"
            for name, is_folder in names
            if name.startswith(start) and (start or name[0] != ".")
        ]
    return offered


def complete_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Variables of the network, the last of a list."""
    known, word = _split(incomplete)
    return [f"{known}{name}" for name in _names(ctx) if name.startswith(word)]


def complete_targets(ctx: typer.Context, incomplete: str) -> list[str]:
    """Variables of the network with `=`; once only one is meant, that one with each of its states."""
    return _complete_pairs(ctx, incomplete, _list_states)


def complete_findings(ctx: typer.Context, incomplete: str) -> list[str]:
    """The same, and the states that may follow `!` and `|`."""
    return _complete_pairs(ctx, incomplete, _list_findings)


def _complete_pairs(
    ctx: typer.Context, incomplete: str, complete: Callable[[str, Sequence[str]], Iterable[str]]
) -> list[str]:
    """The last pair of a list; `complete` goes on with what stands after its equals sign."""
    known, word = _split(incomplete)
    names = [name for name in _names(ctx) if f"{name}=".startswith(word) or word.startswith(f"{name}=")]
    if len(names) != 1:
        return [f"{known}{name}=" for name in names]
    network = _network(ctx)
    states = network.variable(names[0]).states if network is not None else ()
    plain = [state for state in states if not set(state) & _STATE_MARKS]
    ends = complete(word.partition("=")[2], plain)
    return [f"{known}{names[0]}={end}" for end in ends]


def _list_states(start: str, states: Sequence[str]) -> Iterable[str]:
    return [state for state in states if state.startswith(start)]


def _list_findings(start: str, states: Sequence[str]) -> Iterable[str]:
    """How a finding goes on: `re` with `red`, `!re` with `!red`, `red|` with the other states.

    >>> list(_list_findings("!r", ["green", "red"])), list(_list_findings("red|", ["green", "red"]))
    (['!red'], ['red|green'])
    >>> list(_list_findings("red:0.5|g", ["green", "red"]))
    ['red:0.5|green:']
    """
    negation = "!" if start.startswith("!") else ""
    before, bar, word = start.removeprefix("!").rpartition("|")
    named = {piece.partition(":")[0].strip() for piece in before.split("|")}
    # Likelihoods are given to every state that is named, or to none.
    colon = ":" if ":" in before else ""
    simple = [state for state in states if not (negation or bar) or not set(state) & _FINDING_MARKS]
    found = [state for state in _list_states(word, simple) if state not in named]
    return [f"{negation}{before}{bar}{state}{colon}" for state in found]


@contextmanager
def helping_bash(environment: MutableMapping[str, str]) -> Iterator[None]:
    """Where bash asks, undo that it divides words at `=` and `:`, and print what it is to insert."""
    if environment.get(_COMPLETE_VARIABLE) != "complete_bash":
        yield
        return
    n_words = int(environment.get("COMP_CWORD", 0)) + 1
    words = _join_words(environment.get("COMP_WORDS", "").split("\n")[:n_words])
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    shown = sys.stdout
    with redirect_stdout(io.StringIO()) as offered:
        try:
            yield
        finally:
            start = _start_of_insert(words[-1])
            shown.write("".join(f"{line[start:]}\n" for line in offered.getvalue().splitlines()))


def _start_of_insert(word: str) -> int:
    """How much of what is offered for a word bash keeps: up to the last `=` or `:`, unless it is quoted.

    >>> _start_of_insert("R1=+,AC="), _start_of_insert("'AC="), _start_of_insert("--evidence=AC=")
    (8, 0, 3)
    """
    if set(word) & set("'\""):
        return 0
    # Nothing that is offered begins with an option and its equals sign.
    value = word.partition("=")[2] if word.startswith("--") else word
    return max(value.rfind(mark) for mark in _BASH_MARKS) + 1


def _join_words(divided: Iterable[str]) -> list[str]:
    """The words of a line that bash has divided.

    >>> _join_words(["sdp", "review", "-e", "R1", "=", "+,AC", "=", ""])
    ['sdp', 'review', '-e', 'R1=+,AC=']
    """
    words: list[str] = []
    goes_on = False
    for word in divided:
        is_mark = bool(word) and not set(word) - set(_BASH_MARKS)
        if words and (is_mark or goes_on):
            words[-1] += word
        else:
            words.append(word)
        goes_on = is_mark
    return words


def _split(incomplete: str) -> tuple[str, str]:
    """What is complete of a list, comma included, and what is not."""
    known, comma, word = incomplete.rpartition(",")
    return known + comma, word


def _names(ctx: typer.Context) -> Iterable[str]:
    """Names that need no quoting."""
    network = _network(ctx)
    names = network.names if network is not None else ()
    return [name for name in names if not set(name) & set(',="\\ ')]


def _network(ctx: typer.Context) -> BayesianNetwork | None:
    """The network that the line names so far; None where it names none that can be read quickly."""
    from unswayed.cli.options import network_in
    from unswayed.core.errors import UnswayedError

    word = ctx.params.get("network") or _first_word()
    if word is None:
        return None
    path = Path(word)
    with suppress(UnswayedError, OSError):
        if not path.exists() or path.stat().st_size <= LARGEST_FILE:
            return network_in(path, normalize=True)
    return None


def _first_word() -> str | None:
    """The first word after the command that is no option: an option without its value hides it from typer."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    try:
        words = shlex.split(line)
    except ValueError:  # the word being typed has but its first quote
        words = line.split()
    return next((word for word in words[2:] if not word.startswith("-")), None)
