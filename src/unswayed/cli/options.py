"""Options that several commands share, and the objects their words stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.completion import complete_findings, complete_names, complete_network, complete_targets
from unswayed.cli.evidence import names_in
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from unswayed.core.limits import Limits
    from unswayed.model.data.csv import CsvFile
    from unswayed.model.network import BayesianNetwork

TABLE_SUFFIXES = (".csv", ".tsv", ".txt")


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option, by default called as its parameter is; `metavar` stands for its value in the help."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def output_file(metavar: str, help: str) -> Any:
    """The option that names the file to write."""
    return option(metavar, help, "--output", "-o")


def flag(name: str, help: str, **more: Any) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """A word that is given without the name of an option."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


NetworkFile = Annotated[
    Path,
    argument(
        "NETWORK",
        "A network file, '-' for standard input, or the name of an example (see 'unswayed examples').",
        autocompletion=complete_network,
    ),
]
Format = Annotated[
    str | None,
    option(
        "NAME",
        "The format of NETWORK where its suffix does not say: bif, dne, dsc, dsl, erg, net, uai, xdsl "
        "or xmlbif.",
        "--format",
    ),
]
AsJson = Annotated[bool, flag("--json", "Print one JSON object instead of text.")]
Normalize = Annotated[bool, flag("--normalize", "Rescale rows of probabilities that do not sum to 1.")]
Certain = Annotated[
    bool,
    flag("--certain", "Refuse where nothing certain can be said, instead of estimating it from samples."),
]
Exact = Annotated[
    bool,
    flag("--exact", "Ask for the exact value, however long it takes; by default a second or so decides."),
]
AllowEstimates = Annotated[
    bool, flag("--allow-estimates", "The default; kept for older scripts.", hidden=True)
]
Evidence = Annotated[
    list[str] | None,
    option(
        "A=a,B=b",
        "What was observed; may be repeated. A variable of intervals takes a number (age=52.3). One of "
        "several states: 'BP=HIGH|NORMAL'; any but one: 'BP=!HIGH'; likelihoods: 'BP=HIGH:0.7|LOW:0.2'; the "
        "quotes are for the shell. Put a name or state with commas or equals signs in double quotes, or \\ "
        "before each.",
        "--evidence",
        "-e",
        autocompletion=complete_findings,
    ),
]
Target = Annotated[
    str | None,
    option(
        "D=+",
        "What is decided about, and its positive state. Without a state (D), the decision is the "
        "most probable state. Several at once: A=a,B=b decides which of these faults it is, A,B which "
        "combination of states. May be left out where the file says it: targets of a diagnosis, an influence "
        "diagram, a naive Bayes classifier.",
        autocompletion=complete_targets,
    ),
]
Threshold = Annotated[
    float | None,
    option("T", "Decide for the positive state when its posterior is at least this; 0.5 by default."),
]
UtilitiesFile = Annotated[
    Path | None,
    option(
        "FILE",
        "Decide by highest expected utility: a .json or .csv file with the worth of each action in "
        "each state of the target.",
    ),
]
Features = Annotated[
    list[str] | None,
    option(
        "A,B",
        "What may be observed: names, 'all' variables but the target, or the 'leaves' of the network. "
        "By default the file's observations; all where each is a child of the target or one alone is a "
        "leaf; else the leaves.",
        autocompletion=complete_names,
    ),
]
Cost = Annotated[
    list[str] | None,
    option(
        "A=2,B=0.5",
        "What features cost; may be repeated. A feature without a cost costs 1.",
        autocompletion=complete_names,
    ),
]
CostsFile = Annotated[Path | None, option("FILE", "A CSV file of features and their costs.")]
Thousands = Annotated[
    list[str] | None,
    option(
        "A,B",
        "Columns of a CSV file whose points separate thousands (8.767 is 8767); may be repeated.",
        "--thousands",
    ),
]
MaxMemory = Annotated[
    float | None, option("GB", "Refuse an answer that needs more memory than this.", "--max-memory")
]
Jobs = Annotated[int, option("N", "Processes that may search at once; the answer is the same.")]
CheckpointFile = Annotated[
    Path | None,
    option("FILE", "Save the state of the search here; the same command resumes from it.", "--checkpoint"),
]
MaxSeconds = Annotated[float | None, option("S", "Answer as well as this time allows.", "--max-seconds")]


def network_in(path: Path, *, normalize: bool, format: str | None = None) -> BayesianNetwork:
    """The network in a file, else the bundled one of this name; `FormatError` tells what was expected."""
    from unswayed.core.errors import FormatError
    from unswayed.model.formats.files import STDIN, name_after_file, read_network

    if str(path) == STDIN and format is None:
        raise QueryError(
            "name the format of what comes through standard input with --format, such as --format bif"
        )
    from unswayed.cli.scores import score_at  # which needs this file

    if format is None and (score := score_at(path)) is not None:
        from unswayed.model.nodes.points import score_network

        return score_network(score)
    if format is not None:
        return name_after_file(read_network(path, normalize=normalize, format=format), path)
    if not path.suffix and not path.exists():
        from unswayed.api.examples import EXAMPLE_BY_NAME
        from unswayed.core.names import unknown_name
        from unswayed.model.scores import NAMES

        example = EXAMPLE_BY_NAME.get(str(path))
        if example is None:
            hint = unknown_name("example", str(path), [*EXAMPLE_BY_NAME, *NAMES])
            raise FormatError(f"no such file, and no network that comes with unswayed: {hint}", path)
        return example.make()

    if path.is_dir():
        raise FormatError("is a folder; name a network file in it", path)
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if plain.suffix.lower() in TABLE_SUFFIXES:
        raise FormatError(
            "a network is expected here, and this looks like a table; learn a classifier from it first, with "
            f"unswayed learn {path} --target COLUMN -o {plain.stem}.bif",
            path,
        )
    return name_after_file(read_network(path, normalize=normalize), path)


def rows_in(table: Path, thousands: Sequence[str] | None) -> Path | CsvFile:
    """The table that a line names, with the columns that it says have points between thousands."""
    if not thousands:
        return table
    from unswayed.model.data.csv import open_csv

    return open_csv(table, thousands=names_in(thousands))


def limits_of(max_memory: float | None, max_seconds: float | None) -> Limits:
    """The limits that the options set, the library's own where they are left out."""
    from unswayed.core.limits import Limits

    for option, value in (("--max-memory", max_memory), ("--max-seconds", max_seconds)):
        if value is not None and not 0 < value < math.inf:
            raise QueryError(f"{option} must be a positive number, not {value:g}")
    max_bytes = DEFAULT_LIMITS.max_bytes if max_memory is None else math.ceil(max_memory * 1e9)
    return Limits(max_bytes=max_bytes, max_seconds=max_seconds)
