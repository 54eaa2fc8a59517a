"""Explain a recorded call: where it shows a name, or why it does not. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afresh.context.build_prompt import draft_sections
from afresh.core.prompt import Omission, Section
from afresh.memory.gathered_context import GatheredContext


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A line of a section that holds it. `origin` says where the line came from."""

    section: str
    line: int
    text: str
    origin: str


@dataclass(frozen=True, slots=True)
class ArchivedCopy:
    """An archived text that holds it."""

    block: str
    step: int
    kind: str
    subject: str
    forgotten: int = 0
    """The step after which memory no longer held it; 0 if it still does, or never did."""


@dataclass(frozen=True, slots=True)
class NameExplanation:
    name: str
    task: str
    step: int
    places: tuple[NameOccurrence, ...] = ()
    first: int = 0
    """Step of the first and of the last call before this one that held it; 0 if none did."""
    last: int = 0
    reason: str = ""
    """In one sentence, when it is not there."""
    omissions: tuple[Omission, ...] = ()
    copies: tuple[ArchivedCopy, ...] = ()

    @property
    def recall(self) -> str:
        """The call of the tool that brings it back."""
        return f'search(text="{self.name}", path="@{self.copies[0].block[:8]}")' if self.copies else ""


SECTION_ORIGINS = {
    "system": "the system text", "instructions": "a file of instructions",
    "tools": "the schema of a tool", "task": "the order and the words of the user",
    "outline": "the source tree as it is", "archive": "the index of archived outputs", "known": "a note, or what an output said",
    "failed": "what was tried and failed", "decisions": "what was decided",
    "memory": "what the project remembers", "changes": "the changes so far",
    "suggestions": "a suggestion", "verification": "the harness's own run", "failing": "the source of a failing test",
    "plan": "the plan", "last": "the last step", "footer": "the footer",
    "summary": "the summary of older steps", "work": "earlier steps", "cited": "a line that the report cites",
    "knowledge": "what an earlier task has learnt, or a skill", "target": "the source of what the task is about",
    "similar": "the nearest that exists already", "callers": "a caller or callee of it", "tests": "a test that covers it",
    "coverage": "the coverage of the changes",
    "fingerprint": "what the project is", "beginning": "a file near the task, shown since there was room",
    "diff": "the diff under review", "history": "a commit of the file",
}  # fmt: skip


def find_name_places(sections: Sequence[Section], memory: GatheredContext, wanted: re.Pattern[str]) -> Iterator[NameOccurrence]:
    """Lines of the sections that hold the name."""
    headings = {piece.group for draft in draft_sections(memory) for piece in draft.pieces if piece.group}
    for section in sections:
        lines = section.text.splitlines()
        for number, line in enumerate(lines):
            if wanted.search(line):
                above = next((one for one in reversed(lines[: number + 1]) if one in headings), "")
                yield NameOccurrence(section.name, number + 1, line.strip(), describe_origin(section.name, above))


def describe_origin(section: str, path: str = "") -> str:
    """Where a line of a section comes from; `path` is the file that it is shown under."""
    if section == "files":
        return f"{path or 'a file'} as it was then"
    return SECTION_ORIGINS.get(section, section)


def find_omissions(memory: GatheredContext, wanted: re.Pattern[str], omissions: Sequence[Omission]) -> list[Omission]:
    """Pieces that hold it and were left out, or shown in part."""
    holding = {
        (draft.name, piece.what) for draft in draft_sections(memory) for piece in draft.pieces if wanted.search(piece.text)
    }
    return [gone for gone in omissions if (gone.section, gone.what) in holding]


def find_last_sighting(memory: GatheredContext, wanted: re.Pattern[str]) -> str:
    """Where memory met it last, in words; empty if it holds nothing of it."""
    known = (*memory.trace.names.items(), *memory.trace.lines.items())
    entries = [sighting.entry for what, sighting in known if wanted.search(what)]
    last = max(entries, key=lambda entry: entry.number, default=None)
    return f"last seen in step {last.step} ({last.voice})" if last else ""
