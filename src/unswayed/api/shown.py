"""How results show themselves: the one place where the api asks the view, which lies above it.

Every result takes its `plot`, `_repr_html_`, `__str__` and `to_frame` from here. The view is imported when
something is shown: `view/describe.py` has the words for each type of result, `view/plotting.py` its picture,
`view/frames.py` its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unswayed.view.figure import Picture


def plot(self: Any, *, title: str = "", **options: Any) -> Picture:
    """The result as a picture, which saves itself (`.save(path)`) and shows itself in a notebook.

    A `title` replaces the one that the picture would have. The picture of a replayed case also takes
    `at_least`, the level to mark; 0.95 by default, None for no mark.
    """
    from unswayed.view.plotting import plot_result

    return plot_result(self, title=title, **options)


def to_html(self: Any) -> str:
    """The result as a card of HTML, for a notebook."""
    from unswayed.view.notebook import to_card

    return to_card(self)


def to_text(self: Any) -> str:
    """The result as lines of text, for `print`: what the command line shows."""
    from unswayed.view.terminal import to_text

    return to_text(self)


def to_frame(self: Any, library: str = "pandas", **options: Any) -> Any:
    """The rows of the result as a dataframe of pandas or polars, or as a table of pyarrow.

    Reasons take `parameters=True` for the ranges of the network's numbers instead of the contributions.
    """
    from unswayed.view.frames import make_frame

    return make_frame(self, library, **options)
