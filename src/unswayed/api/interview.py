"""Going through a plan with somebody: ask the next test, take the answer, skip it, take it back, stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from unswayed.api.models import takes_cases
from unswayed.api.plans import plan, replan
from unswayed.api.results.plan import TestPlan
from unswayed.api.shown import Shown
from unswayed.core.anytime import bounded
from unswayed.core.errors import QueryError, UnswayedError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.model.data.encoding import encode
from unswayed.model.evidence import Evidence
from unswayed.model.variable import Variable
from unswayed.plans.solution import Report
from unswayed.plans.tree import PlanLeaf, PlanNode, PlanStep

Replan = Callable[[Mapping[str, str], tuple[str, ...]], TestPlan]
"""A new plan from what is known and from the tests that cannot be done."""


@dataclass(frozen=True, slots=True, repr=False)
class Interview(Shown):
    """Where an interview stands; every answer gives a new one, and the one before is kept to go back to."""

    plan: TestPlan
    """What is followed."""
    answers: Mapping[str, str]
    """What was answered, since the plan was made."""
    replan: Replan | None = None
    """How to plan anew when a test cannot be done; None where there is no network to plan with."""
    known: Mapping[str, str] | None = None
    """Everything answered so far, also before the plan was made anew."""
    skipped: tuple[str, ...] = ()
    """Tests that could not be done."""
    cost: float = 0.0
    """What the tests of earlier plans have cost."""
    before: Interview | None = None
    """The interview before the last answer."""
    stuck: bool = False
    """Whether a test was skipped and nobody can plan anew."""

    @property
    def node(self) -> PlanNode:
        """Where the answers lead in the plan."""
        return self.plan.node_at(self.answers)

    @property
    def question(self) -> Variable | None:
        """What to ask next; None when it is time to decide."""
        node = self.node
        if self.stuck or not isinstance(node, PlanStep):
            return None
        name = next(name for name in node.features if name not in self.answers)
        return next(variable for variable in self.plan.variables if variable.name == name)

    @property
    def all_answers(self) -> dict[str, str]:
        """Everything answered, also before the plan was made anew."""
        return {**(self.known or {}), **self.answers}

    @property
    def spent(self) -> float:
        """What the tests done so far cost."""
        return math.fsum([self.cost, self.plan.apply_states(self.answers).cost])

    def answer(self, text: str) -> Interview:
        """The interview after an answer: a state, or a number in one of its intervals."""
        variable = self.question
        if variable is None:
            raise QueryError("nothing is asked any more")
        state = read_answer(variable, text)
        later = replace(self, answers={**self.answers, variable.name: state}, before=self)
        try:
            node = later.plan.node_at(later.answers)
        except QueryError:
            raise QueryError(
                f"{variable.name} = {state} is impossible after the answers before; check them, or 'undo'"
            ) from None
        if isinstance(node, PlanLeaf) and node.rest and self.replan is not None:
            return later._anew(self.replan, self.skipped, before=self)  # the plan was cut short here
        return later

    def skip(self) -> Interview:
        """The interview without the test that was asked for: a new plan, or an end where nobody can plan."""
        node = self.node
        if not isinstance(node, PlanStep):
            raise QueryError("nothing is asked any more")
        skipped = (*self.skipped, node.test)
        if self.replan is None:
            return replace(self, skipped=skipped, before=self, stuck=True)
        return self._anew(self.replan, skipped, before=self)

    def _anew(self, replan: Replan, skipped: tuple[str, ...], before: Interview) -> Interview:
        """The interview along a new plan from what is known."""
        known = {**(self.known or {}), **self.answers}
        return Interview(replan(known, skipped), {}, replan, known, skipped, self.spent, before)

    @property
    def is_safe(self) -> bool:
        """Whether the plan came to an end where its stopping rule is met."""
        node = self.node
        return not self.stuck and isinstance(node, PlanLeaf) and node.reached and not node.rest

    def undo(self) -> Interview:
        """The interview before the last answer; `QueryError` at the beginning."""
        if self.before is None:
            raise QueryError("nothing was answered yet")
        return self.before


@bounded
@takes_cases
def ask(
    subject: Classifier | TestPlan,
    evidence: Evidence | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    report: Report | None = None,
) -> Interview:
    """Start to go through the tests one by one until the decision is safe: what to ask next, and what then.

    `subject` is a plan, or a classifier that is planned for as `plan` does by itself. A plan that was made on
    other findings is made anew from `evidence` too, and so is the rest where a test cannot be done.

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> paper = ask(papers)
    >>> paper.question.name, paper.answer("-").is_safe
    ('R2', True)
    """
    if isinstance(subject, TestPlan):
        made = replan(subject, evidence, limits=limits, report=report) if evidence else subject
    else:
        made = plan(subject, evidence, limits=limits, report=report)
    if made.origin is None:
        return Interview(made, {})
    return Interview(made, {}, partial(replan, made, limits=limits, report=report))


def read_answer(variable: Variable, text: str) -> str:
    """The state that an answer means: its name, its beginning, or a number in its interval."""
    text = text.strip()
    if text in variable.states:
        return text
    begins = [state for state in variable.states if text and state.lower().startswith(text.lower())]
    if len(begins) == 1:
        return begins[0]
    try:
        code = int(encode({variable.name: [float(text)]}, [variable]).codes[0, 0])
    except (ValueError, UnswayedError):
        code = -1
    if code < 0:
        raise QueryError(unknown_name(f"answer to {variable.name!r}", text, variable.states))
    return variable.states[code]
