"""What the last call of a task held, what it left out, what lies on disk instead, and how to get at each. Bounded."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from afresh.domain.event import Entry, Requested
from afresh.domain.fact import IndexLine
from afresh.domain.state import State
from afresh.domain.window import Audit, Compaction, Omission, SectionRef
from afresh.projections.document import document
from afresh.projections.files import file_name
from afresh.projections.fit import short

SECTIONS = 32
OMISSIONS = 20
COMPACTIONS = 8
BLOCKS = 24
_FROM_THE_CALL = ("call", "sections", "left out", "compacted")
_OPEN = "{\n"
_THEN = ',\n"archived outputs": '
"""How a document begins, and where what lies on disk begins in it."""


def render(state: State, last: Requested | None) -> str:
    return document({"task": short(state.task.id, 200), **_prompt(last), **_disk(state)})


def updated(text: str, state: State) -> str | None:
    """The same file after a commit without a call; None when what it says of the last call is not of the last call."""
    told, found, _ = text.partition(_THEN)
    try:
        call = json.loads(f"{told}\n}}")["call"]
        said = (call["tokens"], call["ceiling"]) if call else (0, 0)
    except (ValueError, KeyError, TypeError):
        return None
    same = found and said == (state.reading.tokens, state.reading.budget)
    return f"{told},\n{document(_disk(state)).removeprefix(_OPEN)}" if same else None


def last_call(entries: Iterable[Entry]) -> Requested | None:
    found: Requested | None = None
    for entry in entries:
        if isinstance(entry.event, Requested):
            found = entry.event
    return found


def _prompt(last: Requested | None) -> dict[str, Any]:
    if last is None:
        return dict(zip(_FROM_THE_CALL, (None, [], [], []), strict=True))
    audit = last.audit
    most = sorted(audit.omissions, key=lambda omission: -omission.tokens)[:OMISSIONS]
    return {
        "call": _call(last.step, audit),
        "sections": [_section(ref) for ref in audit.sections[:SECTIONS]],
        "left out": [_omission(omission) for omission in most],
        "compacted": [_compaction(done) for done in audit.compactions[:COMPACTIONS]],
    }


def _call(step: int, audit: Audit) -> dict[str, Any]:
    return {
        "step": step,
        "model": short(audit.model, 80),
        "tokens": audit.tokens,
        "ceiling": audit.budget,
        "kept for the reply": audit.reserve,
        "free": audit.budget - audit.reserve - audit.tokens,
        "passages left out": len(audit.omissions),
        "tokens left out": sum(omission.tokens for omission in audit.omissions),
        "hash": audit.hash,
    }


def _section(ref: SectionRef) -> dict[str, Any]:
    return {"section": short(ref.name, 40), "tier": ref.tier.name.lower(), "tokens": ref.tokens, "block": ref.block[:12]}


def _omission(omission: Omission) -> dict[str, Any]:
    what, why = short(omission.what, 120), short(omission.reason, 120)
    return {"section": short(omission.section, 40), "what": what, "tokens": omission.tokens, "why": why}


def _compaction(done: Compaction) -> dict[str, Any]:
    told = {"strategy": short(done.strategy, 40), "section": short(done.section, 40)}
    return {**told, "removed": len(done.removed), "tokens": done.tokens}


def _disk(state: State) -> dict[str, Any]:
    name = file_name(state.task.id)
    sessions = "sessions/archive" if state.status.over else "sessions"
    return {
        "archived outputs": state.archived,
        "archive": [_block(line) for line in reversed(state.index[-BLOCKS:])],
        "passages": {"remembered line by line": len(state.passages), "only in the archive": state.forgotten},
        "files": {
            "session": f"{sessions}/{name}.md",
            "decisions": f"decisions/{name}.jsonl",
            "state": f"tasks/{name}.json",
            "checkpoint": f"checkpoints/{name}.md",
            "project memory": "project_memory.json",
            "knowledge": "../knowledge",
        },
        "how to get": {
            "the call to the byte": f"afresh context show {short(state.task.id, 60)}",
            "a section or archived output": "afresh context block ID; the agent says recall(id=ID)",
            "why a name was in or not": f"afresh context why NAME {short(state.task.id, 60)}",
        },
    }


@lru_cache(256)
def _block(line: IndexLine) -> dict[str, Any]:
    about = {"block": line.block[:12], "step": line.step, "kind": short(line.kind, 40), "subject": short(line.subject, 120)}
    return {**about, "characters": line.size, "says": short(line.phrase, 120)}
