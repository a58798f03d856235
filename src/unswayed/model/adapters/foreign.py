"""What all adapters share: finding the library, and checking its tables as those of files are checked."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from unswayed.core.errors import FormatError, ModelError, SolverError
from unswayed.model.formats.draft import NetworkDraft
from unswayed.model.formats.source import Source
from unswayed.model.network import BayesianNetwork


def imported(module: str) -> ModuleType:
    """A module of another library; `SolverError` says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise SolverError(
            f"{library} cannot be imported ({error}); install it with: pip install 'unswayed[interop]'"
        ) from None


def foreign_draft(what: str, name: str) -> NetworkDraft:
    """An empty draft for a network that lives in memory; `what` stands for the file in messages."""
    return NetworkDraft(Source(Path(what), ""), name)


def finished(draft: NetworkDraft, *, normalize: bool) -> BayesianNetwork:
    """The network, its rows checked and rescaled as those of a file; `ModelError` says what is wrong."""
    try:
        return draft.finish(normalize=normalize)
    except FormatError as error:
        raise ModelError(f"{draft.source.path}: {error.reason}") from None
