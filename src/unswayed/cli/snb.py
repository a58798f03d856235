"""The commands `snb fit`, `snb classify` and `snb score`: rankings and paths, learned and told apart."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.options import AsJson
from unswayed.cli.output import check_output, show, show_json

if TYPE_CHECKING:
    from rich.text import Text

    from unswayed.core.arrays import Floats
    from unswayed.spaces.classifier.files import SavedClassifier
    from unswayed.spaces.classifier.inputs import Observations

MOST_LINES = 20

app = typer.Typer(
    name="snb",
    help="Classify rankings and paths, and find odd ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Rankings (.soc, or .csv with a column for each position) or, with --graph, paths as lines of "
        "nodes. One file for each class, or one table with a column of classes.",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="What `snb fit` wrote.", show_default=False)]
DataFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Rankings or paths, as for fit.", show_default=False)
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT", help="The file to write.", show_default=False)
]
Label = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of classes in a table of rankings.", show_default=False),
]
GraphFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The graph of the paths: a .csv of edges, or .json.", show_default=False
    ),
]
Smoothing = Annotated[float, typer.Option(min=0, metavar="X", help="Added to every count.")]
Together = Annotated[
    bool, typer.Option("--together", help="All observations come from one source: one answer for all.")
]
NormalClass = Annotated[
    str | None,
    typer.Option("--class", metavar="NAME", help="The class that is normal.", show_default=False),
]
Prior = Annotated[float, typer.Option(metavar="P", help="Probability of an anomaly before anything is seen.")]
Worst = Annotated[int, typer.Option(min=1, metavar="N", help="How many of the oddest to show.")]


@app.command()
def fit(
    files: Files,
    *,
    output: Output,
    label: Label = None,
    graph: GraphFile = None,
    smoothing: Smoothing = 1.0,
    as_json: AsJson = False,
) -> None:
    """Learn a classifier from rankings or paths.

    A distribution for each class, and how often it occurred.
    """
    from rich.text import Text

    from unswayed.spaces.classifier.files import write_classifier
    from unswayed.spaces.classifier.inputs import learned, read_observations, recipe_of
    from unswayed.spaces.route_files import read_graph

    check_output(output)
    roads = None if graph is None else read_graph(graph)
    observed = [read_observations(file, are_paths=graph is not None, label=label) for file in files]
    recipe = recipe_of(observed, roads)
    names = [file.name.partition(".")[0] for file in files]
    classifier = learned(recipe, observed, names, smoothing=smoothing)
    write_classifier(classifier, output)
    facts = _facts(classifier)
    if as_json:
        show_json({"output": str(output), **facts})
    else:
        classes = ", ".join(f"{name} {weight:g}" for name, weight in facts["classes"].items())
        size = f"{facts['objects']:,} objects, {facts['parameters']:,} parameters for each class"
        show([Text(f"learned from {classes}"), Text(f"wrote {output}: {facts['space']}, {size}")])


def _facts(classifier: SavedClassifier) -> dict[str, Any]:
    space = classifier.space
    return {
        "space": space.description,
        "objects": space.size,
        "parameters": classifier.psdds[0].structure.n_parameters,
        "classes": dict(zip(classifier.classes, classifier.weights, strict=True)),
    }


@app.command()
def classify(
    model: ModelFile, file: DataFile, *, together: Together = False, as_json: AsJson = False
) -> None:
    """Say which class each observation is from.

    Or, with --together, all of them.
    """
    import numpy as np

    from unswayed.spaces.classifier.model import log_posteriors

    classifier, observed, scores = _scored(model, file)
    if together:
        scores = (scores * observed.weights[:, None]).sum(axis=0, keepdims=True)
    posteriors = np.exp(log_posteriors(classifier.log_prior, scores))
    names = ["all together"] if together else [", ".join(each) for each in observed.objects]
    if as_json:
        answers = [
            {
                "object": name,
                "class": classifier.classes[int(np.argmax(row))],
                "probabilities": dict(zip(classifier.classes, row.tolist(), strict=True)),
            }
            for name, row in zip(names, posteriors, strict=True)
        ]
        show_json({"answers": answers})
    else:
        show(_class_lines(classifier, names, posteriors))


def _class_lines(classifier: SavedClassifier, names: list[str], posteriors: Floats) -> list[Text]:
    import numpy as np
    from rich.text import Text

    best = np.argmax(posteriors, axis=1)
    lines = []
    if len(names) > 1:
        shares = np.bincount(best, minlength=len(classifier.classes))
        parts = [f"{name} {count}" for name, count in zip(classifier.classes, shares.tolist(), strict=True)]
        lines.append(Text(f"{len(names)} observations: {', '.join(parts)}"))
    width = max(map(len, classifier.classes))
    for name, k, row in list(zip(names, best.tolist(), posteriors, strict=True))[:MOST_LINES]:
        lines.append(Text(f"{classifier.classes[k]:{width}}  {row[k]:.4f}  {name}"))
    if len(names) > MOST_LINES:
        lines.append(Text(f"... and {len(names) - MOST_LINES} more; all of them with --json"))
    return lines


@app.command()
def score(
    model: ModelFile,
    file: DataFile,
    *,
    normal: NormalClass = None,
    prior: Prior = 0.5,
    worst: Worst = 10,
    as_json: AsJson = False,
) -> None:
    """Find observations that are odd, the oddest first.

    An observation is odd when chance explains it better than the normal class does.
    """
    import numpy as np

    from unswayed.core.errors import QueryError
    from unswayed.spaces.classifier.inputs import chosen_class

    if not 0 < prior < 1:
        raise QueryError(f"--prior must be between 0 and 1, not {prior:g}")
    classifier, observed, scores = _scored(model, file)
    found = scores[:, chosen_class(classifier, normal)] + math.log(classifier.space.size)
    threshold = math.log(prior / (1 - prior))
    order = np.argsort(found, kind="stable")[:worst]
    worst_ones = [(", ".join(observed.objects[i]), float(found[i])) for i in order.tolist()]
    n_odd = int((found < threshold).sum())
    if as_json:
        show_json(
            {
                "objects": len(found),
                "anomalous": n_odd,
                "threshold": threshold,
                "scores": found.tolist(),
                "oddest": [{"object": name, "score": value} for name, value in worst_ones],
            }
        )
    else:
        show(_score_lines(worst_ones, n_odd, len(found), threshold))


def _score_lines(
    worst_ones: list[tuple[str, float]], n_odd: int, n_objects: int, threshold: float
) -> list[Text]:
    from rich.text import Text

    lines = [
        Text(f"{n_odd} of {n_objects} are more probable by chance than as normal (score below {threshold:g})")
    ]
    for name, value in worst_ones:
        mark = "odd   " if value < threshold else "normal"
        lines.append(Text(f"{mark} {value:9.3f}  {name}"))
    return lines


def _scored(model: Path, file: Path) -> tuple[SavedClassifier, Observations, Floats]:
    """The classifier, the observations, and their log-likelihoods in each class."""
    from unswayed.circuits.psdd.query import log_likelihoods
    from unswayed.spaces.classifier.files import PathsOn, read_classifier
    from unswayed.spaces.classifier.inputs import read_observations

    classifier = read_classifier(model)
    observed = read_observations(file, are_paths=isinstance(classifier.recipe, PathsOn))
    rows = classifier.space.encode_many(observed.objects)
    return classifier, observed, log_likelihoods(classifier.psdds, rows)
