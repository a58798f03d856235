"""The points scores that come with unswayed, each a TOML file here, written from the published tables.

They are for study and teaching: none is a medical device. `formats/score.py` says how such a file is written.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.model.formats.score import read_score
from unswayed.model.score import Score

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
"""What the bundled scores go by."""


@cache
def example_score(name: str) -> Score:
    """The bundled score of a name; `QueryError` names the nearest when there is none.

    >>> example_score("curb_65").title
    'CURB-65'
    """
    if name not in NAMES:
        raise QueryError(unknown_name("score", name, NAMES))
    return read_score(FOLDER / f"{name}.toml")
