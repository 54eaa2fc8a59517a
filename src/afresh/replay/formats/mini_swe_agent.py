"""Trajectories of mini-swe-agent: one JSON document with the messages of the run, or the bare list of them.

Version 1 finds the command in a block of the reply's text and answers as the user. Version 2 has tool calls, either of the chat
API or, with whole responses as messages, of the Responses API; what it made of them is in `extra`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import RecordedRun, render_arguments
from afresh.replay.run_builder import RunBuilder, render_content, to_list, to_mapping, to_text, unwrap_object

NAME = "mini-swe-agent"
FILES = ".traj.json"

BASH_TOOL = "bash"
NO_ACTION_TOOL = "none"
"""The tool of a reply in which the agent did not find exactly one command, and said so to the model."""

_BASH_BLOCK = re.compile(r"^```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?^```", re.DOTALL | re.MULTILINE)


def knows(value: object) -> bool:
    mapping = to_mapping(value)
    if isinstance(mapping.get("messages"), list):
        return "trajectory_format" in mapping or "info" in mapping
    return mapping.get("role") in ("system", "user", "assistant") and "content" in mapping


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """One run: the messages of the document, or all the entries if they are the messages. Without a command it is some chat."""
    draft = RunBuilder(NAME)
    for entry in entries:
        mapping = to_mapping(entry.value)
        whole = draft.usable(entry)
        if isinstance(mapping.get("messages"), list):
            _read_document(draft, mapping)
        elif whole:
            _read_message(draft, mapping, entry.where)
    if not any(step.tool == BASH_TOOL for step in draft.steps):
        draft.steps.clear()
    yield draft.run(path)


def _read_document(draft: RunBuilder, values: dict[str, Any]) -> None:
    info = to_mapping(values.get("info"))
    draft.id = to_text(values.get("instance_id")) or to_text(info.get("instance_id"))
    for where, message in draft.objects(values["messages"], "message"):
        _read_message(draft, message, where)
    draft.use_model(to_mapping(to_mapping(info.get("config")).get("model")).get("model_name"), len(values["messages"]))


def _read_message(draft: RunBuilder, values: dict[str, Any], where: str) -> None:
    role = to_text(values.get("role"))
    if values.get("type") == "function_call_output" or role == "tool":
        call = to_text(values.get("call_id")) or to_text(values.get("tool_call_id"))
        draft.answer(call, render_content(values.get("output", values.get("content"))), where)
    elif values.get("object") == "response" or role == "assistant":
        _read_reply(draft, values, where)
    elif to_mapping(values.get("extra")).get("interrupt_type") == "FormatError":
        _read_format_error(draft, values, where)
    elif role in ("user", "exit"):
        _read_user_text(draft, render_content(values.get("content")), role)
    elif role != "system":
        draft.problem(where, f"a message of the role {role or 'unknown'}, left out")


def _read_user_text(draft: RunBuilder, words: str, role: str) -> None:
    """The answer to the call that waits for one; otherwise a person's words."""
    waiting = list(draft.waiting())
    for call in waiting:
        draft.answer(call, words, role)
    if not waiting and role == "user":
        draft.say(words)


def _enter_call(draft: RunBuilder, values: dict[str, Any], where: str) -> dict[str, Any]:
    """A call begins; gives back the provider's response to it."""
    response = values if values.get("object") == "response" else to_mapping(to_mapping(values.get("extra")).get("response"))
    usage = to_mapping(response.get("usage"))
    draft.enter(where)
    draft.sent(usage.get("prompt_tokens", usage.get("input_tokens")))
    draft.use_model(response.get("model"))
    return response


def _read_format_error(draft: RunBuilder, values: dict[str, Any], where: str) -> None:
    """A reply without a usable command is kept only beside the message that says so."""
    response = _enter_call(draft, values, where)
    choice = to_mapping(next(iter(to_list(response.get("choices"))), None))
    draft.think(
        to_text(to_mapping(values.get("extra")).get("model_response"))
        or render_content(to_mapping(choice.get("message")).get("content"))
    )
    draft.act(NO_ACTION_TOOL, "", answer=render_content(values.get("content")))


def _read_reply(draft: RunBuilder, values: dict[str, Any], where: str) -> None:
    _enter_call(draft, values, where)
    extra = to_mapping(values.get("extra"))
    draft.think(to_text(values.get("reasoning_content")))
    spoken = _render_reply_text(values)
    commands = _find_commands(extra, values) or _commands_in_text(spoken)
    for command, call in commands:
        draft.think(_BASH_BLOCK.sub("", spoken).strip() if (command, call) == commands[0] else "")
        draft.act(BASH_TOOL, command, call or where)
    if not commands:
        draft.think(spoken)
        draft.act(NO_ACTION_TOOL, "", where)


def _render_reply_text(values: dict[str, Any]) -> str:
    messages = (to_mapping(item) for item in to_list(values.get("output")))
    parts = [render_content(item.get("content")) for item in messages if item.get("type") == "message"]
    return "\n".join([*parts, render_content(values.get("content"))]).strip()


def _find_commands(extra: dict[str, Any], values: dict[str, Any]) -> list[tuple[str, str]]:
    """The commands that were found at the time, else those of the tool calls; each with the name of its call."""
    commands = [
        (to_text(to_mapping(action).get("command")), to_text(to_mapping(action).get("tool_call_id")))
        for action in to_list(extra.get("actions"))
    ]
    calls = [to_mapping(call) for call in to_list(values.get("tool_calls"))]
    calls += [to_mapping(item) for item in to_list(values.get("output")) if to_mapping(item).get("type") == "function_call"]
    for call in [] if commands else calls:
        arguments = to_mapping(call.get("function", call)).get("arguments")
        command = unwrap_object(arguments).get("command")
        commands.append(
            (command if isinstance(command, str) else render_arguments(arguments), to_text(call.get("call_id", call.get("id"))))
        )
    return commands


def _commands_in_text(spoken: str) -> list[tuple[str, str]]:
    blocks = [block.strip() for block in _BASH_BLOCK.findall(spoken)]
    return [(blocks[0], "")] if len(blocks) == 1 else []
