"""Replies as plain JSON, checked, for the models whose replies come from files.

{"thought": "why", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import Request, ToolSchema
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
    "null": (type(None),),
}  # fmt: skip
JSON_TYPE_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
JSON_TYPE_WORDS |= {"object": "a JSON object", "null": "null"}
MAX_NAME_CHARACTERS = 40


def find_argument_faults(args: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """What is missing, what is unknown, and what is of another kind than the schema wants."""
    known: Mapping[str, Any] = schema.get("properties", {})
    its = f"its arguments are {', '.join(known) or 'none'}"
    for name in schema.get("required", ()):
        if name not in args:
            yield f"lacks the argument {name!r}; {its}"
    for name, value in args.items():
        if name not in known:
            yield f"has no argument {name[:MAX_NAME_CHARACTERS]!r}{suggest_similar_name(name, known)}; {its}"
        else:
            yield from _find_value_faults(value, known[name], f"argument {name!r}")


def describe_json_kind(value: Any) -> str:
    """What a JSON value is, in words."""
    fitting = [kind for kind, types in JSON_TYPES.items() if _is_of_types(value, types)]
    return JSON_TYPE_WORDS[fitting[0]]


def suggest_similar_name(name: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant, to be put behind a name that is not known."""
    from difflib import get_close_matches

    found = get_close_matches(name.lower(), [*known], n=1, cutoff=0.6)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _find_value_faults(value: Any, schema: Mapping[str, Any], what: str) -> Iterator[str]:
    told = schema.get("type", ())
    kinds = [told] if isinstance(told, str) else [*told]
    if kinds and not any(_is_of_types(value, JSON_TYPES.get(kind, (object,))) for kind in kinds):
        wanted = " or ".join(JSON_TYPE_WORDS.get(kind, kind) for kind in kinds)
        yield f"wants {wanted} as {what}, not {describe_json_kind(value)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield (
            f"takes as {what} only "
            f"{', '.join(map(repr, schema['enum']))}{suggest_similar_name(str(value), map(str, schema['enum']))}"
        )
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _find_value_faults(item, schema.get("items", {}), f"item {number} of {what}")
    elif isinstance(value, dict) and "properties" in schema:
        yield from (f"{one} (in {what})" for one in find_argument_faults(value, schema))


def _is_of_types(value: Any, types: tuple[type, ...]) -> bool:
    """JSON knows true and false as something else than numbers."""
    return bool in types or object in types if isinstance(value, bool) else isinstance(value, types)


CountTokens = Callable[[str], int]

REPLY_EXAMPLE = '{"thought": "why, in a sentence or two", "actions": [{"tool": "NAME", "args": {"ARGUMENT": "VALUE"}}]}'
REPLY_FIELDS = ("thought", "actions", "thinking", "usage")
USAGE_FIELDS = ("input", "output", "cached", "written", "thinking")
FIELD_SYNONYMS = {
    "content": "thought", "text": "thought", "message": "thought",
    "tool_calls": "actions", "tools": "actions", "action": "actions",
    "reasoning": "thinking", "reasoning_content": "thinking", "name": "tool", "function": "tool", "arguments": "args",
    "input": "args", "parameters": "args", "input_tokens": "input", "prompt_tokens": "input", "output_tokens": "output",
    "completion_tokens": "output",
}  # fmt: skip
"""What other programs call the same things."""


REPLY_TOO_LONG = "the reply is too long"
"""How the reason begins that such a reply is refused for."""


