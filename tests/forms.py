"""Loops in one form: all compiled, or all plain. What a caller gets must not depend on it."""

from __future__ import annotations

import pytest

from unswayed.kernels import jit


def compile_all(patch: pytest.MonkeyPatch) -> None:
    """Every loop that is run is compiled."""
    patch.setattr(jit.Kernel, "_pays", lambda *_: True)


def keep_plain(patch: pytest.MonkeyPatch) -> None:
    """No loop that is run is compiled, those included that were before."""
    patch.setattr(jit.Kernel, "_pays", lambda *_: False)
    for kernel in jit._kernels().values():
        patch.setattr(kernel, "_is_loaded", False)


FORMS = pytest.mark.parametrize("form", [compile_all, keep_plain], ids=["compiled", "plain"])
