"""The folder of real networks and tables beside the project; tests that need it skip without it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Real files stay there: several carry no licence that would allow publishing them."""

needs_shared_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the folder of real networks and tables is not beside the project"
)


def network_files() -> list[Path]:
    """Every network file in the folder, in a fixed order; empty without it."""
    endings = (".bif", ".bif.gz", ".net", ".xdsl", ".uai", ".xml", ".bifxml", ".dne", ".dsl", ".dsc")
    return sorted(path for path in SHARED.glob("networks/**/*") if path.name.endswith(endings))
