"""What child processes of ours need to start."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def child_environment() -> dict[str, str]:
    """Variables for a child that finds our modules, and starts no threads that it has no use for."""
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path if folder)
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
