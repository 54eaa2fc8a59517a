"""Parts of a task that are handed out: each is a task of its own, worked on here and now while its parent's step waits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from afresh.adapters.templates import make, merged_type
from afresh.adapters.workspace.branch import retire
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.acceptance import refuse_unworkable
from afresh.app.spend import task_line
from afresh.app.tasks import Desk, note
from afresh.domain.delegated import Delegated, Metrics, Part
from afresh.domain.event import Created, Ended, Event, Rebudgeted, Replied
from afresh.domain.report import PLACES
from afresh.domain.state import State
from afresh.domain.task import Check, Status, Task
from afresh.engine.delegation import DELEGATE, FEWEST, checks_for, ordered, part_id, refuse_other, refuse_repeated, result, share
from afresh.errors import BadInput, ModelMistake
from afresh.ports import Insight, Ticket


@dataclass(frozen=True, slots=True)
class Delegates:
    """Who holds the parent holds its parts: no lease of their own is needed, and nobody else can take one up."""

    desk: Desk
    workspace: GitWorkspace
    """Of the parent."""
    insight: Insight
    run: Callable[[str], State]
    """Takes a part as far as it will go."""

    def __call__(self, part: Part, state: State, place: int) -> Delegated:
        """The part may be there already: this step was begun before, and whoever did so is dead. Then it goes on, or is over."""
        name = part_id(state.task.id, state.step + 1, place)
        child = known(self.desk, name) or self._created(part, state, place)
        refuse_other(part, child)
        if child.status in (Status.READY, Status.RUNNING):
            self.workspace.snapshot()  # one that has not begun yet may have come from another machine, without this tree
            child = self.run(name)
        if child.status is Status.DONE:
            self.workspace.take_over(name, child.opened, child.snapshot)
        retire(self.workspace.repository, name)
        return told(self.desk, child, part, state.step + 1)

    def _created(self, part: Part, state: State, place: int) -> State:
        refuse_repeated(part, state)
        limit = steps(state, place)
        try:
            task = typed(part, ordered(part, state, place, self.workspace.snapshot(), self._checks(part, state)), self.desk)
            refuse_unworkable(task, self.desk.templates, self.desk.instructions)
        except BadInput as fault:
            raise ModelMistake(f"delegate: {fault.what}; {fault.next}") from fault
        return note(self.desk, None, task.id, begun(replace(task, max_steps=limit), state))

    def _checks(self, part: Part, state: State) -> tuple[Check, ...]:
        return checks_for(part, state.task, self.insight, self.workspace.files)


def steps(state: State, place: int) -> int:
    """Those of one reply share what is left, the first of them most."""
    before = sum(action.tool == DELEGATE for action in state.pending.reply.actions[: place - 1]) if state.pending else 0
    if len(state.delegated) + before >= state.task.parts:
        raise ModelMistake(f"delegate: {state.task.parts} parts are the most that this task may hand out; do the rest yourself")
    if (left := share(state) >> before) < FEWEST:
        raise ModelMistake("delegate: too few steps are left for that; do it yourself")
    return left


def typed(part: Part, task: Task, desk: Desk) -> Task:
    """With the window of its type and what its parent thinks with, never a larger one than its parent's, nor above its limit."""
    type = part.type or task.type
    merged = merged_type(type, desk.templates)
    if merged.family in PLACES:
        raise ModelMistake(f"delegate: {type} ends in a document; only changes of code can be handed out")
    ceiling, thinking = make(merged).ceiling, task.thinking or 0
    budget = min(task.budget, ceiling + thinking)
    fits = budget - ceiling >= thinking
    family = merged.family if merged.family != type else ""
    return replace(
        task, type=type, family=family, budget=budget, max_budget=task.budget_limit, thinking=task.thinking if fits else 0
    )  # fmt: skip


def begun(task: Task, parent: State) -> list[Event]:
    """Its first window is as large as its parent's is now: whoever hands out a part that needs such a one has found that out
    already. Calm steps lower it, as ever."""
    if parent.budget <= task.budget:
        return [Created(task)]
    return [Created(task), Rebudgeted(0, task.budget, parent.budget, f"{task.parent} has it, of which this is a part")]


def known(desk: Desk, name: str) -> State | None:
    try:
        return desk.store.load(name)
    except BadInput:
        return None


def told(desk: Desk, child: State, part: Part, step: int) -> Delegated:
    """Of its journal only what it said when it completed, and when it ended."""
    claimed, ended = "", child.updated
    for entry in desk.store.journal(child.task.id):
        if isinstance(entry.event, Ended):
            ended = entry.at
        elif isinstance(entry.event, Replied):
            done = [action.args.get("summary") for action in entry.event.reply.actions if action.tool == "complete"]
            claimed = str(done[-1] or "") if done else claimed
    paid = task_line(desk, child.task.id)
    money = paid.money if paid and paid.calls and not paid.unknown else None
    metrics = Metrics(child.step, child.calls, child.usage, round(ended - child.started, 1), money)
    return result(child, part.goal, step, metrics, claimed)


def parts_of(tickets: Sequence[Ticket], task: str) -> list[Ticket]:
    return [ticket for ticket in tickets if ticket.parent == task]


def family(tickets: Sequence[Ticket]) -> list[Ticket]:
    """In the order of the queue, each part after the task that it belongs to."""
    rows: dict[str, list[Ticket]] = {ticket.task: [ticket] for ticket in tickets if not ticket.parent}
    for part in tickets:
        if part.parent:
            rows.setdefault(part.parent, []).append(part)
    return [ticket for row in rows.values() for ticket in row]
