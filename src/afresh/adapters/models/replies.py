"""Replies as plain JSON, checked, for the models whose replies come from files.

{"thought": "why", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afresh.domain.action import Action, Reply, Usage
from afresh.domain.codec import dumps
from afresh.domain.window import Request, ToolSchema

Count = Callable[[str], int]

EXAMPLE = '{"thought": "why, in a sentence or two", "actions": [{"tool": "NAME", "args": {"ARGUMENT": "VALUE"}}]}'


def estimate(text: str) -> int:
    """Tokens in a text when no better counter is given: 3.5 characters each, rounded up."""
    return -(-len(text) * 2 // 7)


def reply_from(plain: object) -> Reply:
    """The reply that a JSON value stands for. ValueError says what is wrong with it."""
    held = _mapping(storable(plain), "the reply", {"thought", "actions", "usage"})
    thought = held.get("thought", "")
    if not isinstance(thought, str):
        raise ValueError('"thought" must be a string')
    actions = held.get("actions", [])
    if not isinstance(actions, list):
        raise ValueError('"actions" must be a list, such as [{"tool": "NAME", "args": {}}]')
    return Reply(thought, tuple(_action(item, number) for number, item in enumerate(actions, 1)), _usage(held.get("usage", {})))


def storable(plain: Any) -> Any:
    """The same JSON value without half surrogate pairs: JSON can spell them, UTF-8 and so the journal can't hold them."""
    return json.loads(json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace"))


def check_tools(reply: Reply, tools: Sequence[ToolSchema]) -> None:
    """ValueError if the reply calls what the request did not offer, or with arguments that the tool does not have."""
    offered = {tool.name: tool for tool in tools}
    for number, action in enumerate(reply.actions, 1):
        if action.tool not in offered:
            raise ValueError(
                f"action {number}: there is no tool {action.tool!r}; there are {', '.join(sorted(offered)) or 'none'}"
            )
        _check_arguments(action, offered[action.tool].parameters, number)


def with_usage(reply: Reply, request: Request, count: Count, model: str) -> Reply:
    """The reply with its model's name, and with an estimate where nobody has counted tokens."""
    said = dumps(Reply(reply.thought, reply.actions))
    told = reply.usage
    usage = replace(told, input=told.input or count(request.text), output=told.output or count(said))
    return replace(reply, usage=usage, model=reply.model or model)


def _action(plain: object, number: int) -> Action:
    held = _mapping(plain, f"action {number}", {"tool", "args"})
    if not isinstance(held.get("tool"), str) or not held["tool"]:
        raise ValueError(f'action {number}: "tool" must be the name of a tool')
    return Action(held["tool"], _mapping(held.get("args", {}), f'"args" of action {number}'))


def _usage(plain: object) -> Usage:
    held = _mapping(plain, '"usage"', {"input", "output", "cached"})
    if not all(type(value) is int and value >= 0 for value in held.values()):
        raise ValueError('"usage" must hold whole numbers of tokens')
    return Usage(**held)


def _mapping(plain: object, what: str, keys: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise ValueError(f"{what} must be a JSON object")
    unknown = sorted(set(plain) - keys) if keys else []
    if unknown:
        raise ValueError(f"{what} has no field {unknown[0]!r}; it may have {', '.join(sorted(keys or ()))}")
    return plain


def _check_arguments(action: Action, schema: Mapping[str, Any], number: int) -> None:
    known = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in action.args]
    unknown = [name for name in action.args if name not in known]
    problem = f"lacks the argument {missing[0]!r}" if missing else f"has no argument {unknown[0]!r}" if unknown else ""
    if problem:
        raise ValueError(f"action {number}: {action.tool} {problem}; its arguments are {', '.join(known) or 'none'}")
