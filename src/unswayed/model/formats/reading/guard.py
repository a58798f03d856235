"""The door for files that a person hands in: what a damaged or hostile one provokes becomes a `FormatError`.

Size is bounded where bytes are read (`source.py`), a zip archive by what it declares before anything is
unpacked. Everything else that readers and the standard library's parsers stumble over (nesting, digits,
broken packing, numbers out of range, entries of the wrong kind) ends in `guarded`, which names the file.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import re
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unswayed.core.errors import FormatError, UnswayedError

if TYPE_CHECKING:
    from unswayed.model.formats.reading.source import Source

_PACKING = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, csv.Error)
"""What unexpected content makes a reader raise; it stays the cause of the `FormatError`."""


@contextmanager
def guarded(path: Path, what: str = "this file") -> Iterator[None]:
    """Turn what goes wrong with a file into a `FormatError`; `what` says what it should be."""
    try:
        yield
    except UnswayedError:
        raise
    except RecursionError:
        raise FormatError(f"nested too deeply for {what}", path) from None
    except _PACKING as error:
        kind = "gzip" if path.suffix.lower() == ".gz" else "zip"
        raise FormatError(f"broken {kind} file ({error}); fetch it again", path) from None
    except FileNotFoundError:
        raise FormatError("no such file; check the path", path) from None
    except IsADirectoryError:
        raise FormatError("this is a folder; name a file in it", path) from None
    except PermissionError:
        raise FormatError("not allowed to read this file; check its permissions", path) from None
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror or error})", path) from None
    except KeyError as error:
        raise FormatError(f"incomplete: {error} is missing; expected {what}", path) from error
    except _WRONG as error:
        raise FormatError(f"damaged, or not {what} ({error})", path) from error


def json_content(source: Source, **hooks: Any) -> Any:
    """What JSON text says; `FormatError` with the line for anything else."""
    with guarded(source.path, "JSON"):
        try:
            return json.loads(source.text, **hooks)
        except json.JSONDecodeError as error:
            source.fail(f"no JSON: {error.msg}", error.pos)


def toml_content(source: Source) -> dict[str, Any]:
    """What TOML text says; `FormatError` for anything else."""
    with guarded(source.path, "TOML"):
        try:
            return tomllib.loads(source.text)
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"at line (\d{1,9})", str(error))
            raise FormatError(f"not TOML: {error}", source.path, int(found[1]) if found else None) from None
