"""Points scores on the command line: files, and those that come with unswayed, in place of a network."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from unswayed.cli.evidence import pairs_in
from unswayed.cli.output import emit, note_later
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.score import Score

SUFFIX = ".toml"


def score_at(path: Path) -> Score | None:
    """The score in a TOML file, else the bundled one of this name; None for everything else."""
    if path.suffix.lower() == SUFFIX:
        from unswayed.model.formats.score import read_score

        return read_score(path)
    if path.suffix or path.exists():
        return None
    from unswayed.model.scores import NAMES, example_score

    name = str(path).lower().replace("-", "_")
    return example_score(name) if name in NAMES else None


def answers_of(score: Score, words: Iterable[str] | None) -> dict[str, str]:
    """The answers that evidence gives, by item, in the words of the form."""
    from unswayed.model.score import read_answers

    given: dict[str, str] = {}
    for name, value in pairs_in(words or (), expected="ITEM=ANSWER, such as age=78"):
        if given.setdefault(name, value) != value:
            raise QueryError(f"evidence answers {name!r} twice, {given[name]!r} and {value!r}; give one")
    known = read_answers(score, given)
    return {score.items[place].name: score.items[place].answers[k].name for place, k in known.items()}


def score_case(
    score: Score, evidence: Iterable[str] | None, *, as_json: bool
) -> tuple[Classifier, dict[str, str]]:
    """The score as a classifier, and what is known.

    Where the form says nothing of how frequent answers are, no question about probabilities has an answer:
    what is certain whatever the rest is is said in its place, and the command ends.
    """
    from unswayed.api.scores import assess, score_classifier
    from unswayed.view.describe import Asked

    answers = answers_of(score, evidence)
    unknown = [name for name in score.unknown_prevalences if name not in answers]
    if unknown:
        emit(assess(score, answers), Asked(None, answers), as_json=as_json)
        if not as_json:
            note_later(
                "for probabilities, give prevalences in the file, or learn them from a table: "
                "unswayed wrap SCORE TABLE -o mine.json"
            )
        raise typer.Exit
    if not as_json:
        note_later(score.disclaimer)
    return score_classifier(score), answers


def described(score: Score) -> dict[str, Any]:
    """What a score is, for programs."""
    from unswayed.model.score_laws import count_patterns, points_range, reachable_bands

    low, high = points_range(score)
    reached = {band.name for band in reachable_bands(score)}
    return {
        "title": score.title,
        "about": score.about,
        "points": [low, high],
        "n_patterns": count_patterns(score),
        "items": [
            {
                "name": item.name,
                "answers": [{"name": each.name, "points": each.points} for each in item.answers],
            }
            for item in score.items
        ],
        "bands": [
            {"name": band.name, "means": band.means, "reachable": band.name in reached}
            for band in score.bands
        ],
        "without_prevalences": list(score.unknown_prevalences),
        "sources": list(score.sources),
        "disclaimer": score.disclaimer,
    }


def score_lines(score: Score) -> list[str]:
    """What a score is, for people."""
    facts = described(score)
    low, high = facts["points"]
    lines = [f"{score.title}: a points score. {score.about}".rstrip(), ""]
    lines.append(f"{low:g} to {high:g} points; {facts['n_patterns']:,} ways to fill in the form")
    for item in score.items:
        answers = ", ".join(f"{each.name} ({each.points:+g})" for each in item.answers)
        lines.append(f"  {item.name}: {answers}")
    lines += ["", "bands"]
    for band in facts["bands"]:
        never = "" if band["reachable"] else " (no form reaches it)"
        lines.append(f"  {band['name']}: {band['means']}{never}")
    if facts["without_prevalences"]:
        lines += ["", f"no prevalences: {', '.join(facts['without_prevalences'])}"]
    return [*lines, "", *(f"source: {each}" for each in score.sources), score.disclaimer]
