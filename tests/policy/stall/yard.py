"""A small tree in memory with a real loop around it, so that a model can misbehave in it for many steps in no time."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.core.action import Action, CommandRun
from afresh.core.change import Change
from afresh.core.event import Event, QuestionAnswered, TaskCreated, WorkspaceOpened
from afresh.core.reply import Reply
from afresh.core.spending import UNLIMITED_LEDGER
from afresh.core.state import State
from afresh.core.states.progress_state import StallNoticed, StallThresholds
from afresh.core.states.strategy_state import UNLIMITED_PACE
from afresh.core.task import Check, Task
from afresh.core.template import Template
from afresh.core.tokens import EstimatingCounter
from afresh.loop import advance_task
from afresh.ports.model import Ledger
from support.fakes import ComputedModel, DictFiles, EmptyInsight, FakeClock, MemoryStore
from support.sample_journals import append_events
from support.states import make_runtime

Step = tuple[str, dict[str, Any]]
PLAN: Step = ("plan", {"items": ["[ ] something else"]})
CALC = "".join(f"line_{number} = {number}\n" for number in range(1, 201)) + "value = 1\n"


class Tree:
    """A workspace over files in memory; a snapshot is named by what is in it."""

    def __init__(self, files: DictFiles) -> None:
        self.files, self.kept = files, dict[str, dict[str, str]]()

    def open(self) -> WorkspaceOpened:
        return WorkspaceOpened("base", "branch", self.snapshot())

    def snapshot(self, whole: bool = False) -> str:
        name = sha256(repr(sorted(self.files.texts.items())).encode()).hexdigest()
        self.kept[name] = dict(self.files.texts)
        return name

    def restore(self, snapshot: str, paths: Iterable[str] = (), fresh: bool = False) -> None:
        wanted = tuple(paths)
        self.files.texts = {**({} if not wanted else self.files.texts), **self.kept[snapshot]}

    def read_files(self, snapshot: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        return {}

    def search(self, snapshot: str, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return ()

    def changes(self, before: str, after: str) -> tuple[Change, ...]:
        old, new = self.kept[before], self.kept[after]
        return tuple(
            Change(path, "modified", 1, 1, patch(path, old.get(path, ""), new.get(path, "")))
            for path in sorted({*old, *new})
            if old.get(path) != new.get(path)
        )

    def publish(self, snapshot: str, message: str) -> str:
        return "commit"


def patch(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}")
    return f"diff --git a/{path} b/{path}\n" + "".join(lines)


class Shell:
    """What a command prints is up to the test; the check fails in a way that depends on the tree."""

    level = "table"

    def __init__(self, files: DictFiles, printed: Callable[[str, str, int], tuple[int, str]]) -> None:
        self.files, self.printed, self.count = files, printed, 0

    def run(self, command: str, timeout: float, reports: bool = False, **_: Any) -> CommandRun:
        self.count += 1
        exit, text = self.printed(command, self.files.texts.get("calc.py", ""), self.count)
        return CommandRun(command, exit, text)


def quiet(command: str, text: str, count: int) -> tuple[int, str]:
    """The check fails as it always has; other commands print the same but for the time they took."""
    return (1, "AssertionError: not yet") if "check" in command else (0, f"3 items in 0.{count} s")


def unhurried(made: Template) -> Template:
    """Without the steps that its phases and the items of a plan may take: they have tests of their own."""
    return replace(made, pace=UNLIMITED_PACE, phases=tuple(replace(phase, steps=0) for phase in made.phases))


@dataclass
class Yard:
    answer: Callable[[int], list[Step]]
    """What the model does in each step."""
    printed: Callable[[str, str, int], tuple[int, str]] = quiet
    patience: StallThresholds = field(default_factory=StallThresholds)
    max_steps: int = 80
    plans: bool = True
    """Whether it makes the plan that it is told to make; then it goes on as before."""
    budget: int = 6_000
    limit: int = 0
    wide: str = ""
    """A file beside the others."""
    ledger: Ledger = UNLIMITED_LEDGER
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        files = DictFiles(**{"calc.py": CALC, "other.py": "x = 1\n", "wide.py": self.wide})
        self.files = files
        self.model = ComputedModel(self.reply)
        self.runtime = make_runtime(
            model=self.model,
            store=self.store,
            workspace=Tree(files),
            files=files,
            sandbox=Shell(files, self.printed),
            code=EmptyInsight(),
            tools=TOOLS,
            template=unhurried(load_template("fix_bug")),
            clock=FakeClock(),
            counter=EstimatingCounter(),
            stall=self.patience,
            ledger=self.ledger,
        )
        order = Task(
            id="t",
            goal="Mend it",
            type="fix_bug",
            checks=(Check("check"),),
            max_steps=self.max_steps,
            budget=self.budget,
            max_budget=self.limit,
        )
        append_events(self.store, None, [TaskCreated(order)])

    def reply(self, request: Any) -> Reply:
        step = int(request.body.rpartition("| step ")[2].split()[0])
        told_to_plan = self.plans and "new `plan`" in request.body.rpartition("[Context:")[2]
        done = [PLAN] if told_to_plan else self.answer(step)
        return Reply(f"step {step}", tuple(Action(tool, args) for tool, args in done))

    def works(self) -> State:
        return advance_task("t", "worker", self.runtime)

    def say(self, text: str) -> None:
        state = self.store.load("t")
        option = state.dialogue.options.index(text) + 1 if text in state.dialogue.options else 0
        append_events(self.store, state, [QuestionAnswered(text, option=option)])

    def answers(self, text: str) -> State:
        self.say(text)
        return self.works()

    def events(self, kind: type) -> list[Any]:
        found: list[Event] = [entry.event for entry in self.store.journal("t")]
        return [event for event in found if isinstance(event, kind)]

    def rungs(self, sign: str) -> list[tuple[int, str]]:
        return [(one.step, one.rung.value) for one in self.events(StallNoticed) if one.sign == sign]

    def foot(self, step: int) -> str:
        return self.model.requests[step - 1].body.rpartition("[Context:")[2]


def other(step: int) -> Step:
    """Something that no step before it did."""
    return "note", {"subject": f"step {step}", "text": f"seen {step}"}


def sets(value: object, step: int = 0) -> Step:
    """With a step it leaves a line of its own, so that no tree is ever the same again."""
    more = f"step_{step} = {step}\n" if step else ""
    return "edit", {"path": "calc.py", "new": f"{CALC.rpartition('value')[0]}value = {value}\n{more}"}
