"""Sessions of Claude Code: JSON lines, an entry each, under ~/.claude/projects/.

One reply of the model is spread over several entries with the same message id, each with the usage of the whole. What tools gave
back comes in entries of type user, as does what the program itself put in.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from afresh.replay.content import content_text, listed, mapping, text
from afresh.replay.draft import Draft
from afresh.replay.entries import Entry
from afresh.replay.run import Run, action_text

NAME = "Claude Code"
FILES = "session .jsonl"

_SPOKEN = {"user", "assistant"}
_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_OF_THE_PROGRAM = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<task-notification>")
_reminder = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_name = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_arguments = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def knows(value: object) -> bool:
    held = mapping(value)
    kind = held.get("type")
    if isinstance(kind, str) and kind in _SPOKEN:
        return isinstance(held.get("message"), dict) and "content" in held["message"]
    return isinstance(kind, str) and ("sessionId" in held or "leafUuid" in held or kind == "file-history-snapshot")


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    """A run for each session. A file of nothing but sub-agents gives one for each of those; elsewhere they are counted."""
    file = _File()
    for entry in entries:
        if file.current.usable(entry):
            _take(file, mapping(entry.value), entry.where)
    acted = [draft for draft in {id(draft): draft for draft in file.sessions.values()}.values() if draft.steps]
    if acted and file.left_out:
        acted[0].problem("sub-agents", f"{file.left_out} entries left out")
    if not acted:
        acted = list(file.agents.values()) or [file.current]
    yield from (draft.run(path) for draft in acted)


@dataclass(slots=True)
class _File:
    """The sessions of one file, by id; and for each entry its session, since a resumed one goes on under another id."""

    current: Draft = field(default_factory=lambda: Draft(NAME))
    sessions: dict[str, Draft] = field(default_factory=dict[str, Draft])
    owners: dict[str, Draft] = field(default_factory=dict[str, Draft])
    agents: dict[str, Draft] = field(default_factory=dict[str, Draft])
    left_out: int = 0


def _take(file: _File, held: dict[str, Any], where: str) -> None:
    kind, own = text(held.get("type")), text(held.get("uuid"))
    if own in file.owners:
        return
    draft = _session(file, held)
    if own:
        file.owners[own] = draft
    if kind == "attachment":
        _queued(draft, mapping(held.get("attachment")))
    elif kind in _SPOKEN and isinstance(held.get("message"), dict):
        (_assistant if kind == "assistant" else _user)(draft, held, where)
    elif kind in _SPOKEN:
        draft.problem(where, f"an entry of type {kind} without its message, left out")


def _session(file: _File, held: dict[str, Any]) -> Draft:
    session, parent = text(held.get("sessionId")), text(held.get("parentUuid"))
    if held.get("isSidechain") is True:
        file.left_out += 1
        agent = text(held.get("agentId")) or session
        return file.agents.setdefault(agent, Draft(NAME, agent))
    if session and session not in file.sessions:
        begun = file.current if not file.current.id else Draft(NAME)
        begun.id = begun.id or session
        file.sessions[session] = file.owners.get(parent, begun)
    if session or not file.sessions:
        file.current = file.sessions.setdefault(session, file.current)
    return file.current


def _assistant(draft: Draft, held: dict[str, Any], where: str) -> None:
    message = held["message"]
    model = text(message.get("model"))
    if held.get("isApiErrorMessage") is True or model == "<synthetic>":
        return
    draft.enter(text(message.get("id")))
    usage = mapping(message.get("usage"))
    draft.sent(sum(count for name in _USAGE if type(count := usage.get(name)) is int))
    draft.models.update([model] if model else [])
    content = message.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else listed(content):
        _reply(draft, mapping(block), where)


def _reply(draft: Draft, block: dict[str, Any], where: str) -> None:
    kind = text(block.get("type"))
    if kind == "text":
        draft.speak(text(block.get("text")))
    elif kind == "thinking":
        draft.think(text(block.get("thinking")))
    elif kind.endswith("tool_use"):
        draft.act(text(block.get("name")), action_text(block.get("input")), text(block.get("id")))
    elif kind.endswith("tool_result"):
        draft.answer(text(block.get("tool_use_id")), content_text(block.get("content")), where)
    elif kind != "redacted_thinking":
        draft.problem(where, f"a block of type {kind or 'unknown'}, left out")


def _user(draft: Draft, held: dict[str, Any], where: str) -> None:
    content = held["message"].get("content")
    if not isinstance(content, str | list):
        draft.problem(where, "a message of a person without content, left out")
    words = [content] if isinstance(content, str) else []
    for block in listed(content):
        if text(mapping(block).get("type")).endswith("tool_result"):
            draft.answer(text(block.get("tool_use_id")), content_text(block.get("content")), where)
        else:
            words.append(content_text([block]))
    if held.get("isMeta") is not True and held.get("isCompactSummary") is not True:
        for word in words:
            _heard(draft, word)


def _heard(draft: Draft, words: str) -> None:
    """What a person typed, without what the program wraps around it. A command that the program answered never left it."""
    words = _reminder.sub("", words).strip()
    if words.startswith(_OF_THE_PROGRAM):
        draft.unsay("/")
    elif command := _name.search(words) if words.startswith("<command-") else None:
        arguments = _arguments.search(words)
        draft.say(" ".join(filter(None, (command[1].strip(), arguments[1].strip() if arguments else ""))))
    elif words:
        draft.say(words)


def _queued(draft: Draft, attachment: dict[str, Any]) -> None:
    """What a person typed while the agent was at work."""
    if attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt":
        _heard(draft, content_text(attachment.get("prompt")))
