"""Explain a recorded call: what the builder knew of a name, and what it made of it. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from afresh.context.build_prompt import draft_sections
from afresh.core.prompt import Omission, Section
from afresh.core.template import Template
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import HistoryWeights, OddsWeights, StepOdds, to_probability, weights_from_policy
from afresh.memory.history.trace import LastSighting


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A line of a section that holds it. `origin` says where the line came from."""

    section: str
    line: int
    text: str
    origin: str


@dataclass(frozen=True, slots=True)
class NeedEstimate:
    """How likely the builder thought it to be needed: log-odds by part, under the weights of that call."""

    what: str
    kind: str
    step: int
    voice: str
    age: int
    used: int
    """Times that an action of the agent named it; and that an output held it."""
    seen: int
    probability: float
    parts: tuple[tuple[str, float], ...]


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
    chances: tuple[NeedEstimate, ...] = ()
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
    "memory": "what the project remembers", "names": "the names met before", "changes": "the changes so far",
    "suggestions": "a suggestion", "verification": "the harness's own run", "failing": "the source of a failing test",
    "plan": "the plan", "earlier": "the line of an earlier step", "last": "the last step", "footer": "the footer",
    "summary": "the summary of older steps", "cited": "a line that the report cites",
    "knowledge": "what an earlier task has learnt, or a skill", "target": "the source of what the task is about",
    "similar": "the nearest that exists already", "callers": "a caller or callee of it", "tests": "a test that covers it",
    "coverage": "the coverage of the changes",
    "fingerprint": "what the project is", "beginning": "a file near the task, shown since there was room",
    "diff": "the diff under review", "history": "a commit of the file",
}  # fmt: skip
MAX_EXPLAINED_CHANCES = 3


def find_name_places(sections: Sequence[Section], memory: GatheredContext, wanted: re.Pattern[str]) -> Iterator[NameOccurrence]:
    """Lines of the sections that hold the name."""
    headings = {piece.group for draft in draft_sections(memory) for piece in draft.pieces if piece.group}
    for section in sections:
        lines = section.text.splitlines()
        for number, line in enumerate(lines):
            if wanted.search(line):
                above = next((one for one in reversed(lines[: number + 1]) if one in headings), "")
                yield NameOccurrence(section.name, number + 1, line.strip(), describe_origin(section, number, above))


def describe_origin(section: Section, number: int, path: str = "") -> str:
    """Where a line of a section comes from; `path` is the file that it is shown under."""
    if section.name == "work":
        return next((origin for first, origin in reversed(section.origins) if first <= number), "earlier steps")
    if section.name == "files":
        return f"{path or 'a file'} as it was then"
    return SECTION_ORIGINS.get(section.name, section.name)


def find_omissions(memory: GatheredContext, wanted: re.Pattern[str], omissions: Sequence[Omission]) -> list[Omission]:
    """Pieces that hold it and were left out, or shown in part."""
    holding = {
        (draft.name, piece.what) for draft in draft_sections(memory) for piece in draft.pieces if wanted.search(piece.text)
    }
    return [gone for gone in omissions if (gone.section, gone.what) in holding]


def rank_need_chances(memory: GatheredContext, template: Template, wanted: re.Pattern[str]) -> list[NeedEstimate]:
    """Of names and lines in memory that hold it, the likeliest first."""
    policy, trace, now = weights_from_policy(template.weights), memory.trace, memory.state.work.step + 1
    found = [
        _explain_chance(name, "name", sighting, policy.names, memory, now)
        for name, sighting in trace.names.items()
        if wanted.search(name)
    ]
    telling = {row.line.key for entry in trace.entries for row in entry.rows if row.line.telling}
    found += [
        _explain_chance(line, "line", sighting, policy.lines, memory, now)
        for line, sighting in trace.lines.items()
        if line in telling and wanted.search(line)
    ]
    return sorted(found, key=lambda one: (one.kind != "name", -one.probability, one.what))[:MAX_EXPLAINED_CHANCES]


def _explain_chance(
    what: str, kind: str, sighting: LastSighting, odds: OddsWeights, memory: GatheredContext, now: int
) -> NeedEstimate:
    entry = sighting.entry
    crowd = len(entry.names) if kind == "name" else len(entry.found)
    age = now - entry.step

    def total(some: OddsWeights) -> float:
        return (
            some.still(what, sighting, crowd) + StepOdds(HistoryWeights(names=some, lines=some), memory.trace, now).of(entry)[0]
        )

    alone = {field.name: total(OddsWeights(**{field.name: getattr(odds, field.name)})) for field in fields(OddsWeights)}
    parts = tuple((name, round(value, 3)) for name, value in alone.items() if value)
    return NeedEstimate(
        what, kind, entry.step, entry.voice.value, age, sighting.used, sighting.seen, to_probability(total(odds)), parts
    )
