"""The commands `snb fit`, `snb classify` and `snb score`: rankings and paths, learned and told apart.

`snb_decisions.py` has `snb sdp` and `snb next`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.commands.snb_decisions import next_, sdp
from unswayed.cli.options import AsJson, argument, flag, option, output_file
from unswayed.cli.output import check_output, say

if TYPE_CHECKING:
    from unswayed.core.arrays import Floats
    from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
    from unswayed.spaces.classifier.inputs import Observations
    from unswayed.spaces.maps.parts import MapPart

MOST_LINES = 20

app = typer.Typer(
    name="snb",
    help="Classify rankings and paths, and find odd ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command()(sdp)
app.command("next")(next_)

Files = Annotated[
    list[Path],
    argument(
        "FILE",
        "Rankings (.soc, or .csv with a column for each position) or, with --graph, paths as lines of "
        "nodes. One file for each class, or one table with a column of classes.",
    ),
]
ModelFile = Annotated[Path, argument("MODEL", "What `snb fit` wrote.")]
DataFile = Annotated[Path, argument("FILE", "Rankings or paths, as for fit.")]
Output = Annotated[Path, output_file("OUT", "The file to write.")]
Label = Annotated[str | None, option("COLUMN", "The column of classes in a table of rankings.")]
GraphFile = Annotated[Path | None, option("FILE", "The graph of the paths: a .csv of edges, or .json.")]
Smoothing = Annotated[
    str,
    option(
        "X",
        "Added to every count; 'uniform:X' for X examples spread over all objects; 'held-out' for the "
        "one that explains held-out examples best.",
    ),
]
Directed = Annotated[bool, flag("--directed", "Edges of the graph are one-way streets.")]
SplitMap = Annotated[
    bool,
    flag(
        "--split-map",
        "Split a large map into regions, learn on the paths that enter none of them twice, and say "
        "how many trips do.",
    ),
]
CutMap = Annotated[
    bool,
    flag("--cut-map", "Learn on the part of a large map that most trips use, and say what it leaves out."),
]
EraseLoops = Annotated[
    bool, flag("--erase-loops", "Shorten trips that visit a node twice instead of leaving them out.")
]
Together = Annotated[bool, flag("--together", "All observations come from one source: one answer for all.")]
NormalClass = Annotated[str | None, option("NAME", "The class that is normal.", "--class")]
Prior = Annotated[float, option("P", "Probability of an anomaly before anything is seen.")]
Worst = Annotated[int, option("N", "How many of the oddest to show.", min=1)]


@app.command()
def fit(
    files: Files,
    *,
    output: Output,
    label: Label = None,
    graph: GraphFile = None,
    directed: Directed = False,
    erase_loops: EraseLoops = False,
    split_map: SplitMap = False,
    cut_map: CutMap = False,
    smoothing: Smoothing = "1",
    as_json: AsJson = False,
) -> None:
    """Learn a classifier from rankings or paths.

    A distribution for each class, and how often it occurred.
    """
    from unswayed.core.errors import QueryError
    from unswayed.spaces.classifier.files import save_structured
    from unswayed.spaces.classifier.inputs import learn_observations, read_observations, space_of, stay_inside
    from unswayed.spaces.route_files import read_graph

    check_output(output)
    roads = None if graph is None else read_graph(graph, directed=directed)
    observed = [
        read_observations(file, are_paths=graph is not None, label=label, erase_loops=erase_loops)
        for file in files
    ]
    if split_map and cut_map:
        raise QueryError("give --split-map or --cut-map, not both")
    lines: list[str] = []
    regions = None
    if (split_map or cut_map) and roads is not None:
        observed, part = stay_inside(observed, roads, into_regions=split_map)
        roads, regions = part.graph, part.regions
        lines.append(_part_line(part))
    space = space_of(observed, roads, regions)
    names = [file.name.partition(".")[0] for file in files]
    classifier = learn_observations(space, observed, names, smoothing=_prior_of(smoothing))
    save_structured(classifier, output)
    facts = _facts(classifier)
    classes = ", ".join(f"{name} {weight:g}" for name, weight in facts["classes"].items())
    size = f"{facts['objects']:,} objects, {facts['parameters']:,} parameters for each class"
    lines.append(f"learned from {classes}")
    if smoothing == "held-out":
        lines.append(f"prior that explains examples held out best: {facts['smoothing']}")
    lines.append(f"wrote {output}: {facts['space']}, {size}")
    say({"output": str(output), **facts}, lines, as_json=as_json)


def _part_line(part: MapPart) -> str:
    """What became of a large map, and how many trips that costs."""
    share = part.share_outside
    n_nodes = f"{len(part.graph.nodes):,} nodes"
    if part.regions is None:
        what, do = f"the part of the map that most trips use has {n_nodes}", "leave it"
    else:
        what, do = f"the map of {n_nodes} is split into {part.regions.n_leaves} regions", "enter one twice"
    sure = f"at most {share.high:.1%} with {share.confidence:.0%} confidence"
    return f"{what}; {share.value:.1%} of trips {do} ({sure})"


def _prior_of(text: str) -> Any:
    """What the option --smoothing says: a number, `uniform:NUMBER` or `held-out`."""
    from unswayed.circuits.psdd.learn import UniformExamples
    from unswayed.core.errors import QueryError

    if text == "held-out":
        return text
    kind, _, amount = text.rpartition(":")
    try:
        number = float(amount)
    except ValueError:
        number = -1.0
    if kind not in ("", "uniform") or not 0 <= number < math.inf:
        raise QueryError(
            f"--smoothing is {text!r}; expected a number of at least 0, 'uniform:NUMBER' or 'held-out'"
        )
    return UniformExamples(number) if kind else number


def _facts(classifier: StructuredNaiveBayes) -> dict[str, Any]:
    space: Any = classifier.structured
    return {
        "space": space.description,
        "objects": space.size,
        "parameters": space.structure.n_parameters,
        "classes": dict(zip(classifier.classes_.tolist(), classifier.counts_.classes.tolist(), strict=True)),
        "smoothing": repr(classifier.priors_[0]),
    }


@app.command()
def classify(
    model: ModelFile, file: DataFile, *, together: Together = False, as_json: AsJson = False
) -> None:
    """Say which class each observation is from.

    Or, with --together, all of them.
    """
    import numpy as np

    from unswayed.spaces.classifier.inputs import write_object
    from unswayed.spaces.classifier.model import log_posteriors

    classifier, observed, scores = _scored(model, file)
    classes = classifier.classes_.tolist()
    if together:
        scores = (scores * observed.weights[:, None]).sum(axis=0, keepdims=True)
    posteriors = np.exp(log_posteriors(classifier.model_.log_prior, scores))
    names = ["all together"] if together else [write_object(each) for each in observed.objects]
    answers = [
        {
            "object": name,
            "class": classes[int(np.argmax(row))],
            "probabilities": dict(zip(classes, row.tolist(), strict=True)),
        }
        for name, row in zip(names, posteriors, strict=True)
    ]
    say({"answers": answers}, _class_lines(classes, names, posteriors), as_json=as_json)


def _class_lines(classes: list[str], names: list[str], posteriors: Floats) -> list[str]:
    import numpy as np

    best = np.argmax(posteriors, axis=1)
    lines = []
    if len(names) > 1:
        shares = np.bincount(best, minlength=len(classes))
        parts = [f"{name} {count}" for name, count in zip(classes, shares.tolist(), strict=True)]
        lines.append(f"{len(names)} observations: {', '.join(parts)}")
    width = max(map(len, classes))
    for name, k, row in list(zip(names, best.tolist(), posteriors, strict=True))[:MOST_LINES]:
        lines.append(f"{classes[k]:{width}}  {row[k]:.4f}  {name}")
    if len(names) > MOST_LINES:
        lines.append(f"... and {len(names) - MOST_LINES} more; all of them with --json")
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

    from unswayed.circuits.psdd.query import log_likelihood
    from unswayed.circuits.psdd.structure import uniform_psdd
    from unswayed.core.errors import QueryError
    from unswayed.spaces.classifier.inputs import chosen_class, write_object

    if not 0 < prior < 1:
        raise QueryError(f"--prior must be between 0 and 1, not {prior:g}")
    classifier, observed, scores = _scored(model, file)
    space: Any = classifier.structured
    chance = log_likelihood(uniform_psdd(space.structure), space.observe_many(observed.objects))
    found = scores[:, chosen_class(classifier.classes_.tolist(), normal)] - chance
    threshold = math.log(prior / (1 - prior))
    order = np.argsort(found, kind="stable")[:worst]
    worst_ones = [(write_object(observed.objects[i]), float(found[i])) for i in order.tolist()]
    n_odd = int((found < threshold).sum())
    answer = {
        "objects": len(found),
        "anomalous": n_odd,
        "threshold": threshold,
        "scores": found.tolist(),
        "oddest": [{"object": name, "score": value} for name, value in worst_ones],
    }
    lines = [
        f"{n_odd} of {len(found)} are more probable by chance than as normal (score below {threshold:g})",
        *(f"{'odd   ' if v < threshold else 'normal'} {v:9.3f}  {name}" for name, v in worst_ones),
    ]
    say(answer, lines, as_json=as_json)


def _scored(model: Path, file: Path) -> tuple[StructuredNaiveBayes, Observations, Floats]:
    """The classifier, the observations, and their log-likelihoods in each class."""
    from unswayed.core.errors import FormatError
    from unswayed.spaces.classifier.columns import objects_of
    from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
    from unswayed.spaces.classifier.files import load_structured
    from unswayed.spaces.classifier.inputs import read_observations
    from unswayed.spaces.classifier.model import class_scores
    from unswayed.spaces.paths import PathCoding

    classifier = load_structured(model)
    if not isinstance(classifier, StructuredNaiveBayes) or classifier.layout_.n_columns:
        raise FormatError("this model is not of rankings or paths alone; use it from Python", model)
    space: Any = classifier.structured
    observed = read_observations(file, are_paths=isinstance(space.coding, PathCoding))
    return classifier, observed, class_scores(classifier.model_, [objects_of(space, observed.objects)])
