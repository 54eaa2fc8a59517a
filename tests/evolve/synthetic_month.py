"""A month of journals in a real store, made without a model: what replies draw on, and what they don't, is known beforehand."""

import json
from dataclasses import dataclass
from pathlib import Path

from afresh.core.action import Action, Observation
from afresh.core.archived_block import Block, block_from_text
from afresh.core.context_item import Excerpt, Item, Note, SourceLine
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    Event,
    JournalHead,
    ReplyReceived,
    StepFinished,
    TaskClaimed,
    TaskCreated,
    TaskEnded,
)
from afresh.core.hash_chain import link_events
from afresh.core.item_record import ref_from_item, to_archived_text
from afresh.core.lesson import LessonsLookedUp, LessonsUsed
from afresh.core.prompt import CallAudit, SectionRef, Tier
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.task import Task, TaskStatus
from afresh.core.usage import Usage
from afresh.storage.sqlite.storage import open_sqlite_storage
from support.fakes import FakeClock

DAY = 86_400.0
BEGIN = 1_790_000_000.0
LESSON = "KO-7"
RUN_TOOL = {"name": "run", "description": "run a command", "parameters": {}}
IDLE_TOOL = {
    "name": "delegate",
    "description": "hand a part of the task to another agent " * 8,
    "parameters": {},
}


@dataclass(frozen=True)
class Planted:
    """What is wrong in the month."""

    unused_section: bool = True
    reread_output: bool = True
    stale_lesson: bool = True
    idle_tool: bool = False
    undone: bool = False
    policy: str = ""
    tasks: int = 24
    steps: int = 4
    failed: int = 0
    """So many of the tasks fail."""
    begin: float = BEGIN


def make_month(folder: Path, planted: Planted):
    """A storage whose journal is the month; tasks are named t000, t001, …"""
    folder.mkdir(parents=True, exist_ok=True)
    storage = open_sqlite_storage(folder, folder / "user", FakeClock())
    add_month(storage, planted)
    return storage


def add_month(storage, planted: Planted, first: int = 0) -> list[str]:
    names = [f"t{first + number:03}" for number in range(planted.tasks)]
    for number, name in enumerate(names):
        at = planted.begin + number * 30 * DAY / planted.tasks
        _write_task(storage, name, at, planted, failed=number < planted.failed)
    return names


def _write_task(storage, name: str, at: float, planted: Planted, failed: bool) -> None:
    """In one commit: a month is made in a second."""
    shown, blocks = (LESSON,), list[Block]()
    used = [] if planted.stale_lesson else [LessonsUsed(1, shown, ("named",))]
    created = TaskCreated(Task(id=name, goal=f"fix parse_header_{name}"))
    entries = link_events(name, JournalHead(), at, [created, TaskClaimed("w"), LessonsLookedUp(0, "understand", shown), *used])
    for step in range(1, planted.steps + 1):
        events, kept = _make_step(name, step, planted)
        entries = [*entries, *link_events(name, JournalHead(entries[-1].seq, entries[-1].hash), at + step, events)]
        blocks += kept
    end = TaskEnded(TaskStatus.FAILED if failed else TaskStatus.DONE, "over")
    entries += link_events(name, JournalHead(entries[-1].seq, entries[-1].hash), at + planted.steps + 1, [end])
    storage.journal.append(entries, blocks, fold_entries(None, entries))


def _make_step(name: str, step: int, planted: Planted) -> tuple[list[Event], list[Block]]:
    wanted = f"result = parse_header_{name}(packet, {step})"
    idle = "\n".join(f"uncovered lines {number} of module_{name}_{number}" for number in range(20))
    drawn = "\n".join([wanted, f"raise BrokenHeader_{name}_{step}(packet)"])
    texts = {"files": drawn, "coverage": idle if planted.unused_section else drawn}
    sections, blocks = [], list[Block]()
    for section, text in texts.items():
        blocks.append(block_from_text(text))
        sections.append(SectionRef(section, Tier.PHASE, blocks[-1].id, 400))
    items: list[Item] = [
        Note("tools", "", json.dumps([RUN_TOOL, *([IDLE_TOOL] if planted.idle_tool else [])])),
        Excerpt("callers", f"src/caller_{step}.py", 1, 1, (), (SourceLine(1, wanted),)),
    ]
    looks = [block_from_text(to_archived_text(item)) for item in items]
    blocks += looks
    refs = [ref_from_item(item, block.id) for item, block in zip(items, looks, strict=True)]
    audit = CallAudit(f"{name}{step}", 4_000, 900, tuple(sections), tuple(refs), policy=planted.policy)
    output = f"output of {name} {step}\n" * 200
    blocks.append(block_from_text(output))
    said = Action("edit", {"path": f"src/{name}.py", "old": drawn, "new": "pass"})
    seen = [Observation(Action("run", {"command": f"make {name} {step}"}), True, "cut", blocks[-1].id, len(output))]
    if planted.reread_output:
        seen.append(Observation(Action("read", {"path": f"@{blocks[-1].id[:8]}"}), True, "the whole"))
    events: list[Event] = [
        CallRequested(step, audit),
        ReplyReceived(step, Reply("", (said,), Usage(900, 50), cost=1_000_000)),
        ActionsExecuted(step, tuple(seen)),
        *([ChangeKeptOrReverted(step, False, "s")] if planted.undone else []),
        StepFinished(step, "kept"),
    ]
    return events, blocks
