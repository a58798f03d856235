"""The variants of FS-SDD by name; the method itself is `papers/fs_sdd.py`."""

from __future__ import annotations

from enum import Enum


class CircuitVariant(Enum):
    """Where FS-SDD has its circuits from [choi2017, section 6]."""

    RECOMPILED = "1"
    """A circuit is compiled for every subset."""
    CONSTRAINED = "2"
    """One circuit is compiled that decides on the features first; then features are moved in it."""
    MOVED = "3"
    """One circuit is compiled without constraint; the features are moved up, and then in it."""
