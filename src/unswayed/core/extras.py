"""Optional libraries: imported where they are used, with advice that works from where the person is."""

from __future__ import annotations

import importlib
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
    """The command that installs an extra: from the checkout that runs, or the published package.

    >>> install_command("plots").startswith("pip install '")
    True
    """
    checkout = Path(__file__).parents[3]
    if (checkout / "pyproject.toml").is_file() and (checkout / "src" / "unswayed").is_dir():
        return f"pip install '.[{extra}]' in {checkout}"
    return f"pip install 'unswayed[{extra}]'"
