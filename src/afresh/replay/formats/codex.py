"""Rollouts of Codex: JSON lines under ~/.codex/sessions/.

Since September 2025 each line is {timestamp, type, payload}; before that each line was an item of the Responses API, after a
first line with the session's id, or all of them were in one document. The program's own texts are recorded as messages of the
user.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import RecordedRun, render_arguments
from afresh.replay.run_builder import (
    RunBuilder,
    render_content,
    render_written_arguments,
    to_list,
    to_mapping,
    to_text,
    unwrap_object,
)

NAME = "Codex"
FILES = "rollout .jsonl"

_WRAPPED_TYPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_BARE_ITEM_FIELDS = {
    "message": {"role", "content"},
    "reasoning": {"summary"},
    "function_call": {"name", "arguments", "call_id"},
    "function_call_output": {"call_id", "output"},
    "local_shell_call": {"action"},
    "custom_tool_call": {"name", "input", "call_id"},
    "custom_tool_call_output": {"call_id", "output"},
}
_PACKED_OUTPUT_PREFIX = '{"output":'
_PROGRAM_TEXT_PREFIXES = (
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "<codex_internal_context",
    "<goal_context>",
    "<recommended_plugins>",
)


@dataclass(slots=True)
class _RolloutBuilder(RunBuilder):
    uncounted: bool = False
    told_ahead: object = None
    total: object = None


def knows(value: object) -> bool:
    mapping = to_mapping(value)
    kind = to_text(mapping.get("type"))
    if kind in _WRAPPED_TYPES:
        return isinstance(mapping.get("payload"), dict)
    if kind in _BARE_ITEM_FIELDS:
        return mapping.keys() >= _BARE_ITEM_FIELDS[kind]
    return _is_document(mapping) or _is_head(mapping)


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """A run for each session of the file."""
    draft = _RolloutBuilder(NAME)
    for entry in entries:
        if not draft.usable(entry):
            continue
        for kind, values in _split_entry(to_mapping(entry.value)):
            session = to_text(values.get("id")) if kind == "session_meta" else ""
            if session and draft.steps and session != draft.id:
                yield draft.run(path)
                draft = _RolloutBuilder(NAME)
            draft.id = draft.id or session
            _read_part(draft, kind, values, entry.where)
    yield draft.run(path)


def _is_head(values: dict[str, Any]) -> bool:
    return "type" not in values and values.keys() >= {"id", "timestamp"} and bool(values.keys() & {"instructions", "git"})


def _is_document(values: dict[str, Any]) -> bool:
    return isinstance(values.get("session"), dict) and isinstance(values.get("items"), list)


def _split_entry(values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if _is_document(values):
        yield "session_meta", values["session"]
        for item in values["items"]:
            yield "response_item", to_mapping(item)
    elif _is_head(values):
        yield "session_meta", values
    elif to_text(values.get("type")) in _BARE_ITEM_FIELDS:
        yield "response_item", values
    else:
        yield to_text(values.get("type")), to_mapping(values.get("payload"))


def _read_part(draft: _RolloutBuilder, kind: str, values: dict[str, Any], where: str) -> None:
    if kind == "turn_context":
        draft.use_model(values.get("model"))
    elif kind == "event_msg" and values.get("type") == "token_count":
        _read_token_count(draft, to_mapping(values.get("info")))
    elif kind == "response_item":
        _read_item(draft, to_text(values.get("type")), values, where)


def _read_token_count(draft: _RolloutBuilder, info: dict[str, Any]) -> None:
    """The count of a call comes after its items, in old files before them; sometimes it is repeated with the same sum."""
    total = info.get("total_token_usage")
    if not info or (total and total == draft.total):
        return
    draft.total = total
    count = to_mapping(info.get("last_token_usage")).get("input_tokens")
    if not draft.uncounted:
        draft.told_ahead = count
        return
    draft.sent(count)
    draft.end_call()
    draft.uncounted = False


def _enter_call(draft: _RolloutBuilder) -> None:
    if draft.enter():
        draft.sent(draft.told_ahead)
        draft.uncounted, draft.told_ahead = draft.told_ahead is None, None


def _read_item(draft: _RolloutBuilder, kind: str, values: dict[str, Any], where: str) -> None:
    if kind.endswith("_output"):
        answer = values.get("output", values.get("tools"))
        draft.answer(to_text(values.get("call_id")), _render_output(answer), where)
    elif kind == "message" and values.get("role") == "user":
        for block in to_list(values.get("content")):
            words = render_content([block])
            if not words.lstrip().startswith(_PROGRAM_TEXT_PREFIXES):
                draft.say(words)
    elif kind == "message" and values.get("role") == "assistant":
        _enter_call(draft)
        draft.speak(render_content(values.get("content")))
    elif kind == "reasoning":
        _enter_call(draft)
        draft.think(render_content(values.get("content")) or render_content(values.get("summary")))
    elif kind.endswith("_call"):
        _enter_call(draft)
        _read_call(draft, kind, values)
    elif not kind:
        draft.problem(where, "an item without a type, left out")


def _read_call(draft: RunBuilder, kind: str, values: dict[str, Any]) -> None:
    """Calls of the provider's own tools, such as its web search, are done when they are recorded: no output follows."""
    tool = ".".join(filter(None, (to_text(values.get("namespace")), to_text(values.get("name"))))) or kind.removesuffix("_call")
    call = to_text(values.get("call_id"))
    if kind == "custom_tool_call":
        draft.act(tool, to_text(values.get("input")), call)
    elif kind == "local_shell_call":
        action = {name: value for name, value in to_mapping(values.get("action")).items() if value is not None and name != "type"}
        draft.act(tool, render_arguments(action), call or to_text(values.get("id")))
    else:
        draft.act(
            tool, render_written_arguments(values.get("arguments") or values.get("action") or values.get("revised_prompt")), call
        )


def _render_output(output: object) -> str:
    """Text, blocks of text, or, for a while, JSON in a string with text and exit code in it."""
    values = unwrap_object(output) if isinstance(output, dict) or to_text(output).startswith(_PACKED_OUTPUT_PREFIX) else {}
    if not isinstance(values.get("output"), str):
        return render_content(values.get("content", output))
    code = to_mapping(values.get("metadata")).get("exit_code")
    return values["output"] + (f"\n(exit code {code})" if code else "")
