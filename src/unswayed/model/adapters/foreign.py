"""What all adapters share: checking its tables as those of files are checked."""

from __future__ import annotations

from pathlib import Path

from unswayed.core.errors import FormatError, ModelError
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork


def foreign_draft(what: str, name: str) -> NetworkDraft:
    """An empty draft for a network that lives in memory; `what` stands for the file in messages."""
    return NetworkDraft(Source(Path(what), ""), name)


def finished(draft: NetworkDraft, *, normalize: bool) -> BayesianNetwork:
    """The network, its rows checked and rescaled as those of a file; `ModelError` says what is wrong."""
    try:
        return draft.finish(normalize=normalize)
    except FormatError as error:
        raise ModelError(f"{draft.source.path}: {error.reason}") from None
