"""Raw output goes to the archive; what later windows may show of it is a digest."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.domain.action import Action, Observation, subject
from afresh.domain.event import Digested
from afresh.domain.fact import Block, Fact, IndexLine, Region
from afresh.domain.passage import OK, Passage, Voice, looked_at
from afresh.domain.state import State
from afresh.domain.trace import files
from afresh.engine.act import Deed, Deeds
from afresh.engine.extract import Reading, commanded, learnt, purpose, read
from afresh.engine.record import block

DIGEST_LINES = 12
DIGEST_CHARACTERS = 900
PARTLY = "partly"
FAILED = " (failed)"
PRINTING = ("run", "test", "search")
NOTING = ("plan", "remember", "decide", "recall", "compact")
CHANGING = ("edit", "write", "apply", "run", "delegate")
UNLISTED = ("edit", "write", "apply", *NOTING)
"""What these wrote is in the files, in sections of its own, or in the archive already: it needs no line in the index."""
LISTED = 300
"""Characters from which an output has a line in the index; what is shorter is told by its step."""
TELLING = re.compile(r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Digest:
    observations: tuple[Observation, ...]
    facts: tuple[Fact, ...]
    regions: tuple[Region, ...]
    index: tuple[IndexLine, ...]
    passages: tuple[Passage, ...]
    blocks: tuple[Block, ...]

    @property
    def event(self) -> Digested:
        return Digested(self.facts, self.regions, self.index, self.passages)


def digest(state: State, deeds: Deeds) -> Digest:
    step = state.step + 1
    blocks = [block(deed.outcome.text) for deed in deeds.done]
    seen = [observe(deed, raw) for deed, raw in zip(deeds.done, blocks, strict=True)]
    said, spoken = speech(state, step, deeds)
    readings = [told_by(deed, raw) for deed, raw in zip(deeds.done, blocks, strict=True)]
    index = [
        IndexLine(raw.id, deed.action.tool, sought(deed, raw), len(raw.text), reading.phrase, step)
        for deed, raw, reading in zip(deeds.done, blocks, readings, strict=True)
        if len(raw.text) > LISTED and deed.action.tool not in UNLISTED
    ]
    return Digest(
        observations=tuple(seen),
        facts=tuple(facts(state, step, deeds, blocks, readings)),
        regions=tuple(region for deed in deeds.done for region in deed.outcome.regions),
        index=tuple(index),
        passages=(*said, *printed(state, step, deeds, blocks)),
        blocks=(*blocks, *spoken),
    )


def told_by(deed: Deed, raw: Block) -> Reading:
    if deed.action.tool not in PRINTING:
        return Reading(telling(raw.text))
    return read(deed.action.tool, str(deed.action.args.get("command") or commanded(raw.text)), raw.text)


def sought(deed: Deed, raw: Block) -> str:
    """What an output came from: of a command its purpose."""
    command = commanded(raw.text) if deed.action.tool in PRINTING else ""
    return purpose(command) if command else subject(short(deed))


def source(deed: Deed, raw: Block) -> str:
    """The command that a fact comes from. Scripts that begin alike are told apart: none takes back what another said."""
    script = str(deed.action.args.get("command", "")).strip()
    return f"{sought(deed, raw)} #{block(script).id[:4]}" if "\n" in script else sought(deed, raw)


def facts(state: State, step: int, deeds: Deeds, blocks: Sequence[Block], readings: Sequence[Reading]) -> Iterator[Fact]:
    """What the tools say themselves, and what their outputs say; a later output of one reply knows of the one before it."""
    known = state.facts
    for deed, raw, reading in zip(deeds.done, blocks, readings, strict=True):
        yield from deed.outcome.facts
        if deed.action.tool in PRINTING:
            new = tuple(learnt(reading, source(deed, raw), raw.id, step, known, state.last_change))
            known = (*known, *new)
            yield from new


def speech(state: State, step: int, deeds: Deeds) -> tuple[list[Passage], list[Block]]:
    """Thought and actions of the reply, as memory keeps them. What was written to files is in the files."""
    thought = state.pending.reply.thought if state.pending else ""
    told = [deed for deed in deeds.done if deed.action.tool not in NOTING]
    how = ended(told)
    done = "\n".join(told_action(deed) + (FAILED if how == PARTLY and not deed.outcome.ok else "") for deed in told)
    texts = [(Voice.THOUGHT, thought, ""), (Voice.ACTION, done, how)]
    blocks, about = [block(text) for _, text, _ in texts if text], files(done)
    said = [
        Passage(step, voice, block(text).id, looked_at(text, state.budget), "", about, end) for voice, text, end in texts if text
    ]
    return said, blocks


def ended(deeds: Sequence[Deed]) -> str:
    """In a word; of several actions that ended differently each that failed says so itself."""
    if all(deed.outcome.ok for deed in deeds):
        return OK
    return PARTLY if any(deed.outcome.ok for deed in deeds) else "failed"


def told_action(deed: Deed) -> str:
    if deed.action.tool == "run":
        return f"run {deed.action.args.get('command', '')}"
    return f"{deed.action.tool} {subject(short(deed))}"


def printed(state: State, step: int, deeds: Deeds, blocks: Sequence[Block]) -> Iterator[Passage]:
    """Outputs that are nowhere else: files are shown as they are now, notes and plan stand in sections of their own."""
    changing = [number for number, deed in enumerate(deeds.done) if deed.action.tool in CHANGING]
    for number, (deed, raw) in enumerate(zip(deeds.done, blocks, strict=True)):
        if raw.text.strip() and deed.action.tool in PRINTING:
            told, late = told_action(deed), number >= max(changing, default=0)
            size = looked_at(raw.text, state.budget)
            yield Passage(step, Voice.OUTPUT, raw.id, size, cut_line(told, 60), files(told), late=late)


def observe(deed: Deed, raw: Block) -> Observation:
    lines = sum(region.end - region.start + 1 for region in deed.outcome.regions)
    return Observation(short(deed), deed.outcome.ok, shortened(raw.text), raw.id, len(raw.text), lines)


def short(deed: Deed) -> Action:
    """The action as later windows tell it: long arguments are in the journal's reply, and what they wrote is on disk."""
    args = {name: told(value) for name, value in deed.action.args.items()}
    if deed.action.tool == "apply" and deed.outcome.ok:
        args["what"] = cut_line(deed.outcome.text, 100)
    return Action(deed.action.tool, args)


def told(value: object) -> str:
    return f"{len(value)} items" if isinstance(value, list) else cut_line(str(value), 160)  # pyright: ignore[reportUnknownArgumentType]


def shortened(text: str) -> str:
    """Head, tail and the lines between them that say how it went."""
    lines = text.splitlines()
    if len(lines) <= DIGEST_LINES and len(text) <= DIGEST_CHARACTERS:
        return text
    head, tail = lines[:3], lines[-4:]
    between = [line for line in lines[3:-4] if TELLING.search(line)][: DIGEST_LINES - len(head) - len(tail)]
    kept = [cut_line(line, 120) for line in (*head, "…", *between, "…", *tail)]
    return "\n".join(kept)[:DIGEST_CHARACTERS]


def telling(text: str) -> str:
    """The one line that tells most: the last that speaks of success or failure, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    spoken = [line for line in lines if TELLING.search(line)]
    return cut_line((spoken or lines or [""])[-1 if spoken else 0], 90)


def cut_line(text: str, length: int) -> str:
    first, *more = text.splitlines() or [""]
    return first if len(first) <= length and not more else first[:length].rstrip() + "…"
