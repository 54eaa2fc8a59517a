"""A request as a page that a person can read and answer. It says what the model would be sent, and nothing besides."""

import json
from collections.abc import Mapping
from typing import Any

from afresh.domain.turn import told
from afresh.domain.window import Exchange, Request, ToolSchema


def letter(request: Request, stem: str) -> str:
    return "\n".join(
        (
            "<!-- system -->",
            request.system,
            "",
            "<!-- message -->",
            request.message,
            "",
            *[line for place, turn in enumerate(request.turns, 1 - len(request.turns)) for line in _turn(turn, not place)],
            "<!-- tools -->",
            *map(tool_lines, request.tools),
            "",
            "<!-- how to answer -->",
            f"Write `{stem}.reply.json` into this folder (at most about {request.reserve} tokens{_own(request)}). For example:",
            "",
            json.dumps({"thought": "why, in a sentence or two", "actions": _example(request)}, ensure_ascii=False, indent=1),
            "",
        )
    )


def _turn(turn: Exchange, last: bool) -> tuple[str, ...]:
    """What a model is sent as its own words, and as results of its own calls."""
    more = ("<!-- message, continued -->", turn.text, "") if turn.text else ()
    return f"<!-- {'your last reply' if last else 'an earlier reply of yours'}, and what came of it -->", told(turn), "", *more


def _own(request: Request) -> str:
    return f", {request.thinking} of them for thinking" if request.thinking else ""


def tool_lines(tool: ToolSchema) -> str:
    required = tool.parameters.get("required", ())
    lines = [f"- {tool.name}: {tool.description}"]
    for name, schema in tool.parameters.get("properties", {}).items():
        lines.append(
            f"    {name} ({_type(schema)}{'' if name in required else ', optional'}) {schema.get('description', '')}".rstrip()
        )
    return "\n".join(lines)


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and "properties" in schema:
        return "{" + ", ".join(f"{name}: {_type(held)}" for name, held in schema["properties"].items()) + "}"
    return str(schema.get("type", "any"))


def _example(request: Request) -> list[dict[str, Any]]:
    """The first tool with its required arguments, so that the shape is plain."""
    if not request.tools:
        return []
    schema = request.tools[0].parameters
    known = schema.get("properties", {})
    return [{"tool": request.tools[0].name, "args": {name: _sample(known.get(name, {})) for name in schema.get("required", ())}}]


def _sample(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    samples: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), "...")
