"""The context file of a task: what the last call contained and omitted, what is on disk instead, and how to read it. Bounded."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from afresh.core.archived_block import BlockIndexLine
from afresh.core.event import CallRequested, JournalEntry
from afresh.core.prompt import CallAudit, Omission, SectionCompaction
from afresh.core.state import State
from afresh.views.bounded_json import render_json_document, truncate_to_bytes
from afresh.views.file_io import file_name_from_task

MAX_SECTIONS = 32
MAX_OMISSIONS = 20
MAX_COMPACTIONS = 8
_CALL_FIELDS = ("call", "sections", "left out", "compacted")
_DOCUMENT_START = "{\n"
_DISK_FIELDS_START = ',\n"archived outputs": '
"""The beginning of the part about files on disk."""


def render_context_index(state: State, last: CallRequested | None) -> str:
    return render_json_document(
        {"task": truncate_to_bytes(state.task.id, 200), **_describe_prompt(last), **_describe_disk(state)}
    )


def update_context_index(text: str, state: State) -> str | None:
    """Update the file after a commit without a call. Returns None if its content is not about the last call."""
    told, found, _ = text.partition(_DISK_FIELDS_START)
    try:
        call = json.loads(f"{told}\n}}")["call"]
        said = (call["tokens"], call["ceiling"]) if call else (0, 0)
    except (ValueError, KeyError, TypeError):
        return None
    same = found and said == (state.tokens.last_call.tokens, state.tokens.last_call.budget)
    return f"{told},\n{render_json_document(_describe_disk(state)).removeprefix(_DOCUMENT_START)}" if same else None


def find_last_call(entries: Iterable[JournalEntry]) -> CallRequested | None:
    call_requested: CallRequested | None = None
    for entry in entries:
        if isinstance(entry.event, CallRequested):
            call_requested = entry.event
    return call_requested


def _describe_prompt(last: CallRequested | None) -> dict[str, Any]:
    if last is None:
        return dict(zip(_CALL_FIELDS, (None, [], [], []), strict=True))
    audit = last.audit
    most = sorted(audit.omissions, key=lambda omission: -omission.tokens)[:MAX_OMISSIONS]
    return {
        "call": _describe_call(last.step, audit),
        "sections": [
            {
                "section": truncate_to_bytes(ref.name, 40),
                "tier": ref.tier.name.lower(),
                "tokens": ref.tokens,
                "block": ref.block[:12],
            }
            for ref in audit.sections[:MAX_SECTIONS]
        ],
        "left out": [_describe_omission(omission) for omission in most],
        "compacted": [_describe_compaction(done) for done in audit.compactions[:MAX_COMPACTIONS]],
    }


def _describe_call(step: int, audit: CallAudit) -> dict[str, Any]:
    return {
        "step": step,
        "model": truncate_to_bytes(audit.model, 80),
        "tokens": audit.tokens,
        "ceiling": audit.budget,
        "kept for the reply": audit.reserve,
        "free": audit.budget - audit.reserve - audit.tokens,
        "passages left out": len(audit.omissions),
        "tokens left out": sum(omission.tokens for omission in audit.omissions),
        "hash": audit.hash,
    }


def _describe_omission(omission: Omission) -> dict[str, Any]:
    what, why = truncate_to_bytes(omission.what, 120), truncate_to_bytes(omission.reason, 120)
    return {"section": truncate_to_bytes(omission.section, 40), "what": what, "tokens": omission.tokens, "why": why}


def _describe_compaction(done: SectionCompaction) -> dict[str, Any]:
    told = {"strategy": truncate_to_bytes(done.strategy, 40), "section": truncate_to_bytes(done.section, 40)}
    return {**told, "removed": len(done.removed), "tokens": done.tokens}


def _describe_disk(state: State) -> dict[str, Any]:
    name = file_name_from_task(state.task.id)
    sessions = "sessions/archive" if state.status.over else "sessions"
    return {
        "archived outputs": state.memory.archived,
        "archive": [_describe_block(line) for line in reversed(state.memory.index)],
        "passages": {"remembered line by line": len(state.memory.passages), "only in the archive": state.memory.forgotten},
        "files": {
            "session": f"{sessions}/{name}.md",
            "decisions": f"decisions/{name}.jsonl",
            "state": f"tasks/{name}.json",
            **({"checkpoints": f"checkpoints/{name}"} if state.times.checkpoints else {}),
            "project memory": "project_memory.json",
            "knowledge": "../knowledge",
        },
        "how to get": {
            "the call to the byte": f"afresh context show {truncate_to_bytes(state.task.id, 60)}",
            "a section or archived output": "afresh context show --block ID; the agent reads @ID",
            "why a name was in or not": f"afresh context why NAME {truncate_to_bytes(state.task.id, 60)}",
        },
    }


@lru_cache(256)
def _describe_block(line: BlockIndexLine) -> dict[str, Any]:
    about = {
        "block": line.block[:12],
        "step": line.step,
        "kind": truncate_to_bytes(line.kind, 40),
        "subject": truncate_to_bytes(line.subject, 120),
    }
    return {**about, "characters": line.size, "says": truncate_to_bytes(line.phrase, 120)}
