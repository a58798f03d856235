"""What observing each feature costs, as typed (`--cost A=2,B=0.5`) or from a file (`--costs FILE`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unswayed.cli.evidence import pairs_in
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.purchase import Costs

EXPECTED = "FEATURE=COST, such as Light=2"


def costs_of(words: Sequence[str] | None, path: Path | None) -> Costs | None:
    """Costs by feature or a whole purchase; None when none are given, an error when they make no sense."""
    if words and path is not None:
        raise QueryError("--cost and --costs both give costs; put all of them in one place")
    if path is not None:
        from unswayed.decisions.purchase_files import read_purchase

        purchase = read_purchase(path)
        return dict(purchase.costs) if purchase.is_plain and purchase.default == 1.0 else purchase
    return _typed(words) if words else None


def plain_costs_of(words: Sequence[str] | None, path: Path | None) -> dict[str, float] | None:
    """Costs by feature, for commands that know nothing else."""
    found = costs_of(words, path)
    if found is None or isinstance(found, dict):
        return found
    raise QueryError("this command takes one cost for each feature, and nothing about groups or order")


def _typed(words: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, text in pairs_in(words, expected=EXPECTED):
        if name in found:
            raise QueryError(f"--cost prices {name!r} twice; give one cost")
        try:
            found[name] = float(text)
        except ValueError:
            raise QueryError(f"the cost of {name!r} is {text!r}; expected {EXPECTED}") from None
    return found
