"""Values that processes of one machine share: written to memory once, and mapped by whoever wants them.

A table of a hundred megabytes goes through a pipe in a second or two, once for each process. Here it is
written into memory that has a name in `/proc`, as Linux gives one to every open file; a process that opens
the name maps the same memory, in milliseconds. No file is made, so none is left when a process is killed.
Elsewhere, and on other machines, there is no such memory: those that ask are then sent the value.
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ALIGNED = 64
"""Arrays begin at multiples of this, as numpy's own do."""
LENGTH = 8
"""Bytes for the length of what comes before the arrays."""


@contextmanager
def share_value(key: str, value: Any) -> Iterator[str | None]:
    """Where processes of this machine find a value until the end; None where they cannot."""
    try:
        memory = os.memfd_create(key)
    except (AttributeError, OSError):  # not on this system
        yield None
        return
    try:
        yield f"/proc/{os.getpid()}/fd/{memory}" if _write(memory, value) else None
    finally:
        os.close(memory)  # who has mapped it keeps it


def find_shared(key: str, place: str) -> tuple[Any] | None:
    """The value at a place, alone in a tuple; None where the place does not hold it."""
    try:
        # Another machine may have something else at this place, so it is not opened before it is known.
        if str(Path(place).readlink()) != f"/memfd:{key} (deleted)":
            return None
        with Path(place).open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError:
        return None
    n_bytes = int.from_bytes(memory[:LENGTH], "little")
    head, spans = pickle.loads(memory[LENGTH : LENGTH + n_bytes])
    arrays = memoryview(memory)[_align(LENGTH + n_bytes) :]
    return (pickle.loads(head, buffers=[arrays[start:end] for start, end in spans]),)


def _write(memory: int, value: Any) -> bool:
    """Write a value, its arrays apart: reading does not copy them; whether that worked."""
    arrays: list[pickle.PickleBuffer] = []
    try:
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        spans, end = [], 0
        for array in arrays:
            start = _align(end)
            end = start + array.raw().nbytes
            spans.append((start, end))
        packed = pickle.dumps((head, spans))
        with open(memory, "wb", closefd=False) as file:
            file.write(len(packed).to_bytes(LENGTH, "little") + packed)
            for array, (start, _) in zip(arrays, spans, strict=True):
                file.seek(_align(LENGTH + len(packed)) + start)
                file.write(array.raw())
    except (pickle.PicklingError, AttributeError, TypeError, OSError):
        return False  # it cannot be packed, which is said where it is sent, or memory is short
    return True


def _align(position: int) -> int:
    return -(-position // ALIGNED) * ALIGNED
