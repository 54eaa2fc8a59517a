"""A task of many steps by a scripted model, in a tree that stands still: fast, and with a real store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.core.action import Action, CommandRun
from afresh.core.event import JournalEntry, TaskCreated, WorkspaceOpened
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.states.progress_state import StallThresholds
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.loop import advance_task
from afresh.runtime import Runtime
from afresh.storage.sql.journal import SqlJournal
from support.fakes import ComputedModel, DictFiles, EmptyInsight, FakeClock
from support.sample_journals import append_events
from support.states import make_runtime

ENDLESS = StallThresholds(idle_steps=(), idle_tokens=())


class Killed(BaseException):
    """As if the process were gone."""


class StillWorkspace:
    def open(self) -> WorkspaceOpened:
        return WorkspaceOpened("base", "branch", "still")

    def snapshot(self, whole: bool = False) -> str:
        return "still"

    def restore(self, snapshot: str, paths: Any = (), fresh: bool = False) -> None: ...

    def changes(self, before: str, after: str) -> Any:
        return ()

    def publish(self, snapshot: str, message: str) -> str:
        return "commit"


class Printing:
    """Each command prints lines of its own, with names that no other has: many, and some few."""

    level = "table"

    def run(self, command: str, timeout: float, reports: bool = False, **_: Any) -> CommandRun:
        number = command.removeprefix("python job_").removesuffix(".py")
        lines = [
            f"record_{number}_{line} in pkg/module_{number}.py: value {line * 7919 % 1000}"
            for line in range(60 if int(number) % 10 else 5)
        ]
        return CommandRun(command, 0, "\n".join(lines))


class Forgetful(SqlJournal):
    """A store that can't read the journal from its start, and counts the blocks that are read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.blocks = list[str]()

    def journal(self, task: str) -> Iterator[JournalEntry]:
        raise AssertionError("the journal was read from its start")

    def read(self, block: str) -> str:
        self.blocks.append(block)
        return super().read(block)


def ordered(store: SqlJournal) -> None:
    append_events(store, None, [TaskCreated(Task(id="t", goal="See what the jobs print", max_steps=500, budget=4_400))])


def agent(store: SqlJournal, die_in: int) -> tuple[Runtime, list[Request]]:
    """One that lives until it is to make the call of that step; and what it was sent."""

    def answer(request: Request) -> Reply:
        step = int(request.body.rpartition("| step ")[2].split()[0])
        if step == die_in:
            raise Killed
        actions = (Action("run", {"command": f"python job_{step}.py"}),)
        if step % 10 == 0:
            actions += (Action("note", {"subject": f"job {step}", "text": f"prints record_{step}_1"}),)
        return Reply(f"Now job {step}, after record_{step - 1}_3.", actions)

    model = ComputedModel(answer)
    made = make_runtime(
        model=model, store=store, workspace=StillWorkspace(), files=DictFiles(), sandbox=Printing(), code=EmptyInsight(),
        tools=TOOLS, template=load_template("discovery"), clock=FakeClock(), counter=EstimatingCounter(), stall=ENDLESS,
    )  # fmt: skip
    return made, model.requests


def run_until(store: SqlJournal, step: int) -> list[Request]:
    """All requests, the one that was never answered last."""
    made, requests = agent(store, step)
    try:
        advance_task("t", "worker", made)
    except Killed:
        return requests
    raise AssertionError("the task came to an end")
