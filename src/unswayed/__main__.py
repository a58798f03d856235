"""`python -m unswayed` is the command `unswayed`."""

from unswayed.cli.main import run

if __name__ == "__main__":
    run()
