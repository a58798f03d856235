"""Run it with `make demo`: what `unswayed demo` shows, from the folder of the project."""

from __future__ import annotations

from unswayed.cli.main import run

if __name__ == "__main__":
    run(["demo"])
