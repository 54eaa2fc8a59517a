"""One step as afresh records it: two commits."""

from pathlib import Path

from afresh.adapters.store.sqlite import SqliteStore
from afresh.domain import event as happened
from afresh.domain.action import Action, Observation, Reply, Usage
from afresh.domain.chain import block_id, link
from afresh.domain.event import Event, Head
from afresh.domain.fact import Block, Fact, FactKind, IndexLine, Region
from afresh.domain.fold import fold
from afresh.domain.state import State
from afresh.domain.task import Check, Task
from afresh.domain.verdict import CheckRun, Ruling, Verdict
from afresh.domain.window import Audit, LookRef, Omission, SectionRef, Tier
from store_workload import Said


class Ours:
    """A task in a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "afresh.db"
        self.store = SqliteStore(self.path)
        task = Task(id="bench", goal="make the tests pass", checks=(Check("pytest -q"),))
        self.state = self._write(None, [happened.Created(task), happened.Claimed("host:1:1")], [], 1.0)

    def _write(self, state: State | None, events: list[Event], blocks: list[Block], at: float) -> State:
        entries = link("bench", state.head if state else Head(), at, events)
        after = fold(state, entries)
        self.store.append(entries, blocks, after)
        return after

    def step(self, said: Said) -> None:
        asked, archived = first_half(said)
        seen, output = second_half(said)
        self.state = self._write(self.state, asked, archived, 1e9 + said.step)
        self.state = self._write(self.state, seen, output, 1e9 + said.step + 0.5)

    def load(self) -> State:
        return self.store.load("bench")

    def close(self) -> None:
        self.store.close()


def first_half(said: Said) -> tuple[list[Event], list[Block]]:
    """What was asked and answered, with every section of the window offered to the archive."""
    blocks = {name: Block(block_id(text), text) for name, text in (*said.stable, *said.fresh)}
    sections = tuple(SectionRef(name, Tier.ALWAYS, block.id, len(block.text) // 4) for name, block in blocks.items())
    looks = (LookRef("file", f"src/module{said.step % 9}.py", blocks["code"].id),)
    left_out = (Omission("facts", "3 older notes", 120, "over its share"), Omission("recent", "step 1", 90, "too old"))
    audit = Audit(f"{said.step:064x}", 4_000, 3_500, sections, looks, left_out, 800, "estimate")
    reply = Reply(said.reply[:400], (_edit(said),), Usage(3_500, 300, 2_000), "model")
    return [happened.Requested(said.step, audit), happened.Replied(said.step, reply)], list(blocks.values())


def second_half(said: Said) -> tuple[list[Event], list[Block]]:
    """What came of it: the raw output as a block, and what the harness made of it."""
    step, path, output = said.step, f"src/module{said.step % 9}.py", Block(block_id(said.output), said.output)
    seen = Observation(Action("edit", {"path": path}), True, said.output[:300], output.id, len(output.text))
    run = CheckRun("pytest -q", 0, "targeted", 12, 0, 1, 0.4, block=output.id)
    digest = happened.Digested(
        facts=(Fact(FactKind.NOTE, f"{path}:{step % 80}", said.output[300:380], 0.7, output.id, step),),
        regions=(Region(path, step % 400, step % 400 + 30, step, True),),
        index=(IndexLine(output.id, "test", path, len(output.text), said.output[20:80], step),),
    )
    return [
        happened.Acted(step, (seen,)),
        digest,
        happened.Verified(step, Verdict(Ruling.PASS, "12 passed", (run,))),
        happened.Settled(step, True, f"{step:040x}", (path,)),
        happened.Finished(step, "kept: 12 passed"),
    ], [output]


def _edit(said: Said) -> Action:
    return Action("edit", {"path": f"src/module{said.step % 9}.py", "old": said.reply[400:700], "new": said.reply[700:]})
