"""The checks that anyone can run: our engines pass them, and a wrong engine does not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from unswayed.checks import EngineFault, check_engine
from unswayed.core.measurement import Certainty
from unswayed.decisions.oracle import Interval
from unswayed.engines import DenseEngine
from unswayed.engines.choice import BASELINES, ENGINES


@pytest.mark.parametrize("engine", [*ENGINES, *BASELINES], ids=lambda engine: engine.name)
def test_our_engines_pass(engine):
    n_problems = 40 if engine.certainty is not Certainty.ESTIMATE else 4
    report = check_engine(engine, n_problems=n_problems, seed=1)
    # `boxes` answers about people's own models alone; tests/laws/test_own_model_engines.py has its laws.
    assert (report.n_answered > 0) == (engine.name != "boxes")


@dataclass(frozen=True)
class Shifted:
    """An oracle whose agreements are a little off."""

    oracle: object

    def agreement(self, kept, decider, tolerance):
        return Interval.point(0.5)

    def potential(self, kept, tolerance):
        return Interval.point(0.5)

    def achievable(self, kept, positive, tolerance):
        return Interval.point(0.5), None


@dataclass(frozen=True)
class WrongEngine(DenseEngine):
    """Answers one half to everything."""

    def prepare(self, problem):
        return Shifted(problem)


def test_a_wrong_engine_is_found():
    with pytest.raises(EngineFault, match=r"wrong says 0\.5 to 0\.5 where the agreement is"):
        check_engine(replace(WrongEngine(), name="wrong"))


@pytest.mark.parametrize("listed", [*ENGINES, *BASELINES], ids=lambda each: each.name)
def test_the_list_says_of_each_engine_what_the_engine_says(listed):
    engine = listed.load()
    assert (listed.name, listed.certainty, listed.least_seconds) == (
        engine.name,
        engine.certainty,
        engine.least_seconds,
    )
