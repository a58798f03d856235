"""The command `unswayed` and the list of its subcommands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from unswayed.cli.ask import ask
from unswayed.cli.audit import audit
from unswayed.cli.compile import compile_
from unswayed.cli.decisions import decide, eca, esdp, sdp
from unswayed.cli.decode import decode
from unswayed.cli.demo import demo
from unswayed.cli.examples import examples
from unswayed.cli.history import follow
from unswayed.cli.learn import learn
from unswayed.cli.networks import convert, info
from unswayed.cli.observations import voi
from unswayed.cli.outcome import reporting
from unswayed.cli.pictures import draw
from unswayed.cli.plan import plan
from unswayed.cli.posteriors import mpe, posterior
from unswayed.cli.progress import show_line
from unswayed.cli.report import report
from unswayed.cli.selection import frontier, select, trim
from unswayed.cli.snb import app as snb
from unswayed.cli.structured import paths, rankings
from unswayed.cli.thresholds import thresholds
from unswayed.cli.why import why
from unswayed.kernels.jit import announce_compiling

app = typer.Typer(
    name="unswayed",
    no_args_is_help=True,
    # Plain help and usage errors: boxes cut paths in two, and take longer to draw than the answer.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    decide,
    sdp,
    why,
    esdp,
    eca,
    voi,
    follow,
    plan,
    ask,
    audit,
    select,
    trim,
    frontier,
    thresholds,
    report,
    learn,
    posterior,
    mpe,
    info,
    convert,
    draw,
    examples,
    demo,
    paths,
    rankings,
    decode,
):
    app.command()(command)
app.command("compile")(compile_)
app.add_typer(snb)


def _print_version(wanted: bool) -> None:
    if wanted:
        import unswayed

        typer.echo(f"unswayed {unswayed.__version__}")
        raise typer.Exit


@app.callback()
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
    with reporting(), announce_compiling(show_line):
        # Not standalone: then usage errors come to `reporting`, and the exit code comes back.
        raise SystemExit(app(args=arguments, prog_name="unswayed", standalone_mode=False))
