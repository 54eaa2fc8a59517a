"""Steps and completion in a yard, judged and settled as the loop does it: real files, real pytest, no model."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from verification_yard import Yard

from afresh.core.action import Action
from afresh.core.event import ActionsExecuted, Event, PlanSet, StepFinished, VerdictReached
from afresh.core.reducer import apply_event
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_result import ActionResult, KeepOrRevertResult, StepActions, StepVerification, ToolOutcome
from afresh.core.verdict import Verdict
from afresh.policy.licence_record import widen_licence
from afresh.verification.conclude_step import end_by_verdict
from afresh.verification.keep_or_revert import keep_or_revert
from afresh.verification.verify_step import verify_step_or_completion


@dataclass
class Judge:
    """A task in a yard. `yard.context.state` is its state."""

    yard: Yard
    last: StepVerification = field(default_factory=StepVerification)
    settled: KeepOrRevertResult = field(default_factory=lambda: KeepOrRevertResult(True, "", ()))

    @property
    def state(self) -> State:
        return self.yard.context.state

    def order(self, goal: str) -> "Judge":
        """The task has this goal, and its licence is written down."""
        self.yard.context = replace(self.yard.context, state=replace(self.state, task=replace(self.state.task, goal=goal)))
        return self.happens(*widen_licence(self.state, self.yard.folder.paths()))

    def happens(self, *events: Event) -> "Judge":
        state = self.state
        for event in events:
            state = apply_event(event, state)
        self.yard.context = replace(self.yard.context, state=state)
        return self

    def takes_step(
        self, *, complete: str = "", tick: str = "", actions: tuple[Action, ...] = (), claims: tuple[Event, ...] = ()
    ) -> Verdict:
        """The tree as it lies in the folder is what the step has made."""
        snapshot = self.yard.folder.snapshot()
        changes = tuple(self.yard.folder.changes(self.state.workspace.snapshot, snapshot))
        plan = (PlanSet((PlanItem(tick, True), PlanItem("the rest"))),) if tick else ()
        own = ToolOutcome("done", complete=complete, events=(*plan, *claims))
        done = (*(ActionResult(action, ToolOutcome("done")) for action in actions), ActionResult(Action("note", {}), own))
        deeds, before = StepActions(done, snapshot, changes), self.state
        self.last = verify_step_or_completion(before, deeds, self.runtime)
        self.yard.archive.keep(self.last.blocks)
        self.settled = keep_or_revert(before, deeds, self.last, self.runtime)
        ended = end_by_verdict(before, deeds, self.last, self.settled, self.runtime)
        self.yard.archive.keep(self.settled.blocks)
        assert self.last.verdict is not None
        step = before.work.step + 1
        self.happens(
            ActionsExecuted(step, ()),
            *deeds.events,
            *self.last.events,
            VerdictReached(step, self.last.verdict),
            *self.settled.events,
            StepFinished(step, ""),
            *ended,
        )
        return self.last.verdict

    @property
    def runtime(self) -> Any:
        return _Runtime(self.yard)


@dataclass
class _Runtime:
    """What judging needs of a runtime."""

    yard: Yard

    @property
    def workspace(self):
        return self.yard.folder

    def tool_context(self, state: State):
        return replace(self.yard.context, state=state)

    def report_check(self, scope: object):
        return nullcontext()
