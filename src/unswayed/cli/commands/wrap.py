"""The command `wrap`: a model file and training rows in, a classifier that every command takes out."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.options import AsJson, argument, option, output_file
from unswayed.cli.output import check_output, say
from unswayed.cli.scores import score_at
from unswayed.core.errors import FormatError, QueryError

if TYPE_CHECKING:
    from unswayed.model.data.tables import Table

PICKLED = (".pkl", ".pickle", ".joblib", ".sav")
KINDS = "an XGBoost .json or .ubj, a LightGBM .txt, or a points score .toml"

XGBOOST, LIGHTGBM = ("XGBoost", "xgboost.core:XGBoostError"), ("LightGBM", "lightgbm.basic:LightGBMError")
LIBRARY_BY_SUFFIX = {".json": XGBOOST, ".ubj": XGBOOST, ".txt": LIGHTGBM, ".lgb": LIGHTGBM}
"""The library that saves such files, and what it raises where it has not."""


class BackgroundWord(StrEnum):
    """The words for `--background`."""

    TREE = "tree"
    MIXTURE = "mixture"


def wrap(
    model: Annotated[Path, argument("MODEL", f"The model: {KINDS}.")],
    table: Annotated[
        Path, argument("TRAIN", "A table of training inputs; columns the model has not are left out.")
    ],
    *,
    output: Annotated[Path, output_file("FILE", "The classifier to write (.json).")],
    positive: Annotated[str | None, option("CLASS", "The class that the threshold is about.")] = None,
    threshold: Annotated[float | None, option("P", "Decide for it from this probability on.")] = None,
    background: Annotated[
        BackgroundWord, option(None, "How the inputs hang together: a tree, or a mixture of trees.")
    ] = BackgroundWord.TREE,
    bins: Annotated[int, option("N", "Intervals of a column, about.", min=2)] = 8,
    as_json: AsJson = False,
) -> None:
    """Open a trained model to all other commands.

    The model becomes a leaf below the distribution of its inputs that the training rows show.
    """
    from unswayed import api

    check_output(output)
    if output.suffix.lower() != ".json":
        raise QueryError(f"{output}: a classifier is written as .json; name the file so")
    opened = _open(model)
    given = _inputs(opened, table)
    classifier = api.wrap(
        opened, given, threshold=threshold, positive=positive, background=background.value, bins=bins
    )
    api.save_classifier(classifier, output)
    states = classifier.network.variable(classifier.target).states
    answer = {"output": str(output), "n_inputs": len(classifier.features), "classes": list(states)}
    values = "" if score_at(model) is not None else "; it holds values of training rows"
    line = (
        f"wrote {output}: {len(classifier.features)} inputs, deciding between {' and '.join(states)}{values}"
    )
    say(answer, [line, f"ask it: unswayed sdp {output} -e INPUT=VALUE,..."], as_json=as_json)


def _open(path: Path) -> Any:
    """The model in a file: a score, or a library's own booster. Nothing is ever unpickled."""
    suffix = path.suffix.lower()
    if suffix in PICKLED:
        raise QueryError(
            f"{path}: opening a pickled file runs whatever is in it, so only you can do that; in Python: "
            f"model = joblib.load({str(path)!r}); "
            'classifier = unswayed.wrap(model, pandas.read_csv("train.csv")[model.feature_names_in_]); '
            'unswayed.save_classifier(classifier, "mine.json")'
        )
    score = score_at(path)
    if score is not None:
        return score
    if not path.is_file():
        raise FormatError("no such file; check the path", path)
    if suffix not in LIBRARY_BY_SUFFIX:
        raise FormatError(f"cannot tell the kind of model from the suffix {suffix!r}; expected {KINDS}", path)
    return _open_booster(path, *LIBRARY_BY_SUFFIX[suffix])


def _open_booster(path: Path, name: str, error: str) -> Any:
    """What a library has saved; its own `error` says that this is none of it."""
    library = name.lower()
    try:
        booster = import_module(library).Booster
    except ImportError:
        raise QueryError(
            f"{path}: this needs {library} to open; install it with pip install {library}"
        ) from None
    try:
        return booster(model_file=str(path))
    except resolve_name(error):
        raise FormatError(f"{name} cannot read this as a model it has saved", path) from None


def _inputs(model: Any, path: Path) -> Table:
    """The columns of the table that the model takes, in the order of its own."""
    from unswayed.core.names import listing
    from unswayed.model.data.tables import make_table, read_table

    table = read_table(path)
    known = getattr(model, "feature_names", None)
    names = known() if callable(known) else known
    if not names:
        return table
    # LightGBM writes blanks of names as underscores.
    columns = {name: name for name in table.names} | {name.replace(" ", "_"): name for name in table.names}
    missing = [name for name in names if name not in columns]
    if missing:
        raise QueryError(
            f"{path} has no column {listing(missing)}, which the model takes; add what is missing"
        )
    return make_table([table.column(columns[name]) for name in names])
