"""Tool use for models that know no tools: the prompt describes the tools, and the model's text is read as JSON.

{"thought": "why", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import Request, ToolExchange, ToolSchema
from afresh.core.reply import Reply
from afresh.models.reply_checks import CountTokens

REPLY_SHAPE = '{"thought": "why, in a sentence", "actions": [{"tool": "NAME", "args": {"ARGUMENT": "VALUE"}}]}'
MAX_THOUGHT_CHARACTERS = 400
MIN_REPLY_TOKENS = 16
"""Tokens of a reply, however much of its reserve the description of tools has taken."""
SHOWN_CHARACTERS = 200
JSON_FENCE_PATTERN = re.compile(r"```(?:json|JSON)?[^\S\n]*+\n(.*?)```", re.DOTALL)
TOOL_KEYS = ("tool", "name", "function")
ARGUMENT_KEYS = ("args", "arguments", "parameters", "input")
CALL_KEYS = ("actions", "action", "tool_calls", "calls")


class UnreadableReply(ValueError):
    """Says to the model what is wrong with its reply."""


def render_tool_instructions(tools: Sequence[ToolSchema]) -> str:
    lines = "\n".join(map(render_tool_lines, tools))
    return f"Tools:\n{lines}\nAnswer with one JSON object and nothing else, of this form:\n{REPLY_SHAPE}"


def put_tools_in_text(request: Request, count: CountTokens, more: int = 0) -> Request:
    """The request for a model that knows no tools: they are described in the system text, and earlier turns are plain text. The
    ceiling counts tools by their schemas: what the description takes beyond that (and `more`) is taken off the reserve, so that
    prompt and reply stay below it."""
    text = render_tool_instructions(request.tools)
    beyond = count(text) + more - count(to_canonical_json(request.tools))
    return replace(
        request,
        system=f"{request.system}\n\n{text}" if request.system else text,
        tools=(),
        reserve=max(MIN_REPLY_TOKENS, request.reserve - max(0, beyond)),
        turns=tuple(_put_turn_in_text(turn) for turn in request.turns),
    )


def _put_turn_in_text(turn: ToolExchange) -> ToolExchange:
    text = "\n\n".join(text for text in (render_tool_results(turn), turn.text) if text)
    return ToolExchange(Reply(render_reply_json(turn.reply), model=turn.reply.model), (), text)


def make_reply_schema(tools: Sequence[ToolSchema], reserve: int) -> dict[str, Any]:
    """The JSON schema of a reply. The thought has an end, so that room is left for the actions."""
    closed = [{"type": "object", "properties": {}, **tool.parameters, "additionalProperties": False} for tool in tools]
    calls = [_make_object_schema({"tool": {"const": tool.name}, "args": args}) for tool, args in zip(tools, closed, strict=True)]
    thought = {"type": "string", "maxLength": max(20, min(MAX_THOUGHT_CHARACTERS, reserve // 2))}
    return _make_object_schema(
        {"thought": thought, "actions": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"anyOf": calls}}}
    )


def _make_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def render_reply_json(reply: Reply) -> str:
    """The model's reply in the form that it should have had."""
    actions = [{"tool": action.tool, "args": dict(action.args)} for action in reply.actions]
    return json.dumps({"thought": reply.thought, "actions": actions}, ensure_ascii=False)


def render_tool_results(turn: ToolExchange) -> str:
    done = zip(turn.reply.actions, turn.results, strict=False)
    return "\n\n".join(f"{action.tool} {'gave' if result.ok else 'failed'}:\n{result.text}" for action, result in done)


def reply_from_text(text: str) -> Reply:
    """The reply that is written out somewhere in the text. If it can't be read, a reply without actions that says why."""
    try:
        return parse_text_reply(text)
    except UnreadableReply as fault:
        began = f" It began: {text.strip()[:SHOWN_CHARACTERS]}" if text.strip() else ""
        return Reply(f"[Your reply was not carried out: {fault}. Answer with one JSON object: {REPLY_SHAPE}]{began}")


def parse_text_reply(text: str) -> Reply:
    faults: list[UnreadableReply] = []
    for plain in _find_json_values(text):
        try:
            return _reply_from_json(plain)
        except UnreadableReply as fault:
            faults.append(fault)
    raise faults[0] if faults else UnreadableReply("there is no JSON object in it")


def _find_json_values(text: str) -> Iterator[Any]:
    """JSON objects in the text: itself, in fences, then wherever a brace opens one, each place once."""
    for whole in (text, *JSON_FENCE_PATTERN.findall(text)):
        try:
            yield json.loads(whole)
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
            yield plain
        place = text.find("{", end)


def _reply_from_json(plain: Any) -> Reply:
    if isinstance(plain, list):
        return Reply("", tuple(map(_action_from_json, plain)))
    if not isinstance(plain, dict):
        raise UnreadableReply("it is no JSON object")
    thought = plain.get("thought", "")
    thought = thought if isinstance(thought, str) else json.dumps(thought, ensure_ascii=False)
    held = next((plain[key] for key in CALL_KEYS if key in plain), None)
    if held is not None:
        return Reply(thought, tuple(map(_action_from_json, held if isinstance(held, list) else [held])))
    if any(key in plain for key in TOOL_KEYS):
        return Reply(thought, (_action_from_json(plain),))
    if "thought" in plain:
        return Reply(thought)
    raise UnreadableReply('it has neither "actions" nor "tool"')


def _action_from_json(plain: Any) -> Action:
    if not isinstance(plain, dict):
        raise UnreadableReply('an action must be an object with "tool" and "args"')
    tool = next((plain[key] for key in TOOL_KEYS if key in plain), None)
    if isinstance(tool, dict):
        return _action_from_json(tool)
    if not isinstance(tool, str) or not tool:
        raise UnreadableReply('"tool" of an action must be the name of a tool')
    args = next((plain[key] for key in ARGUMENT_KEYS if key in plain), {})
    args = _parse_quoted_arguments(args) if isinstance(args, str) else args
    if not isinstance(args, dict):
        raise UnreadableReply(f'"args" of {tool} must be a JSON object')
    return Action(tool, args)


def _parse_quoted_arguments(text: str) -> Any:
    """Arguments as a text that holds JSON."""
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None


def render_tool_lines(tool: ToolSchema) -> str:
    required = tool.parameters.get("required", ())
    lines = [f"- {tool.name}: {tool.description}"]
    for name, schema in tool.parameters.get("properties", {}).items():
        lines.append(
            (
                f"    {name} ({_describe_schema_type(schema)}{'' if name in required else ', optional'}) "
                f"{schema.get('description', '')}"
            ).rstrip()
        )
    return "\n".join(lines)


def _describe_schema_type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_describe_schema_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and "properties" in schema:
        return "{" + ", ".join(f"{name}: {_describe_schema_type(value)}" for name, value in schema["properties"].items()) + "}"
    return str(schema.get("type", "any"))
