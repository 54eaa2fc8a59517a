"""Trajectories of mini-swe-agent: one JSON document with the messages of the run, or the bare list of them.

Version 1 finds the command in a block of the reply's text and answers as the user. Version 2 has tool calls, either of the chat
API or, with whole responses as messages, of the Responses API; what it made of them is in `extra`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from afresh.replay.content import content_text, listed, mapping, text, unwrapped
from afresh.replay.draft import Draft
from afresh.replay.entries import Entry
from afresh.replay.run import Run, action_text

NAME = "mini-swe-agent"
FILES = ".traj.json"

BASH = "bash"
NO_ACTION = "none"
"""The tool of a reply in which the agent did not find exactly one command, and said so to the model."""

_block = re.compile(r"^```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?^```", re.DOTALL | re.MULTILINE)


def knows(value: object) -> bool:
    held = mapping(value)
    if isinstance(held.get("messages"), list):
        return "trajectory_format" in held or "info" in held
    return held.get("role") in ("system", "user", "assistant") and "content" in held


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    """One run: the messages of the document, or all the entries if they are the messages. Without a command it is some chat."""
    draft = Draft(NAME)
    for entry in entries:
        held = mapping(entry.value)
        whole = draft.usable(entry)
        if isinstance(held.get("messages"), list):
            _document(draft, held)
        elif whole:
            _message(draft, held, entry.where)
    if not any(step.tool == BASH for step in draft.steps):
        draft.steps.clear()
    yield draft.run(path)


def _document(draft: Draft, held: dict[str, Any]) -> None:
    info = mapping(held.get("info"))
    draft.id = text(held.get("instance_id")) or text(info.get("instance_id"))
    model = text(mapping(mapping(info.get("config")).get("model")).get("model_name"))
    for number, message in enumerate(held["messages"], 1):
        if isinstance(message, dict):
            _message(draft, message, f"message {number}")
        else:
            draft.problem(f"message {number}", "not an object, left out")
    if model:
        draft.models[model] += len(held["messages"])


def _message(draft: Draft, held: dict[str, Any], where: str) -> None:
    role = text(held.get("role"))
    if held.get("type") == "function_call_output" or role == "tool":
        call = text(held.get("call_id")) or text(held.get("tool_call_id"))
        draft.answer(call, content_text(held.get("output", held.get("content"))), where)
    elif held.get("object") == "response" or role == "assistant":
        _reply(draft, held, where)
    elif mapping(held.get("extra")).get("interrupt_type") == "FormatError":
        _refused(draft, held, where)
    elif role in ("user", "exit"):
        _told(draft, content_text(held.get("content")), role)
    elif role != "system":
        draft.problem(where, f"a message of the role {role or 'unknown'}, left out")


def _told(draft: Draft, words: str, role: str) -> None:
    """The answer to the call that waits for one; otherwise a person's words."""
    waiting = list(draft.waiting())
    for call in waiting:
        draft.answer(call, words, role)
    if not waiting and role == "user":
        draft.say(words)


def _enter(draft: Draft, held: dict[str, Any], where: str) -> dict[str, Any]:
    """A call begins; gives back the provider's response to it."""
    response = held if held.get("object") == "response" else mapping(mapping(held.get("extra")).get("response"))
    usage = mapping(response.get("usage"))
    draft.enter(where)
    draft.sent(usage.get("prompt_tokens", usage.get("input_tokens")))
    draft.models.update([model] if (model := text(response.get("model"))) else [])
    return response


def _refused(draft: Draft, held: dict[str, Any], where: str) -> None:
    """A reply without a usable command is kept only beside the message that says so."""
    response = _enter(draft, held, where)
    choice = mapping(next(iter(listed(response.get("choices"))), None))
    draft.think(
        text(mapping(held.get("extra")).get("model_response")) or content_text(mapping(choice.get("message")).get("content"))
    )
    draft.act(NO_ACTION, "", answer=content_text(held.get("content")))


def _reply(draft: Draft, held: dict[str, Any], where: str) -> None:
    _enter(draft, held, where)
    extra = mapping(held.get("extra"))
    draft.think(text(held.get("reasoning_content")))
    spoken = _spoken(held)
    commands = _commands(extra, held) or _written(spoken)
    for command, call in commands:
        draft.think(_block.sub("", spoken).strip() if (command, call) == commands[0] else "")
        draft.act(BASH, command, call or where)
    if not commands:
        draft.think(spoken)
        draft.act(NO_ACTION, "", where)


def _spoken(held: dict[str, Any]) -> str:
    messages = (mapping(item) for item in listed(held.get("output")))
    parts = [content_text(item.get("content")) for item in messages if item.get("type") == "message"]
    return "\n".join([*parts, content_text(held.get("content"))]).strip()


def _commands(extra: dict[str, Any], held: dict[str, Any]) -> list[tuple[str, str]]:
    """The commands that were found at the time, else those of the tool calls; each with the name of its call."""
    found = [
        (text(mapping(action).get("command")), text(mapping(action).get("tool_call_id")))
        for action in listed(extra.get("actions"))
    ]
    calls = [mapping(call) for call in listed(held.get("tool_calls"))]
    calls += [mapping(item) for item in listed(held.get("output")) if mapping(item).get("type") == "function_call"]
    for call in [] if found else calls:
        arguments = mapping(call.get("function", call)).get("arguments")
        command = unwrapped(arguments).get("command")
        found.append((command if isinstance(command, str) else action_text(arguments), text(call.get("call_id", call.get("id")))))
    return found


def _written(spoken: str) -> list[tuple[str, str]]:
    blocks = [block.strip() for block in _block.findall(spoken)]
    return [(blocks[0], "")] if len(blocks) == 1 else []