def estimate_tokens(text: str) -> int:
    """Tokens in a text when no better counter is given: 3.5 characters each, rounded up."""
    return -(-len(text) * 2 // 7)


def reply_from_json(plain: object) -> Reply:
    """The reply in a JSON value. ValueError lists everything that is wrong with it, a line each."""
    held: Any = plain
    if wrong := list(_find_reply_faults(held)):
        raise ValueError("\n".join(wrong))
    actions = tuple(Action(one["tool"], one.get("args", {})) for one in held.get("actions", ()))
    return Reply(
        held.get("thought", ""), actions, Usage(**held.get("usage", {})), thinking=_thinking_from_json(held.get("thinking", ()))
    )


def check_tool_calls(reply: Reply, tools: Sequence[ToolSchema]) -> None:
    """ValueError if the reply calls what the request did not offer, or with arguments that the tool does not have."""
    offered = {tool.name: tool for tool in tools}
    wrong: list[str] = []
    for number, action in enumerate(reply.actions, 1):
        if tool := offered.get(action.tool):
            wrong += (f"action {number}: {action.tool} {one}" for one in find_argument_faults(action.args, tool.parameters))
        else:
            there = (
                f"there is no tool {action.tool!r}{suggest_similar_name(action.tool, offered)}; there are "
                f"{', '.join(sorted(offered)) or 'none'}"
            )
            wrong.append(f"action {number}: {there}")
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
    """The reply with its model's name, and with an estimate where nobody has counted tokens."""
    told = reply.usage
    said = told.output or min(count(_reply_text(reply)), request.reserve)
    usage = replace(told, input=told.input or count(request.text), output=said)
    return replace(reply, usage=usage, model=reply.model or model)


def _reply_text(reply: Reply) -> str:
    return to_canonical_json(Reply(reply.thought, reply.actions, thinking=reply.thinking))


def _find_reply_faults(held: Any) -> Iterator[str]:
    if not isinstance(held, dict):
        yield f"the reply must be a JSON object, it is {describe_json_kind(held)}"
        return
    yield from _find_unknown_fields(held, "the reply", REPLY_FIELDS)
    if not isinstance(held.get("thought", ""), str):
        yield f'"thought" must be a text, it is {describe_json_kind(held["thought"])}'
    yield from _find_thinking_faults(held.get("thinking", ""))
    yield from _find_usage_faults(held.get("usage", {}))
    actions = held.get("actions", [])
    if not isinstance(actions, list):
        yield f'"actions" must be a list, such as [{{"tool": "NAME", "args": {{}}}}]; it is {describe_json_kind(actions)}'
        return
    for number, one in enumerate(actions, 1):
        yield from _find_action_faults(one, f"action {number}")


def _find_action_faults(held: Any, what: str) -> Iterator[str]:
    if not isinstance(held, dict):
        yield f'{what} must be a JSON object, such as {{"tool": "NAME", "args": {{}}}}; it is {describe_json_kind(held)}'
        return
    yield from _find_unknown_fields(held, what, ("tool", "args"))
    if not isinstance(held.get("tool"), str) or not held["tool"]:
        yield f'{what}: "tool" must be the name of a tool'
    if not isinstance(held.get("args", {}), dict):
        yield f'{what}: "args" must be a JSON object, such as {{"ARGUMENT": "VALUE"}}; it is {describe_json_kind(held["args"])}'


def _find_thinking_faults(held: Any) -> Iterator[str]:
    parts = held if isinstance(held, list) else [held]
    for part in parts:
        if isinstance(part, dict):
            yield from _find_unknown_fields(part, '"thinking"', ("text", "signature", "redacted"))
            texts = isinstance(part.get("text"), str) and isinstance(part.get("signature", ""), str)
            if not texts or not isinstance(part.get("redacted", False), bool):
                yield '"thinking": a part of it is a text, or {"text": "…", "signature": "…", "redacted": false}'
        elif not isinstance(part, str):
            yield f'"thinking" must be a text or a list of texts; there is {describe_json_kind(part)}'


def _find_usage_faults(held: Any) -> Iterator[str]:
    if not isinstance(held, dict):
        yield f'"usage" must be a JSON object, it is {describe_json_kind(held)}'
        return
    yield from _find_unknown_fields(held, '"usage"', USAGE_FIELDS)
    known = {name: held[name] for name in USAGE_FIELDS if name in held}
    if not all(type(value) is int and 0 <= value < 1 << 53 for value in known.values()):
        yield '"usage" must hold whole numbers of tokens'
    elif max(known.get("cached", 0), known.get("written", 0)) > known.get("input", 0):
        yield '"usage": cached and written are parts of input, so neither is larger'
    elif known.get("thinking", 0) > known.get("output", 0):
        yield '"usage": thinking is a part of output, so it is not larger'


def _find_unknown_fields(held: dict[str, Any], what: str, known: Sequence[str]) -> Iterator[str]:
    for name in sorted(set(held) - set(known)):
        meant = FIELD_SYNONYMS.get(name.lower(), "")
        hint = f" (did you mean {meant!r}?)" if meant in known else suggest_similar_name(name, known)
        yield f"{what} has no field {name[:60]!r}{hint}; it may have {', '.join(known)}"


def _thinking_from_json(held: Any) -> tuple[Thinking, ...]:
    parts = held if isinstance(held, list | tuple) else (held,)
    made = (Thinking(part) if isinstance(part, str) else Thinking(**part) for part in parts)
    return tuple(one for one in made if one.text or one.signature)
