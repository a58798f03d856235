"""What Tab offers: examples and files, names of variables, and findings.

A shell asks while a line is being typed, so a line with mistakes offers nothing and raises nothing. Lists
(`A=a,B=b`) are completed at their last entry.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from unswayed.model.network import BayesianNetwork

LARGEST_FILE = 5_000_000
"""Bytes of a network file that is read to complete a name."""


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


def complete_findings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Variables of the network with `=`; once only one is meant, that one with each of its states."""
    known, word = _split(incomplete)
    names = [name for name in _names(ctx) if f"{name}=".startswith(word) or word.startswith(f"{name}=")]
    if len(names) != 1:
        return [f"{known}{name}=" for name in names]
    network = _network(ctx)
    states: Sequence[str] = network.variable(names[0]).states if network is not None else ()
    return [f"{known}{names[0]}={state}" for state in states if f"{names[0]}={state}".startswith(word)]


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
    with suppress(ValueError):
        return next((word for word in shlex.split(line)[2:] if not word.startswith("-")), None)
    return None
