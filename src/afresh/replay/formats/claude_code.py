"""Sessions of Claude Code: JSON lines, an entry each, under ~/.claude/projects/.

One reply of the model is spread over several entries with the same message id, each with the usage of the whole. What tools gave
back comes in entries of type user, as does what the program itself put in.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import RecordedRun, render_arguments
from afresh.replay.run_builder import RunBuilder, render_content, to_list, to_mapping, to_text

NAME = "Claude Code"
FILES = "session .jsonl"

_MESSAGE_TYPES = {"user", "assistant"}
_INPUT_TOKEN_FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_PROGRAM_TEXT_PREFIXES = ("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<task-notification>")
_SYSTEM_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def knows(value: object) -> bool:
    mapping = to_mapping(value)
    kind = mapping.get("type")
    if isinstance(kind, str) and kind in _MESSAGE_TYPES:
        return isinstance(mapping.get("message"), dict) and "content" in mapping["message"]
    return isinstance(kind, str) and ("sessionId" in mapping or "leafUuid" in mapping or kind == "file-history-snapshot")


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """A run for each session. A file of nothing but sub-agents gives one for each of those; elsewhere they are counted."""
    file = _SessionFile()
    for entry in entries:
        if file.current.usable(entry):
            _read_entry(file, to_mapping(entry.value), entry.where)
    acted = [draft for draft in {id(draft): draft for draft in file.sessions.values()}.values() if draft.steps]
    if acted and file.left_out:
        acted[0].problem("sub-agents", f"{file.left_out} entries left out")
    if not acted:
        acted = list(file.agents.values()) or [file.current]
    yield from (draft.run(path) for draft in acted)


@dataclass(slots=True)
class _SessionFile:
    """The sessions of one file, by id; and for each entry its session, since a resumed one goes on under another id."""

    current: RunBuilder = field(default_factory=lambda: RunBuilder(NAME))
    sessions: dict[str, RunBuilder] = field(default_factory=dict[str, RunBuilder])
    owners: dict[str, RunBuilder] = field(default_factory=dict[str, RunBuilder])
    agents: dict[str, RunBuilder] = field(default_factory=dict[str, RunBuilder])
    left_out: int = 0


def _read_entry(file: _SessionFile, values: dict[str, Any], where: str) -> None:
    kind, own = to_text(values.get("type")), to_text(values.get("uuid"))
    if own in file.owners:
        return
    draft = _find_session(file, values)
    if own:
        file.owners[own] = draft
    if kind == "attachment":
        _read_queued_prompt(draft, to_mapping(values.get("attachment")))
    elif kind in _MESSAGE_TYPES and isinstance(values.get("message"), dict):
        (_read_assistant if kind == "assistant" else _read_user)(draft, values, where)
    elif kind in _MESSAGE_TYPES:
        draft.problem(where, f"an entry of type {kind} without its message, left out")


def _find_session(file: _SessionFile, values: dict[str, Any]) -> RunBuilder:
    session, parent = to_text(values.get("sessionId")), to_text(values.get("parentUuid"))
    if values.get("isSidechain") is True:
        file.left_out += 1
        agent = to_text(values.get("agentId")) or session
        return file.agents.setdefault(agent, RunBuilder(NAME, agent))
    if session and session not in file.sessions:
        begun = file.current if not file.current.id else RunBuilder(NAME)
        begun.id = begun.id or session
        file.sessions[session] = file.owners.get(parent, begun)
    if session or not file.sessions:
        file.current = file.sessions.setdefault(session, file.current)
    return file.current


def _read_assistant(draft: RunBuilder, values: dict[str, Any], where: str) -> None:
    message = values["message"]
    model = to_text(message.get("model"))
    if values.get("isApiErrorMessage") is True or model == "<synthetic>":
        return
    draft.enter(to_text(message.get("id")))
    usage = to_mapping(message.get("usage"))
    draft.sent(sum(count for name in _INPUT_TOKEN_FIELDS if type(count := usage.get(name)) is int))
    draft.use_model(model)
    content = message.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else to_list(content):
        _read_reply_block(draft, to_mapping(block), where)


def _read_reply_block(draft: RunBuilder, block: dict[str, Any], where: str) -> None:
    kind = to_text(block.get("type"))
    if kind == "text":
        draft.speak(to_text(block.get("text")))
    elif kind == "thinking":
        draft.think(to_text(block.get("thinking")))
    elif kind.endswith("tool_use"):
        draft.act(to_text(block.get("name")), render_arguments(block.get("input")), to_text(block.get("id")))
    elif kind.endswith("tool_result"):
        draft.answer(to_text(block.get("tool_use_id")), render_content(block.get("content")), where)
    elif kind != "redacted_thinking":
        draft.problem(where, f"a block of type {kind or 'unknown'}, left out")


def _read_user(draft: RunBuilder, values: dict[str, Any], where: str) -> None:
    content = values["message"].get("content")
    if not isinstance(content, str | list):
        draft.problem(where, "a message of a person without content, left out")
    words = [content] if isinstance(content, str) else []
    for block in to_list(content):
        if to_text(to_mapping(block).get("type")).endswith("tool_result"):
            draft.answer(to_text(block.get("tool_use_id")), render_content(block.get("content")), where)
        else:
            words.append(render_content([block]))
    if values.get("isMeta") is not True and values.get("isCompactSummary") is not True:
        for word in words:
            _read_user_text(draft, word)


def _read_user_text(draft: RunBuilder, words: str) -> None:
    """What a person typed, without what the program wraps around it. A command that the program answered never left it."""
    words = _SYSTEM_REMINDER.sub("", words).strip()
    if words.startswith(_PROGRAM_TEXT_PREFIXES):
        draft.unsay("/")
    elif command := _COMMAND_NAME.search(words) if words.startswith("<command-") else None:
        arguments = _COMMAND_ARGUMENTS.search(words)
        draft.say(" ".join(filter(None, (command[1].strip(), arguments[1].strip() if arguments else ""))))
    elif words:
        draft.say(words)


def _read_queued_prompt(draft: RunBuilder, attachment: dict[str, Any]) -> None:
    """A message that a person typed while the agent worked."""
    if attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt":
        _read_user_text(draft, render_content(attachment.get("prompt")))
