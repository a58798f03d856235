"""What a click does to a case: every move gives the address of another case."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unswayed.web.case import CaseAddress, FeatureState


def toggle_finding(address: CaseAddress, name: str, state: str) -> CaseAddress:
    """The case with a finding; without it where it was there already.

    >>> case = toggle_finding(CaseAddress("review"), "R1", "+")
    >>> case.findings, toggle_finding(case, "R1", "+").findings, toggle_finding(case, "R1", "-").findings
    ((('R1', '+'),), (), (('R1', '-'),))
    """
    if (name, state) in address.findings:
        return retract_finding(address, name)
    if name in address.evidence:  # a corrected finding keeps its place
        changed = tuple((each, state if each == name else old) for each, old in address.findings)
        return replace(address, findings=changed, undone=())
    skipped = tuple(each for each in address.skipped if each != name)
    return replace(address, findings=(*address.findings, (name, state)), skipped=skipped, undone=())


def retract_finding(address: CaseAddress, name: str) -> CaseAddress:
    """The case without the finding about one feature."""
    left = tuple(each for each in address.findings if each[0] != name)
    return replace(address, findings=left, undone=())


def undo(address: CaseAddress) -> CaseAddress:
    """The case before its last finding, which can be redone.

    >>> case = CaseAddress("review", findings=(("R1", "+"), ("AC", "-")))
    >>> undo(case).findings, undo(case).undone, redo(undo(case)) == case
    ((('R1', '+'),), (('AC', '-'),), True)
    """
    *left, last = address.findings
    return replace(address, findings=tuple(left), undone=(last, *address.undone))


def redo(address: CaseAddress) -> CaseAddress:
    """The case with the finding that was taken back last."""
    first, *left = address.undone
    return replace(address, findings=(*address.findings, first), undone=tuple(left))


def start_over(address: CaseAddress) -> CaseAddress:
    """The case with nothing found and nothing skipped; what was found can be redone."""
    undone = (*address.findings, *address.undone)
    return replace(address, findings=(), skipped=(), undone=undone, beside=None)


def toggle_skip(address: CaseAddress, name: str) -> CaseAddress:
    """The case in which a test cannot be done, or can again."""
    if name in address.skipped:
        return replace(address, skipped=tuple(each for each in address.skipped if each != name))
    later = retract_finding(address, name) if name in address.evidence else address
    return replace(
        later,
        skipped=(*address.skipped, name),
        mandatory=tuple(each for each in address.mandatory if each != name),
        forbidden=tuple(each for each in address.forbidden if each != name),
    )


def back_to(address: CaseAddress, count: int) -> CaseAddress:
    """The case after its first findings; the others can be redone."""
    return replace(
        address, findings=address.findings[:count], undone=(*address.findings[count:], *address.undone)
    )


def set_beside(address: CaseAddress, findings: tuple[FeatureState, ...] | None) -> CaseAddress:
    """The case with a second what-if of these findings; None for no second one."""
    return replace(address, beside=findings)


def toggle_beside(address: CaseAddress, name: str, state: str) -> CaseAddress:
    """The case with a finding of the second what-if set or taken back."""
    second = replace(address, findings=address.beside or ())
    return replace(address, beside=toggle_finding(second, name, state).findings)


VIEWS = (
    ("case", "Case", ""),
    ("plan", "Plan", "panel/plan"),
    ("network", "Network", "panel/network"),
    ("compare", "Compare", "panel/compare"),
    ("trimming", "Trimming", "panel/trimming"),
    ("export", "Export", "export"),
)
"""Name, text, and the part of the address of each view."""


@dataclass(frozen=True, slots=True)
class Way:
    """A link of the page; without an address it is shown but leads nowhere now."""

    text: str
    url: str = ""
    about: str = ""
    current: bool = False
    key: str = ""
    """The key that does the same."""


def list_views(address: CaseAddress, current: str) -> tuple[Way, ...]:
    """The views of a case."""
    return tuple(Way(text, address.url_of(part), current=name == current) for name, text, part in VIEWS)


def list_tools(address: CaseAddress) -> tuple[Way, ...]:
    """Undo, redo, start over."""
    return (
        Way("Undo", undo(address).url if address.findings else "", "Take the last finding back", key="u"),
        Way("Redo", redo(address).url if address.undone else "", "Bring the finding back", key="r"),
        Way(
            "Start over",
            start_over(address).url if address.findings or address.skipped else "",
            "Take all findings back",
        ),
    )
