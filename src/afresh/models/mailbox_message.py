"""A request as a page that a person can read and answer. It says what the model would be sent, and nothing besides."""

import json
from collections.abc import Mapping
from typing import Any

from afresh.core.prompt import Request, ToolExchange, render_exchange
from afresh.models.providers.text_tool_calls import render_tool_lines


def render_mailbox_message(request: Request, stem: str) -> str:
    return "\n".join(
        (
            "<!-- system -->",
            request.system,
            "",
            "<!-- message -->",
            request.message,
            "",
            *[line for place, turn in enumerate(request.turns, 1 - len(request.turns)) for line in _render_turn(turn, not place)],
            "<!-- tools -->",
            *map(render_tool_lines, request.tools),
            "",
            "<!-- how to answer -->",
            f"Write `{stem}.reply.json` into this folder (at most about {request.reserve} tokens{_describe_thinking_share(request)}). For example:",
            "",
            json.dumps(
                {"thought": "why, in a sentence or two", "actions": _make_example_actions(request)}, ensure_ascii=False, indent=1
            ),
            "",
        )
    )


def _render_turn(turn: ToolExchange, last: bool) -> tuple[str, ...]:
    """What a model is sent as its own words, and as results of its own calls."""
    more = ("<!-- message, continued -->", turn.text, "") if turn.text else ()
    return (
        f"<!-- {'your last reply' if last else 'an earlier reply of yours'}, and what came of it -->",
        render_exchange(turn),
        "",
        *more,
    )


def _describe_thinking_share(request: Request) -> str:
    return f", {request.thinking} of them for thinking" if request.thinking else ""


def _make_example_actions(request: Request) -> list[dict[str, Any]]:
    """The first tool with its required arguments, so that the shape is plain."""
    if not request.tools:
        return []
    schema = request.tools[0].parameters
    known = schema.get("properties", {})
    return [
        {
            "tool": request.tools[0].name,
            "args": {name: _make_sample_value(known.get(name, {})) for name in schema.get("required", ())},
        }
    ]


def _make_sample_value(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    samples: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), "...")
