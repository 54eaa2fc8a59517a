"""Tool use for models that know no tools: they are told of them in words, and what they write is read as JSON.

{"thought": "why", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afresh.adapters.models.letter import tool_lines
from afresh.adapters.models.replies import Count, storable
from afresh.domain.action import Action, Reply
from afresh.domain.codec import dumps
from afresh.domain.window import Exchange, Request, ToolSchema

SHAPE = '{"thought": "why, in a sentence", "actions": [{"tool": "NAME", "args": {"ARGUMENT": "VALUE"}}]}'
LONGEST_THOUGHT = 400
SHORTEST = 16
"""Tokens of a reply, however much of its reserve the description of tools has taken."""
SHOWN = 200
FENCE = re.compile(r"```(?:json|JSON)?\s*\n(.*?)```", re.DOTALL)
TOOL_KEYS = ("tool", "name", "function")
ARGUMENT_KEYS = ("args", "arguments", "parameters", "input")
CALL_KEYS = ("actions", "action", "tool_calls", "calls")


class Unreadable(ValueError):
    """Says to the model what is wrong with its reply."""


def instructions(tools: Sequence[ToolSchema]) -> str:
    lines = "\n".join(map(tool_lines, tools))
    return f"Tools:\n{lines}\nAnswer with one JSON object and nothing else, of this form:\n{SHAPE}"


def in_words(request: Request, count: Count, more: int = 0) -> Request:
    """The same for a model that knows no tools: they are told in the system text, and earlier turns in plain text. The ceiling
    counts tools by their schemas: what telling them takes beyond that (and `more`) comes off the longest length of the reply, so
    that the two together stay below it."""
    told = instructions(request.tools)
    beyond = count(told) + more - count(dumps(request.tools))
    return replace(
        request,
        system=f"{request.system}\n\n{told}" if request.system else told,
        tools=(),
        reserve=max(SHORTEST, request.reserve - max(0, beyond)),
        turns=tuple(_told(turn) for turn in request.turns),
    )


def _told(turn: Exchange) -> Exchange:
    text = "\n\n".join(text for text in (outcomes(turn), turn.text) if text)
    return Exchange(Reply(as_spoken(turn.reply), model=turn.reply.model), (), text)


def form(tools: Sequence[ToolSchema], reserve: int) -> dict[str, Any]:
    """The JSON schema of a reply. The thought has an end, so that room is left for the actions."""
    calls = [_object({"tool": {"const": tool.name}, "args": _closed(tool.parameters)}) for tool in tools]
    thought = {"type": "string", "maxLength": max(20, min(LONGEST_THOUGHT, reserve // 2))}
    return _object({"thought": thought, "actions": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"anyOf": calls}}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _closed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {}, **parameters, "additionalProperties": False}


def as_spoken(reply: Reply) -> str:
    """What the model has written, as it should have been."""
    actions = [{"tool": action.tool, "args": dict(action.args)} for action in reply.actions]
    return json.dumps({"thought": reply.thought, "actions": actions}, ensure_ascii=False)


def outcomes(turn: Exchange) -> str:
    done = zip(turn.reply.actions, turn.results, strict=False)
    return "\n\n".join(f"{action.tool} {'gave' if result.ok else 'failed'}:\n{result.text}" for action, result in done)


def heard(text: str) -> Reply:
    """The reply that is spelt out somewhere in the text. One that can't be read is a reply without actions that says why."""
    try:
        return spelt(text)
    except Unreadable as fault:
        began = f" It began: {text.strip()[:SHOWN]}" if text.strip() else ""
        return Reply(f"[Your reply was not carried out: {fault}. Answer with one JSON object: {SHAPE}]{began}")


def spelt(text: str) -> Reply:
    faults: list[Unreadable] = []
    for plain in _values(text):
        try:
            return _reply(plain)
        except Unreadable as fault:
            faults.append(fault)
    raise faults[0] if faults else Unreadable("there is no JSON object in it")


def _values(text: str) -> Iterator[Any]:
    """JSON objects in the text: itself, in fences, then wherever a brace opens one, each place once."""
    for whole in (text, *FENCE.findall(text)):
        try:
            yield storable(json.loads(whole))
        except (ValueError, RecursionError):
            continue
    decoder, place = json.JSONDecoder(), text.find("{")
    tries = 0
    while place >= 0 and tries < 100:
        tries += 1
        try:
            plain, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield storable(plain)
        place = text.find("{", end)


def _reply(plain: Any) -> Reply:
    if isinstance(plain, list):
        return Reply("", tuple(map(_action, plain)))
    if not isinstance(plain, dict):
        raise Unreadable("it is no JSON object")
    thought = plain.get("thought", "")
    thought = thought if isinstance(thought, str) else json.dumps(thought, ensure_ascii=False)
    held = next((plain[key] for key in CALL_KEYS if key in plain), None)
    if held is not None:
        return Reply(thought, tuple(map(_action, held if isinstance(held, list) else [held])))
    if any(key in plain for key in TOOL_KEYS):
        return Reply(thought, (_action(plain),))
    if "thought" in plain:
        return Reply(thought)
    raise Unreadable('it has neither "actions" nor "tool"')


def _action(plain: Any) -> Action:
    if not isinstance(plain, dict):
        raise Unreadable('an action must be an object with "tool" and "args"')
    tool = next((plain[key] for key in TOOL_KEYS if key in plain), None)
    if isinstance(tool, dict):
        return _action(tool)
    if not isinstance(tool, str) or not tool:
        raise Unreadable('"tool" of an action must be the name of a tool')
    args = next((plain[key] for key in ARGUMENT_KEYS if key in plain), {})
    args = _unquoted(args) if isinstance(args, str) else args
    if not isinstance(args, dict):
        raise Unreadable(f'"args" of {tool} must be a JSON object')
    return Action(tool, args)


def _unquoted(text: str) -> Any:
    """Arguments as a text that holds JSON."""
    try:
        return storable(json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return None
