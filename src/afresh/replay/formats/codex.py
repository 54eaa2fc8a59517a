"""Rollouts of Codex: JSON lines under ~/.codex/sessions/.

Since September 2025 each line is {timestamp, type, payload}; before that the items of the Responses API stood there bare, after a
first line with the session's id, or all of them in one document. What the program tells the model comes as words of the user.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from afresh.replay.content import content_text, listed, mapping, text, unwrapped, written
from afresh.replay.draft import Draft
from afresh.replay.entries import Entry
from afresh.replay.run import Run, action_text

NAME = "Codex"
FILES = "rollout .jsonl"

_WRAPPED = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_BARE = {
    "message": {"role", "content"},
    "reasoning": {"summary"},
    "function_call": {"name", "arguments", "call_id"},
    "function_call_output": {"call_id", "output"},
    "local_shell_call": {"action"},
    "custom_tool_call": {"name", "input", "call_id"},
    "custom_tool_call_output": {"call_id", "output"},
}
_PACKED = '{"output":'
_OF_THE_PROGRAM = (
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
class _Rollout(Draft):
    uncounted: bool = False
    told_ahead: object = None
    total: object = None


def knows(value: object) -> bool:
    held = mapping(value)
    kind = text(held.get("type"))
    if kind in _WRAPPED:
        return isinstance(held.get("payload"), dict)
    if kind in _BARE:
        return held.keys() >= _BARE[kind]
    return _is_document(held) or _is_head(held)


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    """A run for each session of the file."""
    draft = _Rollout(NAME)
    for entry in entries:
        if not draft.usable(entry):
            continue
        for kind, held in _parts(mapping(entry.value)):
            session = text(held.get("id")) if kind == "session_meta" else ""
            if session and draft.steps and session != draft.id:
                yield draft.run(path)
                draft = _Rollout(NAME)
            draft.id = draft.id or session
            _take(draft, kind, held, entry.where)
    yield draft.run(path)


def _is_head(held: dict[str, Any]) -> bool:
    return "type" not in held and held.keys() >= {"id", "timestamp"} and bool(held.keys() & {"instructions", "git"})


def _is_document(held: dict[str, Any]) -> bool:
    return isinstance(held.get("session"), dict) and isinstance(held.get("items"), list)


def _parts(held: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if _is_document(held):
        yield "session_meta", held["session"]
        for item in held["items"]:
            yield "response_item", mapping(item)
    elif _is_head(held):
        yield "session_meta", held
    elif text(held.get("type")) in _BARE:
        yield "response_item", held
    else:
        yield text(held.get("type")), mapping(held.get("payload"))


def _take(draft: _Rollout, kind: str, held: dict[str, Any], where: str) -> None:
    if kind == "turn_context" and isinstance(held.get("model"), str):
        draft.models.update([held["model"]])
    elif kind == "event_msg" and held.get("type") == "token_count":
        _counted(draft, mapping(held.get("info")))
    elif kind == "response_item":
        _item(draft, text(held.get("type")), held, where)


def _counted(draft: _Rollout, info: dict[str, Any]) -> None:
    """What a call was sent is told after its items, of old before them; and told again now and then, with the same sum."""
    total = info.get("total_token_usage")
    if not info or (total and total == draft.total):
        return
    draft.total = total
    count = mapping(info.get("last_token_usage")).get("input_tokens")
    if not draft.uncounted:
        draft.told_ahead = count
        return
    draft.sent(count)
    draft.end_call()
    draft.uncounted = False


def _enter(draft: _Rollout) -> None:
    if draft.enter():
        draft.sent(draft.told_ahead)
        draft.uncounted, draft.told_ahead = draft.told_ahead is None, None


def _item(draft: _Rollout, kind: str, held: dict[str, Any], where: str) -> None:
    if kind.endswith("_output"):
        answer = held.get("output", held.get("tools"))
        draft.answer(text(held.get("call_id")), _output(answer), where)
    elif kind == "message" and held.get("role") == "user":
        for block in listed(held.get("content")):
            words = content_text([block])
            if not words.lstrip().startswith(_OF_THE_PROGRAM):
                draft.say(words)
    elif kind == "message" and held.get("role") == "assistant":
        _enter(draft)
        draft.speak(content_text(held.get("content")))
    elif kind == "reasoning":
        _enter(draft)
        draft.think(content_text(held.get("content")) or content_text(held.get("summary")))
    elif kind.endswith("_call"):
        _enter(draft)
        _call(draft, kind, held)
    elif not kind:
        draft.problem(where, "an item without a type, left out")


def _call(draft: Draft, kind: str, held: dict[str, Any]) -> None:
    """Calls of the provider's own tools, such as its web search, are done when they are recorded: no output follows."""
    tool = ".".join(filter(None, (text(held.get("namespace")), text(held.get("name"))))) or kind.removesuffix("_call")
    call = text(held.get("call_id"))
    if kind == "custom_tool_call":
        draft.act(tool, text(held.get("input")), call)
    elif kind == "local_shell_call":
        action = {name: value for name, value in mapping(held.get("action")).items() if value is not None and name != "type"}
        draft.act(tool, action_text(action), call or text(held.get("id")))
    else:
        draft.act(tool, written(held.get("arguments") or held.get("action") or held.get("revised_prompt")), call)


def _output(output: object) -> str:
    """Text, blocks of text, or, for a while, JSON in a string with text and exit code in it."""
    held = unwrapped(output) if isinstance(output, dict) or text(output).startswith(_PACKED) else {}
    if not isinstance(held.get("output"), str):
        return content_text(held.get("content", output))
    code = mapping(held.get("metadata")).get("exit_code")
    return held["output"] + (f"\n(exit code {code})" if code else "")
