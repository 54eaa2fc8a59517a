"""Steps and completion in a yard, judged and settled as the loop does it: real files, real pytest, no model."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from verification_yard import Yard

from afresh.core.action import Action
from afresh.core.event import ActionsExecuted, Event, PlanSet, StepFinished
from afresh.core.reducer import apply_event
from afresh.core.reply import Reply
from afresh.core.spending import UNLIMITED_LEDGER
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_result import ActionResult, StepResult, ToolOutcome
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Verdict
from afresh.models.call import ModelGate
from afresh.models.scripted import ScriptedModel, ScriptedReview
from afresh.runtime import Knowledge, RunControl
from afresh.verification.conclude_step import end_by_verdict
from afresh.verification.keep_or_revert import keep_or_revert
from afresh.verification.verify_step import verify_step_or_completion
from support.fakes import FakeClock


@dataclass
class Judge:
    """A task in a yard. `yard.context.state` is its state."""

    yard: Yard
    reviewer: dict[str, Mapping[str, Any] | str] = field(default_factory=dict)
    """What the model says to a review, by words of the request."""
    settled: StepResult = field(default_factory=lambda: StepResult((), ""))

    @property
    def state(self) -> State:
        return self.yard.context.state

    def order(self, goal: str) -> "Judge":
        self.yard.context = replace(self.yard.context, state=replace(self.state, task=replace(self.state.task, goal=goal)))
        return self

    def reviews(self, about: str = "", **said: Any) -> "Judge":
        """The answer to reviews that hold these words: `how` and `quote`, and what else is given."""
        self.reviewer[about] = {"asked": said.get("how", "neither") != "neither", **said}
        return self

    def happens(self, *events: Event) -> "Judge":
        state = self.state
        for event in events:
            state = apply_event(event, state)
        self.yard.context = replace(self.yard.context, state=state)
        return self

    def takes_step(self, *, complete: str = "", tick: str = "", actions: tuple[Action, ...] = ()) -> Verdict:
        """The tree as it lies in the folder is what the step has made."""
        snapshot = self.yard.folder.snapshot()
        changes = tuple(self.yard.folder.changes(self.state.workspace.snapshot, snapshot))
        plan = (PlanSet((PlanItem(tick, True), PlanItem("the rest"))),) if tick else ()
        own = ToolOutcome("done", complete=complete, events=plan)
        done = (*(ActionResult(action, ToolOutcome("done")) for action in actions), ActionResult(Action("note", {}), own))
        step = StepResult(done, snapshot, changes)
        before, verified = verify_step_or_completion(self.state, step, self.runtime)
        self.yard.context = replace(self.yard.context, state=before)
        self.yard.archive.keep(verified.blocks)
        self.settled = keep_or_revert(before, verified, self.runtime)
        ended = end_by_verdict(before, self.settled, self.runtime)
        self.yard.archive.keep(self.settled.blocks)
        assert verified.verdict is not None
        number = before.work.step + 1
        self.happens(ActionsExecuted(number, ()), *step.decided, *self.settled.events, StepFinished(number, ""), *ended)
        return verified.verdict

    @property
    def runtime(self) -> Any:
        return _Runtime(self.yard, self)


@dataclass
class _Runtime:
    """What judging needs of a runtime."""

    yard: Yard
    judge: Judge

    @property
    def model(self) -> ScriptedModel:
        said = self.judge.reviewer.items()
        texts = [(about, text if isinstance(text, str) else json.dumps(text)) for about, text in said]
        return ScriptedModel([ScriptedReview(about, Reply(text)) for about, text in texts])

    @property
    def gate(self) -> ModelGate:
        return ModelGate(self.model, UNLIMITED_LEDGER)

    store = property(lambda self: self.yard.archive)
    clock = property(lambda self: FakeClock())
    knowledge = property(lambda self: Knowledge())
    control = property(lambda self: RunControl())
    settings = property(lambda self: SimpleNamespace(counter=EstimatingCounter()))

    def report_progress(self, event: object) -> None:
        pass

    @property
    def workspace(self):
        return self.yard.folder

    def tool_context(self, state: State):
        return replace(self.yard.context, state=state)

    def report_check(self, scope: object):
        return nullcontext()
