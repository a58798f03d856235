"""How results show themselves: the one place where the api asks the view, which lies above it.

Every result is `Shown`: `repr` is one line, `print` is what the command line shows, and a notebook shows a
card, all from the one description that `view/describe.py` has for its type. `Plotted` results have a picture
too (`view/plotting.py`), `Framed` ones rows (`view/frames.py`). The view is imported when something is shown.

A result holds an answer and not its question. The verb that gave it leaves the question with it (`remember`),
for whoever puts the answer into words; results are compared, copied and saved without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.spaces.decisions.classifier import StructuredClassifier
    from unswayed.view.figure import Picture

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Asked:
    """The question behind a result, as far as it is known."""

    classifier: Classifier | StructuredClassifier | None = None
    """What decides."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What is known: as it was given, or, `in_words`, as text."""
    free: Sequence[str] | None = None
    """What is not observed yet; None where that is not known."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """What else the question said: `keep`, `budget`, `objective`, ..."""

    def in_words(self) -> Asked:
        """The question with its evidence as text, and with the features that are not observed yet."""
        from unswayed.api.structured import asked_in
        from unswayed.decisions.classifier import Classifier
        from unswayed.model.evidence import list_open, read_evidence

        if not isinstance(self.classifier, Classifier):
            return self if self.classifier is None else asked_in(self.classifier, self.evidence)
        network = self.classifier.network
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the verb has warned already
            evidence = read_evidence(network, self.evidence)
        return replace(self, evidence=evidence, free=list_open(network, self.classifier.features, evidence))


class Shown:
    """What every result can do; its dataclass has `repr=False`, so that the line below is its `repr`."""

    __slots__ = ("_asked",)

    def __repr__(self) -> str:
        from unswayed.view.terminal import to_line

        return to_line(self)

    def __str__(self) -> str:
        from unswayed.view.terminal import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from unswayed.view.notebook import to_card

        return to_card(self)


class Plotted(Shown):
    """A result that has a picture."""

    __slots__ = ()

    def plot(self, *, title: str = "", **options: Any) -> Picture:
        """The result as a picture, which saves itself (`.save(path)`) and shows itself in a notebook.

        A `title` replaces the one that the picture would have. The picture of a replayed case also takes
        `at_least`, the level to mark; 0.95 by default, None for no mark.
        """
        from unswayed.view.plotting import plot_result

        return plot_result(self, title=title, **options)


class Framed(Shown):
    """A result that has rows."""

    __slots__ = ()

    def to_frame(self, library: str = "pandas", **options: Any) -> Any:
        """The rows of the result as a dataframe of pandas or polars, or as a table of pyarrow.

        Reasons take `parameters=True` for the ranges of the network's numbers instead of the contributions.
        """
        from unswayed.view.frames import make_frame

        return make_frame(self, library, **options)


def remember(result: R, asked: Asked) -> R:
    """The result, which knows from now on what it answers."""
    if isinstance(result, Shown):
        object.__setattr__(result, "_asked", asked)
    return result


def asked_of(result: Any) -> Asked:
    """The question that a result answers, as far as it is known."""
    return getattr(result, "_asked", Asked()).in_words()
