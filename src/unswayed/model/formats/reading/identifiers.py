"""Plain identifiers for names that may be anything, for formats that allow no others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_OUTSIDE = re.compile(r"[^A-Za-z0-9_]+")


def identifiers(names: Iterable[str]) -> list[str]:
    """Distinct identifiers (a letter, then letters, digits and underscores) that resemble the names.

    >>> identifiers(["rain", "<5", ">5", "naïve Bayes", "雨"])
    ['rain', 'x5', 'x5_2', 'naive_Bayes', 'x']
    """
    names = list(names)
    # Names that are identifiers already keep their own; the others step aside.
    taken = {name for name in names if _base(name) == name}
    uses_by_base: dict[str, int] = {}
    found = []
    for name in names:
        base = unique = _base(name)
        while unique != name and unique in taken:
            uses_by_base[base] = uses_by_base.get(base, 1) + 1
            unique = f"{base}_{uses_by_base[base]}"
        taken.add(unique)
        found.append(unique)
    return found


def stands_for(identifier: str, name: str) -> bool:
    """Whether `identifiers` may have given `identifier` to `name`.

    >>> stands_for("x5_2", "<5"), stands_for("x6", "<5")
    (True, False)
    """
    base = _base(name)
    return identifier == base or re.fullmatch(re.escape(base) + r"_\d+", identifier) is not None


def _base(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    letters = _OUTSIDE.sub("_", plain).strip("_") if _OUTSIDE.search(name) else name
    return letters if letters[:1].isalpha() else f"x{letters}"
