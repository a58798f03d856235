"""The command `demo`: what unswayed does, shown on real data in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from unswayed.cli.options import output_file
from unswayed.core.errors import FormatError

FOLDER = Path("demo-output")


def demo(*, output: Annotated[Path, output_file("FOLDER", "Where files are written.")] = FOLDER) -> None:
    """See what unswayed does, on real data, in a minute.

    Learns a classifier, trims it, and follows a patient until the decision is safe.
    """
    from unswayed.cli.demo_story import tell

    if output.exists() and not output.is_dir():
        raise FormatError("is a file; name a folder", output)
    try:
        tell(output)
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", output) from None
