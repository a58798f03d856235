"""The command `learn`: a classifier from a table."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unswayed.cli.evidence import assignment, names_in
from unswayed.cli.options import AsJson, Thousands, argument, option, output_file, rows_in
from unswayed.cli.outcome import complain
from unswayed.cli.output import check_output, say
from unswayed.cli.progress import showing_words
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.model.data.census import Census
    from unswayed.model.data.discretize import CutMethod
    from unswayed.model.network import BayesianNetwork

DEFAULT_BINS = 5


class Structure(StrEnum):
    """The words for `--structure`."""

    NAIVE = "naive"
    TAN = "tan"
    FOCS = "focs"


class DiscretizeWord(StrEnum):
    """The words for `--discretize`."""

    MDL = "mdl"
    FREQUENCY = "frequency"
    WIDTH = "width"
    MEAN = "mean"


TableFile = Annotated[
    Path, argument("TABLE", "A CSV, Parquet or Arrow file with column names, or a folder of Parquet files.")
]
Target = Annotated[str, option("COLUMN", "The class to predict.")]
Output = Annotated[Path, output_file("OUT", "The network file to write.")]
StructureWord = Annotated[
    Structure,
    option(
        None,
        "Naive Bayes; with a tree over the features (tan); or the target as a function of all features "
        "by contexts (focs), to a .json file.",
        "--structure",
    ),
]
Smoothing = Annotated[float, option("X", "Added to every count.")]
MethodWord = Annotated[
    DiscretizeWord,
    option(
        None,
        "Where to cut columns of numbers: where that informs about the target (mdl), into bins of equal "
        "frequency or width, or at the mean.",
        "--discretize",
    ),
]
Bins = Annotated[int | None, option("N", f"Bins for frequency and width; {DEFAULT_BINS} by default.", min=2)]
Cuts = Annotated[list[str] | None, option("COLUMN=X,Y", "Cut points of a column; may be repeated.", "--cut")]
MaxCategories = Annotated[
    int, option("N", "Leave columns of at most this many distinct integers uncut.", min=0)
]
Ignored = Annotated[list[str] | None, option("A,B", "Leave these columns out; may be repeated.", "--ignore")]
Weights = Annotated[str | None, option("COLUMN", "The column that says how much each row counts.")]


def learn(
    table: TableFile,
    *,
    target: Target,
    output: Output,
    structure: StructureWord = Structure.NAIVE,
    smoothing: Smoothing = 1.0,
    discretize: MethodWord = DiscretizeWord.MDL,
    bins: Bins = None,
    cuts: Cuts = None,
    max_categories: MaxCategories = 10,
    ignored: Ignored = None,
    weights: Weights = None,
    thousands: Thousands = None,
    as_json: AsJson = False,
) -> None:
    """Learn a classifier from a table; write it as a network file."""
    from dataclasses import asdict

    from unswayed.model.data.census import infer_variables
    from unswayed.model.data.column_warnings import list_column_warnings
    from unswayed.model.data.discretize import Discretization
    from unswayed.model.formats.files import write_network
    from unswayed.view.summaries import learned_lines, size_text, summarize_census

    discretization = Discretization(_cut_method(discretize, bins), _cut_points(cuts or ()), max_categories)
    check_output(output)
    left_out = tuple(names_in(ignored or ()))
    if target in left_out:
        raise QueryError(f"--ignore leaves out the target {target!r}; leave it in")
    with showing_words() as show_words:
        report = None if show_words is None else lambda done, n: show_words(f"{n:,} rows {done}")
        census = infer_variables(
            rows_in(table, thousands),
            target,
            discretization=discretization,
            weights=weights,
            ignored=left_out,
            report=report,
        )
        network = _classifier(census, target, structure, smoothing)
    write_network(_named(network, table), output)
    for words in list_column_warnings(census.seen, target):
        complain("warning", words)
    facts = summarize_census(census, target)
    answer = {"output": str(output), "structure": structure, **asdict(facts)}
    say(answer, [*learned_lines(facts), f"wrote {output}: {size_text(network)}"], as_json=as_json)


def _cut_method(word: DiscretizeWord, bins: int | None) -> CutMethod:
    from unswayed.model.data.discretize import AtMean, EntropyMdl, EqualFrequency, EqualWidth

    match word:
        case DiscretizeWord.FREQUENCY:
            return EqualFrequency(bins or DEFAULT_BINS)
        case DiscretizeWord.WIDTH:
            return EqualWidth(bins or DEFAULT_BINS)
    if bins is not None:
        raise QueryError(
            f"--bins goes with --discretize frequency or width; {word} chooses the number itself"
        )
    return EntropyMdl() if word is DiscretizeWord.MDL else AtMean()


def _cut_points(words: Sequence[str]) -> dict[str, list[float]]:
    """Cut points by column, from words such as `age=30,45.5`."""
    expected = "COLUMN=NUMBER,NUMBER, such as age=30,45.5"
    found = {}
    for word in words:
        name, numbers = assignment(word, expected=expected)
        try:
            found[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            raise QueryError(f"cannot read {word!r}; expected {expected}") from None
    return found


def _classifier(census: Census, target: str, structure: Structure, smoothing: float) -> BayesianNetwork:
    from unswayed.learning.classifiers import learn_naive_bayes, learn_tan

    match structure:
        case Structure.NAIVE:
            return learn_naive_bayes(census, target, smoothing=smoothing)
        case Structure.TAN:
            return learn_tan(census, target, smoothing=smoothing)
        case Structure.FOCS:
            import numpy as np

            from unswayed.focs.learn.cpts import learn_context_network
            from unswayed.model.data.census import read_coded
            from unswayed.model.data.dataset import join_datasets

            rows = join_datasets(list(read_coded(census)))
            return learn_context_network(rows, target, smoothing=smoothing, rng=np.random.default_rng(0))


def _named(network: BayesianNetwork, table: Path) -> BayesianNetwork:
    """The network under the name of the table it was learned from."""
    from unswayed.model.network import BayesianNetwork

    return BayesianNetwork(network.cpts, table.name.partition(".")[0].strip())
