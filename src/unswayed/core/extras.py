"""Optional libraries: imported where they are used, with advice that works from where the person is."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

from unswayed.core.errors import MissingLibrary


def import_extra(module: str, extra: str) -> ModuleType:
    """A module of an optional library; `MissingLibrary` says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingLibrary(
            f"{library} cannot be imported ({error}); install it with: {install_command(extra)}"
        ) from None


def install_command(extra: str) -> str:
    """The command that installs what an extra names, for the interpreter that runs, from any folder.

    The libraries themselves are named: unswayed may come from a copy of its repository and be in no index.

    >>> install_command("plots").endswith("# the extra 'plots' of unswayed")
    True
    """
    needed = " ".join(shlex.quote(each) for each in _list_requirements(extra))
    return f"{shlex.quote(sys.executable)} -m pip install {needed}  # the extra {extra!r} of unswayed"


def _list_requirements(extra: str) -> list[str]:
    """What the installed distribution says that an extra needs; where none is, the copy that runs."""
    try:
        found = [each.partition(";") for each in metadata.requires("unswayed") or ()]
    except metadata.PackageNotFoundError:
        return [f"{Path(__file__).parents[3]}[{extra}]"]
    return [name.strip() for name, _, marker in found if re.search(rf"extra == ['\"]{extra}['\"]", marker)]
