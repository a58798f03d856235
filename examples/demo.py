"""Run it with `make demo`: what `holdfast demo` shows, from the folder of the project."""

from __future__ import annotations

from holdfast.cli.main import run

if __name__ == "__main__":
    run(["demo"])
