"""The work that bench/store.py repeats: a realistic step of an agent, as afresh records it and as raw inserts of the same bytes.

Text is Python source of the standard library, cut at a different place for every step, so that it compresses as code does.
"""

import json
import sqlite3
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from afresh.core import event as happened
from afresh.core.action import Action, Observation
from afresh.core.archived_block import Block, BlockIndexLine, block_id_from_text
from afresh.core.event import Event, JournalHead
from afresh.core.fact import Fact, FactKind
from afresh.core.hash_chain import link_events
from afresh.core.line_region import Region
from afresh.core.prompt import CallAudit, ItemRef, Omission, SectionRef, Tier
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.task import Check, Task
from afresh.core.usage import Usage
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.storage.sqlite.storage import open_sqlite_journal

MODULES = ("argparse", "ast", "configparser", "dataclasses", "difflib", "inspect", "pathlib", "subprocess", "tarfile", "typing")
STABLE = (("system", 2_400), ("tools", 2_400), ("fingerprint", 1_600), ("task", 1_200), ("plan", 800))
FRESH = (("facts", 2_000), ("code", 4_000), ("recent", 1_600))
REPLY, OUTPUT = 1_200, 6_000


@dataclass(frozen=True)
class Said:
    """What was said and seen in one step."""

    step: int
    stable: tuple[tuple[str, str], ...]
    fresh: tuple[tuple[str, str], ...]
    reply: str
    output: str

    @property
    def request(self) -> str:
        return "".join(text for _, text in (*self.stable, *self.fresh))

    @property
    def news(self) -> str:
        """What is new in the request; all of it in the first step."""
        return "".join(text for _, text in (self.fresh if self.step > 1 else (*self.stable, *self.fresh)))

    @property
    def row(self) -> str:
        """All of it in one piece: what the raw insert writes."""
        return json.dumps([self.request, self.reply, self.output], ensure_ascii=False)

    @property
    def bytes(self) -> int:
        return len((self.request + self.reply + self.output).encode())

    @property
    def distinct_bytes(self) -> int:
        """With the request counted only where it is new (the unchanged sections are counted once, in step 1)."""
        return len((self.news + self.reply + self.output).encode())


@cache
def library() -> str:
    folder = Path(sysconfig.get_path("stdlib"))
    files = [folder / f"{name}.py" for name in MODULES]
    return "".join(file.read_text() for file in files if file.exists())


def cut(place: int, size: int) -> str:
    text = library()
    start = place % (len(text) - size)
    return text[start : start + size]


def steps(count: int, first: int = 1) -> Iterator[Said]:
    stable = tuple((name, cut(number * 9_973, size)) for number, (name, size) in enumerate(STABLE))
    for step in range(first, first + count):
        place = step * 7_919
        fresh = tuple(
            (name, f"step {step}\n" + cut(place + number * 5_003, size - 10)) for number, (name, size) in enumerate(FRESH)
        )
        yield Said(step, stable, fresh, cut(place + 31_337, REPLY), f"$ pytest {step}\n" + cut(place + 17_011, OUTPUT - 14))


AT = 1_700_000_000.0
Half = tuple[list[Event], list[Block]]
Commit = tuple[JournalHead, list[Event], list[Block], State]


class AfreshStore:
    """A task in a store of its own. Timed: canonical JSON, hash chain, compression, snapshot and both commits."""

    def __init__(self, folder: Path) -> None:
        self.store = open_sqlite_journal(folder / "afresh.db")
        self.state: State | None = None
        task = Task(id="bench", goal="make the tests pass", checks=(Check("pytest -q"),))
        self.step([self._commit([happened.TaskCreated(task), happened.TaskClaimed("host:1:1")], [])])

    def prepare(self, said: Said) -> list[Commit]:
        return [self._commit(*first_half(said)), self._commit(*second_half(said))]

    def _commit(self, events: list[Event], blocks: list[Block]) -> Commit:
        """The state is folded ahead: that is the engine's work, not the store's."""
        head = self.state.head if self.state else JournalHead()
        self.state = fold_entries(self.state, link_events("bench", head, AT, events))
        return head, events, blocks, self.state

    def step(self, commits: list[Commit]) -> None:
        for head, events, blocks, after in commits:
            self.store.append(link_events("bench", head, AT, events), blocks, after)

    def load(self) -> State:
        return self.store.load("bench")

    def close(self) -> None:
        self.store.close()


def first_half(said: Said) -> Half:
    """What was asked and answered, with every section of the window offered to the archive."""
    blocks = {name: Block(block_id_from_text(text), text) for name, text in (*said.stable, *said.fresh)}
    sections = tuple(SectionRef(name, Tier.ALWAYS, block.id, len(block.text) // 4) for name, block in blocks.items())
    looks = (ItemRef("file", f"src/module{said.step % 9}.py", blocks["code"].id, "text"),)
    left_out = (Omission("facts", "3 older notes", 120, "over its share"), Omission("recent", "step 1", 90, "too old"))
    audit = CallAudit(f"{said.step:064x}", 4_000, 3_500, sections, looks, left_out, 800, "estimate")
    reply = Reply(said.reply[:400], (_edit(said),), Usage(3_500, 300, 2_000), "model")
    return [happened.CallRequested(said.step, audit), happened.ReplyReceived(said.step, reply)], list(blocks.values())


def second_half(said: Said) -> Half:
    """What came of it: the raw output as a block, and what the harness made of it."""
    step, path, output = said.step, f"src/module{said.step % 9}.py", Block(block_id_from_text(said.output), said.output)
    seen = Observation(Action("edit", {"path": path}), True, said.output[:300], output.id, len(output.text))
    run = CheckRun("pytest -q", 0, "targeted", 12, 0, 1, 0.4, block=output.id)
    digest = happened.OutputDigested(
        facts=(Fact(FactKind.NOTE, f"{path}:{step % 80}", said.output[300:380], 0.7, output.id, step),),
        regions=(Region(path, step % 400, step % 400 + 30, step, True),),
        index=(BlockIndexLine(output.id, "test", path, len(output.text), said.output[20:80], step),),
    )
    return [
        happened.ActionsExecuted(step, (seen,)),
        digest,
        happened.VerdictReached(step, Verdict(Ruling.PASS, "12 passed", (run,))),
        happened.ChangeKeptOrReverted(step, True, f"{step:040x}", (path,)),
        happened.StepFinished(step, "kept: 12 passed"),
    ], [output]


def _edit(said: Said) -> Action:
    return Action("edit", {"path": f"src/module{said.step % 9}.py", "old": said.reply[400:700], "new": said.reply[700:]})


class RawInsert:
    """The floor: what was said and seen in a step as one row, one commit, WAL and full sync."""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("CREATE TABLE step (id INTEGER PRIMARY KEY, body TEXT)")

    def prepare(self, said: Said) -> str:
        return said.row

    def step(self, row: str) -> None:
        self.connection.execute("INSERT INTO step (body) VALUES (?)", (row,))

    def close(self) -> None:
        self.connection.close()
