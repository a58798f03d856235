"""The command `unswayed` and the list of its subcommands, each imported when it is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from unswayed.cli.completion import helping_bash
from unswayed.cli.interrupts import heeding_interrupts
from unswayed.cli.outcome import reporting
from unswayed.cli.output import note_later, noting
from unswayed.cli.progress import show_line
from unswayed.core.anytime import stoppable
from unswayed.kernels.jit import announce_compiling

MODULE_BY_COMMAND = {
    "decide": "decisions",
    "sdp": "decisions",
    "why": "why",
    "esdp": "decisions",
    "eca": "decisions",
    "maa": "decisions",
    "mpa": "decisions",
    "voi": "observations",
    "follow": "observations",
    "plan": "plan",
    "ask": "ask",
    "audit": "audit",
    "predict": "predict",
    "select": "selection",
    "trim": "selection",
    "frontier": "selection",
    "thresholds": "selection",
    "report": "report",
    "serve": "serve",
    "learn": "learn",
    "wrap": "wrap",
    "posterior": "posteriors",
    "mpe": "posteriors",
    "info": "networks",
    "convert": "networks",
    "draw": "networks",
    "examples": "networks",
    "demo": "demo",
    "paths": "structured",
    "rankings": "structured",
    "decode": "decode",
    "compile": "compile",
    "snb": "snb",
}
"""Where each command lives, below `unswayed.cli.commands`, in the order of the help."""


def make_app(commands: Iterable[str] = MODULE_BY_COMMAND) -> typer.Typer:
    """The command line with these commands, whose modules are imported."""
    app = typer.Typer(
        name="unswayed",
        no_args_is_help=True,
        # Plain help and usage errors: boxes cut paths in two, and take longer to draw than the answer.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_unswayed)
    for name in commands:
        module = import_module(f"unswayed.cli.commands.{MODULE_BY_COMMAND[name]}")
        if isinstance(group := getattr(module, "app", None), typer.Typer):
            app.add_typer(group)
        else:
            # `compile` would hide Python's own.
            app.command(name)(getattr(module, name, None) or getattr(module, f"{name}_"))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        import unswayed

        typer.echo(f"unswayed {unswayed.__version__}")
        raise typer.Exit


def _unswayed(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How robust are the decisions of a Bayesian-network classifier, and what is worth observing?

    Networks are files whose suffix names the format (.bif, .net, .xdsl, .uai, .xml, ...; .gz is unpacked), or
    examples by name: see 'unswayed examples'.
    """


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command line, that of the process by default, and leave with its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    named = [name for name in arguments[:1] if name in MODULE_BY_COMMAND]
    # A server has signals of its own, and nothing to finish.
    with (
        stoppable() if named == ["serve"] else heeding_interrupts() as budget,
        reporting(budget),
        noting(),
        announce_compiling(show_line),
        helping_bash(os.environ),
    ):
        # Not standalone: then usage errors come to `reporting`, and the exit code comes back.
        app = make_app(named or MODULE_BY_COMMAND)
        code = app(args=arguments, prog_name="unswayed", standalone_mode=False)
        if budget.stopped and not code:
            note_later("interrupted: this is the best so far")
    raise SystemExit(code)
