"""A file's text with its path, so that every complaint can name the file and the line.

Reading is bounded: a file, plain or unpacked, may have at most `MAX_BYTES`, and a file that is not text is
refused before any parser sees it.
"""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from holdfast.core.errors import FormatError
from holdfast.core.limits import readable_bytes

MAX_BYTES = 256 * 2**20
"""Largest file read, after unpacking; munin, with 1041 variables, takes 4 MB."""

_ENCODING_BY_MARK = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file."""

    path: Path
    """Where it came from, for messages."""
    text: str
    """Its contents, line ends as they were."""
    _line_starts: list[int] = field(init=False, repr=False, compare=False, default_factory=list)

    def line_at(self, offset: int) -> int:
        """Number of the line, from 1, that the character at `offset` stands on."""
        if not self._line_starts:
            self._line_starts.append(0)
            position = self.text.find("\n")
            while position >= 0:
                self._line_starts.append(position + 1)
                position = self.text.find("\n", position + 1)
        return bisect_right(self._line_starts, offset)

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise `FormatError` for this file, at the line of `offset` when given."""
        raise FormatError(message, self.path, None if offset is None else self.line_at(offset))


def load(path: Path) -> Source:
    """The text of the file at `path`, unpacked when its name ends in `.gz`."""
    data = _read_bytes(path)
    encoding = next((name for mark, name in _ENCODING_BY_MARK.items() if data.startswith(mark)), "utf-8")
    if encoding != "utf-16" and b"\0" in data[:4096]:
        raise FormatError("this is a binary file; expected the text of a network", path)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        # Older programs wrote the Windows code page; latin-1 takes any byte, and names stay readable.
        text = data.decode("latin-1")
    if "\0" in text:
        raise FormatError("this is a binary file; expected the text of a network", path)
    return Source(path, text)


def _read_bytes(path: Path) -> bytes:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise FormatError("no such file; check the path", path) from None
    except IsADirectoryError:
        raise FormatError("this is a folder; name a file in it", path) from None
    except PermissionError:
        raise FormatError("not allowed to read this file; check its permissions", path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"broken gzip file ({error}); fetch it again", path) from None
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror or error})", path) from None
    if len(data) > MAX_BYTES:
        raise FormatError(f"holds more than {readable_bytes(MAX_BYTES)}; too large for a network", path)
    return data
