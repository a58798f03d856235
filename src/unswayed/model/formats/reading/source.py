"""A file's text with its path, so that every complaint can name the file and the line.

Reading is bounded: a file, plain or unpacked, may have at most `MAX_BYTES`, or `MAX_LINE` characters a line
where it is read line by line, and a file that is not text is refused before any parser sees it.
"""

from __future__ import annotations

import codecs
import gzip
import math
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError
from unswayed.core.limits import readable_bytes
from unswayed.model.formats.reading.guard import guarded

MAX_BYTES = 256 * 2**20
"""Largest file read, after unpacking; munin, with 1041 variables, takes 4 MB."""
MAX_LINE = 4 * 2**20
"""Most characters of a line of a table: 100,000 cells of 40 each. A file without line ends is one line."""

_ENCODING_BY_MARK = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\0?\0": "utf-16-le",  # XML without a byte order mark
    b"\0<\0?": "utf-16-be",
}
# The declarations that change what is read: ISO-8859-1 and US-ASCII are covered by the Windows code page.
_DECLARED_ENCODING = re.compile(
    rb"""<\?xml[^>]*\bencoding\s*=\s*["']"""
    rb"""(iso-8859-(?:[2-9]|1[0-6])|windows-125[0-8]|koi8-[ru]|gb(?:k|2312|18030)|big5|shift_jis|euc-(?:jp|kr))["']""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file."""

    path: Path
    """Where it came from, for messages."""
    text: str
    """Its contents, line ends as they were."""

    def line_at(self, offset: int) -> int:
        """Number of the line, from 1, that the character at `offset` stands on."""
        return self.text.count("\n", 0, offset) + 1

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise `FormatError` for this file, at the line of `offset` when given."""
        raise FormatError(message, self.path, None if offset is None else self.line_at(offset))


def load(path: Path) -> Source:
    """The text of the file at `path`, unpacked when its name ends in `.gz`."""
    data = _read_bytes(path)
    encoding = next((name for mark, name in _ENCODING_BY_MARK.items() if data.startswith(mark)), "utf-8")
    if not encoding.startswith("utf-16") and b"\0" in data[:4096]:
        raise FormatError("this is a binary file; expected text", path)
    text = _decoded(data, encoding)
    if "\0" in text:
        raise FormatError("this is a binary file; expected text", path)
    return Source(path, text)


def _decoded(data: bytes, encoding: str) -> str:
    # UTF-8 goes first even where another encoding is declared: text is not valid UTF-8 by accident, while
    # declarations are often left over. Older programs declared nothing and wrote the Windows code page;
    # latin-1 takes any byte, and names stay readable.
    declared = _DECLARED_ENCODING.match(data[:200])
    for guess in (encoding, declared[1].decode("ascii") if declared else "cp1252", "cp1252"):
        try:
            return data.decode(guess)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def text_encoding(path: Path) -> str:
    """The encoding of a text file of any size, read a piece at a time."""
    with guarded(path, "text"), open_bytes(path) as stream:
        start = stream.read(4096)
        marked = next((name for mark, name in _ENCODING_BY_MARK.items() if start.startswith(mark)), None)
        if marked is None or not marked.startswith("utf-16"):
            if b"\0" in start:
                raise FormatError("this is a binary file; expected text", path)
            marked = marked or "utf-8"
        for guess in (marked, "cp1252"):
            stream.seek(0)
            decoder = codecs.getincrementaldecoder(guess)()
            with suppress(UnicodeDecodeError):
                while piece := stream.read(2**20):
                    decoder.decode(piece)
                decoder.decode(b"", final=True)
                return guess
    return "latin-1"


def open_bytes(path: Path) -> BinaryIO | BufferedIOBase:
    """The bytes of a file, unpacked when its name ends in `.gz`."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def is_within(path: Path, n_bytes: int) -> bool:
    """Whether a file has at most so many bytes, unpacked; what cannot be read is refused when loaded."""
    with suppress(FormatError), guarded(path):
        if path.suffix.lower() != ".gz":  # not opened: what is no file can be read only once
            return path.stat().st_size <= n_bytes
        with open_bytes(path) as stream:
            return len(stream.read(n_bytes + 1)) <= n_bytes
    return True


def bounded_lines(stream: TextIO, path: Path) -> Iterator[str]:
    """The lines of a text, ends as they are; `FormatError` for one too long, before it is read whole."""
    for number, line in enumerate(iter(partial(stream.readline, MAX_LINE + 1), ""), start=1):
        if len(line) > MAX_LINE:
            raise FormatError(
                f"this line has more than {MAX_LINE:,} characters; check that this is a table and that each "
                "of its rows is a line",
                path,
                number,
            )
        yield line


def _read_bytes(path: Path) -> bytes:
    with guarded(path):
        if str(path) == "-":
            data = _bounded(sys.stdin.buffer)
        else:
            with open_bytes(path) as stream:
                data = _bounded(stream)
    if len(data) > MAX_BYTES:
        raise FormatError(f"holds more than {readable_bytes(MAX_BYTES)}; too large to read", path)
    return data


def _bounded(stream: BinaryIO | BufferedIOBase) -> bytes:
    """All bytes, or enough to see that there are too many; one read of that size would reserve it whole."""
    pieces, n_bytes = [], 0
    while n_bytes <= MAX_BYTES and (piece := stream.read(2**20)):
        pieces.append(piece)
        n_bytes += len(piece)
    return b"".join(pieces)


def load_arrays(path: Path, text_name: str, max_bytes: int) -> tuple[str, dict[str, Floats]]:
    """The text under a name and the arrays of numbers in a `.npz` file, measured before they are unpacked."""
    with guarded(path, "a saved model"):
        try:
            with zipfile.ZipFile(path) as archive:
                _check_size(archive, path, min(MAX_BYTES, max_bytes))
                arrays = [member for member in archive.infolist() if member.filename.endswith(".npy")]
                text = archive.read(text_name).decode("utf-8")
                return text, {each.filename.removesuffix(".npy"): _array(archive, each) for each in arrays}
        except RuntimeError as error:  # a byte says that it is encrypted, or packed in an unknown way
            raise zipfile.BadZipFile(str(error)) from None


def _check_size(archive: zipfile.ZipFile, path: Path, most: int) -> None:
    n_bytes = sum(member.file_size for member in archive.infolist())
    if n_bytes > most:
        raise FormatError(f"{n_bytes:,} bytes unpacked are over the limit of {most:,}", path)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Floats:
    """One array; `ValueError` where it declares other numbers than its bytes can hold."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, kind = readers[version](stream)
    if kind != np.float64 or math.prod(shape) * kind.itemsize > member.file_size:
        raise ValueError(f"{member.filename} declares other numbers than it holds")
    with archive.open(member) as stream:
        found: Floats = np.lib.format.read_array(stream, allow_pickle=False)
    return found
