"""Replies as plain JSON, checked, for the models whose replies come from files.

{"thought": "why", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from afresh.core.action import Action
from afresh.core.argument_check import find_argument_faults
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import Request, ToolSchema
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage

CountTokens = Callable[[str], int]

REPLY_EXAMPLE = '{"thought": "why, in a sentence or two", "actions": [{"tool": "NAME", "args": {"ARGUMENT": "VALUE"}}]}'
_USAGE_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in ("input", "output", "cached", "written", "thinking")},
}
_ACTION_SCHEMA = {
    "type": "object",
    "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
    "required": ["tool"],
}
_THINKING_SCHEMA = {
    "type": ["string", "object"],
    "properties": {"text": {"type": "string"}, "signature": {"type": "string"}, "redacted": {"type": "boolean"}},
    "required": ["text"],
}
REPLY_SCHEMA = {
    "properties": {
        "thought": {"type": "string"},
        "actions": {"type": "array", "items": _ACTION_SCHEMA},
        "thinking": {**_THINKING_SCHEMA, "type": ["string", "array", "object"], "items": _THINKING_SCHEMA},
        "usage": _USAGE_SCHEMA,
    }
}


REPLY_TOO_LONG = "the reply is too long"
"""How the reason begins that such a reply is refused for."""


def estimate_tokens(text: str) -> int:
    """Tokens in a text when no better counter is given: 3.5 characters each, rounded up."""
    return -(-len(text) * 2 // 7)


def reply_from_json(plain: object) -> Reply:
    """The reply in a JSON value. ValueError lists everything that is wrong with it, a line each."""
    if not isinstance(plain, dict):
        raise ValueError("the reply must be a JSON object")
    values = cast("dict[str, Any]", plain)
    if wrong := [*find_argument_faults(values, REPLY_SCHEMA, "field")] or [*_find_usage_faults(values.get("usage", {}))]:
        raise ValueError("\n".join(wrong))
    actions = tuple(Action(value["tool"], value.get("args", {})) for value in values.get("actions", ()))
    return Reply(
        values.get("thought", ""),
        actions,
        Usage(**values.get("usage", {})),
        thinking=_thinking_from_json(values.get("thinking", ())),
    )


def check_tool_calls(reply: Reply, tools: Sequence[ToolSchema]) -> None:
    """ValueError if the reply calls what the request did not offer, or with arguments that the tool does not have."""
    offered = {tool.name: tool for tool in tools}
    wrong: list[str] = []
    for number, action in enumerate(reply.actions, 1):
        if tool := offered.get(action.tool):
            wrong += (f"action {number}: {action.tool}: {fault}" for fault in find_argument_faults(action.args, tool.parameters))
        else:
            there = ", ".join(sorted(offered)) or "none"
            wrong.append(f"action {number}: there is no tool {action.tool!r}; there are {there}")
    if wrong:
        raise ValueError("\n".join(wrong))


ESTIMATE_TOLERANCE = 1.25
"""The estimate counts three characters a token; code has nearer to four."""


def check_reply_length(reply: Reply, request: Request, count: CountTokens) -> None:
    """ValueError if a provider would have cut the reply at its limit, and so lost the calls at its end."""
    long, told = count(_reply_text(reply)), reply.usage.output
    if told > request.reserve:
        raise ValueError(f'"usage" tells of {told:,} tokens of output; the limit of this reply is {request.reserve:,}')
    if long > request.reserve * ESTIMATE_TOLERANCE:
        parts = "thought, thinking and calls together" if reply.thinking else "thought and calls together"
        raise ValueError(
            f"{REPLY_TOO_LONG}: about {long:,} tokens, {parts}; its limit is {request.reserve:,}. Shorten it by about "
            f"{long - request.reserve:,}, or do a part of it now: a file may be written in several replies"
        )


def add_missing_usage(reply: Reply, request: Request, count: CountTokens, model: str) -> Reply:
    """The reply with its model's name, and with estimated tokens where the provider gave none."""
    told = reply.usage
    output = told.output or min(count(_reply_text(reply)), request.reserve)
    usage = replace(told, input=told.input or count(request.text), output=output)
    return replace(reply, usage=usage, model=reply.model or model)


def _reply_text(reply: Reply) -> str:
    return to_canonical_json(Reply(reply.thought, reply.actions, thinking=reply.thinking))


def _find_usage_faults(usage: Mapping[str, int]) -> Iterator[str]:
    if not all(0 <= value < 1 << 53 for value in usage.values()):
        yield "usage must hold whole numbers of tokens"
    elif max(usage.get("cached", 0), usage.get("written", 0)) > usage.get("input", 0):
        yield "usage: cached and written are parts of input, so neither is larger"
    elif usage.get("thinking", 0) > usage.get("output", 0):
        yield "usage: thinking is a part of output, so it is not larger"


def _thinking_from_json(held: Any) -> tuple[Thinking, ...]:
    parts = held if isinstance(held, list | tuple) else (held,)
    made = (Thinking(part) if isinstance(part, str) else Thinking(**part) for part in parts)
    return tuple(thinking for thinking in made if thinking.text or thinking.signature)
